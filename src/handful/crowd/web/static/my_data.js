// A person's own data: their code, and how to have themselves forgotten.

import { find } from "./dom.js";
import { t } from "./language.js";
import { Refusal, refused, request } from "./requests.js";
import { stuck } from "./sections.js";

const SAID = "forgotten"; // what to say after the page was loaded again

function remember(text) {
  try { sessionStorage.setItem(SAID, text); } catch { /* then the page begins anew */ }
}

/** Whether somebody has just been forgotten here: then the page says that, and nothing else. */
export function sayForgotten() {
  let text = null;
  try {
    text = sessionStorage.getItem(SAID);
    if (text) sessionStorage.clear();
  } catch { /* nothing may be stored here */ }
  if (!text) return false;
  find("#help").hidden = true;
  stuck(t("forgotten.title"), text);
  return true;
}

/** Wire what the help says about a person's data. Whoever chooses alone keeps it all on their own machine. */
export function myData(address, about) {
  find("#mine").hidden = about.solo;
  find("#mine-text").textContent = t("mine.text", { n: about.retention_days });
  find("#mine").addEventListener("toggle", async () => {
    if (!find("#mine").open || find("#my-code").value) return;
    try {
      find("#my-code").value = (await request("GET", `${address}/me`)).code;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error; // nobody has joined in this browser: the code can be typed
    }
  });
  find("#forgetting").addEventListener("submit", async (event) => {
    event.preventDefault();
    const withdraw = event.submitter?.value === "withdraw";
    find("#mine-said").textContent = "";
    try {
      const { done } = await request("POST", `${address}/forget`, { code: find("#my-code").value, withdraw });
      remember([t(withdraw ? "forgotten.withdrew" : "forgotten.text"), ...(done ? [] : [t("forgotten.pay")])].join(" "));
      location.reload(); // nothing that this page holds is anybody's any more
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      find("#mine-said").textContent = refused(error);
    }
  });
}
