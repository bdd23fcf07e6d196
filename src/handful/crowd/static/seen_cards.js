// Which cards of a question have been in view, and a line above the bar at the bottom that says how many lie below.

import { find } from "./dom.js";
import { t } from "./language.js";

const ENOUGH = 80; // pixels of a card that show what it is; of a smaller one, half of it

export class SeenCards {
  #cards = [];
  #seen = new Set();
  #bar = find("#question .bottom");
  #below = find("#below");

  constructor() {
    addEventListener("scroll", () => this.look(), { passive: true });
    this.#below.addEventListener("click", () => this.bring(this.#cards.find((card) => !this.#seen.has(card))));
  }

  /** The cards of another question, which is read from its top. */
  begin(cards) {
    this.#cards = [...cards];
    this.#seen.clear();
    scrollTo({ top: 0, behavior: "instant" });
    this.look();
    const focused = this.#cards.find((card) => card.contains(document.activeElement));
    if (focused && !this.#seen.has(focused)) find("#prompt").focus({ preventScroll: true }); // Enter chooses nothing that was not seen
  }

  has(card) {
    return this.#seen.has(card);
  }

  /** Scroll to a card, and mark it as the one that Enter chooses. */
  bring(card) {
    if (!card) return;
    card.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth" });
    find(".choose", card).focus({ preventScroll: true });
  }

  /** Note what is in view now. */
  look() {
    const bottom = this.#bar.getBoundingClientRect().top;
    for (const card of this.#cards) {
      const box = card.getBoundingClientRect();
      const inView = Math.min(box.bottom, bottom) - Math.max(box.top, 0);
      if (box.height && inView >= Math.min(ENOUGH, box.height / 2)) this.#seen.add(card);
    }
    const left = this.#cards.length - this.#seen.size;
    this.#below.hidden = left === 0;
    if (left) find("span", this.#below).textContent = t("more.below", { n: left });
  }
}
