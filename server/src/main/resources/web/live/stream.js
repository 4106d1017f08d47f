// One stream for the visible page. Events only say what changed; the page asks for the rows that it shows.
import { events as reach, open } from '../api/client.js';

const HIDDEN_MS = 10_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000];
/** Two failures within this time: something between page and server does not let streams through. */
const FAILURES_MS = 30_000;
const POLL_MS = 5_000;
const POLL_ALL_MS = 30_000;
const POLL_DOWN_MS = 2_000;
const DIGEST_MS = 500;

class Live extends EventTarget {
  #path = null;
  #query = {};
  #poll = null;
  #abort = null;
  #last = null;
  #failed = [];
  #hidden = null;
  #timer = null;
  #down = false;
  state = 'closed';

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.#hidden);
      if (document.hidden) this.#hidden = setTimeout(() => this.#stop('paused'), HIDDEN_MS);
      else if (this.state === 'paused') { this.#restart(); this.dispatchEvent(new Event('resume')); }
    });
    addEventListener('online', () => { this.#failed = []; this.#restart(); });
    reach.addEventListener('signed-out', () => this.follow(null));
    reach.addEventListener('reach', (event) => {
      const back = this.#down && event.detail;
      this.#down = !event.detail;
      if (back && this.state === 'polling') { this.#failed = []; this.#restart(); this.dispatchEvent(new Event('resume')); }
    });
  }

  /**
   * Follows this stream instead of the one before; null follows none.
   * @param poll looks for news where the stream does not get through; where absent, `resume` is sent
   */
  follow(path, query = { digest_ms: DIGEST_MS }, poll = null) {
    this.#poll = poll;
    if (path === this.#path && JSON.stringify(query) === JSON.stringify(this.#query)) return;
    this.#path = path;
    this.#query = query;
    this.#last = null;
    this.#failed = [];
    this.#restart();
  }

  /** Follows nothing any more, since what was followed has ended. */
  rest() {
    this.#path = null;
    this.#stop('ended');
  }

  #say(state) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new Event('state'));
  }

  #stop(state) {
    clearTimeout(this.#timer);
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
      const response = await open(path, { ...this.#query, after: this.#last }, abort.signal);
      if (response.status === 204) { this.#say('ended'); return; }
      const again = this.#failed.length > 0;
      this.#say('live');
      this.#look(again);
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
    const time = performance.now();
    this.#failed = [...this.#failed.filter((at) => time - at < FAILURES_MS), time];
    if (this.#failed.length > 1) this.#fallBack();
    else {
      this.#say('reconnecting');
      this.#timer = setTimeout(() => this.#read(path), RETRY_MS[this.#failed.length - 1]);
    }
  }

  /** The page may have read its rows before the stream began. */
  #look(again) {
    if (this.#poll) this.#poll();
    else if (again) this.dispatchEvent(new Event('resume'));
  }

  /** Polls, and tries the stream again from time to time, or as soon as a server that was gone answers. */
  #fallBack() {
    this.#say('polling');
    const until = performance.now() + FAILURES_MS;
    const turn = () => {
      if (performance.now() > until) { this.#failed = this.#failed.slice(-1); this.#read(this.#path); return; }
      this.#look(true);
      this.#timer = setTimeout(turn, this.#down ? POLL_DOWN_MS : this.#poll ? POLL_MS : POLL_ALL_MS);
    };
    this.#timer = setTimeout(turn, POLL_DOWN_MS);
  }

  #take(block) {
    let data = '';
    for (const line of block.split('\n')) {
      if (line.startsWith('id:')) this.#last = line.slice(3).trim();
      else if (line.startsWith('data:')) data += line.slice(5).trim();
    }
    if (!data) return;
    let digest;
    try { digest = JSON.parse(data); } catch { return; }
    for (const run of digest.runs ?? []) for (const type of run.types) this.dispatchEvent(new CustomEvent('event', { detail: { run_id: run.run_id, event_type: type, task_ids: run.task_ids } }));
  }
}

export const live = new Live();
