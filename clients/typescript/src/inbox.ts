import type { components } from "./generated/api.js";
import { get, path, post, type Transport } from "./http.js";
import { type Abortable, pages, type RunStep } from "./runs.js";

export type InboxItem = components["schemas"]["InboxItem"];
export type InboxDecision = components["schemas"]["InboxDecision"];

const PAGE = 100;

/** Questions that wait for people in the key's workspace. */
export class Inbox {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All items that match: due first, then oldest, read `page` at a time. */
  list(options: Abortable & { readonly kind?: string; readonly run_id?: string; readonly assignee?: string; readonly page?: number } = {}):
    AsyncGenerator<InboxItem, void, void> {
    const { signal, page, ...filter } = options;
    return pages(this.#transport, path`/inbox`, { ...filter, limit: page ?? PAGE }, "InboxItem", signal);
  }

  /** Reads an item. */
  async get(id: string, options: Abortable = {}): Promise<InboxItem> {
    return (await this.#transport.send(get(path`/inbox/${id}`, "InboxItem", options.signal))).document as InboxItem;
  }

  /**
   * Accepts an item: its `on_accept` takes effect. A repeated answer changes nothing.
   *
   * @param options `reason`, and the members of the kind: `answer` of a question, `hard_limit_usd` of a budget, `input` of a call
   */
  accept(id: string, options: Abortable & { readonly reason?: string; readonly [member: string]: unknown } = {}): Promise<InboxDecision> {
    return this.decide("accept", id, options);
  }

  /** Rejects an item: its `on_reject` takes effect. A repeated answer changes nothing. */
  reject(id: string, options: Abortable & { readonly reason?: string; readonly [member: string]: unknown } = {}): Promise<InboxDecision> {
    return this.decide("reject", id, options);
  }

  /** Takes back the caller's approval of an item that several people have to approve. */
  async withdraw(id: string, options: Abortable = {}): Promise<InboxItem> {
    return (await this.#transport.send(post(path`/inbox/${id}/withdraw`, {}, "InboxItem", options))).document as InboxItem;
  }

  private async decide(answer: string, id: string, { signal, ...body }: Abortable & Readonly<Record<string, unknown>>): Promise<InboxDecision> {
    const call = post(`${path`/inbox/${id}`}/${answer}`, body, "InboxDecision", { signal });
    return (await this.#transport.send(call)).document as InboxDecision;
  }
}

/** Single steps of the runs of the key's workspace. */
export class Steps {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Reads a step. */
  async get(id: string, options: Abortable = {}): Promise<RunStep> {
    return (await this.#transport.send(get(path`/steps/${id}`, "Step", options.signal))).document as RunStep;
  }

  /** Approves a step that waits for a person; events and the inbox name it as `step_id`. */
  approve(id: string, options: Abortable & { readonly reason?: string } = {}): Promise<RunStep> {
    return this.decide("approve", id, options);
  }

  /** Rejects a step that waits for a person; it fails. */
  reject(id: string, options: Abortable & { readonly reason?: string } = {}): Promise<RunStep> {
    return this.decide("reject", id, options);
  }

  private async decide(answer: string, id: string, options: Abortable & { readonly reason?: string }): Promise<RunStep> {
    const call = post(`${path`/steps/${id}`}/${answer}`, { reason: options.reason }, "Step", options);
    return (await this.#transport.send(call)).document as RunStep;
  }
}
