// The preregistration, and links to the result.

import { copyable, find, make, save, toast } from "./dom.js";
import { request, tried } from "./requests.js";

const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** Wire the buttons of one study's page, where they are. */
export function publishing(study) {
  const address = `/api/organize/${study}`;
  const list = find("#shared");
  if (!list) return;

  function line({ id, made, link }) {
    const item = make("li", {}, make("span", { textContent: `Link of ${when.format(1000 * made)}` }));
    if (link) item.append(...copyable(location.origin + link, "Link to the result"));
    const revoke = make("button", { type: "button", className: "quiet danger", textContent: "Revoke" });
    revoke.addEventListener("click", () => tried(async () => {
      await request("DELETE", `${address}/share/${id}`);
      item.remove();
      toast("The link opens nothing any more.");
    }));
    item.append(revoke);
    return item;
  }

  find("#share-result").addEventListener("click", () => tried(async () => {
    list.prepend(line(await request("POST", `${address}/share`, undefined, { repeats: false })));
  }));
  find("#preregister").addEventListener("click", () => tried(async () => {
    const record = await request("POST", `${address}/preregister`, undefined, { text: true }); // its digest is of these letters
    save(record, `${study}-preregistration.json`, "application/json");
    location.assign(`${address}/preregistration.html`);
    toast("Post both files where others can see them, before the first answer.", 8);
  }));
  tried(async () => list.replaceChildren(...(await request("GET", `${address}/share`)).map(line)));
}
