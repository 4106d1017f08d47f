import { Backoff, pause } from "../backoff.js";
import { KeelsonError } from "../errors.js";
import { API, type Transport } from "../http.js";
import { stringify } from "../json.js";
import type { Execution } from "./execution.js";
import type { Heartbeats } from "./heartbeats.js";
import type { Assignment, Notes, ReportKind } from "./protocol.js";

/** How an execution ended. */
export interface Result {
  readonly kind: ReportKind;
  /** Members of the report beside the step, its lease and the notes */
  readonly members: Readonly<Record<string, unknown>>;
  /** JSON text of the output; absent if the kind has none */
  readonly output?: string;
  /** Whether nothing else is reported when the server refuses this report */
  readonly isLast?: boolean;
}

/** An execution and its result */
export type Ended = readonly [Execution, Result];

interface Report {
  readonly execution: Execution;
  readonly result: Result;
  readonly text: string;
  readonly answered: () => void;
}

interface Answer {
  readonly step_id: string;
  readonly status: string;
  readonly code?: string;
  readonly detail?: string;
  readonly next?: Assignment;
}

export interface ReporterOptions {
  readonly workerId: string;
  /** Members that claim steps for the slots that reports of these executions free; null when none are wanted */
  readonly claim: (executions: readonly Execution[]) => Record<string, unknown> | null;
  /** Takes such a step, before the slot of a reported one is free */
  readonly onWork: (item: Assignment) => void;
  /** Frees the slots of executions whose reports were answered */
  readonly free: (executions: readonly Execution[]) => void;
  readonly log: (level: "info" | "warn" | "error", text: string) => void;
}

const BATCH = 100;
const ANSWER_TIMEOUT_MS = 15_000;
const ACCEPTED = new Set(["ok", "duplicate"]);
const OVER = new Set(["conflict", "stale_lease", "not_found"]);

/** A report that the server rejects for good. */
export function failed(code: string, errorClass: string, message: string, more: Record<string, unknown> = {}): Result {
  return { kind: "fail", members: { ...more, error_code: code, error_class: errorClass, message } };
}

/** Whether repeating a failed call unchanged can succeed; false when the server has judged its content. */
export function mayPass(e: unknown): boolean {
  if (!(e instanceof KeelsonError)) return false;
  return (e.status === 0 && e.code !== "NOT_JSON") || e.status >= 500 || [401, 403, 408, 429].includes(e.status);
}

/** Sends results in batches, repeats them until each is answered, and claims steps for the slots that they free. */
export class Reporter {
  private queue: Report[] = [];
  private sending = false;
  private readonly closed = new AbortController();
  private readonly backoff = new Backoff(100, 5000);

  constructor(private readonly transport: Transport, private readonly heartbeats: Heartbeats,
    private readonly options: ReporterOptions) {}

  /** Reports results with their executions' last notes, in this order and in one request if possible. Resolved when all are answered. */
  async add(...ended: readonly Ended[]): Promise<void> {
    const notes = await Promise.all(ended.map(([execution, result]) => this.heartbeats.finish(execution.key, result.kind)));
    await new Promise<void>(resolve => {
      let left = ended.length;
      const answered = (): void => {
        if (--left === 0) resolve();
      };
      this.queue.push(...ended.map(([execution, result], i) => ({ execution, result, text: textOf(execution, result, notes[i]!), answered })));
      void this.run();
    });
  }

  /** Ends all waiting. */
  close(): void {
    this.closed.abort();
  }

