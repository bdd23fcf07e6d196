// An item as it is shown: a picture that is decoded before it appears, or a text.

import { make } from "./dom.js";

const loading = new Map();
const MOST_KEPT = 12;

/** The decoded picture at an address; asked for early, it is there when it is needed. */
export function decoded(address) {
  if (!loading.has(address)) {
    const picture = make("img", { src: address, decoding: "async", draggable: false });
    const ready = picture.decode().then(() => picture);
    ready.catch(() => loading.delete(address));
    loading.set(address, ready);
    if (loading.size > MOST_KEPT) loading.delete(loading.keys().next().value);
  }
  return loading.get(address);
}

/** Load what a pair will need, without waiting for it. */
export function preload(pair) {
  for (const card of [pair.left, pair.right]) if (card.kind === "picture") decoded(card.image).catch(() => {});
}

/** What shows a card; resolves when it can be seen at once. */
export async function face(card) {
  if (card.kind === "text") return make("div", { className: "text", textContent: card.text });
  const picture = (await decoded(card.image)).cloneNode();
  picture.alt = card.alt || "A picture without a description";
  await picture.decode();
  return picture;
}

/** A card in a few words, for somebody who listens. */
export function words(card) {
  if (card.kind === "text") return [card.caption, card.text].filter(Boolean).join(". ");
  return card.alt || card.caption || "a picture without a description";
}

/** A small version, for strips and lists. */
export function miniature(card) {
  if (card.kind === "text") return make("span", { className: "excerpt", textContent: card.caption || card.text });
  return make("img", { src: card.thumbnail, alt: "", loading: "lazy", decoding: "async", draggable: false });
}
