// The organizer's part about recruiting: a draft, its cost, publishing, people by state, money, and what waits.

import { find, make, toast } from "./dom.js";
import { Refusal, request } from "./requests.js";

const RUNNING = { pause: ["ACTIVE"], start: ["PAUSED"], stop: ["ACTIVE", "PAUSED"] };

export class Recruiting {
  #root;
  #last = "";

  constructor(root) {
    this.#root = `${root}/recruiting`;
    for (const action of Object.keys(RUNNING)) find(`#recruiting-${action}`).addEventListener("click", () => this.#order(action));
    find("#recruiting-reconcile").addEventListener("click", () => this.#order("reconcile"));
    find("#recruiting-publish").addEventListener("click", () => this.#publish());
    find("#drafting").addEventListener("submit", (event) => { event.preventDefault(); this.#create(event.target); });
  }

  /** What is known, unless it is as it was. */
  show(told) {
    const text = JSON.stringify(told);
    if (text === this.#last) return;
    this.#last = text;
    find("#recruiting-none").hidden = Boolean(told);
    find("#recruiting").hidden = !told;
    if (!told) return;
    const money = new Intl.NumberFormat(undefined, { style: "currency", currency: told.currency });
    const places = told.places === null ? "" : `, ${told.places} places`;
    find("#recruiting-state").textContent = `${told.panel}${told.status ? `: ${told.status}` : ""}${places}`;
    find("#recruiting-plan").textContent = told.plan;
    find("#recruiting-trouble").hidden = !told.trouble;
    find("#recruiting-trouble").textContent = told.trouble ?? "";
    const people = Object.entries(told.people).map(([state, count]) => [state, String(count)]);
    const cents = (amount) => money.format(amount / 100);
    const sums = [["paid to people", cents(told.paid)], ["locked, with fees", cents(told.locked)]];
    if (told.unknown) sums.push(["sent, outcome unknown", cents(told.unknown)]);
    rows("#recruiting-people", people.length ? people : [["nobody yet", "0"]]);
    rows("#recruiting-money", sums);
    find("#recruiting-money").hidden = told.status === null;
    find("#recruiting-publish").hidden = told.status !== "UNPUBLISHED";
    for (const [action, states] of Object.entries(RUNNING)) find(`#recruiting-${action}`).hidden = !states.includes(told.status);
    find("#recruiting-differences").replaceChildren(...told.differences.map((said) => make("li", { textContent: said })));
    find("#recruiting-waiting").replaceChildren(...told.waiting.map((one) => this.#waiting(one)));
    find("#recruiting-waits").hidden = !told.waiting.length;
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

  #create(form) {
    const given = Object.fromEntries(new FormData(form));
    const cents = Math.round(100 * Number(given.per_hour));
    return this.#say("create", { address: given.address, people: Number(given.people), answers_each: Number(given.answers_each), per_hour: cents });
  }

  async #say(what, body) {
    const told = await this.#ask("POST", what, body);
    if (told) this.show(told);
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

function rows(selector, lines) {
  find(selector).replaceChildren(...lines.flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: value })]));
}
