// More answers, a new study from here, and a notice when a study is done.

import { find, make, toast } from "./dom.js";
import { Refusal, request } from "./requests.js";

const ENDED = {
  rule: "decided",
  budget: "its share of answers was used",
  alone: "nothing else was left",
  closed: "cut short when the study was finished",
  filled: "filled in from what was known",
};
const ONCE = { repeats: false };
const COPYING_MS = 120_000; // a new study takes copies of the items
const number = new Intl.NumberFormat();

const answersOf = ({ answers, left_out }) =>
  `${number.format(answers)} ${answers === 1 ? "answer" : "answers"}${left_out ? `, of which ${number.format(left_out)} no longer count` : ""}`;

/** The list of rounds, and what goes on from them. */
export class Rounds {
  #address;

  constructor(address, order) {
    this.#address = address;
    find("#from-here")?.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#newStudy(new FormData(event.target).get("items") === "picks");
    });
    find("#extending")?.addEventListener("submit", (event) => {
      event.preventDefault();
      order("extend", { answers: Number(find("#more-answers").value) }, ONCE);
      find("#more-answers").value = "";
    });
  }

  show({ rounds, state }) {
    find("#rounds-part").hidden = rounds.length === 0;
    const lines = rounds.map((one) => `${one.round}. ${one.name}: ${answersOf(one)}, ${ENDED[one.ended] ?? one.ended}`);
    const now = JSON.stringify(lines);
    if (find("#more-part")) find("#more-part").hidden = state === "finished";
    if (find("#rounds").dataset.shown === now) return;
    find("#rounds").dataset.shown = now;
    find("#rounds").replaceChildren(...lines.map((text) => make("li", { textContent: text })));
  }

  async #newStudy(picksAlone) {
    try {
      const items = picksAlone ? [] : null;
      const { draft } = await request("POST", `${this.#address}/new-study`, { items }, { ...ONCE, patience_ms: COPYING_MS });
      location.assign(`/setup/${draft}`);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(error.message, 8);
    }
  }
}

/** Say that a study is done when it was seen running: on the page, and in the tab's title. */
export class DoneNotice {
  #was = "";
  #title = document.title;

  show({ state, chosen, answers }) {
    const done = state === "finished" && this.#was !== "" && this.#was !== "finished";
    if (done) {
      find("#done").textContent = `Done: ${chosen.length} chosen with ${number.format(answers)} answers.`;
      document.title = `✓ done · ${this.#title}`;
    } else if (state !== "finished") {
      document.title = this.#title;
    }
    find("#done").hidden = state !== "finished" || !find("#done").textContent;
    this.#was = state;
  }
}
