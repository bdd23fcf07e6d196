// Setting up a study: files in, settings kept as they are typed, and open.

import "./logout.js";
import { all, find, make, pause, speak, untoast } from "./dom.js";
import { showItemCards } from "./draft_items.js";
import { dryRun, dryRunOf } from "./dry_run.js";
import { onLessons } from "./lessons.js";
import { Refusal, request, sayLost } from "./requests.js";
import { asking, boundK, fields, fill, fillNews, refuseAsking, retell, sayFaults, settings } from "./setup_fields.js";
import { differing, elsewhere, flat, nested, only } from "./setting_changes.js";
import { dropped, endSending, passedOver, picked, sendAll, sendPracticePicture } from "./uploads.js";

const KEEP_AFTER_MS = 600;
const COMING = { open: "anyone with the link", room: "anyone with the link", invitations: "whoever has an invitation", panel: "whoever the panel sends" };
const ONLY_HERE = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)
  ? " Only this machine can open its link. For others, start handful serve with --host 0.0.0.0 or --public-url, and open this page by the address that it prints."
  : "";
const MORE = { anything: "Drop photos, a zip or a CSV here", files: "Drop more photos here" };
const WHOLE = /\.(zip|csv|tsv)$/i;
const LOOK_EVERY_MS = 400;
const number = new Intl.NumberFormat();
const megabytes = (bytes) => `${number.format(Math.round(bytes / 1e6))} MB`;
const SIMULATING_MS = 300_000; // a simulation or the first compiling takes its time: that is no lost connection
const lost = { lost: sayLost, back: untoast };

let status = null; // the draft as the server has it; null before there is one
let busy = false;
let rest = []; // files that could not be sent
let offered = new Set(); // the paths of all files that were dropped or chosen: hidden ones are not sent
let timer = 0;
let refused = false; // whether the server did not take what was typed last
let agreed = {}; // what the fields said when they and the server last agreed, each by one name
let turn = 0; // grows with every change that is sent: what was asked for before one tells of older settings
let keeping = Promise.resolve(); // the changes are sent one after another

// Until it has come, what is typed would be written over: nothing can be typed, and nothing is sent before.
const loaded = document.body.dataset.draft ? ask("GET", `/api/setup/${document.body.dataset.draft}`) : fillNew();

const root = () => `/api/setup/${status.draft}`;
let chosen = []; // items from the start

/** Say what is wrong or missing, and let the study be opened where nothing is. */
function gate() {
  const fault = sayFaults();
  const missing = !status?.items ? "There is nothing to choose from yet." : !find("#theme").value.trim() ? "It needs a theme." : fault;
  find("#open-words").textContent = missing || `Once it is open, ${COMING[status.settings.door]} can answer, and items and numbers stay as they are.${ONLY_HERE}`;
  find("#open-words").className = fault && missing === fault ? "wrong" : "faint";
  find("#open").disabled = Boolean(missing) || refused || busy || status.state === "preparing";
  find("#dry-run").disabled = !status?.items || Boolean(fault);
  find("#amounts").hidden = find("[type=number][aria-invalid=true]") !== null; // they are of other numbers
  return !fault;
}

