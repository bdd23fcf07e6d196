// The organizer's own practice: rows of pairs, each with what most people would choose first.

import { all, find, make } from "./dom.js";

const MOST = 10;
const FIELDS = { right: "Most would choose", wrong: "Rather than", why: "Because" };

let changed = () => {};

/** Call `then` after every change. */
export function onLessons(then) {
  changed = then;
}

/** What is set: null for the built-in practice, an empty list for none. Half a pair is not counted. */
export function lessons() {
  const kind = find("#practising").value;
  if (kind === "built-in") return null;
  if (kind === "none") return [];
  const rows = all("#lessons li").map((row) => Object.fromEntries(all("input", row).map((field) => [field.name, field.value.trim()])));
  return rows.filter(({ right, wrong }) => right && wrong);
}

/** Show the practice as it is kept. */
export function fillLessons(kept) {
  find("#practising").value = kept === null || kept === undefined ? "built-in" : kept.length ? "own" : "none";
  find("#lessons").replaceChildren(...(kept ?? []).map(row));
  reveal();
}

function row(lesson = {}) {
  const entry = make("li", {});
  for (const [name, label] of Object.entries(FIELDS)) {
    const field = make("input", { name, value: lesson[name] ?? "", maxLength: 400, autocomplete: "off" });
    field.addEventListener("input", () => changed());
    entry.append(make("label", {}, label, field));
  }
  const out = make("button", { type: "button", className: "quiet", textContent: "Remove this pair" });
  out.addEventListener("click", () => { entry.remove(); reveal(); changed(); });
  entry.append(out);
  return entry;
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
  find("#lessons li:last-child input").focus();
});
