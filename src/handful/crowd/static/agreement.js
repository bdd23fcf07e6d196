// How far people agree: worked out when somebody opens it, since it takes a while where there are many answers.

import { find, make } from "./dom.js";
import { Refusal, request } from "./requests.js";

export function agreement(root) {
  find("#agreement").addEventListener("toggle", async ({ target }) => {
    if (!target.open) return;
    const said = find("#agreement-said");
    said.textContent = "Counting…";
    try {
      const { sentences } = await request("GET", `${root}/agreement`);
      const lines = sentences.length ? sentences : ["There are too few people, or too few who answered the same, to say anything."];
      said.replaceChildren(...lines.map((textContent) => make("p", { textContent })));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      said.textContent = error.message;
    }
  });
}
