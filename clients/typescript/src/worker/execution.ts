import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { KeelsonError, StepFailure, type StopReason, StepStopped } from "../errors.js";
import type { components, Decimal } from "../generated/api.js";
import { exact, kind, stringify } from "../json.js";
import { Gateway } from "./gateway.js";
import { type Assignment, type Notes, type UsageMembers, usageBody } from "./protocol.js";

const MAX_INLINE_BYTES = 1 << 20;
const MAX_INLINE_TOTAL = 8 << 20;

/** What an execution needs of its worker. */
export interface Services {
  readonly server: string;
  note(key: string, notes: Notes): void;
  /** Uploads content and returns the id that the result names it by. */
  upload(execution: Execution, name: string, contentType: string, content: Uint8Array | (() => ReadableStream<Uint8Array>)): Promise<string>;
}

/**
 * One execution of a step, as its handler sees it. Reports reach the server within about a second, and always before the step's
 * end.
 */
export class StepContext {
  readonly #assignment: Assignment;
  readonly #execution: Execution;

  constructor(execution: Execution) {
    this.#assignment = execution.assignment;
    this.#execution = execution;
  }

  get stepId(): string {
    return this.#assignment.step_id;
  }

  get runId(): string {
    return this.#assignment.run_id;
  }

  get taskId(): string {
    return this.#assignment.task_id;
  }

  /** The tool's name. */
  get tool(): string {
    return this.#assignment.tool;
  }

  /** From 1; rises after a failure, not after a lost worker. */
  get attempt(): number {
    return this.#assignment.attempt;
  }

  /** Aborts when the result is no longer needed: cancelled, timed out, lease lost, worker stopping. Its reason is a `StepStopped`. */
  get signal(): AbortSignal {
    return this.#execution.signal;
  }

  /** Equal in all executions of the step, for deduplication by external systems. */
  get effectKey(): string {
    return this.#assignment.effect_key;
  }

  /** When the server stops waiting; null for never. */
  get deadline(): Date | null {
    return this.#assignment.deadline ?? null;
  }

