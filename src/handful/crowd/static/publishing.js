// The preregistration, and the link to the result.

import { copyable, find, make, save, toast } from "./dom.js";
import { request, tried } from "./requests.js";

const number = new Intl.NumberFormat();
const answers = (n) => (n === 1 ? "1 answer" : `${number.format(n)} answers`);

/** Wire the buttons of one study's page, where they are; gives a function that shows what its status says of them. */
export function publishing(study) {
  const address = `/api/organize/${study}`;
  const list = find("#shared");
  if (!list) return () => {};
  let now = null; // the status: before it has come it is not known whether this would be late
  find("#preregister").disabled = true;

  function show({ link }) {
    list.replaceChildren();
    if (!link) return;
    const item = make("li", {}, make("span", { textContent: "Whoever has this link sees the result." }));
    const revoke = make("button", { type: "button", className: "quiet danger", textContent: "Revoke" });
    revoke.addEventListener("click", () => tried(async () => {
      await request("DELETE", `${address}/share`);
      item.remove();
      toast("The link opens nothing any more.");
    }));
    item.append(...copyable(location.origin + link, "Link to the result"), revoke);
    list.append(item);
  }

  const known = tried(async () => show(await request("GET", `${address}/share`)));
  find("#share-result").addEventListener("click", () => tried(async () => {
    await known; // or what was asked before would come after the new link, without it
    show(await request("POST", `${address}/share`));
  }));
  const register = () => tried(async () => {
    const record = await request("POST", `${address}/preregister`, undefined, { text: true }); // its digest is of these letters
    const page = await request("GET", `${address}/preregistration.html`, undefined, { text: true }); // refused where the study has changed since
    const link = find("#registered-record");
    URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([record], { type: "application/json" }));
    find("#registered-hash").replaceChildren(...copyable(JSON.parse(record).hash, "Hash of the preregistration"));
    find("#registered").hidden = false;
    save(record, `${study}-preregistration.json`, "application/json");
    save(page, `${study}-preregistration.html`, "text/html");
  });
  find("#preregister").addEventListener("click", () => {
    if (now.registered_after !== null || !now.answers) { register(); return; }
    find("#registering-words").textContent = `It has ${answers(now.answers)} already, so this is late: the record, the certificate and the export will say so, and it cannot be taken back.`;
    find("#registering").returnValue = "";
    find("#registering").showModal();
  });
  find("#registering").addEventListener("close", () => find("#registering").returnValue === "yes" && register());

  return (status) => {
    now = status;
    find("#preregister").disabled = false;
    const { state, registered_after: after } = status;
    const over = state === "finished" && after === null;
    find("#preregister").hidden = over;
    find("#register-words").textContent = over ? "This study was not preregistered." : "A preregistration says before the first answer what this study will do.";
    find("#registered-title").textContent = after ? `Registered late, after ${answers(after)}.` : "Preregistered.";
    find("#registered-when").textContent = after ? "Post both" : status.answers ? "Both belong" : "Post both now, before the first answer,";
  };
}