  private async run(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      while (this.queue.length > 0 && !this.closed.signal.aborted) {
        const batch = this.queue;
        this.queue = [];
        let delay = 0;
        for (const part of parts(batch)) delay = Math.max(delay, await this.send(part));
        if (delay > 0) await pause(delay, this.closed.signal).catch(() => {});
      }
    } finally {
      this.sending = false;
    }
  }

  /** Sends reports of one kind; returns how long to wait before the next call. */
  private async send(part: readonly Report[]): Promise<number> {
    const kind = part[0]!.result.kind;
    const claim = this.options.claim(part.map(each => each.execution));
    const head = stringify({ worker_id: this.options.workerId, ...(claim === null ? {} : { claim }) });
    try {
      const reply = await this.transport.sendOnce({ method: "POST", path: `${API}/dispatch/${kind}`, kind: "Page of ReportAnswer",
        body: `${head.slice(0, -1)},"items":[${part.map(each => each.text).join(",")}]}`, timeoutMs: ANSWER_TIMEOUT_MS,
        signal: this.closed.signal });
      this.backoff.reset();
      for (const item of (reply.document as { claimed?: Assignment[] } | null)?.claimed ?? []) this.options.onWork(item);
      return this.settleAll(part, [...((reply.document as { items?: Answer[] } | null)?.items ?? [])]);
    } catch (e) {
      if (this.closed.signal.aborted) return 0;
      if (mayPass(e)) return this.later(part, e as KeelsonError);
      if (part.length === 1) {
        this.refused(part[0]!, codeOf(e), (e instanceof KeelsonError ? e.detail : (e as Error).message));
        part[0]!.answered();
      } else for (const each of part) await this.send([each]);
      return 0;
    }
  }

  /** Answers of a step that is in the batch twice come in the order of its items. */
  private settleAll(part: readonly Report[], answers: Answer[]): number {
    const settled: Execution[] = [];
    const answered: Report[] = [];
    for (const report of part) {
      const index = answers.findIndex(each => each.step_id === report.execution.assignment.step_id);
      const [answer] = index < 0 ? [] : answers.splice(index, 1);
      if (answer === undefined) {
        this.queue.push(report);
        continue;
      }
      answered.push(report);
      if (ACCEPTED.has(answer.status) || OVER.has(answer.status)) {
        if (answer.next) this.options.onWork(answer.next);
        if (OVER.has(answer.status)) {
          this.options.log("info", `result of step ${answer.step_id} is no longer accepted (${answer.status})`);
        }
        settled.push(report.execution);
      } else {
        this.refused(report, answer.code ?? "RESULT_REFUSED", answer.detail ?? answer.status);
      }
    }
    this.options.free(settled);
    for (const report of answered) report.answered();
    return answered.length === part.length ? 0 : this.backoff.next();
  }

  /** The server rejects this result for good: the step fails instead, with the server's reason. */
  private refused(report: Report, code: string, reason: string): void {
    const { execution, result } = report;
    this.options.log("error", `result of step ${execution.assignment.step_id} rejected: ${code} ${reason}`);
    const text = `the server refused the result: ${reason}`;
    if (result.kind === "release" || result.isLast) this.options.free([execution]);
    // Without all that the server may have refused.
    else if (result.kind === "fail") void this.add([execution, { ...failed(code, "permanent", text), isLast: true }]);
    else void this.add([execution, failed(code, "quality", text, execution.usage())]);
  }

  private later(part: readonly Report[], e: KeelsonError): number {
    this.queue.push(...part);
    const delay = this.backoff.next(e.retryAfter);
    this.options.log("warn", `could not deliver ${part.length} results, retrying in ${Math.round(delay)} ms: ${e.message}`);
    return delay;
  }
}

function textOf(execution: Execution, result: Result, { progress, logs }: Notes): string {
  const members = stringify({ step_id: execution.assignment.step_id, lease_epoch: execution.assignment.lease_epoch,
    progress, logs, ...result.members });
  return result.output === undefined ? members : `${members.slice(0, -1)},"output":${result.output}}`;
}

const codeOf = (e: unknown): string => (e instanceof KeelsonError ? e.code : "RESULT_REFUSED");

/** By route, in calls of bounded size; what carries artifacts goes alone. */
function parts(batch: readonly Report[]): Report[][] {
  const found: Report[][] = [];
  for (const kind of ["complete", "continue", "fail", "release"] as const) {
    const all = batch.filter(each => each.result.kind === kind);
    found.push(...all.filter(each => each.execution.hasArtifacts).map(each => [each]));
    const small = all.filter(each => !each.execution.hasArtifacts);
    for (let i = 0; i < small.length; i += BATCH) found.push(small.slice(i, i + BATCH));
  }
  return found;
}
