// The organizer's page: one study, live.

import "./logout.js";
import { DoneNotice, Rounds } from "./continuing.js";
import { NOT_COPIED, copy, find, make, speak, toast, untoast } from "./dom.js";
import { WorkerTable } from "./worker_table.js";
import { ItemRanking, showSummary } from "./item_ranking.js";
import { key } from "./key.js";
import { pickEntry } from "./pick_words.js";
import { agreement } from "./agreement.js";
import { changingWords } from "./changing_words.js";
import { Recruiting } from "./recruiting.js";
import { showCourse } from "./course.js";
import { publishing } from "./publishing.js";
import { inviting } from "./inviting.js";
import { Refusal, request, sayLost } from "./requests.js";

const study = document.body.dataset.study;
const address = `/api/organize/${study}`;
const STATES = { open: "open", paused: "paused", finished: "finished" };
const FROM_PANEL = "People come from the panel, which adds their ids to this address. Without them it shows a preview that counts nothing.";
const NO_PANEL_YET = "People come from a panel, and none is there yet: begin one under Recruiting, or run handful recruit panel. Until then this address shows a preview that counts nothing.";
const ONLY_HERE = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)
  ? "Only this machine can open this link. For others, start handful serve with --host 0.0.0.0 or --public-url, and open this page by the address that it prints."
  : null;
const SHARE = {
  open: ONLY_HERE ?? "Anyone with this link can answer.",
  paused: ONLY_HERE ?? "Anyone with this link can answer once the study is open again.",
  finished: "Nobody can answer any more; the link says so.",
};
const number = new Intl.NumberFormat();

const published = publishing(study);
key();
const invitations = inviting(address);
const race = new ItemRanking();
const people = new WorkerTable(order, (worker) => heeded(() => request("GET", `${address}/exclude?${new URLSearchParams({ worker })}`)));
const recruiting = new Recruiting(address);
agreement(address);
if (find("#words-part")) changingWords(address, study);
const rounds = new Rounds(address, order);
const notice = new DoneNotice();
let newest = 0; // the turn of the status that is shown: an earlier one may come later
let kept = {}; // of the fields that are also typed into, what the server said last

/** Set a field where the server says something new: until then it may hold what is being typed. */
function follow(selector, property, value) {
  const field = find(selector);
  if (!field || kept[selector] === value) return;
  kept[selector] = value;
  field[property] = value;
}

function show(status) {
  if (status.turn < newest) return;
  newest = status.turn;
  const { state, answers, budget } = status;
  if (find("#state").dataset.state !== state) {
    if (find("#state").dataset.state) speak(`The study is ${STATES[state]}.`);
    find("#state").dataset.state = state;
    find("#state").textContent = status.ended && state === "finished" ? `finished: ${status.ended}`.replace("finished: the study was finished", "finished") : STATES[state];
  }
  find("#open").hidden = state !== "paused";
  find("#pause").hidden = state !== "open";
  find("#close").hidden = state === "finished";
  find("#close").dataset.unasked = status.unasked;
  find("#answers").textContent = number.format(answers);
  find("#budget").textContent = budget === null ? "" : `of ${number.format(budget)}`;
  find("#spent").hidden = budget === null;
  find("#spent").max = budget ?? 1;
  find("#spent").value = answers;
  find("#pace").textContent = state === "finished" ? "–" : number.format(Math.round(status.answers_per_minute));
  find("#active").textContent = state === "finished" ? "–" : number.format(status.active_workers);
  find("#pick-label").textContent = state === "finished" ? "Picked" : "Pick";
  find("#round").textContent = state === "finished" ? status.chosen.length : Math.min(status.round, status.k);
  find("#of-k").textContent = `of ${status.k}`;
  find("#flight").textContent = state === "finished" ? "–" : number.format(status.in_flight);
  find("#summary-title").textContent = state === "finished" ? "The summary" : "The summary so far";
  const invited = status.door === "invitations" && state !== "finished";
  const recruited = (status.recruiting || status.door === "panel") && state !== "finished";
  const panel = status.recruiting ? FROM_PANEL : NO_PANEL_YET;
  find("#share-words").textContent = invited ? "Only people with an invitation get in." : recruited ? panel : SHARE[state];
  find(".share").hidden = state === "finished" || invited;
  for (const line of ["#short-line", "#share-title ~ .code"]) find(line).hidden = state === "finished" || invited || recruited;
  find("section[aria-labelledby=recruiting-title]").hidden = !status.recruiting && state === "finished";
  find("#verdict").textContent = status.verdict;
  find("#verdict").hidden = !status.verdict;
  find("#certificate").textContent = status.certificate;
  for (const line of ["#sheet-line", "#report-line", "#picks-line"]) find(line).hidden = status.chosen.length === 0;
  for (const cap of ["network", "person"]) find(`#stuck-${cap}`).hidden = status.stuck !== cap;
  showSettings(settings(status));
  showSummary(status);
  showPicks(status);
  showCourse(status);
  race.show(status);
  people.show(status.workers, status.options, status.checked, status.state === "finished" ? null : status.round);
  invitations(status.door);
  find("#door-part").hidden = status.door === null || state === "finished";
  if (status.door) follow("#door-kind", "value", status.door);
  allowShare();
  rounds.show(status);
  published(status);
  notice.show(status);
  follow("#show-result", "checked", status.show_result);
  follow("#retention", "value", status.retention_days);
  recruiting.show(status.recruiting ?? null, status.workers);
}

