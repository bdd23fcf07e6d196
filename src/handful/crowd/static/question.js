// A question as the server sends it: two cards with sides, or several options with ids. An answer never says a place.

const SIDES = ["left", "right"];

/** The cards, in the order of their places. */
export const cardsOf = (question) => question.options ?? SIDES.map((side) => question[side]);

/** What an answer says of the card at a place. */
export const saidOf = (question, at) => (question.options ? { option: question.options[at].id } : { side: SIDES[at] });

/** The place of the card that an answer named; -1 if there is none. */
export function placeOf(question, said) {
  if (!said) return -1;
  return question.options ? question.options.findIndex((card) => card.id === said.option) : SIDES.indexOf(said.side);
}

/** Whether two answers to a question say the same; none says nothing. */
export const sameAnswer = (one, other) => Boolean(one) && (one.side ?? null) === (other.side ?? null) && (one.option ?? null) === (other.option ?? null);
