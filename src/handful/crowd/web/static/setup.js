// Setting up a study: files in, settings kept as they are typed, and open.

import "./logout.js";
import { all, find, make, pause, speak, untoast } from "./dom.js";
import { dryRun, dryRunOf } from "./dry_run.js";
import { words } from "./item_card.js";
import { fillLessons, lessons, onLessons } from "./lessons.js";
import { Refusal, request, sayLost } from "./requests.js";
import { dropped, picked, sendAll, sendPracticePicture } from "./uploads.js";

const KEEP_AFTER_MS = 600;
const COMING = { open: "anyone with the link", room: "anyone with the link", invitations: "whoever has an invitation", panel: "whoever the panel sends" };
const LOOK_EVERY_MS = 400;
const number = new Intl.NumberFormat();
const megabytes = (bytes) => `${number.format(Math.round(bytes / 1e6))} MB`;
const SIMULATING_MS = 300_000; // a simulation or the first compiling takes its time: that is no lost connection
const lost = { lost: sayLost, back: untoast };

let status = null; // the draft as the server has it; null before there is one
let busy = false;
let rest = []; // files that could not be sent
let timer = 0;

const root = () => `/api/setup/${status.draft}`;
let chosen = []; // items from the start
const fields = all("[data-setting], [data-word]");

function settings() {
  const told = { chosen, words: {} };
  for (const field of fields) {
    const { setting, word } = field.dataset;
    let value = field.type === "checkbox" ? field.checked : field.value;
    if (field.type === "number") value = value === "" ? null : Number(value);
    if ("cents" in field.dataset && value !== null) value = Math.round(100 * value);
    if (setting === "rule") value = rule(value);
    if (setting === "explorer" && value === "") value = null;
    if (word === "language" && value === "en") continue;
    if (setting !== undefined && value === null && !MAY_BE_NULL.has(setting)) continue; // the default of the server
    if (word !== undefined && builtIn(word, value)) continue;
    if (setting !== undefined) told[setting] = value;
    else told.words[word] = value;
  }
  if (lessons() !== null) told.words.practice = lessons();
  return told;
}

const MAY_BE_NULL = new Set(["budget", "options", "epsilon", "delta", "per_hour", "rule"]);

/** A rule as it was typed; null for the standard one, and where it cannot be read, which is said. */
function rule(typed) {
  find("#rule-fault").textContent = "";
  if (!typed.trim()) return null;
  try {
    return JSON.parse(typed);
  } catch (error) {
    find("#rule-fault").textContent = `This is no JSON, so the standard rule holds: ${error.message}.`;
    return null;
  }
}

/** Whether a field has just the built-in words, which are not kept: they may be in another language one day. */
function builtIn(word, value) {
  if (value === null) return true;
  if (word === "consent") return value === BUILT_IN.consent;
  if (word === "instructions") return value.trim() === "" || value === BUILT_IN[word];
  return value === "";
}

const BUILT_IN = { consent: "", instructions: "" };

function fill({ settings: told, ...draft }) {
  for (const name of Object.keys(BUILT_IN)) BUILT_IN[name] = draft[name];
  for (const field of fields) {
    const { setting, word } = field.dataset;
    const value = setting !== undefined ? told[setting] : told.words[word];
    if (field.type === "checkbox") field.checked = value;
    else if (word === "goal") field.value = value ?? draft.plan.answers_each;
    else if (word === "language") field.value = value ?? "en";
    else if (setting === "rule") field.value = value ? JSON.stringify(value, null, 1) : "";
    else if ("cents" in field.dataset) field.value = value === null ? "" : (value / 100).toFixed(2);
    else field.value = value ?? BUILT_IN[word] ?? "";
  }
  fillLessons(told.words.practice, draft.practice_pictures);
}

/** In another language the built-in words are others; those that the organizer wrote stay. */
function retell(draft) {
  for (const name of Object.keys(BUILT_IN)) {
    const field = find(`[data-word=${name}]`);
    if (field.value === BUILT_IN[name]) field.value = draft[name];
    BUILT_IN[name] = draft[name];
  }
}