  /** Why the attempt before failed; null in the first one. */
  get failureContext(): unknown {
    return (this.#assignment as { failure_context?: unknown }).failure_context ?? null;
  }

  /** The `details` of the execution before this one; null if it gave none. */
  get previousDetails(): unknown {
    return (this.#assignment as { details?: unknown }).details ?? null;
  }

  /** The header of W3C Trace Context for calls of the handler; null where the run has none. */
  get traceparent(): string | null {
    return this.#assignment.traceparent ?? null;
  }

  /** Tokens of output that the credits held for the step pay, reasoning included; null without a `worst_case`. */
  get maxOutputTokens(): number | null {
    return this.#assignment.max_output_tokens ?? null;
  }

  /** Models and tools for a program of the step. The tool must be served with `gateway`. */
  get gateway(): Gateway {
    const given = (this.#assignment as { gateway?: { token?: string } | null }).gateway;
    if (!given?.token) {
      throw new StepFailure("NO_GATEWAY", "permanent", `the step has no gateway: serve ${this.tool} with \`gateway: true\``);
    }
    return new Gateway(this.#execution.services.server, given.token);
  }

  /** Says how far the work is; `fraction` from 0 to 1. */
  progress(fraction: number, message = ""): void {
    if (typeof fraction !== "number" || Number.isNaN(fraction)) {
      throw new TypeError(`the fraction of a progress is a number from 0 to 1, not ${kind(fraction)}`);
    }
    this.#execution.note({ progress: { fraction: Math.min(1, Math.max(0, fraction)), message } });
  }

  /** Writes a line for people. Of more than 1,000 lines between two reports the oldest are dropped. */
  log(line: string): void {
    this.#execution.note({ logs: [String(line)] });
  }

  /** Stores a value for a next execution of this step; replaces the earlier value. */
  details(value: unknown): void {
    this.#execution.note({ details: this.written("details", value) });
  }

  /**
   * Says what this execution has used in all so far; the last call counts. Either tokens and their cost in credits, as decimal text
   * such as "0.000003", or a model of the price list and its tokens, divided by price where known.
   */
  usage(used: { readonly tokens: number; readonly cost: Decimal } | { readonly model: string; readonly tokens: number }
    | { readonly model: string; readonly usage: components["schemas"]["ReportedUsage"] }): void {
    const members = { ...used } as UsageMembers;
    if (members.cost !== undefined) checkCost(members.cost);
    if (members.tokens !== undefined) checkCount("tokens", members.tokens);
    for (const [name, value] of Object.entries(members.usage ?? {})) checkCount(`usage.${name}`, value);
    this.#execution.used = members;
    this.#execution.note({ usage: members });
  }

  /**
   * Adds a file to the result. It is stored with the step's completion and not otherwise. What is larger than 1 MiB is uploaded at
   * once.
   */
  async artifact(name: string, contentType: string, content: string | Uint8Array): Promise<void> {
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
    await this.#execution.artifact(name, contentType, bytes);
  }

  /** Uploads a file of any size at once, in pieces, and adds it to the result. */
  async artifactFile(name: string, contentType: string, file: string): Promise<void> {
    await this.#execution.upload(name, contentType,
      () => Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>);
  }

  /** Sends people a proposal with the step's completion. Nothing waits for their answer. */
  propose(title: string, options: { readonly body?: string; readonly data?: unknown } = {}): void {
    this.written("proposal", options.data);
    this.#execution.proposals.push({ title, ...options });
  }

  private written(what: string, value: unknown): string {
    try {
      return stringify(value);
    } catch (e) {
      if (!(e instanceof KeelsonError)) throw e;
      throw new KeelsonError(e.code, `${what} of ${this.tool}: ${e.detail}`, { cause: e, document: e.document });
    }
  }
}

/**
 * One assignment from its claim until the server has answered its result. Working until it is finished, lost or abandoned, whichever
 * comes first; the others then change nothing.
 */
export class Execution {
  readonly context: StepContext;
  readonly key: string;
  readonly proposals: unknown[] = [];
  used: UsageMembers | undefined;
  #phase: "working" | "reporting" | "lost" = "working";
  readonly #controller = new AbortController();
  readonly #artifacts: unknown[] = [];
  readonly #uploads: unknown[] = [];
  #bytes = 0;

  constructor(readonly assignment: Assignment, readonly services: Services) {
    this.key = Execution.keyOf(assignment);
    this.context = new StepContext(this);
  }

  static keyOf(assignment: Assignment): string {
    return `${assignment.step_id}:${assignment.lease_epoch}`;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get stopped(): StopReason | null {
    return this.signal.aborted ? (this.signal.reason as StepStopped).reason : null;
  }

  get lost(): boolean {
    return this.#phase === "lost";
  }

  get hasArtifacts(): boolean {
    return this.#artifacts.length > 0;
  }

  /** The handler is done; false when its result is to be dropped. */
  finish(): boolean {
    return this.leave("reporting");
  }

  /** The server does not want the work. The handler's result is dropped, unless only the budget is exceeded. */
  stop(reason: StopReason): boolean {
    if (reason === "budget_exceeded" ? this.#phase !== "working" || this.signal.aborted : !this.leave("lost")) return false;
    this.#controller.abort(new StepStopped(reason));
    return true;
  }

  /** The worker stops before the handler is done: the step is to be handed back. */
  abandon(): boolean {
    if (!this.leave("reporting")) return false;
    this.#controller.abort(new StepStopped("stopping"));
    return true;
  }

  /** Passes a handler's notes on while they can matter. */
  note(notes: Notes): void {
    if (this.#phase === "working") this.services.note(this.key, notes);
  }

  async artifact(name: string, contentType: string, bytes: Uint8Array): Promise<void> {
    if (bytes.length > MAX_INLINE_BYTES || this.#bytes + bytes.length > MAX_INLINE_TOTAL) {
      await this.upload(name, contentType, bytes);
      return;
    }
    this.#bytes += bytes.length;
    this.#artifacts.push({ name, content_type: contentType, content_base64: Buffer.from(bytes).toString("base64") });
  }

  async upload(name: string, contentType: string, content: Uint8Array | (() => ReadableStream<Uint8Array>)): Promise<void> {
    this.#uploads.push({ upload_id: await this.services.upload(this, name, contentType, content) });
  }

  /** The members of a completion beside its output. */
  extras(): Record<string, unknown> {
    return { ...this.usage(), ...some("artifacts", this.#artifacts), ...some("uploads", this.#uploads),
      ...some("proposals", this.proposals) };
  }

  /** The members of the reported use. */
  usage(): Record<string, unknown> {
    return usageBody(this.used, exact);
  }

  private leave(next: "reporting" | "lost"): boolean {
    if (this.#phase !== "working") return false;
    this.#phase = next;
    return true;
  }
}

function checkCost(cost: unknown): void {
  if (typeof cost !== "string") throw new TypeError(`the cost of a use is decimal text such as "0.000003", not ${kind(cost)}`);
  try {
    exact(cost);
  } catch {
    throw new RangeError(`the cost of a use is a decimal number, not ${kind(cost)}`);
  }
  if (Number(cost) < 0) throw new RangeError(`the cost of a use is not negative: ${cost}`);
}

function checkCount(name: string, value: unknown): void {
  if (!Number.isInteger(value)) throw new TypeError(`the number ${name} of a use is whole, not ${kind(value)}`);
  if ((value as number) < 0) throw new RangeError(`the number ${name} of a use is not negative: ${value as number}`);
}

const some = (name: string, list: readonly unknown[]): Record<string, unknown> => (list.length === 0 ? {} : { [name]: list });
