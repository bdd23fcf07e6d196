// A short practice before the first real question: two questions with an answer most people would give.

import { find, speak } from "./dom.js";
import { show } from "./sections.js";

const picture = (name, alt) => {
  const address = new URL(`practice-${name}.svg`, import.meta.url).pathname;
  return { kind: "picture", caption: "", alt, image: address, thumbnail: address, name };
};
const apple = picture("apple", "A red apple with a green leaf");
const blur = picture("blur", "A picture so blurred that nothing can be made out");

const LESSONS = [
  {
    chosen: [],
    cards: [apple, blur],
    better: 0,
    why: "The apple shows fruit. In the other picture hardly anything can be seen.",
  },
  {
    chosen: [apple],
    cards: [picture("red-apple", "Another red apple"), picture("pear", "A green pear"), blur],
    better: 1,
    why: "The selection has an apple already, so the pear adds more to it.\nLook at what is chosen before you choose: the best addition is not always the best picture.",
  },
];

/** Practise, with two cards or where there will be more with three; resolves to the names of what was chosen. */
export async function practise(view, options) {
  const [kicker, theme] = [find("#kicker"), find("#theme")];
  const real = [kicker.textContent, theme.textContent];
  const said = [];
  find("#question").classList.add("practice");
  for (const [at, lesson] of LESSONS.entries()) {
    kicker.textContent = `Practice ${at + 1} of ${LESSONS.length}`;
    theme.textContent = "Practice: fruit";
    const cards = lesson.cards.slice(0, options);
    const place = await answerTo(view, { chosen: lesson.chosen, options: cards, k: 3 });
    const well = place === lesson.better;
    said.push(cards[place].name);
    await explained(well ? "Yes" : `Most people would choose ${cards.length === 2 ? "the other one" : "another one"}`, lesson.why, at + 1 < LESSONS.length ? "Next" : "Start for real");
  }
  [kicker.textContent, theme.textContent] = real;
  find("#question").classList.remove("practice");
  return said;
}

async function answerTo(view, lesson) {
  const chosen = new Promise((done) => { view.chosen = done; });
  show("question");
  await view.show(lesson);
  view.arm();
  speak(lesson.options.map((card, at) => `Option ${at + 1}: ${card.alt}.`).join(" "));
  return chosen;
}

function explained(title, text, onward) {
  find("#lesson-title").textContent = title;
  find("#lesson-text").textContent = text;
  find("#onward span").textContent = onward;
  show("lesson");
  return new Promise((done) => find("#onward").addEventListener("click", done, { once: true }));
}
