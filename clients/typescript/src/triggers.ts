import type { components } from "./generated/api.js";
import { API, get, path, post, type Transport } from "./http.js";
import { stringify } from "./json.js";
import { type Abortable, type Keyed, pages } from "./runs.js";

export type Trigger = components["schemas"]["Trigger"];
export type TriggerDelivery = components["schemas"]["TriggerDelivery"];
export type TriggerDeliveryReceipt = components["schemas"]["TriggerDeliveryReceipt"];

const PAGE = 100;

/** Triggers of the key's workspace: events that start runs or signal them. */
export class Triggers {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a trigger from its definition. All problems are in `problems` of the error. */
  async create(definition: Readonly<Record<string, unknown>>, options: Keyed = {}): Promise<Trigger> {
    return (await this.#transport.send(post(path`/triggers`, definition, "Trigger", options))).document as Trigger;
  }

  /** All triggers by name, without missions and examples. */
  list(options: Abortable & { readonly name?: string } = {}): AsyncGenerator<Trigger, void, void> {
    const { signal, ...filter } = options;
    return pages(this.#transport, path`/triggers`, filter, "Trigger", signal);
  }

  /** Reads a trigger. */
  async get(id: string, options: Abortable = {}): Promise<Trigger> {
    return (await this.#transport.send(get(path`/triggers/${id}`, "Trigger", options.signal))).document as Trigger;
  }

  /** Lets a trigger receive events. */
  enable(id: string, options: Abortable = {}): Promise<Trigger> {
    return this.change(id, { enabled: true }, options);
  }

  /** Turns a trigger off: it receives no events and starts no runs. */
  disable(id: string, options: Abortable = {}): Promise<Trigger> {
    return this.change(id, { enabled: false }, options);
  }

  /** Deletes a trigger with its deliveries; its runs stay. */
  async delete(id: string, options: Abortable = {}): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: path`/triggers/${id}`, repeatable: false, signal: options.signal });
  }

  /** Its deliveries with their outcomes, newest first, read `page` at a time. */
  deliveries(id: string, options: Abortable & { readonly state?: string; readonly page?: number } = {}): AsyncGenerator<TriggerDelivery, void, void> {
    const { signal, page, ...filter } = options;
    return pages(this.#transport, path`/triggers/${id}/deliveries`, { ...filter, limit: page ?? PAGE }, "TriggerDelivery", signal);
  }

  /** Reads a delivery with its headers and body. */
  async delivery(id: string, delivery: string, options: Abortable = {}): Promise<TriggerDelivery> {
    return (await this.#transport.send(get(path`/triggers/${id}/deliveries/${delivery}`, "TriggerDelivery", options.signal))).document as TriggerDelivery;
  }

  /** Has one delivery, those in a state, or all decided again. Answers how many; beyond 5,000, further ones follow. */
  async replay(id: string, options: Keyed & { readonly delivery_id?: string; readonly state?: string } = {}): Promise<number> {
    const { signal, idempotencyKey, ...which } = options;
    const call = post(path`/triggers/${id}/replay`, which, "TriggerDeliveryReplayed", { signal, idempotencyKey });
    return ((await this.#transport.send(call)).document as components["schemas"]["TriggerDeliveryReplayed"]).count;
  }

  private async change(id: string, body: unknown, options: Abortable): Promise<Trigger> {
    return (await this.#transport.send({ method: "PATCH", path: `${API}/triggers/${encodeURIComponent(id)}`, body: stringify(body),
      repeatable: false, kind: "Trigger", signal: options.signal })).document as Trigger;
  }
}
