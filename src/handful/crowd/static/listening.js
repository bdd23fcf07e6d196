// While there is nothing to answer, the page listens. An event says that there may be something; then it asks.

const ASK_ANYWAY_MS = 15_000; // should an event ever be missed

export class Listening {
  #source = null;
  #timer = 0;

  /** `look` asks for work; it is called after events, and now and then in case one was missed. */
  constructor(address, look) {
    this.address = address;
    this.look = look;
  }

  start() {
    if (this.#timer) return;
    this.#open();
    this.#timer = setInterval(() => {
      if (this.#source?.readyState === EventSource.CLOSED) this.#open();
      this.look();
    }, ASK_ANYWAY_MS * (1 + Math.random() / 4));
  }

  stop() {
    clearInterval(this.#timer);
    this.#source?.close();
    this.#timer = 0;
    this.#source = null;
  }

  #open() {
    this.#source?.close();
    this.#source = new EventSource(this.address);
    for (const name of ["work", "paused", "closed"]) {
      // Not all who wait should come at once.
      this.#source.addEventListener(name, () => setTimeout(() => this.#timer && this.look(), 400 * Math.random()));
    }
    this.#source.addEventListener("closed", () => this.#source?.close());
  }
}
