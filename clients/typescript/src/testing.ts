import { type ChildProcess, spawn } from "node:child_process";
import { Keelson } from "./client.js";
import { type ErrorClass, StepFailure } from "./errors.js";
import type { Mission } from "./mission.js";
import type { Run, RunStep } from "./runs.js";
import type { StepContext } from "./worker/execution.js";
import type { Worker } from "./worker/worker.js";

const LIMIT_MS = 30_000;
const POLL_MS = 10;
const DAY_MS = 86_400_000;

/** A failure of a worker, or of the model's provider. `crash_…`: the step is executed again after its lease has expired. */
export type Fault = "crash_after_claim" | "crash_before_report" | "report_lost" | "report_answer_lost" | "provider_500";

/** A test of `node:test`, or of another library with a name and `after`. */
export interface TestContext {
  readonly name: string;
  after(end: () => void | Promise<void>): void;
}

/** `keelson test-server` in a process, which ends with this one: throwaway data, and a clock that tests move. */
export class TestServer {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.url = url;
  }

  /** @param command with its arguments, separated by blanks; `KEELSON_COMMAND`, else `keelson`, if absent */
  static async start(command = process.env["KEELSON_COMMAND"] ?? "keelson"): Promise<TestServer> {
    const [program = "keelson", ...words] = command.split(" ").filter(word => word !== "");
    const { KEELSON_COMMAND: _, ...env } = process.env;
    const child = spawn(program, [...words, "test-server", "--port", "0", "--json", "--until-input-ends"],
      { env, stdio: ["pipe", "pipe", "inherit"] });
    return new Promise((resolve, reject) => {
      let text = "";
      child.on("error", cause => {
        reject(new Error(`the command '${program}' does not start: set KEELSON_COMMAND to the path of keelson`, { cause }));
      });
      child.on("exit", code => { reject(new Error(`${program} test-server did not start: exit code ${code}`)); });
      child.stdout.setEncoding("utf8").on("data", (more: string) => {
        text += more;
        if (!text.includes("}")) return;
        resolve(new TestServer(child, (JSON.parse(text) as { url: string }).url));
      });
    });
  }

  /** Begins a test, which ends with the test context. */
  async begin(test?: TestContext): Promise<TestKeelson> {
    const made = await this.request("POST", "workspaces", { name: test?.name ?? "test" }) as { api_key: string };
    const keelson = new TestKeelson(this, made.api_key);
    test?.after(() => { keelson.close(); });
    return keelson;
  }

  /** A request below `/test/`. */
  async request(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(`${this.url}/test/${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    const document = await answer.json() as { detail?: string };
    if (!answer.ok) throw new Error(`${method} /test/${path}: ${document.detail ?? answer.status}`);
    return document;
  }

  /** Ends the server. */
  async stop(): Promise<void> {
    const ended = new Promise(resolve => this.#process.once("exit", resolve));
    this.#process.stdin?.end();
    await ended;
  }
}

/** One execution of a step by a scripted tool. */
export interface Call {
  readonly input: unknown;
  readonly effectKey: string;
  readonly attempt: number;
}

type Answer = (input: unknown, ctx: StepContext) => unknown;

/** A tool whose answers a test scripts. A call without an answer fails its step for good with `NOT_SCRIPTED`. */
export class ScriptedTool {
  readonly calls: Call[] = [];
  readonly #queue: Answer[] = [];
  #function: Answer | null = null;

  constructor(readonly name: string) {}

  /** Adds outputs to the queue, one for each call. */
  returns(...outputs: unknown[]): this {
    this.#queue.push(...outputs.map(output => () => output));
    return this;
  }

  /** Adds a failure to the queue. */
  fails(code: string, errorClass: ErrorClass = "infrastructure"): this {
    this.#queue.push(() => { throw new StepFailure(code, errorClass, "a failure of the test"); });
    return this;
  }

  /** Answers calls for which the queue has no answer. */
  answers(answer: Answer): this {
    this.#function = answer;
    return this;
  }

  /** The effect keys of the calls: an external system with effect keys executes each once. */
  get effects(): Set<string> {
    return new Set(this.calls.map(call => call.effectKey));
  }

  /** Executes a step. */
  call(input: unknown, ctx: StepContext): unknown {
    this.calls.push({ input, effectKey: ctx.effectKey, attempt: ctx.attempt });
    const answer = this.#queue.shift() ?? this.#function;
    if (answer === null) {
      throw new StepFailure("NOT_SCRIPTED", "permanent", `the test has scripted no answer of ${this.name} to ${JSON.stringify(input)}`);
    }
    return answer(input, ctx);
  }
}

/** Keelson for one test: a workspace of its own. Waits last at most 30 s of real time; the test's time moves by `advance`. */
export class TestKeelson {
  readonly client: Keelson;
  readonly #server: TestServer;
  readonly #tools = new Map<string, ScriptedTool>();
  readonly #workers: Worker[] = [];

  constructor(server: TestServer, apiKey: string) {
    this.#server = server;
    this.client = new Keelson({ url: server.url, apiKey });
  }

  /** Creates and starts a run. */
  start<Inputs = Record<string, unknown>, Output = unknown>(mission: Mission<Inputs, Output> | Readonly<Record<string, unknown>>,
    inputs?: Inputs): Promise<Run<Output>> {
    return this.client.runs.create(mission, inputs === undefined ? {} : { inputs });
  }

  /** The server's time. */
  async now(): Promise<Date> {
    return new Date((await this.#server.request("GET", "clock") as { now: string }).now);
  }

  /** Moves the server's clock: timers, schedules, retries, leases and expiry are due when this is done. */
  async advance(time: { readonly days?: number; readonly ms?: number }): Promise<void> {
    await this.#server.request("POST", "clock", { advance_ms: Math.round((time.days ?? 0) * DAY_MS + (time.ms ?? 0)) });
  }

  /** Breaks a worker's next matching request, or one to the model: `provider_500` has no tool. */
  async fault(fault: Fault, tool: string | null = null, times = 1): Promise<void> {
    await this.#server.request("POST", "faults", { fault, tool, times });
  }

  /** Adds answers of the model `scripted`: texts, or an answer of a rule of `keelson dev-model` such as `{status: 500}`. */
  async model(...answers: (string | Readonly<Record<string, unknown>>)[]): Promise<void> {
    await this.#server.request("POST", "model", { answers: answers.map(each => (typeof each === "string" ? { text: each } : each)) });
  }

  /** Requests to the model. */
  async questions(): Promise<{ readonly text: string; readonly turn: number }[]> {
    return (await this.#server.request("GET", "model") as { items: { text: string; turn: number }[] }).items;
  }

  /** The tool of this name, served by a worker of the test from now on. */
  async tool(name: string): Promise<ScriptedTool> {
    let tool = this.#tools.get(name);
    if (tool === undefined) {
      const made = tool = new ScriptedTool(name);
      this.#tools.set(name, made);
      await this.client.request("POST", "/dispatch/register", { worker_id: "test", tool_specs: [{ name }] });
      const silent = { info() {}, warn() {}, error() {} };
      this.#workers.push(await this.client.worker({ pollMs: 500, graceMs: 0, logger: silent })
        .tool({ name, handler: (input: unknown, ctx: StepContext) => made.call(input, ctx) }).start());
    }
    return tool;
  }

  /** Waits until a step is in a state, such as `waiting` or `waiting_approval`. */
  async step(run: Run, name: string, state: string): Promise<RunStep> {
    const states = new Set<string>();
    return this.until(async () => {
      for await (const step of run.steps()) {
        if (step.name !== name) continue;
        if (step.state === state) return step;
        states.add(step.state);
      }
      return null;
    }, () => states.size === 0
      ? `the run has no step ${name}` : `step ${name} is not ${state}, but was ${[...states].join(", ")}`);
  }

  /** Waits until a run has an event of a type, such as `step_deferred`. */
  event(run: Run, type: string): Promise<unknown> {
    return this.until(async () => {
      const page = await this.client.request("GET", `/runs/${run.id}/events?limit=500`) as { items: { event_type: string }[] };
      return page.items.find(event => event.event_type === type) ?? null;
    }, `there is no event ${type}`);
  }

  /** Waits until a function returns something else than null, undefined, false or 0. */
  async until<T>(condition: () => T | Promise<T>, problem: string | (() => string) = "the condition does not hold"): Promise<NonNullable<T>> {
    const end = performance.now() + LIMIT_MS;
    for (;;) {
      const found = await condition();
      if (found) return found;
      if (performance.now() > end) throw new Error(typeof problem === "string" ? problem : problem());
      await new Promise(resolve => setTimeout(resolve, POLL_MS));
    }
  }

  /** Waits for the end of a run. */
  end(run: Run): Promise<Run> {
    return run.wait({ timeoutMs: LIMIT_MS });
  }

  /** Stops the workers of the test, in the background. */
  close(): void {
    for (const worker of this.#workers) void worker.stop();
  }
}
