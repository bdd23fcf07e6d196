// The enlarged view: one card over the whole window. It looks, and chooses only when told to.

import { face, words } from "./item_card.js";
import { find } from "./dom.js";
import { ARROWS, t } from "./language.js";

const LINES = 80; // pixels that a text is scrolled by with one key

export class EnlargedView {
  #dialog = find("#enlarged");
  #other = null; // shows the card so many steps on
  #nth = null; // shows the card of a number
  #choose = null;
  #turn = 0;

  constructor() {
    this.#dialog.addEventListener("keydown", (event) => this.#key(event));
    find("#flip").addEventListener("click", () => this.#other?.(1));
    find("#close-enlarged").addEventListener("click", () => this.#dialog.close());
    find("#choose-enlarged").addEventListener("click", () => {
      this.#dialog.close();
      this.#choose?.();
    });
  }

  get open() {
    return this.#dialog.open;
  }

  /** The question is another one: what shows a card of it, or is about to, makes way. */
  forget() {
    this.#turn += 1;
    if (this.#choose) this.#dialog.close();
  }

  /** Show one card alone. */
  alone(card, label) {
    this.#show(card, label);
  }

  /** Show one card of a question; `choose(place)` answers it. */
  one(cards, at, choose) {
    const other = (step) => this.one(cards, (at + step + cards.length) % cards.length, choose);
    const nth = (number) => number <= cards.length && this.one(cards, number - 1, choose);
    find("#flip").textContent = t(cards.length === 2 ? "flip.other" : "flip.next");
    this.#show(cards[at], t("option.label", { n: at + 1 }), { other, nth, choose: () => choose(at) });
  }

  /** Nothing changes until the picture is there: what is said, seen and chosen is always the same card. */
  async #show(card, label, { other = null, nth = null, choose = null } = {}) {
    const turn = (this.#turn += 1);
    const flipped = this.open;
    const shown = await face(card);
    if (turn !== this.#turn || (flipped && !this.open)) return;
    [this.#other, this.#nth, this.#choose] = [other, nth, choose];
    find("#flip").hidden = !other;
    find("#choose-enlarged").hidden = !choose;
    find(".caption", this.#dialog).textContent = [label, card.caption].filter(Boolean).join(" · ");
    this.#dialog.setAttribute("aria-label", t("enlarged.label", { label, words: words(card).slice(0, 120) }));
    find(".shown", this.#dialog).replaceChildren(shown);
    if (!this.open) {
      this.#dialog.showModal();
      find("#close-enlarged").focus();
    }
  }

  #key(event) {
    if (event.key === " " && !event.repeat) {
      event.preventDefault();
      this.#dialog.close();
    } else if (ARROWS.includes(event.key) && !event.repeat && this.#other) {
      event.preventDefault();
      this.#other(event.key === ARROWS[0] ? -1 : 1);
    } else if (/^[1-9]$/.test(event.key) && !event.repeat && !event.ctrlKey && !event.metaKey && !event.altKey) {
      this.#nth?.(Number(event.key));
    } else if (["ArrowUp", "ArrowDown"].includes(event.key)) {
      event.preventDefault();
      find(".shown", this.#dialog).scrollBy({ top: event.key === "ArrowUp" ? -LINES : LINES });
    }
    event.stopPropagation();
  }
}
