// The page keeps a stream open. That tells the server that somebody is here; while there is nothing to answer, an event
// says that there may be something, and at any time that the study is paused or closed: then the page asks.

const ASK_ANYWAY_MS = 15_000; // should an event ever be missed
const FIRST_LOOK_MS = 1_000; // something may have come between the reply and the waiting
const HIDDEN_MS = 60_000; // a browser has few connections; a tab that nobody looks at gives its own back

export class EventStream {
  #source = null;
  #timer = 0;
  #hiding = 0;
  #waiting = false;

  /** `look` asks for work; it is called after events, and while waiting now and then in case one was missed. */
  constructor(address, look) {
    this.address = `${address}?present=true`;
    this.look = look;
    document.addEventListener("visibilitychange", () => this.#visible(!document.hidden));
  }

  /** There is something to answer: be here, and look only when the study is paused or closed. */
  busy() {
    this.#waiting = false;
    this.#start();
  }

  /** There is nothing to answer: look after each event. */
  wait() {
    this.#start();
    if (this.#waiting) return;
    this.#waiting = true;
    this.#lookSoon(FIRST_LOOK_MS);
  }

  stop() {
    clearInterval(this.#timer);
    clearTimeout(this.#hiding);
    this.#source?.close();
    this.#timer = 0;
    this.#source = null;
    this.#waiting = false;
  }

  #start() {
    if (this.#timer) return;
    this.#open();
    this.#timer = setInterval(() => {
      if (this.#source?.readyState === EventSource.CLOSED && !document.hidden) this.#open();
      if (this.#waiting) this.look();
    }, ASK_ANYWAY_MS * (1 + Math.random() / 4));
  }

  #open() {
    this.#source?.close();
    this.#source = new EventSource(this.address);
    this.#source.addEventListener("work", () => this.#lookSoon(0));
    for (const name of ["paused", "closed"]) this.#source.addEventListener(name, () => this.#lookSoon(0, true));
    this.#source.addEventListener("closed", () => this.#source?.close());
  }

  /** Not all should come at once. `anyway`: also while there is something to answer. */
  #lookSoon(ms, anyway = false) {
    setTimeout(() => (this.#waiting || anyway) && this.look(), ms + 400 * Math.random());
  }

  #visible(yes) {
    clearTimeout(this.#hiding);
    if (!yes) this.#hiding = setTimeout(() => this.#source?.close(), HIDDEN_MS);
    else if (this.#timer && this.#source?.readyState === EventSource.CLOSED) this.#open();
  }
}
