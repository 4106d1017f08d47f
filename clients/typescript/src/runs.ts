import { Backoff, pause } from "./backoff.js";
import { KeelsonError } from "./errors.js";
import { events } from "./events.js";
import type { components } from "./generated/api.js";
import { API, get, path, post, query, type Transport } from "./http.js";
import { kind } from "./json.js";
import { Mission } from "./mission.js";
import { type StandardSchema, validated } from "./schema.js";

type Schemas = components["schemas"];

/** The members of a run, as the server shows them. */
export type RunRecord = Schemas["Run"];
export type RunTask = Schemas["Task"];
export type RunStep = Schemas["Step"];
export type TaskRound = Schemas["TaskRound"];
export type RunEvent = Schemas["Event"];
export type RunUndo = Schemas["RunUndo"];
export type Artifact = Schemas["Artifact"];
export type LogLine = Schemas["LogLine"];
export type Explanation = Schemas["Explanation"];

/** Ends a call: it throws the signal's reason. */
export interface Abortable {
  readonly signal?: AbortSignal | null | undefined;
}

/** A key under which a request has its effect once. The client makes one if it is absent. */
export interface Keyed extends Abortable {
  readonly idempotencyKey?: string | undefined;
}

export interface ForkOptions extends Keyed {
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly name?: string;
  /** First turn of the task that is taken again */
  readonly turn?: number;
  /** Differences of the task's agent: `model`, `instructions`, `tools` */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Whether calls of the task have the results that they had in the run */
  readonly recordedCalls?: boolean;
  /** Whether the fork has the task and the tasks it depends on only */
  readonly taskOnly?: boolean;
}

const HELD_OPEN_MS = 10_000;
const ANSWER_LIMIT_MS = 30_000;
const PAGE = 100;

/** A run as it was when it was read, and calls about it. Each call returns the run as it is after the call. */
export type Run<Output = unknown> = Readonly<Omit<RunRecord, "output" | "undo">> & { readonly output?: Output } & RunCalls<Output>;

class RunCalls<Output = unknown> {
  readonly #transport: Transport;
  readonly #id: string;
  readonly #schema: StandardSchema | undefined;
  readonly #undo: RunUndo | null;

  constructor(transport: Transport, record: Record<string, unknown>, schema: StandardSchema | undefined) {
    this.#transport = transport;
    this.#id = String(record["id"]);
    this.#schema = schema;
    this.#undo = (record["undo"] as RunUndo | null | undefined) ?? null;
    for (const [name, value] of Object.entries(record)) {
      if (!(name in RunCalls.prototype)) Object.defineProperty(this, name, { value, enumerable: true });
    }
  }

  /** Whether the present attempt is over; a failed run may still be retried. */
  get ended(): boolean {
    return (this as unknown as RunRecord).state_type === "terminal";
  }

  /** Whether the run has completed. */
  get completed(): boolean {
    return (this as unknown as RunRecord).state === "completed";
  }

  /** The member `undo` of the run: the state of its undo, and the run that undoes it. Null if it is not undone. */
  get undoing(): RunUndo | null {
    return this.#undo;
  }

  /** Reads the run again. */
  async refresh(options: Abortable = {}): Promise<Run<Output>> {
    return this.made((await this.#transport.send(get(path`/runs/${this.#id}`, "Run", options.signal))).document);
  }

  /** Starts a created run. */
  start(options: Abortable = {}): Promise<Run<Output>> {
    return this.act("start", {}, options);
  }

  /**
   * Waits for the end of the present attempt, over restarts of the server. Look at `completed` and `state` then.
   *
   * @param options `timeoutMs`: an hour if absent; then it throws `AWAIT_TIMEOUT`, and the run continues
   */
  async wait(options: Abortable & { readonly timeoutMs?: number } = {}): Promise<Run<Output>> {
    const limit = options.timeoutMs ?? 3_600_000;
    const deadline = performance.now() + limit;
    const backoff = new Backoff(50, 1000);
    let latest: RunRecord | null = null;
    let tag: string | null = null;
    for (;;) {
      const asked = performance.now();
      const held = Math.max(1, Math.floor(Math.min(deadline - asked, HELD_OPEN_MS)));
      try {
        const reply = await this.#transport.send({
          ...get(query(path`/runs/${this.#id}`, { wait_ms: held }), "Run", options.signal),
          timeoutMs: held + ANSWER_LIMIT_MS, headers: tag === null ? {} : { "If-None-Match": tag },
        });
        if (reply.status !== 304) {
          latest = reply.document as RunRecord;
          tag = reply.headers.get("etag");
          backoff.reset();
        }
      } catch (e) {
        if (!(e instanceof KeelsonError) || !e.transient) throw e;
      }
      if (latest?.state_type === "terminal") return this.checked(latest);
      const left = deadline - performance.now();
      if (left <= 0) {
        throw new KeelsonError("AWAIT_TIMEOUT",
          `run ${this.#id} has not ended within ${limit} ms; it is ${latest?.state ?? "unknown"}`);
      }
      if (performance.now() - asked < 1000) await pause(Math.min(backoff.next(), left), options.signal);
    }
  }

