import { type Execution } from "./execution.js";
import type { Assignment, Notes } from "./protocol.js";
import type { Ended, Result } from "./reporter.js";

/** What a chain needs of its worker. */
export interface ChainOptions {
  /** Reports results in this order; resolved when all are answered */
  readonly report: (...ended: Ended[]) => Promise<void>;
  /** Says that an execution begins whose lease begins later; false if there is one under this lease */
  readonly expect: (execution: Execution) => boolean;
  /** Whether an execution's lease has begun */
  readonly holds: (execution: Execution) => boolean;
  readonly free: (executions: readonly Execution[]) => void;
  /** Takes notes for the next heartbeat */
  readonly note: (key: string, notes: Notes) => void;
  /** How long results wait for a step that takes long */
  readonly slowMs: number;
}

/**
 * The steps of one assignment, executed one after another. Their results have one report. The lease of a step begins when the results
 * of those before it are reported: a step that has news for the server needs these reports first, and its own result waits for their
 * answers.
 */
export class Chain {
  readonly begun = performance.now();
  readonly #items: Assignment[];
  readonly #notes = new Map<Execution, Notes[]>();
  #atWork: Execution | null;
  #waiting: Ended[] = [];
  #sending: Promise<void> | null = null;
  #due = false;
  #over = false;
  #slow: NodeJS.Timeout | undefined;

  constructor(first: Execution, private readonly options: ChainOptions) {
    this.#atWork = first;
    this.#items = following(first.assignment);
  }

  /** Returns each following step once; null after the last one. */
  following(): Assignment | null {
    return this.#items.shift() ?? null;
  }

  /** The next step is about to be executed. Returns false if the server has already given it out. */
  begin(step: Execution): boolean {
    if (this.#over || !this.options.expect(step)) return false;
    this.#atWork = step;
    this.#slow ??= setInterval(() => this.lead(), this.options.slowMs).unref();
    return true;
  }

  /** The step at work has a result. Returns false if the chain ends with it. */
  add(execution: Execution, result: Result): boolean {
    this.#atWork = null;
    this.#waiting.push([execution, result]);
    if (!isPlain([execution, result])) this.end();
    return !this.#over;
  }

  /** Takes the notes of a step; they need its lease. */
  note(step: Execution, notes: Notes): void {
    if (this.options.holds(step)) {
      this.options.note(step.key, notes);
      return;
    }
    this.#notes.set(step, [...(this.#notes.get(step) ?? []), notes]);
    this.lead();
  }

  /** Reports the results before the step at work, whose lease begins then. If it does not, the step is stopped. */
  lead(): void {
    this.#due = this.#waiting.length > 0;
    this.send();
  }

  /** Waits until the lease of the step at work has begun. Throws if it does not begin. */
  async leased(step: Execution): Promise<void> {
    const stopped = new Promise<void>(resolve => step.signal.addEventListener("abort", () => resolve(), { once: true }));
    this.lead();
    while (!step.signal.aborted && (this.#sending !== null || this.#waiting.length > 0)) await Promise.race([this.#sending, stopped]);
    step.signal.throwIfAborted();
  }

  /** No further step begins: reports all results. */
  end(): void {
    clearInterval(this.#slow);
    this.#over = this.#due = true;
    this.send();
  }

  /** The worker stops: reports the results, and stops a step whose lease has not begun. */
  abandon(): void {
    if (this.#atWork !== null && !this.options.holds(this.#atWork)) this.#atWork.stop("lost");
    this.end();
  }

  /** Sends results in their order: further ones wait until those before them are answered. */
  private send(): void {
    if (this.#sending !== null || !this.#due || this.#waiting.length === 0) return;
    let size = 1;
    // Notes need the lease of their step, which the first one alone has.
    while (size < this.#waiting.length && isPlain(this.#waiting[0]!) && isPlain(this.#waiting[size]!)
      && !this.#notes.has(this.#waiting[size]![0])) size++;
    const batch = this.#waiting.splice(0, size);
    this.#due = this.#waiting.length > 0;
    this.#sending = this.options.report(...batch).then(() => this.settled());
  }

  /** The results that were sent have answers. */
  private settled(): void {
    const { holds, free, note } = this.options;
    this.#sending = null;
    const step = this.#waiting[0]?.[0] ?? this.#atWork;
    if (step === null || !holds(step)) { // the server decides who gets the next step
      this.#over = true;
      free(this.#waiting.map(([execution]) => execution));
      this.#waiting = [];
      if (step !== null) this.#atWork?.stop("lost");
    } else {
      for (const each of this.#notes.get(step) ?? []) note(step.key, each);
      this.#notes.delete(step);
    }
    this.send();
  }
}

/** Whether the result is in one report with others. */
function isPlain([execution, result]: Ended): boolean {
  return result.kind === "complete" && !execution.hasArtifacts;
}

/** The following steps in the form of claimed ones. */
function following(item: Assignment): Assignment[] {
  const shared = { ...item, failure_context: null, details: null, max_output_tokens: null, gateway: null, following: [] };
  return (item.following ?? []).map(each => ({ ...shared, ...each }));
}
