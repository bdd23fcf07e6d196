// Changing what people read while a study runs: the words as they are, what changing each would mean, and a preview.

import { sayBuiltIn } from "./built_in_words.js";
import { all, find, make, untoast } from "./dom.js";
import { fillLessons, lessons, lessonsFault, onLessons } from "./lessons.js";
import { Refusal, request, sayLost, tried } from "./requests.js";
import { sendPracticePicture } from "./uploads.js";

const lost = { lost: sayLost, back: untoast };

/** Fill the form when it is opened, and send what was changed in it. */
export function changingWords(address, study) {
  const form = find("#words-form");
  const fields = all("[data-word]", form);
  form.inert = true;
  let before = {}; // what every field had, as it was sent or came
  let builtIn = {}; // the built-in words in the language that is chosen

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

  function fill({ words, fixed, effects, practice_pictures: pictures, question, of_panel: ofPanel, consent, instructions }) {
    sayBuiltIn({ question, of_panel: ofPanel });
    find("#words-effect").textContent = effects.all ?? "";
    find("#words-effect").hidden = !effects.all;
    builtIn = { consent, instructions };
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

  /** Until the words are here nothing can be typed or sent: it would be written over, or empty fields be taken for changes. */
  async function load() {
    form.inert = true;
    fill(await request("GET", `${address}/words`, undefined, lost));
    form.inert = false;
  }

  /** In another language the built-in words are others: they are shown to be read, and sent only with the button. */
  async function retell() {
    const language = find("#language");
    const spoken = language.value;
    const { consent, instructions, ...more } = await request("GET", `${address}/words?${new URLSearchParams({ language: spoken })}`, undefined, lost);
    if (language.value !== spoken) return; // yet another was chosen meanwhile
    sayBuiltIn(more);
    const others = { consent, instructions };
    const told = Object.keys(others).filter((word) => find(`#${word}`).value === builtIn[word]);
    for (const word of told) find(`#${word}`).value = others[word];
    builtIn = others;
    const said = find("#words-said");
    said.className = "";
    said.textContent = told.length
      ? `The built-in ${told.join(" and ")} now stand${told.length === 1 ? "s" : ""} here in that language: read what people will agree to before you use these words.`
      : "";
  }

  find("#language").addEventListener("change", () => tried(retell));
  find("#words-part").addEventListener("toggle", ({ target }) => target.open && tried(load));
  onLessons(() => {}, (file) => sendPracticePicture(address, file));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.inert) return;
    const said = find("#words-said");
    said.className = lessonsFault() ? "wrong" : "";
    said.textContent = lessonsFault();
    if (lessonsFault()) return;
    form.inert = true;
    try {
      const new_ = changes();
      if (Object.keys(new_).length) await request("POST", `${address}/words`, new_, lost);
      await load();
      said.textContent = Object.keys(new_).length ? "People read these words from now on." : "Nothing was changed.";
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      said.className = "wrong";
      said.textContent = error.message;
    } finally {
      form.inert = false;
      event.submitter?.focus({ preventScroll: true });
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
