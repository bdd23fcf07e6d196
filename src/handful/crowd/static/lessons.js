// The organizer's own practice: rows of pairs, each with what most people would choose first; a text, or a picture.

import { all, find, make } from "./dom.js";

const MOST = 10;
const FIELDS = { right: "Most would choose", wrong: "Rather than", why: "Because" };
const HALF = "Each pair needs both: fill them in, or remove the pair.";
const PICTURES = "image/jpeg,image/png,image/webp,image/gif,image/heic,image/heif,.heic,.heif";

let changed = () => {};
let send = null; // how a picture is sent: gives its name and address, or throws with why not
const pictures = new Map(); // the addresses of the pictures in small, by name

/** Call `then` after every change; `sending` sends a picture that was chosen for a pair. */
export function onLessons(then, sending) {
  changed = then;
  send = sending;
}

/** What is set: null for the built-in practice, an empty list for none. Half a pair is not counted. */
export function lessons() {
  const kind = find("#practising").value;
  if (kind === "built-in") return null;
  if (kind === "none") return [];
  const rows = all("#lessons li").map((row) => Object.fromEntries(all("input[name]", row).map((field) => [field.name, field.value.trim()])));
  return rows.filter(({ right, wrong }) => right && wrong);
}

/** Say at each pair that lacks one of its two what to do, and give that; "" where none does. */
export function lessonsFault() {
  let fault = "";
  for (const row of find("#practising").value === "own" ? all("#lessons li") : []) {
    const half = all("input[name]", row).some(({ name, value }) => name !== "why" && !value.trim());
    find(".half", row).textContent = half ? HALF : "";
    if (half) fault = HALF;
  }
  return fault;
}

/** Show the practice as it is kept, with the pictures that there are. */
export function fillLessons(kept, there = []) {
  for (const { name, thumbnail } of there) pictures.set(name, thumbnail);
  find("#practising").value = kept === null || kept === undefined ? "built-in" : kept.length ? "own" : "none";
  find("#lessons").replaceChildren(...(kept ?? []).map(row));
  reveal();
}

function row(lesson = {}) {
  const entry = make("li", {});
  for (const [name, label] of Object.entries(FIELDS)) {
    const field = make("input", { name, value: lesson[name] ?? "", maxLength: 400, autocomplete: "off" });
    const labelled = make("label", {}, label, field);
    entry.append(name === "why" ? labelled : withPicture(labelled, field, label));
    field.addEventListener("input", () => changed());
  }
  const out = make("button", { type: "button", className: "quiet", textContent: "Remove this pair" });
  out.addEventListener("click", () => { entry.remove(); reveal(); changed(); });
  entry.append(make("p", { className: "half wrong small-print" }), out);
  return entry;
}

let made = 0;

/** A field for a text or a picture's name, the picture in small, and a button to choose one. */
function withPicture(labelled, field, label) {
  const id = `lesson-picture-${made += 1}`;
  const image = make("img", { alt: "", hidden: true });
  const file = make("input", { type: "file", id, className: "unseen", accept: PICTURES, ariaLabel: `A picture for: ${label}` });
  const said = make("p", { className: "wrong", role: "alert" });
  const look = () => {
    const address = pictures.get(field.value.trim());
    image.hidden = !address;
    if (address) image.src = address;
    else image.removeAttribute("src");
  };
  field.addEventListener("input", look);
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    file.value = "";
    if (!chosen) return;
    said.textContent = "";
    try {
      const { name, thumbnail } = await send(chosen);
      pictures.set(name, thumbnail);
      field.value = name;
      look();
      changed();
    } catch (error) {
      said.textContent = error.message;
    }
  });
  look();
  return make("div", { className: "side" }, labelled, make("div", { className: "row" }, image, make("label", { className: "button quiet", htmlFor: id, textContent: "Use a picture" }), file), said);
}

function reveal() {
  const own = find("#practising").value === "own";
  if (own && !all("#lessons li").length) find("#lessons").append(row());
  for (const id of ["#lessons", "#lessons-more", "#lessons-hint"]) find(id).hidden = !own;
  find("#add-lesson").disabled = all("#lessons li").length >= MOST;
}

find("#practising")?.addEventListener("change", () => { reveal(); changed(); });
find("#add-lesson")?.addEventListener("click", () => {
  find("#lessons").append(row());
  reveal();
  changed();
  find("#lessons li:last-child input").focus();
});
