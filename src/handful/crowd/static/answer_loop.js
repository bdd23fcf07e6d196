// Answering, one question after another: the one that is seen, the one loaded ahead, the answer that is being sent,
// and the last one while it can be undone.

import { words } from "./item_card.js";
import { EventStream } from "./event_stream.js";
import { find, pause, speak, toast, untoast } from "./dom.js";
import { t } from "./language.js";
import { goBack } from "./panel.js";
import { cardsOf, placeOf, saidOf, sameAnswer } from "./question.js";
import { Refusal, refused, request } from "./requests.js";
import { finish, quiet, sayEnough, sayGoodbye, show } from "./sections.js";

const FLASH_MS = 110; // how long the chosen card is marked before the next question takes its place
const BETWEEN_MS = 700; // a round that has just ended is followed by the next one soon
const SENDING = "sending";
const LAST = "last";

export class AnswerLoop {
  #view;
  #about;
  #root;
  #work = null;
  #showing = { token: null, ready: Promise.resolve(false) };
  #busy = false;
  #redoing = false;
  #offer = 0;
  #until = 0; // when another answer is no longer taken, by the page's own clock
  #requests = 0;
  #thanked = false;
  #left = false;
  #goesOn = false; // beyond what they were asked for; until then only to look takes no question from others
  #retried = false;
  #spoken = null;
  #asked = null; // the question of which it is asked why it is skipped
  #memory;
  #tabs;
  #stream;

