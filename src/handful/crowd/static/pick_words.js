// A pick at the end of a study: large, with what is said of it, and its runner-up beside the words.

import { words } from "./item_card.js";
import { make } from "./dom.js";
import { t } from "./language.js";

function shown(card, small) {
  if (card.kind === "text") return make("p", { className: "text", tabIndex: 0, textContent: card.text });
  return make("img", { src: small ? card.thumbnail : card.medium ?? card.image, alt: words(card), loading: "lazy", decoding: "async" });
}

/** What stands below a pick: its name, its sentences, and who came second. */
export function said(pick) {
  const name = make("p", { className: "name", textContent: pick.name });
  const early = pick.filled ? t("pick.filled.label") : pick.cut_short ? t("pick.cut_short.label") : "";
  if (early) name.append(" ", make("span", { className: "early", textContent: early }));
  const text = make("div", {}, name, ...pick.sentences.map((one) => make("p", { className: "sentence", textContent: one })));
  const below = make("div", { className: "said" }, text);
  if (pick.runner_up?.kind === "picture") {
    below.append(make("figure", { className: "second" }, shown(pick.runner_up, true), make("figcaption", { textContent: t("pick.second") })));
  }
  return below;
}

/** A pick as an entry of a numbered list. */
export function pickEntry(pick, place) {
  const face = make("div", { className: "face" }, shown(pick.card, false));
  return make("li", {}, face, said(pick), make("span", { className: "place", textContent: place }));
}
