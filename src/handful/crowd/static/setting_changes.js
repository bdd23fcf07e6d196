// Which settings of a study that is being set up were changed, here or in another window.

/** Settings by one name each: `k`, `words.thanks`. */
export function flat({ words, ...rest }) {
  return { ...rest, ...Object.fromEntries(Object.entries(words).map(([name, value]) => [`words.${name}`, value])) };
}

/** The flat settings of `now` that are others than in `then`; one that is not there is null. */
export function differing(then, now) {
  const same = (name) => JSON.stringify(then[name] ?? null) === JSON.stringify(now[name] ?? null);
  return Object.fromEntries([...new Set([...Object.keys(then), ...Object.keys(now)])].filter((name) => !same(name)).map((name) => [name, now[name] ?? null]));
}

/** Flat settings as they are sent. */
export function nested(told) {
  const sent = {};
  for (const [name, value] of Object.entries(told)) {
    if (name.startsWith("words.")) (sent.words ??= {})[name.slice("words.".length)] = value;
    else sent[name] = value;
  }
  return sent;
}

export const only = (told, names) => Object.fromEntries(Object.keys(names).map((name) => [name, told[name]]));

/** Says which fields show what was changed elsewhere; "" for none. */
export const elsewhere = (news = []) => (news.length ? ` Changed in another window, and shown here as it is now: ${news.join(", ")}.` : "");
