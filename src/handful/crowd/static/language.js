// The words of the page in its language, from the catalogue that came with it.

const { code, words } = JSON.parse(document.getElementById("words").textContent);
const plural = new Intl.PluralRules(code);
const number = new Intl.NumberFormat(code === "ar" ? "ar-u-nu-latn" : code);

/** The arrow keys in reading order: where one reads from right to left, the first card is on the right. */
export const ARROWS = document.documentElement.dir === "rtl" ? ["ArrowRight", "ArrowLeft"] : ["ArrowLeft", "ArrowRight"];

/** Whether the catalogue has a word for this. */
export const has = (key) => key in words;

/** The words for `key`, with the values in their places; `n` also decides between forms. */
export function t(key, values = {}) {
  const word = words[key];
  const form = typeof word === "string" ? word : word[plural.select(values.n)] ?? word.other;
  return form.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number.format(values[name]) : values[name]));
}
