// Somebody from a panel: arriving with ids in the address, and going back with an outcome.

import { copy, find, make, toast } from "./dom.js";
import { t } from "./language.js";
import { request } from "./requests.js";
import { show, stuck } from "./sections.js";

const BACK_MS = 4000; // time to read that it is over

/** Tell the server who came, and take the ids out of the address bar. Null where no panel sent anybody. */
export async function arrive(address, about, waiting) {
  if (!about.panel) return null;
  const parameters = Object.fromEntries([...new URLSearchParams(location.search)].slice(0, 20));
  if (!Object.keys(parameters).length) return about.joined || about.arrived ? { state: "inside" } : { state: "preview" };
  const arrived = await request("POST", `${address}/arrive`, { parameters }, waiting);
  history.replaceState(null, "", location.pathname);
  return arrived;
}

/** "I do not agree" is an answer, too. */
export async function refuse(address, waiting) {
  const { ending } = await request("POST", `${address}/refuse`, {}, waiting);
  goBack(ending);
}

/** Only looking: nothing is stored. */
export function endPreview() {
  stuck(t("preview.title"), t("preview.text"));
}

/** It is over: say so, show the code if there is one, and go back to where they came from. */
export function goBack(ending) {
  find("#ending-title").textContent = t(`ending.${ending.outcome}.title`);
  find("#ending-text").textContent = t(`ending.${ending.outcome}.text`);
  find("#ending-code").hidden = !ending.code;
  find("#ending-code-text").textContent = ending.code ?? "";
  find("#copy-code").onclick = async () => toast((await copy(ending.code, find("#ending-code-text"))) ? t("copied") : t("not.copied"));
  const back = find("#go-back");
  back.hidden = !ending.address;
  show("ending");
  if (!ending.address) return;
  const leave = () => (ending.post ? post(ending) : location.assign(ending.address));
  back.onclick = leave;
  if (!ending.code) setTimeout(leave, BACK_MS);
}

function post(ending) {
  const form = make("form", { method: "post", action: ending.address, hidden: true });
  for (const [name, value] of Object.entries(ending.post)) form.append(make("input", { type: "hidden", name, value }));
  document.body.append(form);
  form.submit();
}
