// A short practice before the first real question: two questions with an answer most people would give, or the organizer's.

import { find, speak } from "./dom.js";
import { words } from "./item_card.js";
import { t } from "./language.js";
import { show } from "./sections.js";

const picture = (name, alt) => {
  const address = new URL(`practice-${name}.svg`, import.meta.url).pathname;
  return { kind: "picture", caption: "", alt, image: address, thumbnail: address, name };
};
const text = (name, words) => ({ kind: "text", caption: "", text: words, name });

/** The page's own lessons, of what the study shows; the names of the cards are the same in both. */
function ownLessons(texts) {
  const card = texts ? text : picture;
  const apple = card("apple", t("practice.apple"));
  const blur = card("blur", t(texts ? "practice.bicycle" : "practice.blur"));
  const [another, pear] = [card("red-apple", t("practice.red_apple")), card("pear", t("practice.pear"))];
  return [
    { chosen: [], cards: [apple, blur], better: 0, why: t(texts ? "practice.why.1.texts" : "practice.why.1") },
    { chosen: [apple], cards: [another, pear, blur], better: 1, why: t(texts ? "practice.why.2.texts" : "practice.why.2") },
  ];
}

/**
 * Practise, with the organizer's lessons or the page's own: those have two cards, or where there will be more three.
 * Resolves to the names of what was chosen.
 */
export async function practise(view, { options, practice: own, question, k, texts }) {
  const lessons = own ? own.map(({ cards, ...lesson }) => ({ ...lesson, chosen: [], cards: cards.map((card) => ({ ...card, name: card.id })) })) : ownLessons(texts);
  const [kicker, theme] = [find("#kicker"), find("#theme")];
  const real = [kicker.textContent, theme.textContent];
  const said = [];
  find("#question").classList.add("practice");
  for (const [at, lesson] of lessons.entries()) {
    kicker.textContent = t("practice.step", { n: at + 1, of: lessons.length });
    if (!own) theme.textContent = t("practice.theme");
    const cards = lesson.cards.slice(0, options);
    ask(question, cards);
    const place = await answerTo(view, { chosen: lesson.chosen, options: cards, k: Math.max(k, lesson.chosen.length + 1) });
    const well = place === lesson.better;
    said.push(cards[place].name);
    await explained(t(well ? "practice.yes" : cards.length === 2 ? "practice.other.two" : "practice.other.more"), lesson.why, t(at + 1 < lessons.length ? "practice.next" : "practice.start"));
  }
  [kicker.textContent, theme.textContent] = real;
  find("#question").classList.remove("practice");
  return said;
}

/** One question as the study asks it, for somebody who only looks. */
export async function tryOne(view, { question, k }, options) {
  ask(question, options);
  await answerTo(view, { chosen: [], options, k });
}

/** Ask the study's own question, or the built-in one. */
function ask(question, cards) {
  find("#prompt").textContent = question ?? t(cards.length === 2 ? "prompt.two" : "prompt.more");
}

async function answerTo(view, lesson) {
  const chosen = new Promise((done) => { view.chosen = done; });
  show("question");
  await view.show(lesson);
  view.arm();
  speak(lesson.options.map((card, at) => t("spoken.option", { n: at + 1, words: words(card) })).join(" "));
  return chosen;
}

function explained(title, text, onward) {
  find("#lesson-title").textContent = title;
  find("#lesson-text").textContent = text;
  find("#onward span").textContent = onward;
  show("lesson");
  return new Promise((done) => find("#onward").addEventListener("click", done, { once: true }));
}