// Names the draft: however often beginning it is sent, there is one.
const ID = [...crypto.getRandomValues(new Uint8Array(9))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

let beginning = null; // while the draft is being begun: there is one, whoever needs it

async function draft() {
  await loaded;
  if (!status) await (beginning ??= orWithout(begin).finally(() => { beginning = null; }));
}

/** Send something. Where the server does not take how is to be asked, that is said beside its fields, and the rest sent. */
async function orWithout(send) {
  const [as, sent] = [asking(), status ? unkept() : differing({}, settings())];
  try {
    return await send();
  } catch (error) {
    if (error.code !== "explorer" || !refuseAsking(as, Object.keys(sent), error.message)) throw error;
    gate();
    return send();
  }
}

async function begin() {
  const told = settings();
  const begun = await request("POST", "/api/setup", { ...told, chosen, id: ID }, lost);
  agreed = only({ ...flat(begun.settings), ...flat(told) }, flat(settings(begun.settings)));
  show(begun);
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
  gate();
  timer = setTimeout(keep, KEEP_AFTER_MS);
}

/** What was typed and is not kept: only that is sent, as others may have changed the rest elsewhere. */
const unkept = () => differing(agreed, flat(settings(status.settings)));

function keep() {
  keeping = keeping.catch(() => {}).then(keepNow);
  return keeping;
}

/** All that was typed is kept, or was refused. */
const settled = () => (timer || !status ? keep() : keeping.catch(() => {}));

async function keepNow() {
  await loaded;
  clearTimeout(timer);
  timer = 0;
  find("#open-fault").textContent = "";
  refused = false;
  try {
    await draft();
    const news = await orWithout(keepChanges); // also of what was typed while the draft was begun
    if (!timer) find("#kept").textContent = `${gate() ? "All changes are kept." : "Everything else is kept."}${elsewhere(news)}`; // and none was made since
  } catch (error) {
    refused = true;
    gate();
    explain("#open-fault", error);
  }
}

async function keepChanges() {
  const changes = unkept();
  if (!Object.keys(changes).length) return [];
  turn += 1;
  const now = await request("PATCH", root(), nested(changes), lost).finally(() => { turn += 1; });
  Object.assign(agreed, changes);
  return show(now, changes);
}

/** Ask for something that is replied to with the draft, and show that; gives what was changed elsewhere. */
async function ask(method, path, body, patience = {}) {
  const then = turn;
  const now = await request(method, path, body, { ...lost, ...patience });
  return show(then === turn || !status ? now : { ...now, settings: status.settings });
}

/** Show the draft, `sent` being what it was just told; gives what was changed elsewhere. */
function show(now, sent = {}) {
  const first = status === null;
  const given = first && document.body.dataset.draft;
  const mine = first ? {} : unkept();
  const news = first ? [] : fillNews(status.settings, now, { ...mine, ...sent });
  status = now;
  chosen = now.settings.chosen;
  if (given) fill(now); // a new one is as it was typed, also where half a pair is
  else retell(now);
  if (given || !first) agreed = { ...flat(settings(now.settings)), ...only(agreed, mine) };
  if (now.study) { location.replace(`/organize/${now.study}`); return news; }
  const preparing = now.state === "preparing";
  find("#prepared").hidden = !now.items && (preparing || busy || !now.files.length);
  find("#start-over").hidden = preparing || busy;
  find("#inherited").textContent = now.inherited ?? "";
  find("#own-rule").hidden = !now.settings.checks;
  find("#pay").hidden = now.settings.door !== "panel";
  find("#cost").textContent = now.plan.cost ?? "";
  const more = now.items > 0;
  find("#drop").hidden = busy || preparing || (more && now.adds === "nothing");
  find("#drop").classList.toggle("more", more);
  find("#drop-title").textContent = more ? MORE[now.adds] ?? "" : MORE.anything;
  find("#drop-title").hidden = more && now.adds === "texts";
  find("#drop-kinds").hidden = more;
  find("#files-button").textContent = more ? "Add files" : "Choose files";
  find("#files-button").classList.toggle("main", !more);
  find("#folder-button").textContent = more ? "Add a folder" : "Choose a folder";
  find("#by-file").hidden = more && now.adds === "texts";
  find("#paste").textContent = more ? "Add texts" : "Paste texts";
  find("#paste").hidden = more && now.adds === "files";
  find("#no-more").hidden = !more || now.adds !== "nothing";
  find("#sending").hidden = !(busy || preparing);
  find("#items-fault").textContent = now.fault ?? "";
  if (preparing) progress(now.prepared, now.preparing, "pictures and texts prepared");
  showGoOn(now);
  showItems(now);
  const { answers, answers_each: each, minutes_each: minutes, advice } = now.plan;
  find("#plan").textContent = now.items
    ? `${answers === 1 ? "1 answer" : `${number.format(answers)} answers`} in all, about ${number.format(each)} from each person, which takes each about ${minutes === 1 ? "a minute" : `${number.format(minutes)} minutes`}.`
    : "How many answers that makes is shown once there is something to choose from.";
  buys(now);
  dryRunOf(now);
  find("#advice").textContent = advice ?? "";
  find("#advice").hidden = !advice || !now.items;
  boundK(now);
  gate();
  find("#discard").hidden = false;
  find("#preview").disabled = !now.items || preparing;
  if (!timer && Object.keys(unkept()).length) changed(); // what could not be a moment ago can be now
  return news;
}

let priced = ""; // the settings whose quality is shown, or on its way

/** Say what the planned answers buy, once that is simulated. */
async function buys(now) {
  const { k, options, people, budget, explorer, sure, in_flight: out } = now.settings;
  const about = JSON.stringify([now.items, k, options, people, budget, explorer, sure, out, now.plan.answers]);
  if (about === priced) return;
  priced = about;
  find("#buys").textContent = now.items ? "Simulating what that buys …" : "";
  if (!now.items) return;
  const found = await request("GET", `${root()}/quality`, undefined, { ...lost, patience_ms: SIMULATING_MS }).catch((error) => ({ words: error.message }));
  if (about !== priced) return;
  find("#buys").textContent = found.words ?? "";
  find("#buys").classList.toggle("notice", found.suffices === false);
}

/** Offer to prepare what is here, where something is and did not become items: some files failed, or the server was stopped. */
function showGoOn(now) {
  const there = now.files.length + now.carried > 0;
  find("#go-on").hidden = busy || !(rest.length ? there : there && now.state === "collecting");
  find("#go-on").textContent = rest.length ? "Go on without the rest" : "Prepare what is here";
  find("#send-again").hidden = busy || !rest.length;
}

/** What can be done where there are files and no items: sending may have stopped half-way, or preparing have failed. */
function arrived({ files, adds, state, fault }) {
  if (!files.length || state !== "collecting" || fault || rest.length || adds === "texts") return "Nothing is ready yet.";
  const some = files.length === 1 ? "1 file has" : `${number.format(files.length)} files have`;
  return `${some} arrived. Drop the same ones again to send the rest, or prepare what is here.`;
}

function showItems(now) {
  find("#items-count").textContent = now.items === 1 ? "1 item is ready." : now.items ? `${number.format(now.items)} items are ready.` : arrived(now);
  const left = [...now.left_out, ...passedOver([...offered])];
  const gone = left.reduce((sum, { files }) => sum + files, 0);
  find("#left-count").textContent = gone ? `${number.format(gone)} left out.` : "";
  find("#left-out").hidden = !left.length;
  find("#left-list").replaceChildren(...left.map(({ name, why }) => make("li", { textContent: `${name} ${why}` })));
  showItemCards(now, root(), leaveOut);
  find("#chosen-words").textContent = now.settings.chosen.length ? `${number.format(now.settings.chosen.length)} are chosen from the start. The number to choose counts them.` : "";
}

let leavingOut = Promise.resolve(); // one after another, or the reply to an earlier one would bring an item back

function leaveOut(card) {
  leavingOut = leavingOut.catch(() => {}).then(() => leaveOutNow(card));
  return leavingOut;
}

const leaveOutNow = (card) => order("#items-fault", "DELETE", `${root()}/items/${card.id.split("/").map(encodeURIComponent).join("/")}`);

function progress(done, of, what) {
  find("#sent").textContent = `${number.format(done)} of ${number.format(of)}`;
  find("#sent-words").textContent = what;
  const bar = find("#sent-bar");
  bar.max = of || 1;
  bar.value = done;
}

async function send(files) {
  if (!files.length || busy) return;
  const adds = status?.items ? status.adds : "anything";
  const whole = files.find(({ path }) => WHOLE.test(path));
  if (adds === "texts" || (adds === "files" && whole)) {
    find("#items-fault").textContent = adds === "texts" ? "Files cannot be added to pasted texts: start over to use them." : `${whole.path} is a collection of its own and cannot be added to these files: unpack it and add its pictures, or start over with it.`;
    return;
  }
  busy = true;
  rest = [];
  for (const { path } of files) offered.add(path);
  find("#items-fault").textContent = "";
  try {
    await draft();
    show(status);
    const told = ({ done, of, bytes, total }) => progress(done, of, `files sent, ${megabytes(bytes)} of ${megabytes(total)}`);
    const { failed, fatal } = await sendAll(root(), files, status.files, told);
    rest = failed;
    busy = false;
    if (!failed.length) { await prepare(); return; }
    await ask("GET", root());
    const [{ path, why }] = failed;
    find("#items-fault").textContent = fatal ?? `${failed.length === 1 ? path : `${failed.length} files`} could not be sent: ${why}`;
  } catch (error) {
    explain("#items-fault", error);
  } finally {
    busy = false;
  }
}

async function prepare() {
  rest = [];
  endSending(root());
  await ask("POST", `${root()}/prepare`);
  await watch();
}

/** Follow the preparing to its end. */
async function watch() {
  while (status.state === "preparing") {
    await pause(LOOK_EVERY_MS);
    await ask("GET", root());
  }
  if (status.items) speak(`${status.items} items are ready.`);
}

async function order(where, method, path, body) {
  try {
    return { news: await ask(method, path, body, { patience_ms: SIMULATING_MS }) };
  } catch (error) {
    explain(where, error);
    return null;
  }
}

async function usePasted() {
  if (busy) return;
  find("#items-fault").textContent = "";
  busy = true; // no files come beside them
  try {
    await draft();
    progress(0, 1, "texts sent");
    show(status);
    const texts = find("#texts").value;
    await request("POST", `${root()}/texts`, { texts, more: true }, lost);
    if (find("#texts").value === texts) find("#texts").value = "";
    busy = false;
    await prepare();
  } catch (error) {
    busy = false;
    if (status) show(status);
    explain("#items-fault", error);
  }
}

async function startOver() {
  if (busy) return;
  busy = true; // a file that is sent now might be one that is being taken away
  try {
    progress(0, status.files.length, "files taken away");
    await ask("GET", root()); // in another window files may have come and gone
    for (const [at, { name }] of status.files.entries()) {
      progress(at, status.files.length, "files taken away");
      const gone = request("DELETE", `${root()}/files/${name.split("/").map(encodeURIComponent).join("/")}`, undefined, lost);
      await gone.catch((error) => { if (error.status !== 404) throw error; }); // the reply to the first try may have been lost
    }
  } catch (error) {
    busy = false;
    show(status);
    throw error;
  }
  busy = false;
  [rest, offered] = [[], new Set()];
  endSending(root());
  if (status.carried) await prepare();
  else await ask("GET", root());
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
find("#paste").addEventListener("click", () => { find("#pasting").returnValue = ""; find("#pasting").showModal(); });
find("#pasting").addEventListener("close", () => { if (find("#pasting").returnValue) usePasted(); });
find("#send-again").addEventListener("click", () => send(rest));
const orExplain = (work) => () => work().catch((error) => explain("#items-fault", error));
find("#go-on").addEventListener("click", orExplain(prepare));
find("#start-over").addEventListener("click", orExplain(startOver));
find("#discard").addEventListener("click", () => { find("#discarding").returnValue = ""; find("#discarding").showModal(); });
find("#discarding").addEventListener("close", orExplain(async () => {
  if (!find("#discarding").returnValue) return;
  await request("DELETE", root(), undefined, lost);
  location.assign("/organize?whole=true");
}));
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
  await settled();
  tab.location = `/setup/${status.draft}/preview`;
});
find("#open").addEventListener("click", async () => {
  find("#open").disabled = true;
  await settled();
  if (refused) return;
  const seen = await order("#open-fault", "GET", root());
  if (seen?.news.length) find("#open-fault").textContent = `${elsewhere(seen.news)} Look at it, then open.`;
  if (!gate() || !seen || seen.news.length || timer) return;
  find("#open").disabled = true;
  find("#open-words").textContent = "Opening. The first time takes some seconds.";
  if (!await order("#open-fault", "POST", `${root()}/open`)) gate();
});

dryRun(root, settled);

try {
  await loaded;
  find("#steps").inert = false;
  if (status) await watch();
} catch (error) {
  find("#steps").inert = false;
  explain("#items-fault", error); // it was deleted, or the session is over
}

/** Before there is a draft the fields have the defaults of the server. */
async function fillNew() {
  const defaults = await request("GET", "/api/setup", undefined, lost);
  fill(defaults);
  gate();
  find("#plan").textContent = "How many answers that makes is shown once there is something to choose from.";
}
