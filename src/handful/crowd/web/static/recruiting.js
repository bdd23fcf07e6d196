// The organizer's part about recruiting: a draft, its cost, publishing, people by state, money, and what waits.

import { find, make, toast } from "./dom.js";
import { Refusal, request } from "./requests.js";

const FOLLOWS = { budget: Number, minutes: Number, rewards: cents };
const PLANNED = ["people", "answers_each", "budget", "minutes", "per_hour", "rewards", "currency"];
const SHOWN = 6; // letters of a name in the table
const RUNNING = { pause: ["ACTIVE"], start: ["PAUSED"], stop: ["ACTIVE", "PAUSED"] };

export class Recruiting {
  #root;
  #last = "";
  #names = []; // of all who answered: the table shows six letters of each
  #first = null; // the plan as the study was set up
  #plans = 0; // grows with every plan that is asked for: only the newest is shown
  #bonus = null; // names the bonus in the form: however often it is sent, it is promised once

  constructor(root) {
    this.#root = `${root}/recruiting`;
    for (const action of Object.keys(RUNNING)) find(`#recruiting-${action}`).addEventListener("click", () => this.#order(action));
    find("#recruiting-reconcile").addEventListener("click", () => this.#order("reconcile"));
    find("#recruiting-publish").addEventListener("click", () => this.#publish());
    const form = find("#drafting");
    form.addEventListener("submit", (event) => { event.preventDefault(); this.#say("create", { ...known(form), address: form.elements.address.value }); });
    form.addEventListener("change", async ({ target }) => {
      await this.#first; // else the numbers would be those of nobody's plan
      this.#plan(form, target.name);
    });
    find("#recruiting-none").addEventListener("toggle", ({ target }) => { if (target.open) this.#first = this.#plan(form); });
    find("#giving").addEventListener("input", () => { this.#bonus = null; });
    find("#giving").addEventListener("submit", (event) => { event.preventDefault(); this.#give(event.target); });
  }

  /** One number was changed: show the others. */
  async #plan(form, changed) {
    if (changed === "address") return;
    const body = changed ? { ...known(form) } : {}; // at first: as the study was set up
    if (FOLLOWS[changed]) body[changed] = FOLLOWS[changed](form.elements[changed].value);
    const turn = ++this.#plans;
    const sent = Object.fromEntries(PLANNED.map((name) => [name, form.elements[name].value]));
    let told;
    try {
      told = await request("POST", `${this.#root}/plan`, body);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (turn === this.#plans) find("#draft-words").textContent = error.message;
      return;
    }
    if (turn !== this.#plans) return;
    const shown = { ...told, per_hour: (told.per_hour / 100).toFixed(2), rewards: (told.rewards / 100).toFixed(2) };
    for (const name of PLANNED) {
      if (form.elements[name].value === sent[name]) form.elements[name].value = shown[name]; // else it is being typed
    }
    find("#draft-words").textContent = `${told.words} ${told.note}`;
  }

  async #give(form) {
    const { who: typed, amount, reason } = Object.fromEntries(new FormData(form));
    const who = this.#whole(typed.trim());
    if (!who) return;
    const id = (this.#bonus ??= randomName());
    if (!(await this.#say("bonus", { id, who, cents: cents(amount), reason }))) return;
    if (this.#bonus !== id) return; // it was sent twice, or another one is being typed
    this.#bonus = null;
    form.reset();
    toast(`The bonus for ${who} is promised, and paid once.`, 6);
  }

  /** The whole name of the only person who is shown so in the table; who never answered must be named whole. */
  #whole(typed) {
    const found = typed.length < SHOWN ? [] : this.#names.filter((name) => name.startsWith(typed));
    if (found.length > 1) toast(`${found.length} people have names that begin with ${typed}: type more letters, which the table tells when you point at a name.`, 12);
    else if (typed.length < SHOWN) toast(`Type at least ${SHOWN} letters of the name.`, 8);
    return found.length === 1 ? found[0] : found.length || typed.length < SHOWN ? null : typed;
  }

  /** What is known, unless it is as it was. */
  show(told, workers) {
    if (workers) this.#names = workers.map(({ worker }) => worker);
    const text = JSON.stringify(told);
    if (text === this.#last) return;
    this.#last = text;
    find("#recruiting-none").hidden = Boolean(told);
    find("#recruiting").hidden = !told;
    if (!told) return;
    const money = new Intl.NumberFormat(undefined, { style: "currency", currency: told.currency });
    const places = told.places === null ? "" : `, ${told.places} places`;
    find("#recruiting-state").textContent = `${told.panel[0].toUpperCase()}${told.panel.slice(1)}${told.status ? `: ${told.status.toLowerCase()}` : ""}${places}`;
    find("#recruiting-plan").textContent = told.plan;
    find("#recruiting-trouble").hidden = !told.trouble;
    find("#recruiting-trouble").textContent = told.trouble ?? "";
    const people = Object.entries(told.people).map(([state, count]) => [state, String(count)]);
    const amount = (sum) => money.format(sum / 100);
    const sums = [["paid to people", amount(told.paid)], ["locked, with fees", amount(told.locked)]];
    if (told.promised) sums.push(["promised, not yet sent", amount(told.promised)]);
    if (told.unknown) sums.push(["sent, outcome unknown", amount(told.unknown)]);
    rows("#recruiting-people", people.length ? people : [["nobody yet", "0"]]);
    rows("#recruiting-money", sums);
    find("#recruiting-sums").hidden = told.status === null;
    find("#recruiting-publish").hidden = told.status !== "UNPUBLISHED";
    for (const [action, states] of Object.entries(RUNNING)) find(`#recruiting-${action}`).hidden = !states.includes(told.status);
    find("#recruiting-differences").replaceChildren(...told.differences.map((said) => make("li", { textContent: said })));
    find("#recruiting-waiting").replaceChildren(...told.waiting.map((one) => this.#waiting(one)));
    find("#recruiting-waits").hidden = !told.waiting.length;
    find("#recruiting-may-return").replaceChildren(...told.may_return.map((who) => this.#mayReturn(who)));
    find("#recruiting-returns").hidden = !told.may_return.length;
    find("#recruiting-bonus").hidden = !told.status || told.status === "UNPUBLISHED";
  }

  #mayReturn(who) {
    const button = make("button", { type: "button", textContent: "Ask for a return", onclick: () => this.#say("return", { who }) });
    return make("li", {}, make("span", { className: "who", textContent: who }), button);
  }

  #waiting({ who, line, words }) {
    const choices = who ? [["Pay", true], ["Leave it", false]] : [["It was paid", true], ["It was not", false]];
    const buttons = choices.map(([textContent, pay]) =>
      make("button", { type: "button", textContent, onclick: () => this.#say("decide", who ? { who, pay } : { line, pay }) }));
    return make("li", {}, make("span", { textContent: words }), make("span", { className: "row" }, ...buttons));
  }

  #order(action) {
    return this.#say(action, {});
  }

  /** Publishing spends money: the cost is asked for anew, and must be agreed to. */
  async #publish() {
    const cost = await this.#ask("GET", "cost");
    if (!cost) return;
    find("#publishing-words").textContent = `Publishing locks ${cost.words}. Places grow as people finish.`;
    const dialog = find("#publishing");
    dialog.returnValue = "";
    dialog.showModal();
    dialog.addEventListener("close", () => dialog.returnValue === "yes" && this.#say("publish", { cents: cost.cents }), { once: true });
  }

  async #say(what, body) {
    const told = await this.#ask("POST", what, body);
    if (told) this.show(told);
    return told;
  }

  async #ask(method, what, body) {
    try {
      return await request(method, `${this.#root}/${what}`, body);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(error.message, 12);
      return null;
    }
  }
}

/** Sixteen random bytes in hexadecimal; crypto.randomUUID is not there without https. */
function randomName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What somebody typed as an amount, in cents. */
function cents(typed) {
  return Math.round(100 * Number(typed));
}

/** The numbers of the plan that the others follow from; an empty field is left to the study. */
function known(form) {
  const { people, answers_each: each, per_hour: rate, currency } = form.elements;
  return { people: Number(people.value) || null, answers_each: Number(each.value) || null, per_hour: cents(rate.value), currency: currency.value };
}

function rows(selector, lines) {
  find(selector).replaceChildren(...lines.flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: value })]));
}
