// The cards of a question, the strip of what is chosen, and the ways to answer: keys, clicks and taps.

import { arranged, fitted } from "./card_grid.js";
import { EnlargedView } from "./enlarged_view.js";
import { face, miniature, preload, sourceOf, words } from "./item_card.js";
import { ARROWS, t } from "./language.js";
import { cardsOf } from "./question.js";
import { SeenCards } from "./seen_cards.js";
import { all, find, make } from "./dom.js";

const [BACK, ONWARD] = ARROWS;
const SIGNS = { ArrowLeft: "←", ArrowRight: "→" };
const ARM_AFTER_MS = 180; // longer than the second half of a double click, shorter than a glance
const GLANCE_MS = 250; // a click sooner after the question may be the second half of a double click
const MOST_ROOMS = 8;

export class ChoiceView {
  #enlarged = new EnlargedView();
  #seen = new SeenCards();
  #grid = find("#cards");
  #cards = [];
  #question = null;
  #columns = 1;
  #armed = false;
  #turn = 0;
  #watch = new Stopwatch();

  chosen = () => {}; // called with the place and the milliseconds, once each time the question is armed
  retry = () => {}; // called when a picture that could not be loaded should be tried again

  constructor() {
    document.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#question && this.#resize()).observe(this.#grid);
  }

  get question() {
    return this.#question;
  }

