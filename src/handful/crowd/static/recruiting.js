// The organizer's part about recruiting: what to paste where, people by state, money, and what waits.

import { copyable, find, make, toast } from "./dom.js";
import { Refusal, request } from "./requests.js";

const SHOWN = 6; // letters of a name in the table

export class Recruiting {
  #root;
  #last = "";
  #names = []; // of all who answered: the table shows six letters of each
  #bonus = null; // names the bonus in the form: however often it is sent, it is promised once

  constructor(root) {
    this.#root = `${root}/recruiting`;
    find("#recruiting-reconcile").addEventListener("click", () => this.#say("reconcile", {}));
    find("#recruit-prolific").addEventListener("submit", (event) => { event.preventDefault(); this.#begin(event.target); });
    find("#giving").addEventListener("input", () => { this.#bonus = null; });
    find("#giving").addEventListener("submit", (event) => { event.preventDefault(); this.#give(event.target); });
  }

  async #begin(form) {
    const { address, people, answers_each: each, per_hour: rate, currency } = Object.fromEntries(new FormData(form));
    const plan = { people: Number(people) || null, answers_each: Number(each) || null, per_hour: rate ? cents(rate) : null, currency: currency || null };
    if (await this.#say("prolific", { address, ...plan })) find("#recruiting-how").open = true;
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
    const sums = [["paid to people", amount(told.paid)]];
    if (told.promised) sums.push(["promised, not yet sent", amount(told.promised)]);
    if (told.unknown) sums.push(["sent, outcome unknown", amount(told.unknown)]);
    rows("#recruiting-people", people.length ? people : [["nobody yet", "0"]]);
    rows("#recruiting-money", sums);
    find("#recruiting-sums").hidden = !told.pays;
    find("#recruiting-steps").replaceChildren(...told.steps.map(step));
    find("#recruiting-differences").replaceChildren(...told.differences.map((said) => make("li", { textContent: said })));
    find("#recruiting-waiting").replaceChildren(...told.waiting.map((one) => this.#waiting(one)));
    find("#recruiting-waits").hidden = !told.waiting.length;
    find("#recruiting-bonus").hidden = !told.pays;
  }

  #waiting({ who, line, words }) {
    const choices = who ? [["Pay", true], ["Leave it", false]] : [["It was paid", true], ["It was not", false]];
    const buttons = choices.map(([textContent, pay]) =>
      make("button", { type: "button", textContent, onclick: () => this.#say("decide", who ? { who, pay } : { line, pay }) }));
    return make("li", {}, make("span", { textContent: words }), make("span", { className: "row" }, ...buttons));
  }

  async #say(what, body) {
    try {
      const told = await request("POST", `${this.#root}/${what}`, body);
      this.show(told);
      return told;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(error.message, 12);
      return null;
    }
  }
}

/** Something to do on the panel's page, with what to paste there. */
function step({ words, paste }) {
  const line = make("li", {}, make("span", { textContent: words }));
  if (paste !== null) line.append(make("span", { className: "code" }, ...copyable(paste, words)));
  return line;
}

/** Sixteen random bytes in hexadecimal; crypto.randomUUID is not there without https. */
function randomName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What somebody typed as an amount, in cents. */
function cents(typed) {
  return Math.round(100 * Number(typed));
}

function rows(selector, lines) {
  find(selector).replaceChildren(...lines.flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: value })]));
}
