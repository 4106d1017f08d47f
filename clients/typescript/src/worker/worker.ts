import { randomUUID } from "node:crypto";
import { pause } from "../backoff.js";
import { KeelsonError, StepDeferral, StepFailure, type StopReason, told } from "../errors.js";
import { API, query, type Transport } from "../http.js";
import { kind, stringify } from "../json.js";
import { fitting, type InferOutput, type JsonSchema, jsonSchemaOf, type StandardSchema, validated } from "../schema.js";
import { Chain } from "./chain.js";
import { type Asking, Claims } from "./claims.js";
import { Execution, type Services, type StepContext } from "./execution.js";
import { Heartbeats } from "./heartbeats.js";
import type { Assignment } from "./protocol.js";
import { failed, Reporter, type Result } from "./reporter.js";
import { Turn, TURN, TurnAnswer } from "./turn.js";
import { Pulse, Watch } from "./watch.js";

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
  /** The lease without heartbeats; 30,000 if absent. Steps older than a third of the lease have heartbeats */
  readonly leaseMs?: number;
  /** How long a claim waits at the server for a step; 2,000 if absent. An idle worker needs as long to stop */
  readonly pollMs?: number;
  /** How long running handlers may take when the worker stops; 20,000 if absent */
  readonly graceMs?: number;
  /**
   * For how long steps of tools with the effects `read` are executed before their results are reported; 20 if absent. 0 reports each
   * step before the next one begins
   */
  readonly chainMs?: number;
  /** After how long a handler that blocks the event loop and does not return is named on the standard error output; 5,000 if absent */
  readonly blockedMs?: number;
  /** Where lines for people go; the standard error output if absent */
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
const FIRST_ANSWER_MS = 10_000;
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
  /** Agents of turns that were handed back; each was logged once */
  readonly #missed = new Set<string | null>();
  readonly #taken = new Map<string, Execution>();
  /** Executions whose leases have not begun; they use the slot of another step */
  readonly #expected = new Map<string, Execution>();
  readonly #chains = new Set<Chain>();
  /** Milliseconds of the last execution of each tool */
  readonly #durations = new Map<string, number>();
  readonly #stopping = new AbortController();
  readonly #ended = new AbortController();
  #changed: (() => void)[] = [];
  #heartbeats: Heartbeats | null = null;
  #reporter: Reporter | null = null;
  #claims: Claims | null = null;
  #watch: Watch | null = null;
  #claiming: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | null = null;

  constructor(transport: Transport, options: WorkerOptions = {}) {
    this.#transport = transport;
    this.id = options.id ?? `worker-${randomUUID()}`;
    this.#options = { slots: 8, leaseMs: 30_000, pollMs: 2000, graceMs: 20_000, chainMs: 20, blockedMs: 5000, logger: STDERR, ...options };
    if (!Number.isInteger(this.#options.slots) || this.#options.slots < 1 || this.#options.slots > MAX_SLOTS) {
      throw new RangeError(`a worker has 1 to ${MAX_SLOTS} slots`);
    }
  }

  /** Why the worker has given up: the server has refused its first claims for good. Null while it has not. */
  get error(): KeelsonError | null {
    return this.#claims?.error ?? null;
  }

  /** Serves a tool. */
  tool<S extends StandardSchema | JsonSchema = JsonSchema>(tool: Tool<S>): this {
    if (typeof tool.name !== "string" || tool.name === "") throw new TypeError(`the name of a tool is a text, not ${kind(tool.name)}`);
    if (typeof tool.handler !== "function") throw new TypeError(`tool ${tool.name}: its handler is a function, not ${kind(tool.handler)}`);
    if (this.#tools.has(tool.name)) throw new Error(`tool ${tool.name} has a handler already: a worker has one for each tool`);
    this.#tools.set(tool.name, tool);
    return this;
  }

  /** Serves the turns of an agent; without a slug those of all agents that no other handler serves. */
  agent(slug: string, handler: Handler): this;
  agent(handler: Handler): this;
  agent(slug: string | Handler, handler?: Handler): this {
    const [name, taker] = typeof slug === "string" ? [slug, handler] : [EVERY_AGENT, slug];
    if (typeof taker !== "function") throw new TypeError(`agent ${name}: its handler is a function, not ${kind(taker)}`);
    if (this.#agents.has(name)) {
      throw new Error(`agent ${name === EVERY_AGENT ? "of any name" : name} has a handler already: a worker has one for each agent`);
    }
    this.#agents.set(name, taker);
    this.#tools.set(TURN, { name: TURN, handler: (input, ctx) => this.turn(new Turn(input, ctx)) });
    return this;
  }

  /**
   * Begins to claim. The server need not be up yet. A worker starts once. Throws a `KeelsonError` if the server refuses the first
   * claim for good: a wrong key, address or tool.
   */
  async start(): Promise<this> {
    if (this.#tools.size === 0) throw new Error("a worker serves at least one tool or agent");
    if (this.#heartbeats !== null || this.#stopped !== null) throw new Error("a worker starts once");
    const connection = await this.#transport.forThread();
    const log = (level: "info" | "warn" | "error", text: string) => this.#options.logger[level](`worker ${this.id}: ${text}`);
    const { leaseMs, blockedMs } = this.#options;
    const pulse = new Pulse();
    this.#heartbeats = new Heartbeats({ connection, workerId: this.id, leaseMs, pulse: pulse.memory, blockedMs },
      (key, reason) => this.unwanted(key, reason), text => log("warn", text));
    this.#reporter = new Reporter(this.#transport, this.#heartbeats, {
      workerId: this.id,
      claim: executions => (this.#stopping.signal.aborted ? null
        : { ...this.asking(), max: Math.max(1, executions.filter(each => this.holds(each)).length) }),
      onWork: item => this.accept(item),
      free: executions => this.free(executions),
      log,
    });
    await this.#heartbeats.ready;
    this.#watch = new Watch(pulse, text => log("warn", text));
    const { slots, pollMs, version, logger } = this.#options;
    this.#claims = new Claims(this.#transport, { workerId: this.id, version, pollMs, asking: () => this.asking(),
      specs: () => this.specs(), free: () => slots - this.#taken.size, change: () => this.change(), accept: item => this.accept(item),
      stopping: this.#stopping.signal, ended: this.#ended.signal,
      log: (level, text) => logger[level](`worker ${this.id} ${text}`) });
    this.#claiming = this.#claims.run();
    await within(this.#claims.first, FIRST_ANSWER_MS);
    if (this.error !== null) {
      await this.stop();
      throw this.error;
    }
    void this.#claiming.then(() => {
      if (this.error !== null) logger.error(this.error.message);
    });
    const [verb, when] = this.#claims.announced ? ["serves", ""] : ["will serve", " when the server answers"];
    logger.info(`worker ${this.id} ${verb} ${this.served()} at ${this.#transport.url} with ${slots} slots${when}`);
    return this;
  }

  private served(): string {
    const tools = [...this.#tools.keys()].filter(name => name !== TURN);
    const agents = [...this.#agents.keys()].map(slug => (slug === EVERY_AGENT ? "all other agents" : `agent ${slug}`));
    return [...tools, ...(agents.length === 1 && agents[0] === "all other agents" ? ["all agents"] : agents)].join(", ");
  }

  /**
   * Starts, and serves until SIGTERM or Ctrl-C, on which it stops as `stop()` does. Throws as `start()` does, later, too, if the
   * server comes up later.
   */
  async serve(): Promise<void> {
    let end = (): void => {};
    const asked = new Promise<void>(resolve => { end = resolve; });
    process.on("SIGTERM", end).on("SIGINT", end);
    this.#ended.signal.addEventListener("abort", end, { once: true });
    try {
      await this.start();
      void this.#claiming.then(() => {
        if (this.error !== null) end();
      });
      await asked;
    } finally {
      process.off("SIGTERM", end).off("SIGINT", end);
    }
    await this.stop();
    if (this.error !== null) throw this.error;
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
    const { logger } = this.#options;
    if (this.error === null) logger.info(`worker ${this.id} stops, with ${this.#taken.size} steps at work`);
    this.#stopping.abort();
    this.wake();
    // An answer on its way has steps that would wait for the end of their leases.
    await within(this.#claiming, Math.min(this.#options.graceMs, this.#options.pollMs + 1000));
    await this.idle(deadline - performance.now());
    for (const chain of this.#chains) chain.abandon();
    for (const execution of this.#taken.values()) {
      if (execution.abandon()) void this.#reporter?.add([execution, RELEASED]);
    }
    // The server may give a step that is handed back to the claim that is still open.
    await within(this.#claiming, this.#options.pollMs + 1000);
    await this.idle(LAST_REPORTS_MS);
    this.#ended.abort();
    this.#watch?.close();
    this.#reporter?.close();
    await this.#heartbeats?.close();
    if (this.error === null) logger.info(`worker ${this.id} has stopped`);
  }

  private asking(): Asking {
    const { leaseMs, chainMs } = this.#options;
    const chains = [...this.#tools.values()].filter(each => each.effects === "read" && chainMs > 0).map(each => each.name);
    return { tools: [...this.#tools.keys()], lease_ms: leaseMs, chains: chains.length > 0 ? chains : undefined };
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
    const begun = this.#expected.get(key);
    const expected = begun?.lost ? undefined : begun;
    const services: Services = { server: this.#transport.url, note: (of, notes) => heartbeats.note(of, notes),
      upload: (...upload) => this.upload(...upload) };
    const execution = expected ?? new Execution(item, services);
    this.#taken.set(key, execution);
    this.#expected.delete(key);
    heartbeats.add(key, item.step_id, item.lease_epoch);
    if (expected !== undefined) return; // its chain has begun it
    if (this.#stopping.signal.aborted && execution.abandon()) void this.#reporter!.add([execution, RELEASED]);
    else void this.execute(execution);
  }

  private async execute(first: Execution): Promise<void> {
    const chain = new Chain(first, { report: (...ended) => this.#reporter!.add(...ended), expect: step => this.expect(step),
      holds: step => this.holds(step), free: steps => this.free(steps), note: (key, notes) => this.#heartbeats!.note(key, notes),
      slowMs: this.#options.leaseMs / 3 });
    this.#chains.add(chain);
    let step: Execution | null = first;
    while (step !== null) {
      const { tool } = step.assignment;
      const begun = performance.now();
      this.#watch?.begin(tool);
      const result = await this.outcome(step);
      this.#watch?.end(tool);
      this.#durations.set(tool, performance.now() - begun);
      const continues: boolean = step.finish() && chain.add(step, result);
      if (step.lost) this.free([step]);
      step = continues ? this.following(chain) : null;
    }
    this.#chains.delete(chain);
    chain.end();
  }

  /** The step to execute before the results of earlier steps are reported; null at the end of the chain. */
  private following(chain: Chain): Execution | null {
    const item = chain.following();
    const { chainMs } = this.#options;
    if (item === null || this.#stopping.signal.aborted || performance.now() - chain.begun >= chainMs
      || (this.#durations.get(item.tool) ?? chainMs) >= chainMs) return null;
    const services: Services = { server: this.#transport.url, note: (_, notes) => chain.note(step, notes),
      upload: async (...upload) => {
        await chain.leased(step);
        return this.upload(...upload);
      } };
    const step: Execution = new Execution(item, services);
    return chain.begin(step) ? step : null;
  }

  /** Whether the execution's lease has begun. */
  private holds(execution: Execution): boolean {
    return this.#taken.get(execution.key) === execution;
  }

  /** The execution begins before its lease. Returns false if there is one under this lease. */
  private expect(execution: Execution): boolean {
    if (this.#taken.has(execution.key)) return false;
    this.#expected.set(execution.key, execution);
    return true;
  }

  private async outcome(execution: Execution): Promise<Result> {
    try {
      const { tool: name } = execution.assignment;
      const tool = this.#tools.get(name);
      if (tool === undefined) throw new StepFailure("TOOL_NOT_SERVED", "infrastructure", `worker ${this.id} does not serve ${name}`);
      const input = await fitting(tool.input, (execution.assignment as { input?: unknown }).input ?? null);
      if ("issues" in input) throw new StepFailure("INPUT_INVALID", "permanent", `the input of ${name} does not fit: ${input.issues}`);
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
    if (e instanceof KeelsonError && e.code === "NOT_JSON") return failed("OUTPUT_INVALID", "permanent", e.detail, execution.usage());
    return failed("HANDLER_ERROR", "infrastructure", told(e), execution.usage());
  }

  private async turn(turn: Turn): Promise<unknown> {
    const handler = this.#agents.get(turn.agent ?? EVERY_AGENT) ?? this.#agents.get(EVERY_AGENT);
    if (handler === undefined) {
      const text = turn.agent !== null ? `worker ${this.id} does not serve the agent ${turn.agent}`
        : `the task has no agent, and worker ${this.id} serves only ${[...this.#agents.keys()].join(", ")}: `
          + "worker.agent(handler) without a name serves tasks without an agent";
      if (!this.#missed.has(turn.agent)) {
        this.#missed.add(turn.agent);
        this.#options.logger.warn(`a turn is handed back, and waits for another worker: ${text}`);
      }
      throw new StepDeferral(1000, text, { busy: `agent:${turn.agent ?? "any"}` });
    }
    const answer = await handler(turn);
    if (!(answer instanceof TurnAnswer)) {
      const agent = turn.agent === null ? "the agent" : `agent ${turn.agent}`;
      throw new StepFailure("OUTPUT_INVALID", "permanent", `${agent} returns ${kind(answer)}, not turn.call(…) or turn.done(…)`);
    }
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
    for (const execution of executions) {
      if (this.#expected.get(execution.key) === execution) this.#expected.delete(execution.key);
      if (this.holds(execution) && this.#taken.delete(execution.key)) this.#heartbeats?.drop(execution.key);
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
  info: text => console.warn(`${new Date().toISOString()} INFO ${text}`),
  warn: text => console.warn(`${new Date().toISOString()} WARN ${text}`),
  error: text => console.error(`${new Date().toISOString()} ERROR ${text}`),
};

/** JSON text of an output. */
async function checked(tool: Tool<StandardSchema | JsonSchema>, value: unknown): Promise<string> {
  const output = await validated(tool.output, value);
  if ("issues" in output) throw new StepFailure("OUTPUT_INVALID", "permanent", `the output of ${tool.name} does not fit: ${output.issues}`);
  try {
    return stringify(output.value);
  } catch (e) {
    throw new StepFailure("OUTPUT_INVALID", "permanent", `the output of ${tool.name}: ${(e as KeelsonError).detail}`);
  }
}

const stackOf = (e: unknown): string => (e instanceof Error ? (e.stack ?? String(e)) : String(e));

async function within(promise: Promise<void>, ms: number): Promise<void> {
  if (ms <= 0) return;
  const ended = new AbortController();
  await Promise.race([promise, pause(ms, ended.signal).catch(() => {})]);
  ended.abort();
}
