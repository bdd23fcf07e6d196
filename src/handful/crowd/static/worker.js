// The worker's page: welcome, consent, practice, and then the questions.

import { AnswerLoop } from "./answer_loop.js";
import { ChoiceView } from "./choice_view.js";
import { find, linked, toast } from "./dom.js";
import { arrive, endPreview, goBack, refuse } from "./panel.js";
import { t } from "./language.js";
import { myData, sayForgotten } from "./my_data.js";
import { practise, tryOne } from "./practice.js";
import { Refusal, refused, request } from "./requests.js";
import { finish, goOnByKey, sayEnough, sayGoodbye, sayThanks, show, stuck } from "./sections.js";

const study = document.body.dataset.study;
const address = `/api/s/${study}`;
const waiting = { lost: (unstored) => toast(t(unstored ? "unstored" : "lost"), 0), back: () => toast(t("back"), 2) };

function explain(about) {
  find("#more-keys").hidden = about.options === 2;
  find("#two-keys").hidden = about.options > 2;
  if (about.solo) find("#kicker").textContent = t("kicker.solo");
  find("#instructions-text").replaceChildren(...linked(about.instructions));
  find("#agreed").hidden = !about.consent;
  find("#agreed-text").replaceChildren(...linked(about.consent ?? ""));
  sayThanks(about.thanks);
  myData(address, about);
  const open = () => find("dialog[open]") ?? find("#instructions").showModal();
  find("#help").addEventListener("click", open);
  document.addEventListener("keydown", (event) => event.key === "?" && !event.repeat && open());
}

/** About how long it takes, where that is known. */
function length({ goal, minutes }) {
  if (!goal) return "";
  return t("welcome.length", { goal, time: minutes === 1 ? t("time.one") : t("time.many", { n: minutes }) });
}

/** What it is about; resolves with whether the person wants to begin. */
function welcome(about) {
  find("#welcome-title").textContent = t(about.solo ? "welcome.title.solo" : "welcome.title");
  const { items, k, options } = about;
  const many = t(`number.${options}`);
  if (about.welcome) find("#welcome-lead").replaceChildren(...linked(about.welcome));
  else find("#welcome-lead").textContent = about.solo
    ? t("welcome.solo", { items, k, many })
    : [t(options === 2 ? "welcome.two" : "welcome.more", { items, k, many }), length(about)].filter(Boolean).join(t("between.sentences"));
  find("#consent").hidden = !about.consent;
  find("#consent-text").replaceChildren(...linked(about.consent ?? ""));
  find("#paused").hidden = about.state !== "paused";
  find("#welcome-title").setAttribute("aria-describedby", about.state === "paused" ? "paused" : ""); // the title has the focus
  find("#decline").hidden = !about.consent;
  find("#begin span").textContent = t(about.consent ? "agree" : "begin");
  find("#begin").setAttribute("aria-keyshortcuts", about.consent ? "Enter" : "Enter ArrowRight"); // agreeing is no slip
  show("welcome");
  return new Promise((done) => {
    find("#begin").addEventListener("click", () => done(true), { once: true });
    find("#decline").addEventListener("click", () => done(false), { once: true });
  });
}

function noCookies() {
  stuck(t("cookies.title"), t("cookies.text"));
}

/** Take part; null if the person does not agree. */
async function join(about, view, preview) {
  if (!await welcome(about)) return null;
  const practice = about.solo ? null : await practise(view, about);
  if (preview) return null;
  return request("POST", `${address}/join`, { consent: true, practice, ...invited() }, waiting);
}

const invited = () => ({ invitation: location.hash.slice(1, 65) || null });

async function begin() {
  try {
    let about = await request("GET", address, undefined, waiting);
    const arrived = await arrive(address, about, waiting);
    if (arrived) about = await request("GET", address, undefined, waiting); // they may have joined on another device
    const preview = arrived?.state === "preview" && !about.joined;
    explain(about);
    goOnByKey();
    if (arrived?.ending) {
      goBack(arrived.ending);
    } else if (about.state === "finished" && about.solo && !about.joined) {
      await finish(`${address}/`, await request("GET", `${address}/summary`, undefined, waiting));
    } else if (about.state === "finished" && !about.joined && !arrived) {
      stuck(t("ended.title"), t("ended.text"));
    } else {
      if (about.by_invitation && !about.joined) await request("POST", `${address}/invitation`, invited(), waiting); // before anybody reads and practises in vain
      const view = new ChoiceView();
      const work = about.joined ? null : await join(about, view, preview);
      if (preview) endPreview();
      else if (!work && !about.joined && arrived) await refuse(address, waiting);
      else if (!work && !about.joined) stuck(t("declined.title"), t("declined.text"));
      else await new AnswerLoop(about, view, () => (work ? noCookies() : location.reload())).begin(work);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    stuck(t("failed.title"), refused(error));
  }
}

/** The organizer looks: from the welcome over a first question to the thanks, and nothing is sent. */
async function look() {
  const { about, options } = await request("POST", document.body.dataset.preview, said(), waiting);
  explain(about);
  goOnByKey();
  if (!await welcome(about)) { stuck(t("declined.title"), t("declined.text")); return; }
  const view = new ChoiceView();
  await practise(view, about);
  find("#enough-for-me").addEventListener("click", () => sayGoodbye(about));
  for (;;) {
    await tryOne(view, about, options);
    sayEnough(about, about.goal ?? 1);
    await new Promise((done) => find("#go-on").addEventListener("click", done, { once: true }));
  }
}

/** Words that are not kept yet, from the page where they are written. */
function said() {
  const written = sessionStorage.getItem("preview");
  return document.body.dataset.preview.startsWith("/api/organize") && written ? JSON.parse(written) : {};
}

if (document.body.dataset.preview) await look().catch((error) => stuck(t("failed.title"), error.message));
else if (!sayForgotten()) await begin();
