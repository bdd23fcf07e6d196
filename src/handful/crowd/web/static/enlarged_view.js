// The enlarged view: one card over the whole window. It looks, and chooses only when told to.

import { face, words } from "./item_card.js";
import { find } from "./dom.js";
import { ARROWS, t } from "./language.js";

export class EnlargedView {
  #dialog = find("#enlarged");
  #other = null;
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
    this.#show(card, label, null, null);
  }

  /** Show one card of a question; `choose(place)` answers it. */
  one(cards, at, choose) {
    const other = (step) => this.one(cards, (at + step + cards.length) % cards.length, choose);
    find("#flip").textContent = t(cards.length === 2 ? "flip.other" : "flip.next");
    this.#show(cards[at], t("option.label", { n: at + 1 }), other, () => choose(at));
  }

  /** Nothing changes until the picture is there: what is said, seen and chosen is always the same card. */
  async #show(card, label, other, choose) {
    const turn = (this.#turn += 1);
    const flipped = this.open;
    const shown = await face(card);
    if (turn !== this.#turn || (flipped && !this.open)) return;
    [this.#other, this.#choose] = [other, choose];
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
    }
    event.stopPropagation();
  }
}