  /** Each event once and in order, as they happen, until the run has ended. Resumes after lost connections. */
  events(options: Abortable & { readonly after?: number } = {}): AsyncGenerator<RunEvent, void, void> {
    const where = (seen: number) => query(path`/runs/${this.#id}/events/stream`, { after: seen });
    return events(this.#transport, where, "Event", options.after ?? 0, options.signal) as AsyncGenerator<RunEvent, void, void>;
  }

  /** Decides the plan gate, the result, else the only task or step that waits. `plan` replaces a waiting plan. */
  approve(options: Abortable & { readonly reason?: string; readonly plan?: unknown } = {}): Promise<Run<Output>> {
    return this.act("approve", { reason: options.reason, plan: options.plan }, options);
  }

  /** Rejects what waits for approval. */
  reject(options: Abortable & { readonly reason?: string } = {}): Promise<Run<Output>> {
    return this.act("reject", { reason: options.reason }, options);
  }

  /** Sends a signal. The step that has waited for its name the longest receives it, else the first that will. */
  async signal(name: string, payload: unknown = null, options: Keyed = {}): Promise<Run<Output>> {
    const where = path`/runs/${this.#id}/signals/${name}`;
    return this.made((await this.#transport.send(post(where, { payload }, "Run", options))).document);
  }

  /** Cancels the run; its running steps are interrupted. */
  cancel(options: Abortable & { readonly reason?: string } = {}): Promise<Run<Output>> {
    return this.act("cancel", { reason: options.reason }, options);
  }

  /** Pauses the run; steps at work finish, and no other begins. */
  pause(options: Abortable = {}): Promise<Run<Output>> {
    return this.act("pause", {}, options);
  }

  /** Resumes a paused run. */
  resume(options: Abortable = {}): Promise<Run<Output>> {
    return this.act("resume", {}, options);
  }

  /** Brings an archived run back into the database. Restoring a run that is not archived changes nothing. */
  restore(options: Abortable = {}): Promise<Run<Output>> {
    return this.act("restore", {}, options);
  }

  /** Opens the next attempt of a failed run: from what `failed`, or from the `start`. */
  retry(options: Keyed & { readonly from?: "failed" | "start" } = {}): Promise<Run<Output>> {
    return this.act("retry", { from: options.from ?? "failed" }, options);
  }

  /** Undoes the completed work of the ended run. The answer's `undoing` names the run that undoes it. */
  undo(options: Abortable & { readonly reason?: string } = {}): Promise<Run<Output>> {
    return this.act("undo", { reason: options.reason }, options);
  }

  /** Starts a run of the same plan from one of its tasks, or from a turn of it. Returns the new run. */
  fork(task: string, options: ForkOptions = {}): Promise<Run<Output>> {
    const { inputs = {}, name, turn, overrides, recordedCalls, taskOnly } = options;
    return this.act("fork", { task, inputs, name, turn, overrides, calls: recordedCalls ? "recorded" : undefined,
      task_only: taskOnly || undefined }, options);
  }

  /** Why the run waits, or its current work. */
  async explain(options: Abortable = {}): Promise<Explanation> {
    return (await this.#transport.send(get(path`/runs/${this.#id}/explain`, "Explanation", options.signal))).document as Explanation;
  }

  /** The tasks of the present attempt, in plan order. */
  tasks(options: Abortable = {}): AsyncGenerator<RunTask, void, void> {
    return pages(this.#transport, path`/runs/${this.#id}/tasks`, {}, "Task", options.signal);
  }

  /** The rounds of a task with `repeat`, in order. */
  rounds(task: Pick<RunTask, "id">, options: Abortable = {}): AsyncGenerator<TaskRound, void, void> {
    return pages(this.#transport, path`/tasks/${task.id}/rounds`, {}, "TaskRound", options.signal);
  }

  /** The steps of the present attempt. */
  steps(options: Abortable = {}): AsyncGenerator<RunStep, void, void> {
    return pages(this.#transport, path`/runs/${this.#id}/steps`, {}, "Step", options.signal);
  }

  /** The files of the run. */
  artifacts(options: Abortable = {}): AsyncGenerator<Artifact, void, void> {
    return pages(this.#transport, path`/runs/${this.#id}/artifacts`, {}, "Artifact", options.signal);
  }

  /** The log lines of the present attempt's steps, step by step. */
  async *logs(options: Abortable = {}): AsyncGenerator<LogLine, void, void> {
    for await (const step of this.steps(options)) {
      yield* pages<LogLine>(this.#transport, path`/steps/${step.id}/logs`, {}, "LogLine", options.signal);
    }
  }

  /** An artifact's content. */
  content(artifact: Pick<Artifact, "id" | "run_id">, options: Abortable = {}): Promise<Uint8Array> {
    return this.#transport.bytes(get(path`/runs/${artifact.run_id}/artifacts/${artifact.id}/content`, "", options.signal));
  }

  /** The members as they were read. */
  toJSON(): RunRecord {
    return { ...(this as unknown as RunRecord), undo: this.#undo };
  }

  private async act(action: string, body: unknown, options: Keyed): Promise<Run<Output>> {
    const call = post(`${path`/runs/${this.#id}`}/${action}`, body, "Run", options);
    return this.made((await this.#transport.send(call)).document);
  }

  private async checked(record: RunRecord): Promise<Run<Output>> {
    if (record.state !== "completed" || this.#schema === undefined) return this.made(record);
    const output = await validated(this.#schema, (record as { output?: unknown }).output);
    if ("issues" in output) throw new KeelsonError("OUTPUT_INVALID", `the output of run ${this.#id} does not fit: ${output.issues}`);
    return this.made({ ...record, output: output.value });
  }

  private made(record: unknown): Run<Output> {
    return runOf(this.#transport, record, this.#schema);
  }
}

function runOf<Output>(transport: Transport, record: unknown, schema?: StandardSchema): Run<Output> {
  return new RunCalls<Output>(transport, record as Record<string, unknown>, schema) as unknown as Run<Output>;
}

/** All items of a list, page by page. */
export async function* pages<T>(transport: Transport, where: string, filter: Record<string, string | number | undefined>, kind: string,
  signal?: AbortSignal | null): AsyncGenerator<T, void, void> {
  let cursor: string | null | undefined;
  do {
    const call = get(query(where, { ...filter, cursor }), `Page of ${kind}`, signal);
    const page = (await transport.send(call)).document as { items: T[]; next_cursor?: string | null };
    yield* page.items;
    cursor = page.next_cursor;
  } while (cursor);
}

/** The runs of the key's workspace. */
export class Runs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Creates a run of a mission, and starts it unless `start` is false.
   *
   * The same key never creates a second run. Without one the client makes one, so that its own retries create one run. A plan with
   * problems throws a `KeelsonError` with all of them in `problems`.
   */
  async create<Inputs = Record<string, unknown>, Output = unknown>(mission: Mission<Inputs, Output> | Readonly<Record<string, unknown>>,
    options: Keyed & { readonly inputs?: Inputs; readonly start?: boolean } = {}): Promise<Run<Output>> {
    if (typeof mission !== "object" || mission === null || Array.isArray(mission)) {
      throw new TypeError(`a run is created of a Mission or an object, not of ${kind(mission)}`);
    }
    if (options.inputs !== undefined && (typeof options.inputs !== "object" || options.inputs === null || Array.isArray(options.inputs))) {
      throw new TypeError(`the inputs of a run are an object, not ${kind(options.inputs)}`);
    }
    const body: Record<string, unknown> = mission instanceof Mission ? mission.toJSON() : { ...mission };
    if (options.inputs !== undefined) body["input"] = { ...(body["input"] as object | undefined), ...options.inputs };
    body["start"] = options.start ?? true;
    const reply = await this.#transport.send(post(`${API}/runs`, body, "Run", options));
    return runOf(this.#transport, reply.document, mission instanceof Mission ? mission.outputSchema : undefined);
  }

  /** Reads a run. */
  async get(id: string, options: Abortable = {}): Promise<Run> {
    return runOf(this.#transport, (await this.#transport.send(get(path`/runs/${id}`, "Run", options.signal))).document);
  }

  /**
   * All runs that match, newest first, read `page` at a time; with `archived`, archived runs instead of those in the database. Lists
   * leave out plan, inputs and output.
   */
  async *list(options: Abortable & { readonly state?: string; readonly name?: string; readonly text?: string; readonly tag?: string;
    readonly external_id?: string; readonly archived?: boolean; readonly page?: number } = {}): AsyncGenerator<Run, void, void> {
    const { signal, page, archived, ...filter } = options;
    const query = { ...filter, archived: archived ? "true" : undefined, limit: page ?? PAGE };
    for await (const each of pages(this.#transport, `${API}/runs`, query, "Run", signal)) {
      yield runOf(this.#transport, each);
    }
  }
}
