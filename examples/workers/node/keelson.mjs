// A worker of Keelson with Node alone: claims steps, keeps their leases, reports each result until it is answered.
// Copy it and change it: the protocol is docs/reference/http-api.md#worker-protocol.

import {readFileSync} from 'node:fs';
import {homedir, hostname} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';

const LEASE_MS = 15_000; // without a heartbeat for so long, another worker gets the step

/** The step did not work. The class decides about retries: infrastructure, quality or permanent. */
export class Failure extends Error {
  constructor(code, message, errorClass = 'infrastructure') {
    super(message);
    Object.assign(this, {code, errorClass});
  }
}

/** A claimed step, as its handler sees it. */
class Step {
  #worker;
  #item;
  #said = {};
  #logs = [];
  #used = {};
  #stop = new AbortController();
  #beating = Promise.resolve();
  #soon = false;
  #ended = false;

  constructor(worker, item) {
    this.#worker = worker;
    this.#item = item;
    this.input = item.input;
    this.attempt = item.attempt;
    this.effectKey = item.effect_key; // the same when the step is executed again: pass it to systems that you change
    this.details = item.details; // that an earlier execution kept
    this.signal = this.#stop.signal; // aborted when the server wants the step no more; pass it to fetch
  }

  /** budget_exceeded, cancelled, timed_out or lost; null while the step is wanted. */
  get stopped() {
    return this.signal.aborted ? this.signal.reason.message : null;
  }

  /** What this execution has used in all so far: tokens, usage, cost, model. The next heartbeat has it charged. */
  usage(members) {
    this.#used = members;
    this.#news();
  }

  progress(fraction, message) {
    this.#said.progress = {fraction, message};
    this.#news();
  }

  log(line) {
    this.#logs.push(line);
    this.#news();
  }

  /** For the next execution, if this one is lost. */
  keep(details) {
    this.#said.details = details;
    this.#news();
  }

  #news() {
    if (!this.#soon && !this.#ended) {
      this.#soon = true;
      setTimeout(() => {
        this.#soon = false;
        this.#beat();
      }, 200);
    }
  }

  #take() {
    const taken = {...this.#said, logs: this.#logs, ...this.#used};
    this.#said = {};
    this.#logs = [];
    return taken;
  }

  get #reference() {
    return {step_id: this.#item.step_id, lease_epoch: this.#item.lease_epoch};
  }

  /** Extends the lease, and says what is new. One at a time; nothing is lost when it fails, as the next one says it again. */
  #beat(last = false) {
    this.#beating = this.#beating.then(async () => {
      if (this.#ended && !last) {
        return;
      }
      const {progress, details, logs, ...used} = this.#take();
      const said = {...(progress && {progress}), ...(details !== undefined && {details})};
      try {
        const {items} = await this.#worker.post('heartbeat', {items: [{...this.#reference, ...said, logs, ...used}]});
        if (items[0].status === 'stop' || items[0].status === 'not_found') {
          this.#stop.abort(new Error(items[0].reason ?? 'lost'));
        }
      } catch {
        this.#said = {...said, ...this.#said};
        this.#logs = [...logs, ...this.#logs];
      }
    });
    return this.#beating;
  }

  async run(handler) {
    const lease = setInterval(() => this.#beat(), LEASE_MS / 3);
    let route = 'complete';
    let result = {};
    try {
      result = {output: (await handler(this)) ?? null};
    } catch (error) {
      route = error === this.signal.reason ? 'release' : 'fail';
      result = route === 'release' ? {} : {
        error_code: error instanceof Failure ? error.code : 'HANDLER_ERROR',
        error_class: error instanceof Failure ? error.errorClass : 'infrastructure', message: error.message,
      };
    }
    clearInterval(lease);
    this.#ended = true;
    await this.#beating;
    if (this.stopped !== null && this.stopped !== 'budget_exceeded') {
      return;
    }
    if (route === 'release') {
      await this.#beat(true); // the last use: a release has none
    }
    const {details, ...said} = this.#take();
    await this.#worker.report(route, {...this.#reference, ...(route !== 'release' && said), ...result});
  }
}

export class Worker {
  #tools = new Map();
  #specs = [];
  #key;

  constructor(name = `${hostname()}-${process.pid}`) {
    const data = process.env.KEELSON_DATA_DIR ?? join(homedir(), '.keelson');
    const read = (file) => readFileSync(join(data, file), 'utf8').trim();
    this.url = (process.env.KEELSON_URL ?? read('url')).replace(/\/$/, '');
    this.#key = process.env.KEELSON_API_KEY ?? read('api-key');
    this.name = name;
  }

  /** Serves a tool by a function that takes a step and returns, or promises, the output. */
  tool(spec, handler) {
    this.#tools.set(spec.name, handler);
    this.#specs.push(spec);
    return this;
  }

  async post(route, body) {
    const answer = await fetch(`${this.url}/api/v1/dispatch/${route}`, {
      method: 'POST', signal: AbortSignal.timeout(40_000), body: JSON.stringify({worker_id: this.name, ...body}),
      headers: {Authorization: `Bearer ${this.#key}`, 'Content-Type': 'application/json'},
    });
    if (!answer.ok) {
      throw Object.assign(new Error(`${route}: ${answer.status} ${await answer.text()}`), {status: answer.status});
    }
    return answer.json();
  }

  /** Repeats the report until it is answered: the server takes it once. */
  async report(route, item) {
    for (let delay = 200; ; delay = Math.min(5_000, delay * 2)) {
      try {
        const {items} = await this.post(route, {items: [item]});
        if (!['ok', 'duplicate'].includes(items[0].status)) {
          console.log(`${route} of step ${item.step_id}: ${JSON.stringify(items[0])}`);
        }
        return;
      } catch (error) {
        if (error.status >= 400 && error.status < 500 && error.status !== 429) {
          throw error;
        }
        await sleep(delay);
      }
    }
  }

  /** Claims and executes up to `slots` steps at a time, until the process ends. */
  async serve(slots = 4) {
    const tools = [...this.#tools.keys()];
    const busy = new Set();
    console.log(`worker ${this.name} serves ${tools.join(', ')}`);
    for (;;) {
      try {
        const {items} = await this.post('claim', {
          tools, tool_specs: this.#specs, max: slots - busy.size, wait_ms: 20_000, lease_ms: LEASE_MS,
        });
        for (const item of items) {
          const work = new Step(this, item).run(this.#tools.get(item.tool)).catch((error) => console.log(error.message))
            .finally(() => busy.delete(work));
          busy.add(work);
        }
      } catch (error) {
        console.log(`cannot claim: ${error.message}`);
        await sleep(1_000);
      }
      if (busy.size >= slots) {
        await Promise.race(busy);
      }
    }
  }
}