  constructor(about, view, notJoined) {
    this.#about = about;
    this.#view = view;
    this.#root = `/api/s/${about.study}/`;
    this.#memory = new Memory(about.study);
    this.#stream = new EventStream(`${this.#root}events`, () => this.refresh());
    this.#tabs = new BroadcastChannel(`handful ${about.study}`);
    this.#tabs.addEventListener("message", () => this.refresh());
    this.notJoined = notJoined;
    view.chosen = (at, ms) => this.#choose(at, ms);
    view.retry = () => this.#present(this.#view.question, { again: true });
    find("#undo").addEventListener("click", () => this.#undoOrKeep());
    find("#undo-late").addEventListener("click", () => this.#undoOrKeep());
    find("#skip").addEventListener("click", () => this.#askWhy());
    find("#go-on").addEventListener("click", () => this.#goOn());
    find("#enough-for-me").addEventListener("click", () => this.#leave());
    find("#skipping").addEventListener("close", () => this.#skip(find("#skipping").returnValue));
    document.addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("visibilitychange", () => document.hidden || this.refresh());
  }

  /** Begin, or go on after a reload: an answer that was under way is sent first. */
  async begin(work = null) {
    const kept = this.#memory.read(SENDING);
    if (kept) await this.#send(kept.what, kept.body, null, true);
    else if (work) await this.#take(work);
    else await this.refresh();
  }

  /** See whether things have changed elsewhere: in another tab, or at the server. */
  async refresh() {
    if (this.#busy || this.#redoing || this.#left) return;
    const turn = ++this.#requests;
    const work = await this.#ask("GET", this.#goesOn ? "next" : "look");
    if (work && turn === this.#requests && !this.#busy && !this.#redoing) await this.#take(work);
  }

  #choose(at, ms) {
    const { question } = this.#view;
    const said = saidOf(question, at);
    if (this.#redoing) return this.#send("undo", { token: question.token, ...said }, this.#work.questions[0]);
    this.#memory.write(LAST, { question, said });
    return this.#send("answer", { token: question.token, ...said, ms }, this.#work.questions[1]);
  }

  /** Send, show what comes next meanwhile, and take the reply. Until then nothing else can be answered.
   *  `again`: it was under way when the page was loaded again, so it may have arrived before. */
  async #send(what, body, next = null, again = false) {
    this.#busy = true;
    this.#requests += 1;
    this.#offerUndo(null);
    this.#memory.write(SENDING, { what, body });
    const sending = this.#ask("POST", what, body);
    if (next) {
      await pause(FLASH_MS);
      this.#redoing = false;
      this.#present(next);
    }
    const work = await sending;
    this.#busy = this.#redoing = false;
    this.#memory.forget(SENDING);
    if (!work) return this.refresh();
    if (work.answer && what === "undo" && this.#memory.read(LAST)) {
      this.#memory.write(LAST, { ...this.#memory.read(LAST), said: work.answer });
    }
    if (again && sameAnswer(work.answer, body)) toast(t("taken"));
    else if (work.answer?.repeated && !this.#retried) toast(t("repeated"));
    this.#tabs.postMessage("changed");
    return this.#take(work);
  }

  /** What the server says, or null if it refused; then the person has been told. */
  async #ask(method, what, body) {
    this.#retried = false;
    let connected = true;
    const lost = (unstored, failed) => {
      this.#retried = true;
      connected = unstored || failed;
      toast(t(body ? (unstored ? "unstored" : "lost.answer") : "lost"), 0);
    };
    const back = (heeded) => { untoast(); if (body && heeded) toast(t(connected ? "taken" : "back.answer")); };
    try {
      return await request(method, this.#root + what, body, { lost, back });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === "not_joined") this.notJoined();
      else if (error.code === "too_late") toast(t("too.late"));
      else if (error.status !== 404 && (body || error.code !== "closed")) toast(refused(error), 8);
      return null;
    }
  }

  async #take(work) {
    this.#work = { ...work, questions: work.questions.map((question) => ({ ...question, k: work.progress.k })) };
    this.#progress(work);
    this.#offerUndo(work.undo);
    if (this.#asksToGoOn(work)) return null;
    if (work.state !== "questions") {
      this.#putAway();
      return this.#rest(work);
    }
    this.#stream.busy();
    const [now, ahead] = this.#work.questions;
    const fresh = now.token !== this.#spoken;
    this.#present(now);
    show("question");
    const well = await this.#showing.ready;
    if (ahead) this.#view.preload(ahead); // not before: it would take the line from what is waited for
    if (!well || this.#showing.token !== now.token || this.#busy || this.#redoing) return null;
    this.#view.arm();
    if (fresh) this.#describe(now);
    return null;
  }

  /** No question is seen or read out any more. */
  #putAway() {
    this.#showing = { token: null, ready: Promise.resolve(false) };
    this.#view.disarm();
    this.#spoken = null;
    speak("");
  }

  #describe(question) {
    this.#spoken = question.token;
    const cards = cardsOf(question);
    const said = cards.map((card, at) => t("spoken.option", { n: at + 1, words: words(card).slice(0, 600 / cards.length) }));
    speak(`${find("#count").textContent}. ${said.join(" ")}`);
  }

  async #rest(work) {
    if (work.state === "finished") {
      this.#stream.stop();
      if (work.ending) return goBack(work.ending);
      const summary = await this.#ask("GET", "summary"); // refused to who may not see it, which may have changed since the page was loaded
      if (summary?.picks.length) return finish(this.#root, summary, this.#about);
    } else {
      this.#stream.wait();
      const resting = this.#work;
      if (work.wait_s) setTimeout(() => this.refresh(), 1000 * work.wait_s);
      if (work.state === "waiting") await pause(BETWEEN_MS);
      if (resting !== this.#work || this.#busy || this.#redoing) return null;
      if (work.state === "waiting" && work.progress.enough && !this.#about.solo) {
        sayEnough(this.#about, work.progress.answered, false);
        return null;
      }
    }
    quiet(work, this.#about.solo);
    find("#quiet-undo").hidden = find("#undo").disabled || work.state === "finished";
    return null;
  }

  #present(question, { before = -1, again = false } = {}) {
    if (this.#showing.token === question.token && !again) return;
    this.#showing = { token: question.token, ready: this.#view.show(question, { before }) };
    const asked = this.#about.question ?? t(cardsOf(question).length === 2 ? "prompt.two" : "prompt.more");
    find("#prompt").textContent = before >= 0 ? [t("prompt.again"), asked].join(t("between.sentences")) : asked;
    if (again) this.#showing.ready.then((well) => well && !this.#busy && this.#view.arm());
  }

  #progress({ progress: { answered, goal, answers, budget } }) {
    const [done, of] = goal ? [answered, goal] : this.#about.solo ? [answers, budget] : [answered, null];
    const bar = find("#bar");
    bar.hidden = !of;
    bar.max = of ?? 1;
    bar.value = Math.min(done, of ?? 0);
    const more = goal && answered >= goal;
    find("#count").textContent = more ? t("count.thanks", { n: answered }) : of ? t("count.of", { n: done, of }) : t("count", { n: done });
  }

  /** At the last answer that was asked for, whether the person stays; true while they think about it. */
  #asksToGoOn({ state, progress: { answered, goal, enough } }) {
    if (enough) return false; // nobody is asked for more
    if (!goal || answered < goal || this.#thanked || !["questions", "waiting"].includes(state)) return false;
    this.#thanked = true;
    if (answered > goal) return false; // they went on before, and have reloaded the page
    this.#left = true;
    this.#putAway();
    sayEnough(this.#about, answered);
    return true;
  }

  #goOn() {
    this.#left = false;
    this.#goesOn = true;
    return this.refresh();
  }

  /** No more answers from here: what is held goes to others. */
  #leave() {
    this.#stream.stop();
    find("#quiet-undo").hidden = true;
    sayGoodbye(this.#about);
  }

  // Undo: the earlier question comes back, and may be answered differently.

  #offerUndo(offer) {
    const button = find("#undo");
    const last = this.#memory.read(LAST);
    clearTimeout(this.#offer);
    find("#skip").disabled = false;
    const offered = Boolean(offer && last && last.question?.token === offer.token);
    if (!offered && document.activeElement === button) find("#option-1 .choose")?.focus();
    button.disabled = !offered;
    find("span", button).textContent = t("undo");
    button.classList.remove("running");
    if (!offered) return;
    this.#until = performance.now() + 1000 * offer.choose_s;
    button.style.setProperty("--seconds", `${offer.seconds}s`);
    void button.offsetWidth; // so that the line under the button starts from its full length again
    button.classList.add("running");
    this.#offer = setTimeout(() => { this.#offerUndo(null); find("#quiet-undo").hidden = true; }, 1000 * offer.seconds);
  }

  async #undoOrKeep() {
    if (this.#busy) return;
    if (this.#redoing) {
      await this.#keep();
      return;
    }
    const last = this.#memory.read(LAST);
    if (!last) return;
    clearTimeout(this.#offer);
    this.#stream.busy();
    this.#redoing = true;
    this.#spoken = null; // the question that was there is read out again when it is back
    this.#left = false; // who answers again is here again
    const before = placeOf(last.question, last.said);
    this.#present(last.question, { before });
    show("question");
    const button = find("#undo");
    button.disabled = false;
    button.classList.remove("running");
    find("span", button).textContent = t("keep");
    speak(t("spoken.again", { n: before + 1 }));
    this.#offer = setTimeout(() => this.#tooLate(), Math.max(0, this.#until - performance.now()));
    find("#skip").disabled = true; // it was answered
    if (await this.#showing.ready) this.#view.arm();
  }

  /** The earlier answer stays, and the question that was there is shown again. */
  async #keep() {
    this.#redoing = false;
    this.#offerUndo(null);
    await this.refresh();
  }

  #tooLate() {
    if (!this.#redoing || this.#busy) return;
    toast(t("too.late"));
    this.#keep();
  }

  // Skip

  #askWhy() {
    if (this.#busy || this.#redoing || !this.#view.question) return;
    const dialog = find("#skipping");
    dialog.returnValue = "";
    this.#asked = this.#view.question.token;
    dialog.showModal();
  }

  #skip(reason) {
    if (!reason || this.#busy || this.#redoing || this.#view.question?.token !== this.#asked) return; // another one came meanwhile
    this.#send("skip", { token: this.#asked, reason }, this.#work.questions[1]);
  }

  #key(event) {
    if (find("dialog[open]") || event.repeat || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    const undo = find("#question").hidden ? find("#undo-late") : find("#undo");
    const undoes = event.ctrlKey ? key === "z" : ["u", "backspace"].includes(key);
    if (undoes && !undo.disabled && !undo.closest("[hidden]")) undo.click();
    else if (key === "s" && !event.ctrlKey && !find("#question").hidden) this.#askWhy();
    else return;
    event.preventDefault();
  }
}

/** What a reload of this tab should not forget. Where nothing may be stored, it forgets. */
class Memory {
  constructor(study) {
    this.study = study;
  }

  #name(what) {
    return `handful ${this.study} ${what}`;
  }

  read(what) {
    try {
      return JSON.parse(sessionStorage.getItem(this.#name(what)));
    } catch {
      return null;
    }
  }

  write(what, value) {
    try {
      sessionStorage.setItem(this.#name(what), JSON.stringify(value));
    } catch { /* private windows may refuse */ }
  }

  forget(what) {
    try {
      sessionStorage.removeItem(this.#name(what));
    } catch { /* as above */ }
  }
}
