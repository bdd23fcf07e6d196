// Excluding many people at once: everybody of one network, or everybody who came in a span of time.

import { find, make, toast } from "./dom.js";
import { Refusal, request } from "./requests.js";

const number = new Intl.NumberFormat();
const counted = (n, one, more) => `${number.format(n)} ${n === 1 ? one : more}`;
const seconds = (field) => (field.value ? new Date(field.value).getTime() / 1000 : null);

/** What is excluded is shown first; `order(what, body)` does it. */
export function groups(address, order) {
  const part = find("#group-part");
  if (!part) return;
  const dialog = find("#group-excluding");
  let chosen = null;

  part.addEventListener("toggle", () => part.open && list());
  find("#group").addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "yes") order("group/exclude", { ...chosen, reason: find("#group-reason").value.trim() });
  });

  async function list() {
    const found = await refusedSaid(() => request("GET", `${address}/networks`));
    const lines = (found ?? []).map(({ network, people, answers, excluded }) => make("option", {
      value: network,
      textContent: `${network}: ${counted(people, "person", "people")}, ${counted(answers, "answer", "answers")}${excluded ? `, ${number.format(excluded)} excluded` : ""}`,
    }));
    find("#group-network").replaceChildren(make("option", { value: "", textContent: "any" }), ...lines);
  }

  async function ask() {
    const asked = { network: find("#group-network").value || null, since: seconds(find("#group-since")), until: seconds(find("#group-until")) };
    if (Object.values(asked).every((value) => value === null)) {
      toast("Choose a connection or give a time, or both.", 8);
      return;
    }
    const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== null));
    const meant = await refusedSaid(() => request("GET", `${address}/group?${query}`));
    if (!meant || dialog.open) return;
    chosen = asked; // what the dialog speaks of
    find("#group-words").textContent = meant.words;
    find("#group-yes").disabled = meant.people === 0;
    find("#group-reason").value = "";
    dialog.returnValue = "";
    dialog.showModal();
  }

  async function refusedSaid(asked) {
    try {
      return await asked();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(error.message, 8);
      return null;
    }
  }
}
