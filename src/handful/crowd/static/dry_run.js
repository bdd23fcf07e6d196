// A dry run of a study that is being set up: simulated people answer, and its result is shown as people would see it.

import { find, pause, speak } from "./dom.js";
import { pickEntry } from "./pick_words.js";
import { Refusal, request } from "./requests.js";

const LOOK_EVERY_MS = 300;
const number = new Intl.NumberFormat();
let shown = ""; // the settings that the dry run on the page is of
let stopping = Promise.resolve(); // a run that is begun before the last one has ended would be ended with it
let runs = 0; // grows with every run that is begun or stopped: replies about an earlier one are not shown

function clear() {
  for (const part of ["#dry-going", "#dry-result", "#dry-stop"]) find(part).hidden = true;
  find("#dry-fault").textContent = "";
  find("#dry-run").hidden = false;
}

function show(run) {
  const going = run.state === "running";
  find("#dry-run").hidden = going;
  find("#dry-stop").hidden = find("#dry-going").hidden = !going;
  find("#dry-result").hidden = run.state !== "done";
  find("#dry-fault").textContent = run.state === "failed" ? run.words : "";
  if (going) {
    find("#dry-words").textContent = `${number.format(run.done)} of ${number.format(run.total)} answers`;
    find("#dry-bar").max = run.total || 1;
    find("#dry-bar").value = run.done;
  }
  if (run.state !== "done") return;
  find("#dry-said").textContent = run.words;
  find("#dry-picks").replaceChildren(...run.summary.picks.map((pick, at) => pickEntry(pick, at + 1)));
  find("#dry-verdict").textContent = run.summary.verdict;
  find("#dry-certificate").textContent = run.summary.certificate;
}

/** Wire the dry run. `root()` is the draft's address; `kept()` resolves once what was typed is stored. */
export function dryRun(root, kept) {
  find("#dry-run").addEventListener("click", async () => {
    clear();
    const run = ++runs;
    try {
      await stopping;
      await kept();
      const about = shown;
      const begun = await request("POST", `${root()}/dry-run`, undefined, { patience_ms: 300_000 });
      const current = () => run === runs && about === shown;
      if (!current()) return;
      show(begun);
      await follow(root, current);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      find("#dry-fault").textContent = error.message;
    }
  });
  find("#dry-stop").addEventListener("click", async () => {
    runs += 1;
    clear();
    stopping = request("DELETE", `${root()}/dry-run`);
    await stopping;
  });
}

async function follow(root, current) {
  for (;;) {
    await pause(LOOK_EVERY_MS);
    const run = await request("GET", `${root()}/dry-run`);
    if (!current()) return;
    show(run);
    if (run.state === "done") speak(run.words);
    if (run.state !== "running") return;
  }
}

/** The draft as it is now: a dry run of other settings or items is shown no longer. */
export function dryRunOf({ settings, items }) {
  const about = JSON.stringify([settings, items]);
  if (about !== shown) clear();
  shown = about;
}
