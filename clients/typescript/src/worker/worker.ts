import { randomUUID } from "node:crypto";
import { Backoff, pause } from "../backoff.js";
import { KeelsonError, StepDeferral, StepFailure, type StopReason } from "../errors.js";
import { API, query, type Transport } from "../http.js";
import { stringify } from "../json.js";
import { type InferOutput, type JsonSchema, jsonSchemaOf, type StandardSchema, validated } from "../schema.js";
import { Execution, type Services, type StepContext } from "./execution.js";
import { Heartbeats } from "./heartbeats.js";
import type { Assignment } from "./protocol.js";
import { failed, Reporter, type Result } from "./reporter.js";
import { Turn, TURN, TurnAnswer } from "./turn.js";

/** Where a worker writes what people should know. */
export interface Logger {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

export interface WorkerOptions {
  /** Unique among the server's workers; a random one if absent */
  readonly id?: string;
  /** The version of your code, shown beside the worker */
  readonly version?: string;
  /** How many steps at a time; 8 if absent */
  readonly slots?: number;
  /** The lease without heartbeats; 30,000 if absent. Heartbeats come three times as often */
  readonly leaseMs?: number;
  /** How long a claim waits at the server for a step; 2,000 if absent. An idle worker needs as long to stop */
  readonly pollMs?: number;
  /** How long running handlers may take when the worker stops; 20,000 if absent */
  readonly graceMs?: number;
  /** Where warnings go; the standard error output if absent */
  readonly logger?: Logger;
}

/**
 * The effects of a tool's calls on anything outside the run. `read`: none. `idempotent`: a repetition under the same effect key
 * changes nothing more. `once`: each call adds something. `destructive`: each call may change or delete what exists.
 */
export type Effects = "read" | "idempotent" | "once" | "destructive";

export interface Tool<S extends StandardSchema | JsonSchema = JsonSchema> {
  readonly name: string;
  /** One sentence for people and models */
  readonly description?: string;
  readonly effects?: Effects;
  /** Validates the input if it is a Standard Schema; announced as the tool's `input_schema` */
  readonly input?: S;
  /** Validates the output */
  readonly output?: StandardSchema;
  /** Models and tools that the handler may use by `ctx.gateway` */
  readonly gateway?: boolean | { readonly models?: readonly string[]; readonly tools?: readonly string[] };
  /** Executes a step. Its value is the step's output. A `StepFailure` fails the step; any other error is tried again. */
  readonly handler: (input: HandlerInput<S>, ctx: StepContext) => unknown;
}

/** The type of a handler's input: that of its Standard Schema, else any. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type HandlerInput<S> = S extends StandardSchema ? InferOutput<S> : any;

/** Ends a step's turn: another one is needed, and comes a second later. */
export class Continue {
  constructor(readonly output: unknown = null) {}
}

type Handler = (turn: Turn) => TurnAnswer | Promise<TurnAnswer>;

const MAX_SLOTS = 1000;
const ANSWER_TIMEOUT_MS = 15_000;
const UPLOAD_LIMIT_MS = 12 * 3_600_000;
const LAST_REPORTS_MS = 5000;
const EVERY_AGENT = "*";

/**
 * Serves tools and agents to a server, from any process that reaches it. Claims steps, keeps their leases, executes their handlers
 * and reports the results until each is answered, over restarts of the server.
 *
 * A step is executed at least once and its result counts exactly once: the server refuses a result under a lost lease.
 */
export class Worker {
  /** The id that the worker shows to the server */
  readonly id: string;
  readonly #transport: Transport;
  readonly #options: Required<Omit<WorkerOptions, "id" | "version">> & { readonly version?: string };
  readonly #tools = new Map<string, Tool<StandardSchema | JsonSchema>>();
  readonly #agents = new Map<string, Handler>();
  readonly #taken = new Map<string, Execution>();
  readonly #stopping = new AbortController();
  readonly #ended = new AbortController();
  #changed: (() => void)[] = [];
  #heartbeats: Heartbeats | null = null;
  #reporter: Reporter | null = null;
  #claiming: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | null = null;
  #announced = false;

