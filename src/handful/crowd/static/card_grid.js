// How many columns the cards stand in: those that let the pictures be largest in the room there is, in an even grid.

const USUAL = 4 / 3; // width over height, where a picture does not say
const FOOT = 52; // pixels below a picture of two for its caption and its button
const BESIDE = 60; // or beside it, where worker.css puts the button of two there
const IS_BESIDE = matchMedia("(max-width: 40rem) and (orientation: portrait), (max-height: 30rem)");
const CAPTION = 24; // and for a caption alone, where the button lies on the picture
const COLUMN_TO_READ = 380;
const EMPTY_CELL = 0.08; // empty cells look unfinished: they must be worth it
const BUTTON_UNSEEN = 0.8; // a button that lies on its picture is harder to find: that must be worth it too
const NARROW = 72; // pixels that the number and the magnifier need side by side on a picture
const TOO_NARROW = 0.8; // where they cover each other, that must be worth it as well
const NEARLY = 0.81; // pictures that lose less than a tenth of their sides are as large, and the evener grid is taken

const ratioOf = (card) => (card.width && card.height ? card.width / card.height : USUAL);

/** The size at which a picture is seen in a cell. */
export function fitted(card, { width, height }) {
  const ratio = ratioOf(card);
  return ratio > width / height ? { width, height: width / ratio } : { width: height * ratio, height };
}

/** Columns, the room for a picture in each cell, and whether the buttons lie on the pictures. */
export function arranged(cards, room, gap) {
  if (cards.some((card) => card.kind === "text")) return reading(cards.length, room.width, gap);
  const tries = formsOf(cards).flatMap((form) => cards.map((_, at) => tried(cards, form, at + 1, room, gap)));
  const largest = tries.reduce((best, one) => (one.worth > best.worth ? one : best));
  const near = tries.filter((one) => one.worth >= NEARLY * largest.worth && one.empty <= largest.empty);
  return near.reduce((best, one) => (one.uneven < best.uneven || (one.uneven === best.uneven && one.worth > best.worth) ? one : best));
}

/** Where the buttons may be. Of more than two they lie on the pictures; of two on a phone only where that is worth it. */
function formsOf(cards) {
  const caption = cards.some((card) => card.caption) ? CAPTION : 0;
  const onPicture = { compact: true, beside: 0, below: caption, liking: 1 };
  if (cards.length > 2) return [onPicture];
  if (!IS_BESIDE.matches) return [{ compact: false, beside: 0, below: FOOT, liking: 1 }];
  return [{ compact: false, beside: BESIDE, below: caption, liking: 1 }, { ...onPicture, liking: BUTTON_UNSEEN }];
}

/** The cards in so many columns: what is seen of the pictures, and how far rows and columns differ in number. */
function tried(cards, { compact, beside, below, liking }, columns, { width, height }, gap) {
  const rows = Math.ceil(cards.length / columns);
  const cell = { width: (width - gap * (columns - 1)) / columns, height: (height - gap * (rows - 1)) / rows };
  const room = { width: Math.max(20, cell.width - beside), height: Math.max(20, cell.height - below) };
  const seen = cards.reduce((sum, card) => { const size = fitted(card, room); return sum + size.width * size.height; }, 0);
  const empty = rows * columns - cards.length;
  const liked = liking * (1 - EMPTY_CELL * empty) * (compact && cell.width < NARROW ? TOO_NARROW : 1);
  return { columns, compact, room, empty, uneven: Math.abs(columns - rows), worth: seen * liked };
}

/** Texts stand in columns that are wide enough to read. */
function reading(count, width, gap) {
  const most = Math.max(1, Math.min(count, Math.floor((width + gap) / (COLUMN_TO_READ + gap))));
  const columns = count === 4 && most === 3 ? 2 : most;
  return { columns, compact: false, room: { width: (width - gap * (columns - 1)) / columns, height: 0 } };
}
