import { find } from "./address.js";
import { API, path, post, Transport } from "./http.js";
import { Inbox, Steps } from "./inbox.js";
import { stringify } from "./json.js";
import { type Abortable, Runs } from "./runs.js";
import { type TriggerDeliveryReceipt, Triggers } from "./triggers.js";
import { Worker, type WorkerOptions } from "./worker/worker.js";

export interface KeelsonOptions {
  /** The server's address. Without it, address and key are found as `connect()` finds them */
  readonly url?: string;
  readonly apiKey?: string;
  /** Milliseconds to connect and for an answer; 30,000 if absent */
  readonly timeoutMs?: number;
  /** A stream that brings nothing for so many milliseconds is opened again; 20,000 if absent. The server sends a comment every 5 s */
  readonly silenceMs?: number;
}

/** A client of a Keelson server. */
export class Keelson {
  readonly #transport: Transport;
  /** Runs: create, read, control */
  readonly runs: Runs;
  /** Questions that wait for people */
  readonly inbox: Inbox;
  /** Single steps by their ids: read, approve, reject */
  readonly steps: Steps;
  /** Triggers: events that start runs or signal them */
  readonly triggers: Triggers;

  constructor(options: KeelsonOptions = {}) {
    const found = options.url === undefined ? find() : { url: options.url, apiKey: null, localKey: null };
    this.#transport = new Transport({ ...found, apiKey: options.apiKey ?? found.apiKey, timeoutMs: options.timeoutMs ?? 30_000,
      silenceMs: options.silenceMs ?? 20_000 });
    this.runs = new Runs(this.#transport);
    this.inbox = new Inbox(this.#transport);
    this.steps = new Steps(this.#transport);
    this.triggers = new Triggers(this.#transport);
  }

  /** The server's address. */
  get url(): string {
    return this.#transport.url;
  }

  /** A worker that serves tools and agents. It claims no work before `start()` or `serve()`. */
  worker(options: WorkerOptions = {}): Worker {
    return new Worker(this.#transport, options);
  }

  /** Sends an event to the triggers that name it. Answers one receipt for each; the same id starts no second run. */
  async sendEvent(name: string, id: string, data: unknown = null, options: Abortable = {}): Promise<readonly TriggerDeliveryReceipt[]> {
    const sent = await this.#transport.send(post(path`/events`, { name, id, data }, "TriggerDeliveryReceipt", options));
    return (sent.document as { items: readonly TriggerDeliveryReceipt[] }).items;
  }

  /**
   * Any route as plain JSON. Reads are repeated as others are, writes are not.
   *
   * @param route relative to `/api/v1`
   */
  async request(method: string, route: string, body?: unknown, options: Abortable & { readonly timeoutMs?: number } = {}): Promise<unknown> {
    return (await this.#transport.send({ method, path: API + route, repeatable: method === "GET", signal: options.signal,
      ...(body === undefined ? {} : { body: stringify(body) }),
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }) })).document;
  }
}

/**
 * A client of the server that the environment names (`KEELSON_URL`, `KEELSON_API_KEY`), else of the one of the data folder
 * (`KEELSON_DATA_DIR`, `~/.keelson` if absent). Does not call it yet.
 */
export const connect = (): Keelson => new Keelson();