function settings({ explorer, most_in_flight: most, lease_s: lease, circumstances }) {
  const said = circumstances.map((one) => ` ${one[0].toUpperCase()}${one.slice(1)}.`).join("");
  return `Questions are chosen by ${explorer}. At most ${number.format(most)} may be out at once, so that everybody has something to do; one that is not answered within ${number.format(lease)} seconds goes to somebody else.${said}`;
}

/** Only on an open link there is a share to say. */
function allowShare() {
  find("#door-share").disabled = find("#door-kind").value !== "open";
}

const HASH = /\b([0-9a-f]{64})\b/;

/** Say the settings; a hash is shown by its beginning, and copied whole. */
function showSettings(words) {
  const place = find("#settings");
  if (place.dataset.said === words) return;
  place.dataset.said = words;
  place.replaceChildren(...words.split(HASH).map((part) => (HASH.test(part) ? shortHash(part) : part)));
}

function shortHash(hash) {
  const button = make("button", { type: "button", className: "quiet hash", textContent: `${hash.slice(0, 12)}…`, title: `${hash}: press to copy`, ariaLabel: `Copy the hash ${hash}` });
  button.addEventListener("click", async () => {
    const copied = await copy(hash, button);
    toast(copied ? "Copied." : NOT_COPIED);
    if (copied) return;
    const whole = make("code", { textContent: hash });
    button.replaceWith(whole);
    getSelection().selectAllChildren(whole);
  });
  return button;
}

/** At the end the picks are shown large, with what is said of each. */
function showPicks({ state, picks }) {
  const over = state === "finished" && picks.length > 0;
  find("#summary").hidden = over;
  find("#picks").hidden = !over;
  const now = JSON.stringify(picks);
  if (!over || find("#picks").dataset.shown === now) return;
  find("#picks").dataset.shown = now;
  find("#picks").replaceChildren(...picks.map((pick, at) => pickEntry(pick, at + 1)));
}

async function order(what, body, { repeats = true } = {}) {
  const status = await heeded(() => request("POST", `${address}/${what}`, body, { lost: sayLost, back: untoast, repeats }));
  if (status) show(status);
}

/** What was asked for; where it is refused, why is said, and there is nothing. */
async function heeded(asked) {
  try {
    return await asked();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 401) location.assign("/organize/login");
    else toast(error.message, 8);
    return null;
  }
}

function listen() {
  const source = new EventSource(`${address}/events`);
  source.addEventListener("open", () => { newest = 0; }); // a server that was started again counts from the beginning
  source.addEventListener("status", (event) => {
    untoast();
    show(JSON.parse(event.data));
  });
  source.addEventListener("error", async () => {
    sayLost(false);
    if (source.readyState !== EventSource.CLOSED) return;
    source.close();
    const back = await request("GET", address).catch((error) => error);
    if (back instanceof Refusal && back.status === 401) location.assign("/organize/login");
    else setTimeout(listen, 2000);
  });
}

find("#open").addEventListener("click", () => order("open"));
find("#pause").addEventListener("click", () => order("pause"));
find("#close").addEventListener("click", () => {
  const unasked = Number(find("#close").dataset.unasked);
  find("#closing-filled").textContent = unasked > 0 ? `${number.format(unasked)} of the picks ${unasked === 1 ? "was" : "were"} not asked about yet: ${unasked === 1 ? "it is" : "they are"} filled in from what the answers so far tell, and marked as such.` : "";
  find("#closing").returnValue = "";
  find("#closing").showModal();
});
find("#closing").addEventListener("close", () => find("#closing").returnValue === "yes" && order("close"));

find("#door-kind").addEventListener("change", allowShare);
find("#door").addEventListener("submit", (event) => {
  event.preventDefault();
  const kind = find("#door-kind").value;
  order("door", { kind, share: kind === "open" ? Number(find("#door-share").value) / 100 : null });
});
find("#show-result")?.addEventListener("change", (event) => order("words", { show_result: event.target.checked }));
find("#retaining").addEventListener("submit", (event) => {
  event.preventDefault();
  order("words", { retention_days: Number(find("#retention").value) });
});

find("#link").value = `${location.origin}/s/${study}`;
find("#short").textContent = location.host + find("#short").dataset.path;
find("#link").addEventListener("focus", () => find("#link").select());
find("#copy").addEventListener("click", async () => {
  const link = find("#link");
  if (!(await copy(link.value, link))) {
    toast(NOT_COPIED, 8);
    return;
  }
  find("#copy").textContent = "Copied";
  speak("The link was copied.");
  setTimeout(() => { find("#copy").textContent = "Copy"; }, 2000);
});

listen();
