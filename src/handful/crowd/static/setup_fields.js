// The fields of a study that is being set up: what they say, what is wrong with it, and how they are filled.

import { sayBuiltIn } from "./built_in_words.js";
import { all, find } from "./dom.js";
import { idle, numberFault, sayFault } from "./field_faults.js";
import { fillLessons, lessons, lessonsFault } from "./lessons.js";
import { differing, flat } from "./setting_changes.js";

const number = new Intl.NumberFormat();
export const fields = all("[data-setting], [data-word]");

/** What was typed; where that is wrong, what was kept before. */
export function settings(kept = { words: {} }) {
  const told = { words: {} };
  for (const field of fields) {
    const { setting, word } = field.dataset;
    if (idle(field) || faultOf(field)) {
      if (setting in kept) told[setting] = kept[setting];
      if (word in kept.words) told.words[word] = kept.words[word];
      continue;
    }
    let value = field.type === "checkbox" ? field.checked : field.value;
    if (field.type === "number") value = value === "" ? null : Number(value);
    if ("cents" in field.dataset && value !== null) value = Math.round(100 * value);
    if (setting === "rule") value = value.trim() ? JSON.parse(value) : null;
    if (setting === "explorer" && value === "") value = null;
    if (word === "language" && value === "en") continue;
    if (setting !== undefined && value === null && !MAY_BE_NULL.has(setting)) continue; // the default of the server
    if (word !== undefined && builtIn(word, value)) continue;
    if (setting !== undefined) told[setting] = value;
    else told.words[word] = value;
  }
  const pairs = lessons()?.filter(({ right, wrong }) => right !== wrong) ?? null;
  const own = practiceFault() && !pairs.length ? kept.words.practice ?? null : pairs;
  if (own !== null) told.words.practice = own;
  return told;
}

const MAY_BE_NULL = new Set(["budget", "options", "epsilon", "delta", "sure", "per_hour", "rule"]);

const SAME = "Both are the same: change one of them, or remove the pair.";

/** Say at each pair that is half, or has the same on both sides, what to do, and give that; "" where none is. */
function practiceFault() {
  const half = lessonsFault();
  let same = "";
  for (const row of find("#practising").value === "own" ? all("#lessons li") : []) {
    const [right, wrong] = ["right", "wrong"].map((name) => find(`[name=${name}]`, row).value.trim());
    if (!right || right !== wrong) continue;
    find(".half", row).textContent = same = SAME;
  }
  return half || same;
}

const ASKING = ["explorer", "options", "sure", "epsilon"]; // how is asked: these have to go together
let unasked = { as: "" }; // what the server did not take of them: as what, in which fields, and why

/** What stands in the fields for them, to be compared. */
export const asking = () => JSON.stringify([...ASKING, "k"].map((id) => find(`#${id}`).value));

/** Have it said beside those of these settings that say how is asked why they are not taken as they were, until one of
 *  them is changed; false where none of them says that. */
export function refuseAsking(as, names, why) {
  unasked = { as, names: names.filter((name) => ASKING.includes(name)), why };
  return unasked.names.length > 0;
}

/** What is wrong with a field; "" where nothing is, or where it does not apply. */
function faultOf(field) {
  return faultOfItself(field) || (unasked.as === asking() && unasked.names.includes(field.dataset.setting) ? unasked.why : "");
}

function faultOfItself(field) {
  if (field.type === "number") return numberFault(field, field.id === "k" ? kBounds : "");
  if (field.id !== "rule" || idle(field) || !field.value.trim()) return "";
  try {
    JSON.parse(field.value);
    return "";
  } catch (error) {
    return `This is no JSON: ${error.message}. Mend it, or empty it for the standard rule.`;
  }
}

const MOST = Number(find("#k").max);
let kBounds = ""; // why no other numbers can be chosen than the field for it takes

/** There must be something left to choose, and something to leave. */
export function boundK({ items, settings: { chosen: from } }) {
  const k = find("#k");
  k.min = from.length + 1;
  k.max = items ? Math.max(Number(k.min), Math.min(MOST, items - 1)) : MOST;
  kBounds = items ? `There are ${number.format(items)} items${from.length ? `, ${number.format(from.length)} of them chosen from the start` : ""}.` : "";
}

/** Say beside each field what is wrong with it, and give the first of that with the field's name; "" where nothing is. */
export function sayFaults() {
  let first = "";
  for (const field of fields) {
    const wrong = faultOf(field);
    sayFault(field, wrong);
    if (wrong) first ||= `${field.labels[0].textContent}: ${wrong}`;
  }
  const practice = practiceFault();
  return first || (practice && `Practice: ${practice}`);
}

/** Whether a field has just the built-in words, which are not kept: they may be in another language one day. */
function builtIn(word, value) {
  if (value === null) return true;
  if (word === "consent") return value === BUILT_IN.consent;
  if (word === "instructions") return value.trim() === "" || value === BUILT_IN[word];
  return value === "";
}

const BUILT_IN = { consent: "", instructions: "" };

export function fill({ settings: told, ...draft }) {
  for (const name of Object.keys(BUILT_IN)) BUILT_IN[name] = draft[name];
  sayBuiltIn(draft);
  for (const field of fields) fillField(field, told, draft);
  fillLessons(told.words.practice, draft.practice_pictures);
}

function fillField(field, told, draft) {
  const { setting, word } = field.dataset;
  const value = setting !== undefined ? told[setting] : told.words[word];
  if (field.type === "checkbox") field.checked = value;
  else if (word === "goal") field.value = value ?? draft.plan.answers_each;
  else if (word === "language") field.value = value ?? "en";
  else if (setting === "rule") field.value = value ? JSON.stringify(value, null, 1) : "";
  else if ("cents" in field.dataset) field.value = value === null ? "" : (value / 100).toFixed(2);
  else field.value = value ?? BUILT_IN[word] ?? "";
}

/** Show what was set elsewhere since `old`, except for the settings in `mine`; gives what the fields are called. */
export function fillNews(old, { settings: told, ...draft }, mine) {
  const news = new Set(Object.keys(differing(flat(old), flat(told))).filter((name) => !(name in mine)));
  const filled = fields.filter(({ dataset: { setting, word } }) => news.has(setting ?? `words.${word}`));
  for (const field of filled) fillField(field, told, draft);
  if (news.has("words.practice")) fillLessons(told.words.practice, draft.practice_pictures);
  return [...filled.map(({ labels }) => labels[0].textContent.trim()), ...(news.has("words.practice") ? ["Practice"] : [])];
}

/** In another language the built-in words are others; those that the organizer wrote stay. */
export function retell(draft) {
  sayBuiltIn(draft);
  for (const name of Object.keys(BUILT_IN)) {
    const field = find(`[data-word=${name}]`);
    if (field.value === BUILT_IN[name]) field.value = draft[name];
    BUILT_IN[name] = draft[name];
  }
}
