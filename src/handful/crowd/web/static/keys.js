// Keys: who else may see or run a study.

import { copyable, find, make, toast } from "./dom.js";
import { request, tried } from "./requests.js";

const MAY = { own: "runs", watch: "looks on", result: "sees the result" };
const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Wire the list of keys, where there is one. */
export function keys(address) {
  const list = find("#keys");
  if (!list) return;

  function line({ id, role, all_studies: all, made, here, link }) {
    const words = `${id} ${MAY[role]}${all ? ", all studies" : ""}, made ${when.format(1000 * made)}${here ? " (yours)" : ""}`;
    const entry = make("li", {}, make("span", { textContent: words }));
    if (link) entry.append(...copyable(location.origin + link, "The key, as a link: shown this once"));
    if (here) return entry;
    const revoke = make("button", { type: "button", className: "quiet danger", textContent: "Revoke", ariaLabel: `Revoke ${id}` });
    revoke.addEventListener("click", () => tried(async () => {
      await request("DELETE", `${address}/keys/${id}`);
      entry.remove();
      toast(`${id} opens nothing any more.`);
    }));
    entry.append(revoke);
    return entry;
  }

  find("#new-key").addEventListener("submit", (event) => {
    event.preventDefault();
    const said = new FormData(event.target);
    tried(async () => {
      list.prepend(line(await request("POST", `${address}/keys`, { role: said.get("role"), all_studies: said.has("all") }, { repeats: false })));
      toast("Copy the link now: it is shown this once.", 8);
    });
  });
  tried(async () => list.replaceChildren(...(await request("GET", `${address}/keys`)).map(line)));
}
