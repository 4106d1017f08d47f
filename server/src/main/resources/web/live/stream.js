// One stream for the visible page. Events only say what changed; the page asks for the rows that it shows.
import { events as reach, open } from '../api/client.js';

const HIDDEN_MS = 10_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000];

class Live extends EventTarget {
  #path = null;
  #abort = null;
  #last = null;
  #failures = 0;
  #hidden = null;
  state = 'closed';

  /** Follows this stream instead of the one before; null follows none. */
  follow(path) {
    if (path === this.#path) return;
    this.#path = path;
    this.#last = null;
    this.#failures = 0;
    this.#restart();
  }

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.#hidden);
      if (document.hidden) this.#hidden = setTimeout(() => this.#stop('paused'), HIDDEN_MS);
      else if (this.state === 'paused') { this.#restart(); this.dispatchEvent(new Event('resume')); }
    });
    addEventListener('online', () => this.#restart());
    reach.addEventListener('signed-out', () => this.#stop('closed'));
  }

  #say(state) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new Event('state'));
  }

  #stop(state) {
    this.#abort?.abort();
    this.#abort = null;
    this.#say(state);
  }

  #restart() {
    this.#stop('closed');
    if (this.#path && !document.hidden) this.#read(this.#path);
  }

  async #read(path) {
    const abort = new AbortController();
    this.#abort = abort;
    try {
      const response = await open(path, this.#last ? { after: this.#last } : {}, abort.signal);
      if (response.status === 204) { this.#say('ended'); return; }
      const recovered = this.#failures > 0;
      this.#failures = 0;
      this.#say('live');
      if (recovered) this.dispatchEvent(new Event('resume'));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const blocks = (rest + value).split('\n\n');
        rest = blocks.pop();
        blocks.forEach((block) => this.#take(block));
      }
    } catch (failure) {
      if (failure.name === 'AbortError' || abort.signal.aborted) return;
      if (failure.status === 401 || failure.status === 404) { this.#say('closed'); return; }
    }
    if (abort.signal.aborted) return;
    this.#say('reconnecting');
    const wait = RETRY_MS[Math.min(this.#failures++, RETRY_MS.length - 1)];
    setTimeout(() => { if (this.#abort === abort) this.#read(path); }, wait);
  }

  #take(block) {
    let data = '';
    for (const line of block.split('\n')) {
      if (line.startsWith('id:')) this.#last = line.slice(3).trim();
      else if (line.startsWith('data:')) data += line.slice(5).trim();
    }
    if (!data) return;
    let event;
    try { event = JSON.parse(data); } catch { return; }
    this.dispatchEvent(new CustomEvent('event', { detail: event }));
  }
}

export const live = new Live();
