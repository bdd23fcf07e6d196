// The organizer's page: one study, live.

import "./logout.js";
import { DoneNotice, Rounds } from "./continuing.js";
import { find, speak, toast, untoast } from "./dom.js";
import { WorkerTable } from "./worker_table.js";
import { ItemRanking, showSummary } from "./item_ranking.js";
import { keys } from "./keys.js";
import { pickEntry } from "./pick_words.js";
import { agreement } from "./agreement.js";
import { changingWords } from "./changing_words.js";
import { Recruiting } from "./recruiting.js";
import { showCourse } from "./course.js";
import { publishing } from "./publishing.js";
import { groups } from "./groups.js";
import { inviting } from "./inviting.js";
import { Refusal, request, sayLost } from "./requests.js";

const study = document.body.dataset.study;
const address = `/api/organize/${study}`;
const STATES = { open: "open", paused: "paused", finished: "finished" };
const FROM_PANEL = "People come from the panel, which adds their ids to this address. Without them it shows a preview that counts nothing.";
const ONLY_HERE = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)
  ? "Only this machine can open this link; start handful serve with --host 0.0.0.0 or --public-url to let others in."
  : null;
const SHARE = {
  open: ONLY_HERE ?? "Anyone with this link can answer.",
  paused: ONLY_HERE ?? "Anyone with this link can answer once the study is open again.",
  finished: "Nobody can answer any more; the link says so.",
};
const number = new Intl.NumberFormat();

publishing(study);
keys(address);
const invitations = inviting(address);
groups(address, order);
const race = new ItemRanking();
const people = new WorkerTable(order);
const recruiting = new Recruiting(address);
agreement(address);
if (find("#words-part")) changingWords(address, study);
const rounds = new Rounds(address, order);
const notice = new DoneNotice();

function show(status) {
  const { state, answers, budget } = status;
  if (find("#state").dataset.state !== state) {
    if (find("#state").dataset.state) speak(`The study is ${STATES[state]}.`);
    find("#state").dataset.state = state;
    find("#state").textContent = status.ended && state === "finished" ? `finished: ${status.ended}` : STATES[state];
  }
  find("#open").hidden = state !== "paused";
  find("#pause").hidden = state !== "open";
  find("#close").hidden = state === "finished";
  find("#answers").textContent = number.format(answers);
  find("#budget").textContent = budget === null ? "" : `of ${number.format(budget)}`;
  find("#spent").hidden = budget === null;
  find("#spent").max = budget ?? 1;
  find("#spent").value = answers;
  find("#pace").textContent = number.format(Math.round(status.answers_per_minute));
  find("#active").textContent = number.format(status.active_workers);
  find("#pick-label").textContent = state === "finished" ? "Picked" : "Pick";
  find("#round").textContent = state === "finished" ? status.chosen.length : Math.min(status.round, status.k);
  find("#of-k").textContent = `of ${status.k}`;
  find("#flight").textContent = state === "finished" ? "–" : number.format(status.in_flight);
  find("#summary-title").textContent = state === "finished" ? "The summary" : "The summary so far";
  const invited = status.door === "invitations" && state !== "finished";
  const recruited = status.recruiting && state !== "finished";
  find("#share-words").textContent = invited ? "Only people with an invitation get in." : recruited ? FROM_PANEL : SHARE[state];
  for (const line of [".share", "#short-line"]) find(line).hidden = state === "finished" || invited;
  find("#share-title ~ .code").hidden = invited || state === "finished";
  find("section[aria-labelledby=recruiting-title]").hidden = state === "finished" && !status.recruiting;
  find("#verdict").textContent = status.verdict;
  find("#verdict").hidden = !status.verdict;
  find("#certificate").textContent = status.certificate;
  for (const line of ["#sheet-line", "#report-line", "#picks-line"]) find(line).hidden = status.chosen.length === 0;
  find("#stuck").hidden = !status.stuck;
  find("#warning").hidden = !status.warning;
  find("#warning").textContent = status.warning ?? "";
  find("#settings").textContent = settings(status);
  showSummary(status);
  showPicks(status);
  showCourse(status);
  race.show(status);
  people.show(status.workers, status.options, status.checked);
  invitations(status.door);
  rounds.show(status);
  notice.show(status);
  if (find("#show-result")) find("#show-result").checked = status.show_result;
  if (document.activeElement !== find("#retention")) find("#retention").value = status.retention_days;
  recruiting.show(status.recruiting ?? null, status.workers);
}

function settings({ explorer, most_in_flight: most, lease_s: lease, circumstances }) {
  const said = circumstances.map((one) => ` ${one[0].toUpperCase()}${one.slice(1)}.`).join("");
  return `Questions are chosen by ${explorer}. At most ${number.format(most)} may be out at once, so that everybody has something to do; one that is not answered within ${number.format(lease)} seconds goes to somebody else.${said}`;
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
  try {
    show(await request("POST", `${address}/${what}`, body, { lost: sayLost, back: untoast, repeats }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.status === 401) location.assign("/organize/login");
    else toast(error.message, 8);
  }
}

function listen() {
  const source = new EventSource(`${address}/events`);
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
  find("#closing").returnValue = "";
  find("#closing").showModal();
});
find("#closing").addEventListener("close", () => find("#closing").returnValue === "yes" && order("close"));

find("#lift").addEventListener("click", () => request("POST", `${address}/lift`, { cap: "network" }));
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
  try {
    await navigator.clipboard.writeText(link.value);
  } catch { // without https the clipboard is closed; the older way is still there
    link.select();
    document.execCommand("copy");
  }
  find("#copy").textContent = "Copied";
  speak("The link was copied.");
  setTimeout(() => { find("#copy").textContent = "Copy"; }, 2000);
});

listen();
