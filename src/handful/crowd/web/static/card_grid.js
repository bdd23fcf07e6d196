// How many columns the cards stand in: as many as let the pictures be largest in the room there is.

const USUAL = 4 / 3; // width over height, where a picture does not say
const FOOT = 52; // pixels below a picture of two for its caption and its button
const BESIDE = 60; // or beside it, where worker.css puts the button of two there
const IS_BESIDE = matchMedia("(max-width: 40rem) and (orientation: portrait), (max-height: 30rem)");
const CAPTION = 24; // and for a caption alone, where the button lies on the picture
const COLUMN_TO_READ = 380;

const ratioOf = (card) => (card.width && card.height ? card.width / card.height : USUAL);

/** The size at which a picture is seen in a cell. */
export function fitted(card, { width, height }) {
  const ratio = ratioOf(card);
  return ratio > width / height ? { width, height: width / ratio } : { width: height * ratio, height };
}

/** Columns, the room for a picture in each cell, and whether the buttons lie on the pictures: of more than two. */
export function arranged(cards, { width, height }, gap) {
  if (cards.some((card) => card.kind === "text")) return reading(cards.length, width, gap);
  const compact = cards.length > 2;
  const beside = !compact && IS_BESIDE.matches;
  const foot = compact || beside ? (cards.some((card) => card.caption) ? CAPTION : 0) : FOOT;
  let best = null;
  for (let columns = 1; columns <= cards.length; columns += 1) {
    const rows = Math.ceil(cards.length / columns);
    const cell = { width: (width - gap * (columns - 1)) / columns, height: (height - gap * (rows - 1)) / rows };
    const room = { width: cell.width - (beside ? BESIDE : 0), height: Math.max(20, cell.height - foot) };
    const seen = cards.reduce((sum, card) => { const size = fitted(card, room); return sum + size.width * size.height; }, 0);
    const even = rows * columns - cards.length; // empty cells look unfinished: they must be worth it
    const worth = seen * (1 - 0.04 * even);
    if (!best || worth > best.worth) best = { columns, compact, room, worth };
  }
  return best;
}

/** Texts stand in columns that are wide enough to read. */
function reading(count, width, gap) {
  const most = Math.max(1, Math.min(count, Math.floor((width + gap) / (COLUMN_TO_READ + gap))));
  const columns = count === 4 && most === 3 ? 2 : most;
  return { columns, compact: false, room: { width: (width - gap * (columns - 1)) / columns, height: 0 } };
}
