// A person's own data: their code, and how to have themselves forgotten.

import { find } from "./dom.js";
import { t } from "./language.js";
import { Refusal, refused, request } from "./requests.js";
import { stuck } from "./sections.js";

const SAID = "forgotten"; // what to say after the page was loaded again

function remember(title, text) {
  try { sessionStorage.setItem(SAID, JSON.stringify([title, text])); } catch { /* then the page begins anew */ }
}

/** Whether somebody has just been forgotten here, or will be: then the page says that, and nothing else. */
export function sayForgotten() {
  let said = null;
  try {
    said = JSON.parse(sessionStorage.getItem(SAID));
    if (said) sessionStorage.clear();
  } catch { /* nothing may be stored here */ }
  if (!said) return false;
  find("#help").hidden = true;
  stuck(...said);
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
  let pressed = undefined; // the button that was pressed once: it acts when it is pressed again
  find("#instructions").addEventListener("close", () => {
    pressed = undefined;
    find("#mine-said").textContent = "";
  });
  find("#forgetting").addEventListener("submit", async (event) => {
    event.preventDefault();
    const withdraw = event.submitter?.value === "withdraw";
    if (pressed !== event.submitter) {
      pressed = event.submitter;
      find("#mine-said").textContent = t("mine.sure");
      return;
    }
    pressed = undefined;
    find("#mine-said").textContent = `${t("loading")} …`;
    try {
      const { done } = await request("POST", `${address}/forget`, { code: find("#my-code").value, withdraw });
      if (done) remember(t("forgotten.title"), t(withdraw ? "forgotten.withdrew" : "forgotten.text"));
      else remember(t("forgotten.later"), [...(withdraw ? [t("forgotten.no_more")] : []), t("forgotten.pay")].join(t("between.sentences")));
      location.reload(); // nothing that this page holds is anybody's any more
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      find("#mine-said").textContent = refused(error);
    }
  });
}
