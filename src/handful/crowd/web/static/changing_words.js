// Changing what people read while a study runs: the words as they are, what changing each would mean, and a preview.

import { all, find, make } from "./dom.js";
import { fillLessons, lessons, onLessons } from "./lessons.js";
import { Refusal, request } from "./requests.js";
import { sendPracticePicture } from "./uploads.js";

/** Fill the form when it is opened, and send what was changed in it. */
export function changingWords(address, study) {
  const form = find("#words-form");
  const fields = all("[data-word]", form);
  let before = {}; // what every field had, as it was sent or came

  function typed() {
    const told = {};
    for (const field of fields) {
      const { word } = field.dataset;
      if (field.type === "checkbox") told[word] = field.checked;
      else if (field.type === "number") told[word] = Number(field.value || 0);
      else told[word] = field.value;
    }
    return { ...told, practice: lessons() };
  }

  /** What differs from how it was: the rest stays, also where it is built in. */
  function changes() {
    const now = typed();
    return Object.fromEntries(Object.entries(now).filter(([word, value]) => JSON.stringify(value) !== JSON.stringify(before[word])));
  }

  function fill({ words, fixed, effects, practice_pictures: pictures, ...builtIn }) {
    for (const field of fields) {
      const { word } = field.dataset;
      if (field.type === "checkbox") field.checked = words[word];
      else if (word === "language") field.value = words[word] ?? "en";
      else field.value = words[word] ?? builtIn[word] ?? "";
      explain(field, fixed[word], effects[word]);
    }
    fillLessons(words.practice, pictures);
    explain(find("#practising"), fixed.practice, effects.practice);
    for (const field of all("#lessons input, #lessons button, #add-lesson")) field.disabled = Boolean(fixed.practice);
    before = typed();
  }

  async function load() {
    fill(await request("GET", `${address}/words`));
  }

  find("#words-part").addEventListener("toggle", ({ target }) => target.open && load());
  onLessons(() => {}, (file) => sendPracticePicture(address, file));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const said = find("#words-said");
    said.className = "";
    try {
      const new_ = changes();
      if (Object.keys(new_).length) await request("POST", `${address}/words`, new_);
      await load();
      said.textContent = Object.keys(new_).length ? "People read these words from now on." : "Nothing was changed.";
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      said.className = "wrong";
      said.textContent = error.message;
    }
  });
  find("#preview").addEventListener("click", () => {
    sessionStorage.setItem("preview", JSON.stringify(changes())); // the new tab gets a copy
    open(`/organize/${study}/preview?spoken=${find("#language").value}`);
  });
}

/** Say at a field why it stays as it is, or what it means that people have read it. */
function explain(field, fixed, effect) {
  field.disabled = Boolean(fixed);
  const id = `${field.id}-means`;
  find(`#${id}`)?.remove();
  if (!fixed && !effect) return;
  field.after(make("p", { id, className: "hint", textContent: fixed ?? effect }));
  field.setAttribute("aria-describedby", id);
}
