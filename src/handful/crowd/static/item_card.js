// An item as it is shown: a picture of the size it is shown at, decoded before it appears, or a text.

import { make } from "./dom.js";
import { t } from "./language.js";

const loading = new Map();
const MOST_KEPT = 30;
const SMALL = 480; // pixels, of the longer side
const MEDIUM = 900;
const NEAR_ENOUGH = 1.15; // how much a picture may be stretched before the next larger one is loaded
const FINEST = 2; // more dots per pixel than this nobody sees

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

/** The address of the smallest version that looks well at a size in pixels of the page; of any size without one. */
export function sourceOf(card, size = null) {
  if (!size) return card.image;
  const slow = navigator.connection?.saveData || /2g|3g/.test(navigator.connection?.effectiveType ?? "");
  const dots = Math.max(size.width, size.height) * (slow ? 1 : Math.min(FINEST, devicePixelRatio || 1));
  if (dots <= SMALL * NEAR_ENOUGH && card.thumbnail) return card.thumbnail;
  if (dots <= MEDIUM * NEAR_ENOUGH && card.medium) return card.medium;
  return card.image;
}

/** Load a picture that will be needed, without waiting for it. */
export function preload(card, size) {
  if (card.kind === "picture") decoded(sourceOf(card, size)).catch(() => {});
}

/** What shows a card; resolves when it can be seen at once. */
export async function face(card, size = null) {
  if (card.kind === "text") return make("div", { className: "text", textContent: card.text });
  const picture = (await decoded(sourceOf(card, size))).cloneNode();
  picture.alt = card.alt || t("picture.undescribed");
  await picture.decode();
  return picture;
}

/** A card in a few words, for somebody who listens. */
export function words(card) {
  if (card.kind === "text") return [card.caption, card.text].filter(Boolean).join(". ");
  return card.alt || card.caption || t("picture.undescribed");
}

/** A small version, for strips and lists. */
export function miniature(card) {
  if (card.kind === "text") return make("span", { className: "excerpt", textContent: card.caption || card.text });
  return make("img", { src: card.thumbnail, alt: "", loading: "lazy", decoding: "async", draggable: false });
}