  constructor(transport: Transport, options: WorkerOptions = {}) {
    this.#transport = transport;
    this.id = options.id ?? `worker-${randomUUID()}`;
    this.#options = { slots: 8, leaseMs: 30_000, pollMs: 2000, graceMs: 20_000, logger: STDERR, ...options };
    if (!Number.isInteger(this.#options.slots) || this.#options.slots < 1 || this.#options.slots > MAX_SLOTS) {
      throw new RangeError(`a worker has 1 to ${MAX_SLOTS} slots`);
    }
  }

  /** Serves a tool. */
  tool<S extends StandardSchema | JsonSchema = JsonSchema>(tool: Tool<S>): this {
    this.#tools.set(tool.name, tool as unknown as Tool<StandardSchema | JsonSchema>);
    return this;
  }

  /** Serves the turns of an agent; without a slug those of all agents that no other handler serves. */
  agent(slug: string, handler: Handler): this;
  agent(handler: Handler): this;
  agent(slug: string | Handler, handler?: Handler): this {
    this.#agents.set(typeof slug === "string" ? slug : EVERY_AGENT, typeof slug === "string" ? handler! : slug);
    return this.tool({ name: TURN, handler: (input, ctx) => this.turn(new Turn(input, ctx)) });
  }

  /** Begins to claim. The server need not be up yet. A worker starts once. */
  async start(): Promise<this> {
    if (this.#tools.size === 0) throw new Error("a worker serves at least one tool or agent");
    if (this.#heartbeats !== null || this.#stopped !== null) throw new Error("a worker starts once");
    const connection = await this.#transport.forThread();
    const log = (level: "info" | "warn" | "error", text: string) => this.#options.logger[level](`worker ${this.id}: ${text}`);
    this.#heartbeats = new Heartbeats({ connection, workerId: this.id, leaseMs: this.#options.leaseMs },
      (key, reason) => this.unwanted(key, reason), text => log("warn", text));
    this.#reporter = new Reporter(this.#transport, this.#heartbeats, {
      workerId: this.id,
      next: () => (this.#stopping.signal.aborted ? null : this.asking()),
      onNext: item => this.accept(item),
      free: executions => this.free(executions),
      log,
    });
    await this.#heartbeats.ready;
    this.#claiming = this.claimLoop(log);
    log("info", `serves ${[...this.#tools.keys()].join(", ")}`);
    return this;
  }

  /** Starts, and serves until SIGTERM or Ctrl-C, on which it stops as `stop()` does. */
  async serve(): Promise<void> {
    await this.start();
    await new Promise<void>(resolve => {
      const end = () => {
        process.off("SIGTERM", end).off("SIGINT", end);
        resolve();
      };
      process.on("SIGTERM", end).on("SIGINT", end);
      this.#ended.signal.addEventListener("abort", end, { once: true });
    });
    await this.stop();
  }

  /**
   * Stops gracefully: claims no more, lets running handlers finish within the grace period, hands the others back to the server,
   * which costs their steps no attempt, and returns when everything is reported, or cannot be within five seconds.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.shutDown();
    return this.#stopped;
  }

  private async shutDown(): Promise<void> {
    const deadline = performance.now() + this.#options.graceMs;
    this.#stopping.abort();
    this.wake();
    // An answer on its way has steps that would wait for the end of their leases.
    await within(this.#claiming, Math.min(this.#options.graceMs, this.#options.pollMs + 1000));
    await this.idle(deadline - performance.now());
    for (const execution of this.#taken.values()) {
      if (execution.abandon()) void this.#reporter?.add(execution, RELEASED);
    }
    // The server may give a step that is handed back to the claim that is still open.
    await within(this.#claiming, this.#options.pollMs + 1000);
    await this.idle(LAST_REPORTS_MS);
    this.#ended.abort();
    this.#reporter?.close();
    await this.#heartbeats?.close();
  }

  private async claimLoop(log: (level: "warn", text: string) => void): Promise<void> {
    const backoff = new Backoff(200, 5000);
    while (!this.#stopping.signal.aborted) {
      const free = this.#options.slots - this.#taken.size;
      if (free <= 0) {
        await this.change();
        continue;
      }
      try {
        for (const item of await this.claim(free)) this.accept(item);
        backoff.reset();
      } catch (e) {
        const delay = backoff.next(e instanceof KeelsonError ? e.retryAfter : null);
        if (!this.#stopping.signal.aborted) {
          log("warn", `cannot claim steps, retrying in ${Math.round(delay)} ms: ${(e as Error).message}`);
        }
        await pause(delay, this.#stopping.signal).catch(() => {});
      }
    }
  }

  private async claim(max: number): Promise<readonly Assignment[]> {
    const { pollMs, version } = this.#options;
    const body = { ...this.asking(), worker_id: this.id, max, wait_ms: pollMs, again: true, version,
      tool_specs: this.#announced ? undefined : this.specs() };
    const reply = await this.#transport.sendOnce({ method: "POST", path: `${API}/dispatch/claim`, body: stringify(body),
      kind: "Page of WorkItem", timeoutMs: pollMs + ANSWER_TIMEOUT_MS, signal: this.#ended.signal });
    const items = (reply.document as { items?: Assignment[] } | null)?.items;
    if (!Array.isArray(items)) throw new KeelsonError("BAD_ANSWER", `${this.#transport.url} answered no items`);
    this.#announced = true;
    return items;
  }

  private asking(): Record<string, unknown> {
    return { tools: [...this.#tools.keys()], lease_ms: this.#options.leaseMs };
  }

  private specs(): unknown[] {
    return [...this.#tools.values()].filter(each => each.description !== undefined || each.effects !== undefined
      || each.input !== undefined || each.gateway !== undefined).map(each => ({
      name: each.name, description: each.description, effects: each.effects, gateway: each.gateway,
      input_schema: each.input === undefined ? undefined : (jsonSchemaOf(each.input) ?? undefined),
    }));
  }

  private accept(item: Assignment): void {
    const key = Execution.keyOf(item);
    if (this.#taken.has(key)) return; // a lost answer may arrive twice
    const heartbeats = this.#heartbeats!;
    const services: Services = { server: this.#transport.url, note: (of, notes) => heartbeats.note(of, notes),
      upload: (...upload) => this.upload(...upload) };
    const execution = new Execution(item, services);
    this.#taken.set(key, execution);
    heartbeats.add(key, item.step_id, item.lease_epoch);
    if (this.#stopping.signal.aborted && execution.abandon()) void this.#reporter!.add(execution, RELEASED);
    else void this.execute(execution);
  }

  private async execute(execution: Execution): Promise<void> {
    const result = await this.outcome(execution);
    if (execution.finish()) await this.#reporter!.add(execution, result);
    if (execution.lost) this.free([execution]);
  }

  private async outcome(execution: Execution): Promise<Result> {
    try {
      const { tool: name } = execution.assignment;
      const tool = this.#tools.get(name);
      if (tool === undefined) throw new StepFailure("TOOL_NOT_SERVED", "infrastructure", `worker ${this.id} does not serve ${name}`);
      const input = await validated(tool.input, (execution.assignment as { input?: unknown }).input ?? null);
      if ("issues" in input) throw new StepFailure("INPUT_INVALID", "permanent", `the input does not fit: ${input.issues}`);
      const value = await tool.handler(input.value, execution.context);
      const again = value instanceof Continue;
      const output = await checked(tool, again ? value.output : value);
      return { kind: again ? "continue" : "complete", members: execution.extras(), output };
    } catch (e) {
      return this.failure(execution, e);
    }
  }

  private failure(execution: Execution, e: unknown): Result {
    if (e instanceof StepFailure) {
      const wish = e.retryAfterMs === null ? {} : { retry_after_ms: Math.round(e.retryAfterMs) };
      return failed(e.code, e.errorClass, e.message, { ...execution.usage(), ...wish });
    }
    if (e instanceof StepDeferral) {
      const deferral = { retry_after_ms: Math.round(e.delayMs), message: e.message, busy: e.options.busy, error_code: e.options.code };
      return { kind: "release", members: { deferral } };
    }
    if (execution.stopped === "budget_exceeded") return RELEASED;
    if (execution.stopped === null) {
      this.#options.logger.warn(`worker ${this.id}: handler of ${execution.assignment.tool} failed: ${stackOf(e)}`);
    }
    return failed("HANDLER_ERROR", "infrastructure", String(e), execution.usage());
  }

  private async turn(turn: Turn): Promise<unknown> {
    const handler = this.#agents.get(turn.agent ?? EVERY_AGENT) ?? this.#agents.get(EVERY_AGENT);
    if (handler === undefined) {
      throw new StepDeferral(1000, `worker ${this.id} does not serve the agent ${turn.agent}`, { busy: `agent:${turn.agent}` });
    }
    const answer = await handler(turn);
    if (!(answer instanceof TurnAnswer)) throw new TypeError("an agent returns turn.call(…), turn.calls(…) or turn.done(…)");
    return answer.body;
  }

  /** Ends with the execution: a stopped worker must not wait for the rest of a file. */
  private async upload({ assignment, signal }: Execution, name: string, contentType: string,
    content: Uint8Array | (() => ReadableStream<Uint8Array>)): Promise<string> {
    const where = query(`${API}/dispatch/artifacts`,
      { worker_id: this.id, step_id: assignment.step_id, lease_epoch: assignment.lease_epoch, name });
    const reply = await this.#transport.send({ method: "POST", path: where, body: content, headers: { "Content-Type": contentType },
      timeoutMs: UPLOAD_LIMIT_MS, repeatable: true, signal });
    return (reply.document as { upload_id: string }).upload_id;
  }

