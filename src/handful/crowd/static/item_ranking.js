// The items: what is chosen, and who is still in the race of the open round.

import { miniature } from "./item_card.js";
import { Folded, reconcile } from "./list_updates.js";
import { find, make } from "./dom.js";

const FEW = 15;
const IN_A_ROW = 6; // a summary of so many stands in one row, or on a narrow page in two
const rounded = (x) => x.toFixed(2);
const roundedDown = (x) => (Math.floor(100 * x) / 100).toFixed(2);
const roundedUp = (x) => (Math.ceil(100 * x) / 100).toFixed(2);

/** The numbered summary, with rooms for what is still to come. */
export function showSummary({ chosen, k, state }) {
  const toCome = state === "finished" ? 0 : Math.max(0, k - chosen.length);
  const rooms = Array.from({ length: toCome }, (_, at) => ({ room: chosen.length + at + 1 }));
  const list = find("#summary");
  if (k > 1 && k <= IN_A_ROW) {
    list.style.setProperty("--in-a-row", Math.max(3, k));
    list.style.setProperty("--in-half-a-row", k > 3 ? Math.ceil(k / 2) : 3);
  }
  reconcile(list, [...chosen, ...rooms], (line) => (line.room ? `room ${line.room}` : line.id), (line) => {
    if (line.room) {
      return make("li", { className: "room" }, make("div", { className: "face", textContent: line.room }));
    }
    const face = miniature(line.card);
    if (line.card.kind === "picture") face.alt = line.card.alt || line.name;
    return make("li", {}, make("div", { className: "face" }, face), make("p", { className: "name", textContent: line.name, title: line.name }), make("span", { className: "place", textContent: line.chosen }));
  }, () => {});
}

/** The items that are not chosen, best first, on one scale. */
export class ItemRanking {
  #folded = new Folded(find("#race-more"), FEW, () => this.show(this.#status));
  #status = null;

  show(status) {
    this.#status = status;
    const over = status.state === "finished";
    find("#race-title").textContent = over ? "Not chosen" : `Round ${status.round}: who is next?`;
    find("#race-words").textContent = over ? "" : sentence(status.items);
    find("#legend").hidden = over;
    const scale = new Scale(status.items);
    reconcile(find("#race"), this.#folded.of(status.items), (line) => line.id, create, (item, line) => update(item, line, scale, over));
  }
}

function sentence(items) {
  const leader = items.find((line) => line.leader);
  const others = items.filter((line) => line.contender && !line.leader).length;
  if (!leader) return "No answer has counted in this round yet.";
  const rest = others === 0 ? "nobody else can win any more" : others === 1 ? "one other may still win" : `${others} others may still win`;
  return `${leader.name} leads; ${rest}.`;
}

/** One scale for all bars, and the line that a bar must reach. */
class Scale {
  constructor(items) {
    const ends = items.flatMap((line) => [line.lower, line.upper]).filter((x) => x !== null);
    this.low = Math.min(...ends);
    this.span = Math.max(...ends) - this.low || 1;
    this.floor = Math.max(...items.filter((line) => line.contender && line.lower !== null).map((line) => line.lower));
  }

  at(x) {
    return `${Math.min(100, Math.max(0, (100 * (x - this.low)) / this.span)).toFixed(2)}%`;
  }
}

/** A text has no face: it would say the same as its name. */
function create(line) {
  const bar = make("div", { className: "interval", role: "img" }, ...["bar", "floor", "mean"].map((part) => make("span", { className: part })));
  const words = make("div", {}, make("p", { className: "name", textContent: line.name, title: line.id }), make("p", { className: "tag" }));
  const face = line.card.kind === "text" ? [] : [make("div", { className: "face" }, miniature(line.card))];
  return make("li", {}, ...face, words, bar, make("p", { className: "count" }));
}

function update(item, line, scale, over) {
  item.className = over ? "" : line.leader ? "leader" : line.contender ? "" : "out";
  find(".tag", item).textContent = over ? "" : line.leader ? "leads" : line.contender ? "may still win" : "behind";
  find(".count", item).textContent = over ? "" : line.answers === 1 ? "1 answer" : `${line.answers} answers`;
  const bar = find(".interval", item);
  const known = line.mean !== null && line.lower !== null && line.upper !== null;
  bar.hidden = over;
  bar.classList.toggle("unknown", !known);
  bar.ariaLabel = known ? `best guess ${rounded(line.mean)}, between ${roundedDown(line.lower)} and ${roundedUp(line.upper)}` : "not known yet";
  if (!known) return;
  for (const [name, value] of [["--from", line.lower], ["--to", line.upper], ["--at", line.mean], ["--floor", scale.floor]]) {
    bar.style.setProperty(name, scale.at(value));
  }
}
