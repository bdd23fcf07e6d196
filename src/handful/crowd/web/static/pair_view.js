// Two cards side by side, the strip of what is chosen, and the ways to answer: keys, clicks and taps.

import { face, miniature, words } from "./item_card.js";
import { EnlargedView } from "./enlarged_view.js";
import { all, find, make } from "./dom.js";

const SIDES = ["left", "right"];
const KEYS = { ArrowLeft: "left", 1: "left", ArrowRight: "right", 2: "right" };
const ARM_AFTER_MS = 180; // longer than the second half of a double click, shorter than a glance
const MOST_ROOMS = 8;

export class PairView {
  #enlarged = new EnlargedView();
  #cards = Object.fromEntries(SIDES.map((side) => [side, find(`#${side}`)]));
  #pair = null;
  #armed = false;
  #turn = 0;
  #watch = new Stopwatch();

  chosen = () => {}; // called with the side and the milliseconds, once each time the pair is armed
  retry = () => {}; // called when a picture that could not be loaded should be tried again

  constructor() {
    for (const side of SIDES) {
      const choose = find(".choose", this.#cards[side]);
      choose.addEventListener("click", (event) => event.detail !== 2 && this.choose(side)); // 2: a double click
      choose.addEventListener("keydown", (event) => event.key === "Enter" && event.repeat && event.preventDefault());
      // The space bar enlarges, also when a click has left the focus here; Enter chooses.
      choose.addEventListener("keyup", (event) => event.key === " " && event.preventDefault());
      find(".magnify", this.#cards[side]).addEventListener("click", () => this.enlarge(side));
    }
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  get pair() {
    return this.#pair;
  }

  choose(side) {
    if (!this.#armed) return;
    this.disarm();
    this.#enlarged.forget();
    this.#cards[side].classList.add("picked");
    this.chosen(side, this.#watch.read());
  }

  /** Show a pair once both faces are ready. False if another one was to be shown meanwhile. */
  async show(pair, { before = null } = {}) {
    this.disarm();
    const turn = ++this.#turn;
    const faces = await Promise.all(SIDES.map((side) => this.#faceOf(pair, side)));
    if (turn !== this.#turn) return false;
    if (pair.token !== this.#pair?.token) this.#enlarged.forget();
    this.#pair = pair;
    find("#pair").dataset.question = pair.token ?? "";
    this.#strip(pair);
    SIDES.forEach((side, at) => {
      const card = this.#cards[side];
      find(".shown", card).replaceChildren(faces[at]);
      find(".caption", card).textContent = pair[side].caption;
      card.classList.toggle("reading", pair[side].kind === "text");
      card.classList.remove("picked");
      card.classList.toggle("before", before === side);
    });
    return !faces.some((one) => one.classList.contains("broken"));
  }

  /** Let the pair be answered, a moment after it has been painted. */
  arm() {
    const turn = this.#turn;
    requestAnimationFrame(() => setTimeout(() => {
      if (turn !== this.#turn) return;
      this.#armed = true;
      this.#watch.start();
      for (const side of SIDES) this.#cards[side].classList.remove("picked");
      for (const button of all(".choose")) button.setAttribute("aria-disabled", "false");
    }, ARM_AFTER_MS));
  }

  disarm() {
    this.#turn += 1;
    this.#armed = false;
    for (const button of all(".choose")) button.setAttribute("aria-disabled", "true");
  }

  enlarge(side) {
    if (!this.#pair || this.#enlarged.open) return;
    const pair = this.#pair;
    this.#enlarged.side(pair, side, (picked) => pair === this.#pair && this.choose(picked));
  }

  async #faceOf(pair, side) {
    try {
      return await face(pair[side]);
    } catch {
      const again = make("button", { type: "button", textContent: "Try again" });
      again.addEventListener("click", () => this.retry());
      return make("div", { className: "broken" }, make("p", { textContent: "This picture could not be loaded." }), again);
    }
  }

  #strip(pair) {
    const key = JSON.stringify([pair.chosen, pair.k]);
    const strip = find("#strip");
    if (strip.dataset.key === key) return;
    strip.dataset.key = key;
    const items = pair.chosen.map((card, at) => {
      const open = make("button", { type: "button", ariaLabel: `Chosen ${at + 1}: ${words(card)}. Enlarge.` }, miniature(card));
      open.addEventListener("click", () => this.#enlarged.alone(card, `Chosen, number ${at + 1}`));
      return make("li", {}, open, make("span", { className: "place", ariaHidden: "true", textContent: at + 1 }));
    });
    const rooms = pair.k <= MOST_ROOMS ? pair.k - items.length : Math.min(1, pair.k - items.length);
    for (let at = 0; at < rooms; at += 1) {
      const number = pair.chosen.length + at + 1;
      const label = at === 0 ? `Number ${number}: this is what the question is about` : `Number ${number}: not chosen yet`;
      const room = make("li", { className: at === 0 ? "room now" : "room" });
      room.append(make("span", { ariaHidden: "true", textContent: number }), make("span", { className: "unseen", textContent: label }));
      items.push(room);
    }
    strip.replaceChildren(...items);
  }

  #key(event) {
    const busy = find("dialog[open]") || find("#question").hidden || event.target.closest("input, textarea, select");
    if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in KEYS) {
      event.preventDefault();
      if (!event.repeat) this.choose(KEYS[event.key]);
    } else if (event.key === " " && !event.target.closest("button:not(.choose), a, summary")) {
      event.preventDefault();
      if (!event.repeat) this.enlarge(this.#lookedAt());
    }
  }

  #lookedAt() {
    return SIDES.find((side) => this.#cards[side].matches(":focus-within"))
      ?? SIDES.find((side) => this.#cards[side].matches(":hover")) ?? "left";
  }
}

/** Counts only while the page can be seen. */
class Stopwatch {
  #sum = 0;
  #since = null;

  constructor() {
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.#stop();
      else this.#since ??= performance.now();
    });
  }

  start() {
    this.#sum = 0;
    this.#since = document.hidden ? null : performance.now();
  }

  read() {
    this.#stop();
    return Math.round(this.#sum);
  }

  #stop() {
    if (this.#since !== null) this.#sum += performance.now() - this.#since;
    this.#since = null;
  }
}
