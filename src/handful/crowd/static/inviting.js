// Invitations: links that let one person in each, as a file to send them from.

import { find, save, toast } from "./dom.js";
import { Refusal, request } from "./requests.js";

/** Wire the form; gives a function that shows it where people come by invitation, and says how many are open. */
export function inviting(address) {
  const form = find("#inviting");

  async function count() {
    const { open, used, revoked } = await request("GET", `${address}/invitations`);
    find("#invited").textContent = `${open} open, ${used} used${revoked ? `, ${revoked} revoked` : ""}.`;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const { links } = await request("POST", `${address}/invitations`, { number: Number(find("#invite-number").value) }, { repeats: false });
      const rows = links.map(({ number, link }) => `${number},${location.origin}${link}`);
      save(["number,link", ...rows, ""].join("\r\n"), "invitations.csv", "text/csv");
      await count();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      toast(error.message);
    }
  });

  return (door) => {
    const here = door === "invitations";
    if (here && form.hidden) count().catch(() => {});
    form.hidden = !here;
  };
}
