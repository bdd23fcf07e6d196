// Keys: who else may see or run a study.

import { copyable, find, make, toast } from "./dom.js";
import { request, tried } from "./requests.js";

const MAY = { own: ["Runs this study", "Runs all studies"], watch: ["Looks on", "Looks on at all studies"], result: ["Sees the result", "Sees the results of all studies"] };
const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Wire the list of keys, where there is one. */
export function keys(address) {
  const list = find("#keys");
  if (!list) return;

  function line({ id, role, all_studies: all, made, here, link }) {
    const may = `${MAY[role][Number(all)]}. Made ${when.format(1000 * made)}.`;
    const entry = make("li", {}, make("span", { className: "of" }, make("strong", { textContent: here ? `${id} (yours)` : id }), make("small", { textContent: may })));
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

  const listed = tried(async () => list.replaceChildren(...(await request("GET", `${address}/keys`)).map(line)));
  find("#new-key").addEventListener("submit", (event) => {
    event.preventDefault();
    const said = new FormData(event.target);
    tried(async () => {
      await listed; // or the list would come after the new key, without it
      list.prepend(line(await request("POST", `${address}/keys`, { role: said.get("role"), all_studies: said.has("all") }, { repeats: false })));
      toast("Copy the link now: it is shown this once.", 8);
    });
  });
}
