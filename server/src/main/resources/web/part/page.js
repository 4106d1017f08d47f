import { live } from '../live/stream.js';
import { route } from '../store/route.js';
import { Part } from './base.js';

/** A page that reads what it shows again after changes: one read at a time, and the longer they take, the fewer. */
export class Page extends Part {
  /** @type {{name: string, load: () => Promise<void>, after: number}} */
  #what;
  #timer = null;
  #asked = false;
  #reading = null;
  #took = 0;
  #missed = false;

  /**
   * @param name first part of the address, empty for the first page: it reads only there
   * @param load reads what the page shows
   * @param of whether an event may change it
   * @param after milliseconds from an event to the read
   */
  follows(name, load, of = (_) => true, after = 1_000) {
    this.#what = { name, load, after };
    this.watch(route, 'change', () => this.read());
    this.watch(live, 'event', (event) => {
      if (of(event.detail.event_type)) this.soon();
    });
    this.watch(live, 'resume', () => this.read());
    this.watch(document, 'visibilitychange', () => {
      if (!document.hidden && this.#missed) this.read();
    });
  }

  connectedCallback() {
    super.connectedCallback();
    this.read();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  soon() {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = null;
        if (document.hidden) this.#missed = true;
        else this.read();
      },
      Math.max(this.#what.after, this.#took * 3),
    );
  }

  /** Reads; where it is reading, once more afterwards. Ends when nothing is left to read. */
  read() {
    if ((route.path[0] ?? '') !== this.#what.name) return Promise.resolve();
    this.#asked = true;
    this.#missed = false;
    this.#reading ??= this.#turns().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #turns() {
    while (this.#asked) {
      this.#asked = false;
      const begun = performance.now();
      try {
        await this.#what.load();
        this.failure = null;
      } catch (failure) {
        this.failure = failure;
      }
      this.#took = performance.now() - begun;
    }
  }
}