  choose(at) {
    if (!this.#armed || at >= this.#cards.length) return;
    this.disarm();
    this.#enlarged.forget();
    this.#cards[at].classList.add("picked");
    this.chosen(at, this.#watch.read());
  }

  /** Show a question once all faces are ready. False if another one was to be shown meanwhile. */
  async show(question, { before = -1 } = {}) {
    this.disarm();
    const turn = ++this.#turn;
    const cards = cardsOf(question);
    const faces = await Promise.all(cards.map((card) => this.#faceOf(card, this.#sizeOf(card, cards))));
    if (turn !== this.#turn) return false;
    const another = !question.token || question.token !== this.#question?.token; // those of the practice have no token
    if (another) this.#enlarged.forget();
    this.#question = question;
    this.#grid.dataset.question = question.token ?? "";
    this.#strip(question);
    this.#furnish(cards.length);
    cards.forEach((card, at) => {
      const place = this.#cards[at];
      find(".shown", place).replaceChildren(faces[at]);
      find(".caption", place).textContent = card.caption;
      place.classList.toggle("reading", card.kind === "text");
      place.classList.remove("picked");
      place.classList.toggle("before", before === at);
      place.dataset.before = t("prompt.before");
    });
    this.#resize();
    if (another) this.#seen.begin(this.#cards);
    return !faces.some((one) => one.classList.contains("broken"));
  }

  /** Load the pictures of the next question at the size that they will be shown at. */
  preload(question) {
    const cards = cardsOf(question);
    for (const card of cards) preload(card, this.#sizeOf(card, cards));
  }

  /** Let the question be answered, a moment after it has been painted. */
  arm() {
    const turn = this.#turn;
    requestAnimationFrame(() => setTimeout(() => {
      if (turn !== this.#turn) return;
      this.#armed = true;
      this.#watch.start();
      for (const card of this.#cards) card.classList.remove("picked");
      for (const button of all(".choose")) button.setAttribute("aria-disabled", "false");
    }, ARM_AFTER_MS));
  }

  disarm() {
    this.#turn += 1;
    this.#armed = false;
    for (const button of all(".choose")) button.setAttribute("aria-disabled", "true");
  }

  enlarge(at) {
    if (!this.#question || this.#enlarged.open) return;
    const question = this.#question;
    this.#enlarged.one(cardsOf(question), at, (picked) => question === this.#question && this.choose(picked));
  }

  /** As many cards as the question has options. */
  #furnish(count) {
    while (this.#cards.length > count) this.#cards.pop().remove();
    while (this.#cards.length < count) {
      const card = this.#newCard(this.#cards.length);
      this.#cards.push(card);
      this.#grid.append(card);
    }
    const two = count === 2;
    this.#grid.dataset.count = count;
    this.#cards.forEach((card, at) => {
      find(".choose", card).setAttribute("aria-keyshortcuts", two ? `${at + 1} ${ARROWS[at]}` : at + 1);
      find("kbd", card).textContent = two ? SIGNS[ARROWS[at]] : at + 1;
    });
  }

  #newCard(at) {
    const card = find("#card").content.firstElementChild.cloneNode(true);
    card.id = `option-${at + 1}`;
    card.setAttribute("aria-label", t("option.label", { n: at + 1 }));
    for (const number of all(".number", card)) number.textContent = at + 1;
    find(".unseen", card).textContent = t("option", { n: at + 1 });
    const choose = find(".choose", card);
    choose.addEventListener("click", (event) => this.#isSecondHalf(event) || this.choose(at));
    choose.addEventListener("keydown", (event) => event.key === "Enter" && event.repeat && event.preventDefault());
    // The space bar enlarges, also when a click has left the focus here; Enter chooses.
    choose.addEventListener("keyup", (event) => event.key === " " && event.preventDefault());
    const magnify = find(".magnify", card);
    magnify.setAttribute("aria-label", t("option.enlarge", { n: at + 1 }));
    magnify.addEventListener("click", () => this.enlarge(at));
    return card;
  }

  /** Whether a click belongs to the question before; two quick taps on one place, for two questions, are both taken. */
  #isSecondHalf(event) {
    return event.detail === 2 && this.#watch.read() < GLANCE_MS;
  }

  #arranged(cards) {
    const { clientWidth, clientHeight } = this.#grid; // before the page is first seen, its window is the best guess
    const width = clientWidth || innerWidth - 24;
    return arranged(cards, { width, height: clientHeight || Math.max(270, innerHeight - 240) }, parseFloat(getComputedStyle(this.#grid).columnGap) || 10);
  }

  #sizeOf(card, cards) {
    return card.kind === "text" ? null : fitted(card, this.#arranged(cards).room);
  }

  /** Fit the cards into the room there is; a picture that is seen larger now is loaded in a larger version. */
  #resize() {
    const cards = cardsOf(this.#question);
    const { columns, compact } = this.#arranged(cards);
    this.#columns = columns;
    this.#grid.style.setProperty("--columns", columns);
    this.#grid.classList.toggle("compact", compact);
    this.#grid.classList.toggle("texts", cards.some((card) => card.kind === "text"));
    cards.forEach((card, at) => {
      const picture = find(".shown img", this.#cards[at]);
      const address = picture && sourceOf(card, this.#sizeOf(card, cards));
      const known = [card.thumbnail, card.medium, card.image];
      if (picture && known.indexOf(address) > known.indexOf(picture.getAttribute("src"))) picture.src = address;
    });
    this.#seen.look();
  }

  async #faceOf(card, size) {
    try {
      return await face(card, size);
    } catch {
      const again = make("button", { type: "button", textContent: t("try.again") });
      again.addEventListener("click", () => this.retry());
      return make("div", { className: "broken" }, make("p", { textContent: t("picture.broken") }), again);
    }
  }

  #strip(question) {
    const key = JSON.stringify([question.chosen, question.k]);
    const strip = find("#strip");
    if (strip.dataset.key === key) return;
    strip.dataset.key = key;
    const items = question.chosen.map((card, at) => {
      const open = make("button", { type: "button", ariaLabel: t("chosen.enlarge", { n: at + 1, words: words(card) }) }, miniature(card));
      open.addEventListener("click", () => this.#enlarged.alone(card, t("chosen.number", { n: at + 1 })));
      return make("li", {}, open, make("span", { className: "place", ariaHidden: "true", textContent: at + 1 }));
    });
    const rooms = question.k <= MOST_ROOMS ? question.k - items.length : Math.min(1, question.k - items.length);
    for (let at = 0; at < rooms; at += 1) {
      const number = question.chosen.length + at + 1;
      const label = t(at === 0 ? "room.now" : "room.later", { n: number });
      const room = make("li", { className: at === 0 ? "room now" : "room" });
      room.append(make("span", { ariaHidden: "true", textContent: number }), make("span", { className: "unseen", textContent: label }));
      items.push(room);
    }
    strip.replaceChildren(...items);
    const now = find(".now", strip); // of a row that is too long, what the question is about is seen
    if (now) strip.scrollLeft += now.getBoundingClientRect().left - strip.getBoundingClientRect().left - strip.clientWidth / 2;
  }

  #key(event) {
    const busy = find("dialog[open]") || find("#question").hidden || event.target.closest("input, textarea, select");
    if (busy || event.ctrlKey || event.metaKey || event.altKey) return;
    const answered = this.#answeredBy(event.key);
    if (answered >= 0) {
      event.preventDefault();
      if (!event.repeat) this.#chooseByKey(answered);
    } else if (["ArrowUp", "ArrowDown"].includes(event.key) && this.#scrolls()) {
      return; // what is read is scrolled
    } else if (event.key.startsWith("Arrow") && this.#cards.length > 2) {
      event.preventDefault();
      this.#walk(event.key);
    } else if (event.key === " " && !event.target.closest("button:not(.choose), a, summary")) {
      event.preventDefault();
      if (!event.repeat) this.enlarge(this.#lookedAt());
    }
  }

  /** A key for a card that has not been in view leads there; only then it answers. */
  #chooseByKey(at) {
    if (this.#seen.has(this.#cards[at])) this.choose(at);
    else this.#seen.bring(this.#cards[at]);
  }

  /** Whether there are texts that do not fit the window. */
  #scrolls() {
    return this.#grid.classList.contains("texts") && document.documentElement.scrollHeight > innerHeight;
  }

  /** The place that a key answers for, or -1: digits always do, arrows where there are two. */
  #answeredBy(key) {
    if (/^[1-9]$/.test(key) && Number(key) <= this.#cards.length) return Number(key) - 1;
    return this.#cards.length === 2 ? ARROWS.indexOf(key) : -1;
  }

  /** Arrows lead from card to card; Enter chooses. */
  #walk(key) {
    const step = { [BACK]: -1, [ONWARD]: 1, ArrowUp: -this.#columns, ArrowDown: this.#columns }[key];
    const from = this.#cards.findIndex((card) => card.matches(":focus-within"));
    const to = from < 0 ? 0 : from + step;
    if (to >= 0 && to < this.#cards.length) find(".choose", this.#cards[to]).focus();
  }

  #lookedAt() {
    const looked = ["focus-within", "hover"].map((how) => this.#cards.findIndex((card) => card.matches(`:${how}`)));
    return looked.find((at) => at >= 0) ?? 0;
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
