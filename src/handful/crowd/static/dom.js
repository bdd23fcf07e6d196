// Small helpers for all pages. Words from the server only ever become text, never markup.

export const find = (selector, within = document) => within.querySelector(selector);
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Say something to people who listen to the page instead of looking at it. */
export function speak(text) {
  const spoken = find("#spoken");
  spoken.textContent = "";
  setTimeout(() => { spoken.textContent = text; }, 50);
}

const ADDRESS = /https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]]/g;

/** Words of an organizer, in which addresses can be followed. */
export function linked(text) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(ADDRESS)) {
    parts.push(text.slice(at, found.index), make("a", { href: found[0], textContent: found[0], target: "_blank", rel: "noopener noreferrer" }));
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)];
}

let hiding = 0;

/** A line at the bottom, for a few seconds or, with `seconds` 0, until `untoast`. */
export function toast(text, seconds = 4) {
  const line = find("#connection");
  clearTimeout(hiding);
  if (line.textContent !== text || line.hidden) {
    line.hidden = false;
    line.textContent = text;
  }
  if (seconds) hiding = setTimeout(untoast, 1000 * seconds);
}

export function untoast() {
  clearTimeout(hiding);
  find("#connection").hidden = true;
}

/** Let the browser keep a text as a file. */
export function save(text, name, kind) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: kind })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const NOT_COPIED = "This browser did not let the page copy. The text is selected: copy it from there.";

/** Copy a text, and say whether that worked; if not, `shown`, which has the text, is selected. */
export async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // without https the clipboard is closed; the older way is still there
    if (copyTheOlderWay(text)) return true;
  }
  if (shown.select) shown.select();
  else getSelection().selectAllChildren(shown);
  return false;
}

function copyTheOlderWay(text) {
  const before = document.activeElement;
  const field = make("textarea", { value: text, readOnly: true, className: "unseen" });
  (find("dialog[open]") ?? document.body).append(field); // what is outside an open dialog cannot be selected
  field.focus({ preventScroll: true });
  field.select();
  const worked = document.execCommand("copy");
  field.remove();
  before?.focus({ preventScroll: true });
  return worked;
}

/** A field with something to copy, and a button that does. */
export function copyable(value, label) {
  const field = make("input", { value, readOnly: true, ariaLabel: label });
  const button = make("button", { type: "button", textContent: "Copy" });
  button.addEventListener("click", async () => toast((await copy(value, field)) ? "Copied." : NOT_COPIED));
  return [field, button];
}
