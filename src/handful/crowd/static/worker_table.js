// The workers: how much, how fast and at which place they answer, and whether it counts.

import { Folded, reconcile } from "./list_updates.js";
import { find, make } from "./dom.js";

const FEW = 10;
const ENOUGH = 20; // answers before a share of places says anything
const LOPSIDED = 0.25;

/** What each column is sorted by, null where nothing is known; `least`: pressed once, the least comes first. */
const COLUMNS = {
  answers: { key: ({ answers }) => answers },
  skips: { key: ({ skips }) => skips },
  pace: { key: ({ median_ms: pace }) => pace, least: true },
  checks: { key: ({ checks, right }) => (checks ? right / checks : null), least: true },
  sides: { key: ({ left_share: left }, options) => (left === null ? null : Math.abs(left - 1 / options)) },
};

/** Sorts by the column whose heading was pressed, what is worth a look first; pressed again, the other way round. */
class Order {
  #by = null;
  #up = false;

  constructor(table, changed) {
    for (const button of table.querySelectorAll("[data-sort]")) {
      button.addEventListener("click", () => {
        const by = button.dataset.sort;
        this.#up = this.#by === by ? !this.#up : Boolean(COLUMNS[by].least);
        this.#by = by;
        for (const other of table.querySelectorAll("[data-sort]")) {
          other.closest("th").ariaSort = other === button ? (this.#up ? "ascending" : "descending") : "none";
        }
        changed();
      });
    }
  }

  sorted(workers, options) {
    if (!this.#by) return workers;
    const { key } = COLUMNS[this.#by];
    const sign = this.#up ? 1 : -1;
    const unknown = sign * Infinity; // comes last either way
    const rank = (worker) => key(worker, options) ?? unknown;
    return [...workers].sort((a, b) => sign * (rank(a) - rank(b)) || (a.worker < b.worker ? -1 : 1));
  }
}

const SHOWN = {
  all: () => true,
  counts: ({ excluded, admitted }) => !excluded && admitted,
  excluded: ({ excluded }) => excluded,
  outside: ({ excluded, admitted }) => !excluded && !admitted,
};

export class WorkerTable {
  #folded = new Folded(find("#people-more"), FEW, () => this.show(this.#workers));
  #workers = [];
  #excluding = null;
  #options = 2;
  #checked = false;
  #round = 1;
  #answers = 0; // of the open round
  #order = new Order(find("#people-table"), () => this.show(this.#workers));

  /** `order(what, body)` excludes or restores; `meaning(worker)` gives what excluding them would mean. */
  constructor(order, meaning) {
    this.order = order;
    this.meaning = meaning;
    find("#people-filter").addEventListener("change", () => this.show(this.#workers));
    const dialog = find("#excluding");
    dialog.addEventListener("close", () => {
      if (dialog.returnValue === "yes") this.order("exclude", { worker: this.#excluding, reason: find("#reason").value.trim() });
    });
  }

  show(workers, options = this.#options, checked = this.#checked, round = this.#round) {
    this.#round = round;
    find("#people-table [data-sort=answers]").closest("th").title = round === null ? "" : `In all; in small, the share of the answers for pick ${round}`;
    this.#checked = checked;
    find("#people-table").classList.toggle("unchecked", !checked);
    this.#workers = workers;
    this.#options = options;
    find("#people-table [data-sort=sides]").textContent = options === 2 ? "Left / right" : "First card";
    find("#nobody").hidden = workers.length > 0;
    find("#agreement").hidden = workers.length === 0;
    find("#people-table").hidden = workers.length === 0;
    find("#people-filtering").hidden = workers.length === 0;
    this.#answers = round === null ? 0 : workers.reduce((sum, { round_answers: given }) => sum + given, 0);
    const shown = this.#order.sorted(workers.filter(SHOWN[find("#people-filter").value]), options);
    reconcile(find("#people"), this.#folded.of(shown), (line) => line.worker, () => this.#create(), (row, line) => this.#update(row, line));
  }

  #create() {
    const scale = make("span", { className: "scale", ariaHidden: "true" }, make("span"));
    const button = make("button", { type: "button" });
    button.addEventListener("click", () => this.#pressed(button));
    return make("tr", {},
      make("td", { className: "who" }), make("td", { className: "number" }), make("td", { className: "number skips" }), make("td", { className: "number" }), make("td", { className: "number checks" }),
      make("td", { className: "side" }, make("span", { className: "sides" }, scale, make("span"))), make("td", {}, button));
  }

  #update(row, { worker, answers, round_answers: inRound, skips, median_ms: pace, left_share: left, checks, right, admitted, excluded, withdrew, why }) {
    const [who, given, skipped, speed, checked, sides, last] = row.children;
    const short = worker.slice(0, 6);
    row.classList.toggle("excluded", excluded);
    who.textContent = short;
    if (withdrew) who.append(make("small", { textContent: " withdrew" }));
    who.title = why ? `${worker}: ${why}` : worker;
    given.replaceChildren(`${answers}`, make("small", { className: "share-of-round", textContent: this.#answers ? ` ${Math.round((100 * inRound) / this.#answers)}%` : "", title: `${inRound} of the ${this.#answers} answers for pick ${this.#round}` }));
    skipped.textContent = skips;
    speed.textContent = pace === null ? "–" : `${(pace / 1000).toFixed(1)} s`;
    checked.textContent = checks ? `${right} of ${checks}` : "–";
    checked.title = admitted ? "" : "Not admitted: nothing of theirs counts yet.";
    row.classList.toggle("outside", !admitted && !excluded);
    const lopsided = left !== null && answers >= ENOUGH && Math.abs(left - 1 / this.#options) > LOPSIDED;
    const cell = sides.firstElementChild;
    cell.classList.toggle("lopsided", lopsided);
    cell.firstElementChild.style.setProperty("--left", `${100 * (left ?? 0)}%`);
    const share = Math.round(100 * (left ?? 0));
    cell.lastElementChild.textContent = left === null ? "–" : this.#options === 2 ? `${share} / ${100 - share}` : `${share}%`;
    cell.title = this.#options === 2 ? "" : `How often they chose the card shown first; by chance it is ${Math.round(100 / this.#options)}%.`;
    const button = last.firstElementChild;
    button.hidden = withdrew;
    button.textContent = excluded ? "Restore" : "Exclude";
    button.ariaLabel = `${button.textContent} ${short}`;
    button.dataset.worker = worker;
  }

  async #pressed(button) {
    const { worker } = button.dataset;
    if (button.closest("tr").classList.contains("excluded")) {
      this.order("restore", { worker });
      return;
    }
    const meant = await this.meaning(worker);
    if (!meant) return;
    this.#excluding = worker;
    const dialog = find("#excluding");
    find("#excluding-title").textContent = `Exclude ${worker.slice(0, 6)}?`;
    find("#excluding-words").textContent = meant.words;
    find("#reason").value = "";
    dialog.returnValue = "";
    dialog.showModal();
  }
}
