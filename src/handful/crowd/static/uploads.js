// Sending many files: a few at a time, with progress, and again where the connection was lost.

import { pause } from "./dom.js";

const AT_ONCE = 3;
const TRIES = 5;
const HIDDEN = /(?:^|\/)(\.|__MACOSX\/|Thumbs\.db$|desktop\.ini$|[^/]+\.items\/)/id;

/** The hidden file, or the outermost hidden folder with a slash after it. */
function outermost(path) {
  const end = path.indexOf("/", HIDDEN.exec(path).indices[1][0]);
  return end < 0 ? path : path.slice(0, end + 1);
}

/** One line that names all hidden files among these paths, a hidden folder instead of what is in it; none: no line. */
export function passedOver(paths) {
  const hidden = paths.filter((path) => HIDDEN.test(path)).map(outermost);
  if (!hidden.length) return [];
  const times = new Map();
  for (const name of hidden) times.set(name, (times.get(name) ?? 0) + 1);
  const said = [...times].map(([name, n]) => (name.endsWith("/") ? `${name} (${n} ${n === 1 ? "file" : "files"})` : name)).join(", ");
  const one = hidden.length === 1;
  return [{ name: `${hidden.length} hidden or system ${one ? "file" : "files"}`, why: `${one ? "was" : "were"} passed over: ${said}`, files: hidden.length }];
}

/** What was dropped, with the files of dropped folders; each with a path. */
export async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, path: file.name }));
  const found = [];
  for (const entry of entries) await gather(entry, found);
  return found;
}

async function gather(entry, found) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    found.push({ file, path: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const one of some) await gather(one, found);
  }
}

/** The files of an input, each with a path. */
export const picked = (input) => [...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));

function put(address, file, moved) {
  return new Promise((done, failed) => {
    const sending = new XMLHttpRequest(); // fetch tells nothing of how far an upload is
    sending.open("PUT", address);
    sending.upload.onprogress = (event) => moved(event.loaded);
    sending.onload = () => {
      let said = {};
      try { said = JSON.parse(sending.responseText); } catch { /* a proxy's page */ }
      done({ status: sending.status, said });
    };
    sending.onerror = () => failed(new Error("the connection was lost"));
    sending.send(file);
  });
}

/** Send a picture to practise on; gives its name and its address in small, or throws with why it was not taken. */
export async function sendPracticePicture(root, file) {
  const { status, said } = await put(`${root}/practice/${encodeURIComponent(file.name)}`, file, () => {}).catch(() => ({ status: 0, said: { message: "The connection was lost: try again." } }));
  if (status !== 200) throw new Error(said.message ?? `The server answered ${status}: try again.`);
  return said;
}

const begun = (root) => `sending ${root}`;

/** When this browser began to send, or null; a browser that keeps nothing sends everything anew. */
function beganAt(root) {
  try { return localStorage.getItem(begun(root)); } catch { return null; }
}

function begin(root) {
  try { localStorage.setItem(begun(root), String(Date.now())); } catch { /* see above */ }
}

/** All that is wanted was sent: a file that comes again from now on is another one, whatever its size. */
export function endSending(root) {
  try { localStorage.removeItem(begun(root)); } catch { /* it was not kept */ }
}

/** Send files. `told({ done, of, bytes, total })` is called as it goes. A file replaces that of its name; only where this
 *  browser began to send when nothing was there, and did not get to the end, is passed over what arrived and is the same.
 *  Gives what could not be sent, each with why; `fatal` is why nothing more can be taken. */
export async function sendAll(root, files, there, told) {
  if (!there.length) begin(root);
  const since = Number(beganAt(root) ?? -1); // by the clock that the times of files are by
  const have = new Map(there.map(({ name, size }) => [name, size]));
  const arrived = ({ file, path }) => have.get(path) === file.size && file.lastModified <= since;
  const queue = files.filter((one) => !HIDDEN.test(one.path) && !arrived(one));
  const total = queue.reduce((sum, { file }) => sum + file.size, 0);
  const moving = new Map();
  const failed = [];
  let [done, bytes, fatal] = [0, 0, null];
  const tell = () => told({ done, of: queue.length, bytes: bytes + [...moving.values()].reduce((a, b) => a + b, 0), total });
  const todo = queue[Symbol.iterator]();

  async function one({ file, path }) {
    for (let attempt = 1; ; attempt += 1) {
      let why = "the connection was lost";
      try {
        const address = `${root}/files/${path.split("/").map(encodeURIComponent).join("/")}`;
        const { status, said } = await put(address, file, (loaded) => { moving.set(path, loaded); tell(); });
        if (status === 200) return;
        why = said.message ?? `the server answered ${status}`;
        if (status === 507) fatal = why;
        if (status < 500 && status !== 429 && status !== 400) attempt = TRIES;
      } catch (error) {
        why = error.message;
      }
      if (attempt >= TRIES || fatal) { failed.push({ file, path, why }); return; }
      await pause(500 * 2 ** attempt);
    }
  }

  async function lane() {
    for (const next of todo) {
      if (fatal) { failed.push({ ...next, why: fatal }); continue; }
      await one(next);
      moving.delete(next.path);
      bytes += next.file.size;
      done += 1;
      tell();
    }
  }
  tell();
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (!failed.length) endSending(root);
  return { failed, fatal };
}
