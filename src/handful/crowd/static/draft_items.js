// The items of a draft in small: the first ones as they come with its status, and all others when asked for.

import { find, make } from "./dom.js";
import { words } from "./item_card.js";
import { request } from "./requests.js";

const number = new Intl.NumberFormat();

let about = ""; // the items that are shown, in one word
let more = []; // the cards after the first ones, as far as they were asked for
let wanted = 0; // how many cards were asked for

/** Show the items of a draft; `leaveOut(card)` is called for one that is to be left out. */
export async function showItemCards(now, root, leaveOut) {
  const these = JSON.stringify([now.draft, now.items, now.settings.chosen, now.cards.map(({ id }) => id)]);
  if (these !== about) {
    about = these;
    const found = now.cards.length < wanted ? await following(now.cards.length, Math.min(wanted, now.items), root) : [];
    if (these !== about) return; // another change came meanwhile, and is shown
    more = found;
  }
  const shown = [...now.cards, ...more];
  find("#cards").replaceChildren(...shown.map((card) => itemEntry(card, leaveOut)));
  const left = now.items - shown.length;
  const step = now.cards_at_once;
  find("#more-items").hidden = left <= 0;
  find("#more-count").textContent = `and ${number.format(left)} more`;
  find("#show-more").textContent = left > step ? `Show ${number.format(step)} more` : "Show them all";
  find("#show-more").onclick = () => {
    wanted = shown.length + step;
    about = "";
    return showItemCards(now, root, leaveOut);
  };
}

/** The cards from one place to another, as many requests as it takes. */
async function following(from, until, root) {
  const found = [];
  while (from + found.length < until) {
    const { cards } = await request("GET", `${root}/items?after=${from + found.length}`).catch(() => ({ cards: [] }));
    if (!cards.length) break;
    found.push(...cards);
  }
  return found;
}

/** An item in small, with a way to leave it out. */
function itemEntry(card, leaveOut) {
  const face = card.kind === "text" ? make("p", { textContent: card.text }) : make("img", { src: card.thumbnail, alt: words(card), loading: "lazy" });
  const out = make("button", { type: "button", className: "out", textContent: "×", ariaLabel: `Leave out ${words(card)}`, title: "Leave this out" });
  out.addEventListener("click", () => leaveOut(card));
  const entry = make("li", {}, face, out);
  if (card.chosen) entry.append(make("span", { className: "place", textContent: card.chosen, title: "chosen from the start" }));
  return entry;
}