  private unwanted(key: string, reason: string): void {
    const known = reason === "budget_exceeded" || reason === "cancelled" || reason === "timed_out" ? reason : "lost";
    if (this.#taken.get(key)?.stop(known satisfies StopReason)) {
      this.#options.logger.info(`worker ${this.id}: step ${key.split(":")[0]} is to stop: ${known}`);
    }
  }

  private free(executions: readonly Execution[]): void {
    for (const { key } of executions) {
      if (this.#taken.delete(key)) this.#heartbeats?.drop(key);
    }
    this.wake();
  }

  private wake(): void {
    const waiting = this.#changed;
    this.#changed = [];
    for (const each of waiting) each();
  }

  private change(): Promise<void> {
    return new Promise(resolve => this.#changed.push(resolve));
  }

  /** Waits until no slot is taken, or so long. */
  private async idle(ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while (this.#taken.size > 0 && performance.now() < deadline) await within(this.change(), deadline - performance.now());
  }
}

const RELEASED: Result = { kind: "release", members: {} };

const STDERR: Logger = {
  info: () => {},
  warn: text => console.warn(`${new Date().toISOString()} WARN ${text}`),
  error: text => console.error(`${new Date().toISOString()} ERROR ${text}`),
};

/** JSON text of an output. */
async function checked(tool: Tool<StandardSchema | JsonSchema>, value: unknown): Promise<string> {
  const output = await validated(tool.output, value);
  if ("issues" in output) throw new StepFailure("OUTPUT_INVALID", "permanent", `the output does not fit: ${output.issues}`);
  try {
    return stringify(output.value);
  } catch (e) {
    throw new StepFailure("OUTPUT_INVALID", "permanent", `the output is no JSON: ${(e as Error).message}`);
  }
}

const stackOf = (e: unknown): string => (e instanceof Error ? (e.stack ?? String(e)) : String(e));

async function within(promise: Promise<void>, ms: number): Promise<void> {
  if (ms <= 0) return;
  const ended = new AbortController();
  await Promise.race([promise, pause(ms, ended.signal).catch(() => {})]);
  ended.abort();
}
