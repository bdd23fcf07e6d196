// Which of the page's sections is seen, and the words of those without a question.

import { all, find, speak } from "./dom.js";
import { t } from "./language.js";
import { pickEntry } from "./pick_words.js";

const GLANCE_MS = 350; // a key that was pressed twice by accident does not turn two pages

let shown = 0;

/** Show one section and hide the others; somebody who listens is taken to its heading. */
export function show(name) {
  const target = find(`#${name}`);
  if (!target.hidden) return;
  shown = performance.now();
  for (const section of all("[data-view]")) section.hidden = section !== target;
  find("[tabindex='-1']", target)?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** Where there is one way on, its keys work from the first moment, wherever the focus is. */
export function goOnByKey() {
  document.addEventListener("keydown", (event) => {
    const onward = find("[data-view]:not([hidden]) .main:not([hidden])");
    const native = event.key === "Enter" && event.target.closest("button, a, input, summary");
    if (!onward || native || find("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!onward.getAttribute("aria-keyshortcuts")?.split(" ").includes(event.key)) return;
    event.preventDefault();
    if (!event.repeat && performance.now() - shown > GLANCE_MS) onward.click();
  });
}

const RESTING = {
  waiting: [t("waiting.title"), t("waiting.text")],
  verifying: [t("verifying.title"), t("verifying.text")],
  skipping: [t("verifying.title"), t("skipping.text")],
  paused: [t("paused.title"), t("paused.text")],
  finished: [t("finished.title"), t("finished.text")],
};

/** The organizer's own thanks, if there are any. */
export function sayThanks(thanks) {
  if (thanks) RESTING.finished = [t("finished.title"), thanks];
}

const ALONE = [t("alone.title"), t("alone.text")];

/** Nothing to answer: say why, and whether it is worth waiting. */
export function quiet({ state, progress, verifying, wait_s: wait }, solo) {
  const why = wait ? "skipping" : verifying ? "verifying" : "waiting";
  const [title, text] = solo && state === "waiting" ? ALONE : RESTING[state === "waiting" ? why : state];
  const given = t("given", { n: progress.answered });
  find("#quiet-title").textContent = title;
  find("#quiet-text").textContent = progress.answered ? `${text}\n${given}` : text;
  find("#quiet-dots").hidden = state === "finished";
  if (find("#quiet").hidden) show("quiet");
  else speak(`${title}. ${text}`);
}

/** Something stands in the way of everything. */
export function stuck(title, text) {
  find("#quiet-title").textContent = title;
  find("#quiet-text").textContent = text;
  find("#quiet-dots").hidden = true;
  show("quiet");
}

/** All that was asked for is answered: thanks, and a way to go on, where `more` is wanted, or to leave. */
export function sayEnough({ show_result: shows, thanks }, answered, more = true) {
  find("#enough-title").textContent = t("finished.title");
  find("#enough-text").textContent = [t("given", { n: answered }), thanks ?? t(more ? "goal.reached" : "finished.text")].join(" ");
  find("#go-on").hidden = !more;
  find("#enough-later").textContent = t("enough.later");
  find("#enough-later").hidden = !shows;
  show("enough");
}

/** Somebody leaves who has given enough: what the organizer thanks them with stays. */
export function sayGoodbye({ show_result: shows, thanks }) {
  const leaving = [t("enough.close"), ...(shows ? [t("enough.later")] : [])].join(" ");
  stuck(t("finished.title"), thanks ? `${thanks}\n${leaving}` : leaving);
}

/** Who may sees what came out. The contact sheet is fetched now: the server may stop. */
export async function finish(root, summary, { solo = true, thanks = null } = {}) {
  if (!summary) return;
  find("#picks").replaceChildren(...summary.picks.map((pick, at) => pickEntry(pick, at + 1)));
  find("#summary-certificate").textContent = summary.certificate;
  find("#summary-title").textContent = solo ? t("summary.title") : t("summary.title.crowd");
  find("#summary-text").textContent = solo ? t("summary.folder") : thanks ?? summary.verdict;
  show("summary");
  const response = await fetch(`${root}sheet.png`);
  if (!response.ok) return;
  const sheet = find("#sheet");
  sheet.href = URL.createObjectURL(await response.blob());
  sheet.download = `${summary.theme}.png`;
  sheet.hidden = false;
}
