// Talking to the server: refusals become errors with a code; a lost connection is retried until it is back.

import { pause, toast } from "./dom.js";
import { has, t } from "./language.js";

const PATIENCE_MS = 12_000;
const WAITS_MS = [300, 700, 1500, 3000, 5000];

export class Refusal extends Error {
  constructor(status, { error = "unknown", message = "Something went wrong." } = {}) {
    super(message);
    this.status = status;
    this.code = error;
  }
}

/** What a refusal says, in the page's language where that has words for it. */
export const refused = ({ code, message }) => (has(`refused.${code}`) ? t(`refused.${code}`) : message);

async function once(method, path, body, patience, text) {
  const response = await fetch(path, {
    method,
    cache: "no-store",
    credentials: "same-origin",
    signal: AbortSignal.timeout(patience),
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
  });
  if (response.status === 204) return null;
  if (response.ok && text) return response.text();
  const said = await response.json().catch(() => ({}));
  if (response.ok) return said;
  const refusal = new Refusal(response.status, said);
  refusal.wait = 1000 * Number(response.headers.get("Retry-After") ?? 0);
  throw refusal;
}

/** Wait, but not longer than until the browser says that the network is back. */
function patience(ms) {
  return new Promise((done) => {
    const over = () => { clearTimeout(timer); removeEventListener("online", over); done(); };
    const timer = setTimeout(over, ms);
    addEventListener("online", over);
  });
}

/** Send until the server has replied: the server counts an answer once, however often it comes.
 *  `lost(unstored, failed)` says that there was no reply, that it cannot be stored, or that the server failed;
 *  `back(heeded)` that a reply came after all, and whether the server did what was asked.
 *  `patience_ms`: how long a reply may take that is worth waiting for.
 *  `text`: true for the reply as it came, to be kept to the letter.
 *  `repeats`: false for what would be done twice if it were sent twice. Without a reply that ends as a refusal. */
export async function request(method, path, body, { lost = null, back = () => {}, patience_ms: most = PATIENCE_MS, repeats = true, text = false } = {}) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const reply = await once(method, path, body, most, text);
      if (attempt) back(true);
      return reply;
    } catch (error) {
      const said = error instanceof Refusal;
      if (said && error.status === 429) {
        await pause(error.wait || 1000);
      } else if (said && error.status < 500) {
        if (attempt) back(false);
        throw error;
      } else if (!repeats) {
        throw new Refusal(0, { error: "unknown_outcome", message: "No reply came: it is not known whether this was done. Reload the page and look before you try again." });
      } else {
        const failed = said && error.status === 500;
        lost?.(said && error.code === "storage", failed);
        if (lost && failed) toast(t("failed.server"), 0); // on all pages, and in place of words about the connection
        await patience(WAITS_MS[Math.min(attempt, WAITS_MS.length - 1)]);
      }
    }
  }
}

/** What the organizer is told while something cannot be sent, or is sent and cannot be stored. */
export const sayLost = (unstored) => toast(unstored ? "This cannot be stored right now. Trying again." : "No connection. Trying again.", 0);

/** Do something, and say why if the server refuses it. */
export async function tried(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    toast(error.message, 8);
  }
}
