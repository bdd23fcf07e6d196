// The workers: how much, how fast and at which place they answer, and whether it counts.

import { Folded, reconcile } from "./list_updates.js";
import { find, make } from "./dom.js";

const FEW = 10;
const ENOUGH = 20; // answers before a share of places says anything
const LOPSIDED = 0.25;

export class WorkerTable {
  #folded = new Folded(find("#people-more"), FEW, () => this.show(this.#workers));
  #workers = [];
  #excluding = null;
  #options = 2;

  /** `order(what, body)` excludes or restores. */
  constructor(order) {
    this.order = order;
    const dialog = find("#excluding");
    dialog.addEventListener("close", () => {
      if (dialog.returnValue === "yes") this.order("exclude", { worker: this.#excluding, reason: find("#reason").value.trim() });
    });
  }

  show(workers, options = this.#options) {
    this.#workers = workers;
    this.#options = options;
    find("#nobody").hidden = workers.length > 0;
    find("#people-table").hidden = workers.length === 0;
    reconcile(find("#people"), this.#folded.of(workers), (line) => line.worker, () => this.#create(), (row, line) => this.#update(row, line));
  }

  #create() {
    const scale = make("span", { className: "scale", ariaHidden: "true" }, make("span"));
    const button = make("button", { type: "button", className: "owns" });
    button.addEventListener("click", () => this.#pressed(button));
    return make("tr", {},
      make("td", { className: "who" }), make("td", { className: "number" }), make("td", { className: "number skips" }), make("td", { className: "number" }),
      make("td", {}, make("span", { className: "sides" }, scale, make("span"))), make("td", {}, button));
  }

  #update(row, { worker, answers, skips, median_ms: pace, left_share: left, excluded }) {
    const [who, given, skipped, speed, sides, last] = row.children;
    const short = worker.slice(0, 6);
    row.classList.toggle("excluded", excluded);
    who.textContent = short;
    who.title = worker;
    given.textContent = answers;
    skipped.textContent = skips;
    speed.textContent = pace === null ? "–" : `${(pace / 1000).toFixed(1)} s`;
    const lopsided = left !== null && answers >= ENOUGH && Math.abs(left - 1 / this.#options) > LOPSIDED;
    const cell = sides.firstElementChild;
    cell.classList.toggle("lopsided", lopsided);
    cell.firstElementChild.style.setProperty("--left", `${100 * (left ?? 0)}%`);
    cell.lastElementChild.textContent = left === null ? "–" : `${Math.round(100 * left)} / ${100 - Math.round(100 * left)}`;
    const button = last.firstElementChild;
    button.textContent = excluded ? "Restore" : "Exclude";
    button.ariaLabel = `${button.textContent} ${short}`;
    button.dataset.worker = worker;
  }

  #pressed(button) {
    const { worker } = button.dataset;
    if (button.closest("tr").classList.contains("excluded")) {
      this.order("restore", { worker });
      return;
    }
    this.#excluding = worker;
    const dialog = find("#excluding");
    find("#reason").value = "";
    dialog.returnValue = "";
    dialog.showModal();
  }
}
