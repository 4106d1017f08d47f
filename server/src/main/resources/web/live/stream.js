// One stream per browser and workspace. Events only say what changed; each page asks for the rows that it shows.
import { events as reach, open } from '../api/client.js';
import { messages } from './messages.js';

const NAME = 'keelson.live.';
const HIDDEN_MS = 10_000;
const RETRY_MS = [500, 1_000, 2_000, 5_000];
/** Two failures within this time: something between page and server does not let streams through. */
const FAILURES_MS = 30_000;
const POLL_MS = 5_000;
const POLL_ALL_MS = 30_000;
const POLL_DOWN_MS = 2_000;
const DIGEST_MS = 250;

const aborted = (signal) =>
  new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });
const pause = (ms, signal) =>
  new Promise((done) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        done();
      },
      { once: true },
    );
  });

/**
 * Of all visible tabs of a workspace, the one that holds the lock reads the stream and tells the others, since HTTP/1.1 has six
 * connections per browser and host. Where the browser has no locks (plain http of another host), each tab reads for itself.
 */
class Live extends EventTarget {
  #workspace = null;
  #poll = null;
  #turn = new AbortController();
  /** @type {BroadcastChannel | null} */
  #channel = null;
  #leads = false;
  #last = null;
  #failed = [];
  #hidden = null;
  #down = false;
  state = 'closed';

  constructor() {
    super();
    document.addEventListener('visibilitychange', () => {
      clearTimeout(this.#hidden);
      if (document.hidden) this.#hidden = setTimeout(() => this.#stop('paused'), HIDDEN_MS);
      else if (this.state === 'paused') {
        this.#restart();
        this.dispatchEvent(new Event('resume'));
      }
    });
    addEventListener('online', () => {
      this.#failed = [];
      this.#restart();
    });
    reach.addEventListener('signed-out', () => this.follow(null));
    reach.addEventListener('reach', (event) => {
      const back = this.#down && event.detail;
      this.#down = !event.detail;
      if (back && this.state === 'polling') {
        this.#failed = [];
        this.#restart();
        this.dispatchEvent(new Event('resume'));
      }
    });
  }

  /**
   * Follows this workspace; null follows none.
   * @param poll looks for news where the stream does not get through; where absent, `resume` is sent
   */
  follow(workspace, poll = null) {
    this.#poll = poll;
    if (workspace === this.#workspace) return;
    this.#workspace = workspace;
    this.#last = null;
    this.#failed = [];
    this.#restart();
  }

  /** Follows nothing any more, since what was followed has ended. */
  rest() {
    this.#workspace = null;
    this.#stop('ended');
  }

  #say(state) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new Event('state'));
  }

  #stop(state) {
    this.#turn.abort();
    this.#channel?.close();
    this.#channel = null;
    this.#leads = false;
    this.#say(state);
  }

  #restart() {
    this.#stop('closed');
    if (this.#workspace && !document.hidden) this.#join(NAME + this.#workspace);
  }

  async #join(name) {
    this.#turn = new AbortController();
    const { signal } = this.#turn;
    if (!navigator.locks) {
      await this.#lead(signal);
      return;
    }
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = (message) => this.#hear(message.data);
    this.#channel.postMessage({ ask: true });
    await navigator.locks
      .request(name, { signal }, () => Promise.race([this.#lead(signal), aborted(signal)]))
      .catch((failure) => {
        if (!signal.aborted) throw failure;
      });
  }

  /** Does what all tabs do with this news, here and in the others. */
  #tell(news) {
    this.#channel?.postMessage(news);
    this.#hear(news);
  }

  #hear(news) {
    if (news.ask) {
      if (this.#leads) this.#channel?.postMessage({ state: this.state, look: false });
      return;
    }
    if (news.state) this.#say(news.state);
    if (news.last) this.#last = news.last;
    if (news.look !== undefined) this.#look(news.look);
    for (const run of news.runs ?? [])
      for (const type of run.types)
        this.dispatchEvent(new CustomEvent('event', { detail: { run_id: run.run_id, event_type: type } }));
  }

  /** Reads the stream for all tabs until this one is hidden, leaves or may not read it. */
  async #lead(signal) {
    if (signal.aborted) return;
    this.#leads = true;
    while (!signal.aborted && (await this.#read(signal))) {
      const time = performance.now();
      this.#failed = [...this.#failed.filter((at) => time - at < FAILURES_MS), time];
      if (this.#failed.length > 1) await this.#fallBack(signal);
      else {
        this.#tell({ state: 'reconnecting' });
        await pause(RETRY_MS[this.#failed.length - 1], signal);
      }
    }
    this.#leads = false;
  }

  /** Answers whether another attempt makes sense. */
  async #read(signal) {
    try {
      const response = await open('/events/stream', { digest_ms: DIGEST_MS, after: this.#last }, signal);
      if (response.status === 204) {
        this.#tell({ state: 'ended' });
        return false;
      }
      this.#tell({ state: 'live', look: this.#failed.length > 0 });
      await messages(response, ({ id, data }) => this.#tell({ last: id, runs: data ? JSON.parse(data).runs : [] }));
    } catch (failure) {
      if (signal.aborted) return false;
      if (failure.status === 401 || failure.status === 403) {
        this.#say('closed');
        return false;
      }
    }
    return !signal.aborted;
  }

  /** @param again the stream was away: the page may have missed events */
  #look(again) {
    if (this.#poll) this.#poll();
    else if (again) this.dispatchEvent(new Event('resume'));
  }

  /** Polls for a while, after which the stream is tried again. */
  async #fallBack(signal) {
    this.#tell({ state: 'polling' });
    const until = performance.now() + FAILURES_MS;
    await pause(POLL_DOWN_MS, signal);
    while (!signal.aborted && performance.now() < until) {
      this.#tell({ look: true });
      await pause(this.#down ? POLL_DOWN_MS : this.#poll ? POLL_MS : POLL_ALL_MS, signal);
    }
    this.#failed = this.#failed.slice(-1);
  }
}

export const live = new Live();