// Names the draft: however often beginning it is sent, there is one.
const ID = [...crypto.getRandomValues(new Uint8Array(9))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

async function draft() {
  if (status) return;
  show(await request("POST", "/api/setup", { ...settings(), id: ID }, lost));
  history.replaceState(null, "", `/setup/${status.draft}`);
}

function explain(where, error) {
  if (!(error instanceof Refusal)) throw error;
  if (error.status === 401) location.assign("/organize/login");
  find(where).textContent = error.message;
}

/** Keep what was typed, a moment after the last key. */
function changed() {
  clearTimeout(timer);
  find("#kept").textContent = "";
  timer = setTimeout(keep, KEEP_AFTER_MS);
}

async function keep() {
  clearTimeout(timer);
  timer = 0;
  find("#open-fault").textContent = "";
  try {
    if (!status) await draft();
    else show(await request("PUT", root(), settings(), lost));
    if (!timer) find("#kept").textContent = "All changes are kept."; // and none was made since
  } catch (error) {
    explain("#open-fault", error);
  }
}

function show(now) {
  const first = status === null;
  status = now;
  chosen = now.settings.chosen;
  if (first && document.body.dataset.draft) fill(now); // a new one is as it was typed, also where half a pair is
  else retell(now);
  if (now.study) { location.replace(`/organize/${now.study}`); return; }
  const preparing = now.state === "preparing";
  find("#prepared").hidden = !now.items;
  find("#inherited").textContent = now.inherited ?? "";
  find("#own-rule").hidden = !now.settings.checks;
  find("#pay").hidden = now.settings.door !== "panel";
  find("#cost").textContent = now.plan.cost ?? "";
  find("#drop").hidden = busy || preparing || (now.items > 0 && !now.carried);
  find("#sending").hidden = !(busy || preparing || rest.length);
  find("#items-fault").textContent = now.fault ?? "";
  if (preparing) progress(now.prepared, now.preparing, "pictures and texts prepared");
  if (now.items) showItems(now);
  const { answers, answers_each: each, minutes_each: minutes, advice } = now.plan;
  find("#plan").textContent = now.items
    ? `${number.format(answers)} answers in all, about ${number.format(each)} from each person, which takes each about ${minutes < 1.5 ? "a minute" : `${Math.round(minutes)} minutes`}.`
    : "How many answers that makes is shown once there is something to choose from.";
  buys(now);
  dryRunOf(now);
  find("#advice").textContent = advice ?? "";
  find("#advice").hidden = !advice || !now.items;
  const missing = !now.items ? "There is nothing to choose from yet." : !now.settings.theme.trim() ? "It needs a theme." : now.settings.k >= now.items ? `There are ${number.format(now.items)} items, so at most ${number.format(now.items - 1)} can be chosen: choose fewer, or add items.` : "";
  find("#open-words").textContent = missing || `Once it is open, ${COMING[now.settings.door]} can answer, and items and numbers stay as they are.`;
  find("#open").disabled = Boolean(missing) || busy || preparing;
  find("#discard").hidden = false;
  find("#preview").disabled = !now.items || preparing;
}

let priced = ""; // the settings whose quality is shown, or on its way

/** Say what the planned answers buy, once that is simulated. */
async function buys(now) {
  const { k, options, people, budget, explorer, in_flight: out } = now.settings;
  const about = JSON.stringify([now.items, k, options, people, budget, explorer, out, now.plan.answers]);
  if (about === priced) return;
  priced = about;
  find("#buys").textContent = now.items ? "Simulating what that buys …" : "";
  if (!now.items) return;
  const found = await request("GET", `${root()}/quality`, undefined, { ...lost, patience_ms: SIMULATING_MS }).catch((error) => ({ words: error.message }));
  if (about !== priced) return;
  find("#buys").textContent = found.words ?? "";
  find("#buys").classList.toggle("notice", found.suffices === false);
}

function showItems(now) {
  find("#items-count").textContent = now.items === 1 ? "1 item is ready." : `${number.format(now.items)} items are ready.`;
  find("#left-count").textContent = now.left_out.length ? `${number.format(now.left_out.length)} left out.` : "";
  find("#left-out").hidden = !now.left_out.length;
  find("#left-list").replaceChildren(...now.left_out.map(({ name, why }) => make("li", { textContent: `${name} ${why}` })));
  find("#cards").replaceChildren(...now.cards.map(itemEntry));
  find("#chosen-words").textContent = now.settings.chosen.length ? `${number.format(now.settings.chosen.length)} are chosen from the start. The number to choose counts them.` : "";
}

/** An item in small, with a way to leave it out. */
function itemEntry(card) {
  const face = card.kind === "text" ? make("p", { textContent: card.text }) : make("img", { src: card.thumbnail, alt: words(card), loading: "lazy" });
  const out = make("button", { type: "button", className: "out", textContent: "×", ariaLabel: `Leave out ${words(card)}`, title: "Leave this out" });
  out.addEventListener("click", () => order("#items-fault", "DELETE", `${root()}/items/${card.id.split("/").map(encodeURIComponent).join("/")}`));
  const entry = make("li", {}, face, out);
  if (card.chosen) entry.append(make("span", { className: "place", textContent: card.chosen, title: "chosen from the start" }));
  return entry;
}

function progress(done, of, what) {
  find("#sent").textContent = `${number.format(done)} of ${number.format(of)}`;
  find("#sent-words").textContent = what;
  const bar = find("#sent-bar");
  bar.max = of || 1;
  bar.value = done;
}

async function send(files) {
  if (!files.length || busy) return;
  busy = true;
  rest = [];
  find("#items-fault").textContent = "";
  try {
    await draft();
    show(status);
    const told = ({ done, of, bytes, total }) => progress(done, of, `files sent, ${megabytes(bytes)} of ${megabytes(total)}`);
    const { failed, fatal } = await sendAll(root(), files, status.files, told);
    rest = failed;
    busy = false;
    if (!failed.length) { await prepare(); return; }
    show(await request("GET", root(), undefined, lost));
    const [{ path, why }] = failed;
    find("#items-fault").textContent = fatal ?? `${failed.length === 1 ? path : `${failed.length} files`} could not be sent: ${why}`;
    find("#send-again").hidden = false;
  } catch (error) {
    explain("#items-fault", error);
  } finally {
    busy = false;
  }
}

async function prepare() {
  find("#send-again").hidden = true;
  show(await request("POST", `${root()}/prepare`, undefined, lost));
  await watch();
}

/** Follow the preparing to its end. */
async function watch() {
  while (status.state === "preparing") {
    await pause(LOOK_EVERY_MS);
    show(await request("GET", root(), undefined, lost));
  }
  if (status.items) speak(`${status.items} items are ready.`);
}

async function order(where, method, path, body) {
  try {
    show(await request(method, path, body, { ...lost, patience_ms: SIMULATING_MS }));
    return true;
  } catch (error) {
    explain(where, error);
    return false;
  }
}

async function usePasted() {
  find("#items-fault").textContent = "";
  try {
    await draft();
    if (await order("#items-fault", "POST", `${root()}/texts`, { texts: find("#texts").value })) await prepare();
  } catch (error) {
    explain("#items-fault", error);
  }
}

async function startOver() {
  for (const { name } of status.files) {
    await request("DELETE", `${root()}/files/${name.split("/").map(encodeURIComponent).join("/")}`, undefined, lost);
  }
  rest = [];
  if (status.carried) await prepare();
  else show(await request("GET", root(), undefined, lost));
}

const drop = find("#drop");
drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", async (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  send(await dropped(event.dataTransfer));
});
for (const input of [find("#files"), find("#folder")]) {
  input.addEventListener("change", () => { send(picked(input)); input.value = ""; });
}
find("#paste").addEventListener("click", () => find("#pasting").showModal());
find("#pasting").addEventListener("close", () => { if (find("#pasting").returnValue) usePasted(); });
find("#send-again").addEventListener("click", () => send(rest));
find("#start-over").addEventListener("click", startOver);
find("#discard").addEventListener("click", () => find("#discarding").showModal());
find("#discarding").addEventListener("close", async () => {
  if (!find("#discarding").returnValue) return;
  await request("DELETE", root(), undefined, lost);
  location.assign("/organize?whole=true");
});
for (const field of fields) {
  if (field.id !== "rule") field.addEventListener("input", changed); // half a rule is none
  field.addEventListener("change", changed);
}
onLessons(changed, async (file) => { await draft(); return sendPracticePicture(root(), file); });
find("#rule-file").addEventListener("change", async ({ target }) => {
  const [file] = target.files;
  target.value = "";
  if (!file) return;
  find("#rule").value = await file.text();
  changed();
});
find("#preview").addEventListener("click", async () => {
  const tab = open("about:blank"); // now, while it is a click: later it would be stopped as an advertisement
  if (timer) await keep();
  tab.location = `/setup/${status.draft}/preview`;
});
find("#open").addEventListener("click", async () => {
  find("#open").disabled = true;
  find("#open-words").textContent = "Opening. The first time takes some seconds.";
  if (timer) await keep();
  await order("#open-fault", "POST", `${root()}/open`);
  if (status && !status.study) find("#open").disabled = false;
});

dryRun(root, async () => { if (timer || !status) await keep(); });

if (document.body.dataset.draft) {
  show(await request("GET", `/api/setup/${document.body.dataset.draft}`, undefined, lost));
  await watch();
} else {
  await fillNew();
}

/** Before there is a draft the fields have the defaults of the server. */
async function fillNew() {
  const defaults = await request("GET", "/api/setup", undefined, lost);
  fill(defaults);
  find("#open-words").textContent = "There is nothing to choose from yet.";
  find("#plan").textContent = "How many answers that makes is shown once there is something to choose from.";
}
