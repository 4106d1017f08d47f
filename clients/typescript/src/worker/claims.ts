import { Backoff, pause } from "../backoff.js";
import { CHECK_KEY, CHECK_URL, KeelsonError } from "../errors.js";
import { API, type Transport } from "../http.js";
import { stringify } from "../json.js";
import type { Assignment } from "./protocol.js";

/** Members of each claim */
export interface Asking {
  readonly tools: readonly string[];
  readonly lease_ms: number;
  /** Tools without effects */
  readonly chains: readonly string[] | undefined;
}

export interface ClaimsOptions {
  readonly workerId: string;
  readonly version: string | undefined;
  readonly pollMs: number;
  /** Members that ask for steps of the worker's tools */
  readonly asking: () => Asking;
  readonly specs: () => unknown[];
  readonly free: () => number;
  /** Resolved when a slot may have become free */
  readonly change: () => Promise<void>;
  readonly accept: (item: Assignment) => void;
  readonly stopping: AbortSignal;
  readonly ended: AbortSignal;
  readonly log: (level: "info" | "warn", text: string) => void;
}

const ANSWER_TIMEOUT_MS = 15_000;
/** Between warnings about claims that fail */
const REPEATED_MS = 30_000;

/** Claims steps until the worker stops, or the server refuses the first claims for good: a wrong key, address or tool. */
export class Claims {
  /** Why it has given up; null while it has not */
  error: KeelsonError | null = null;
  /** Resolved when the first claim has ended */
  readonly first: Promise<void>;
  #asked!: () => void;
  #isFirst = true;
  #announced = false;

  constructor(private readonly transport: Transport, private readonly options: ClaimsOptions) {
    this.first = new Promise(resolve => { this.#asked = resolve; });
  }

  /** Whether the server has accepted a claim, and so the key and the tools. */
  get announced(): boolean {
    return this.#announced;
  }

  async run(): Promise<void> {
    const { stopping, free, change, accept, log } = this.options;
    const backoff = new Backoff(200, 5000);
    let silentUntil = 0;
    while (!stopping.aborted) {
      const wanted = free();
      if (wanted <= 0) {
        await change();
        continue;
      }
      try {
        for (const item of await this.claim(wanted)) accept(item);
        if (silentUntil > 0) log("info", "claims steps");
        silentUntil = 0;
        backoff.reset();
      } catch (e) {
        if (e instanceof KeelsonError && !this.#announced && isFinal(e, this.#isFirst)) {
          this.giveUp(e);
          return;
        }
        const delay = backoff.next(e instanceof KeelsonError ? e.retryAfter : null);
        if (!stopping.aborted && performance.now() >= silentUntil) {
          silentUntil = performance.now() + REPEATED_MS;
          const reason = e instanceof KeelsonError ? `${e.code}: ${this.advised(e)}` : (e as Error).message;
          log("warn", `cannot claim steps at ${this.transport.url}, and tries again: ${reason}`);
        }
        await this.after(() => pause(delay, stopping).catch(() => {}));
      }
      await this.after();
    }
    await this.after();
  }

  /** The first claim is over. */
  private async after(more: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    this.#isFirst = false;
    this.#asked();
    await more();
  }

  private giveUp(e: KeelsonError): void {
    const text = `worker ${this.options.workerId} cannot serve at ${this.transport.url}: ${this.advised(e)}`;
    this.error = new KeelsonError(e.code, text, { status: e.status, document: e.document });
    this.#asked();
  }

  private async claim(max: number): Promise<readonly Assignment[]> {
    const { workerId, version, asking, specs, ended } = this.options;
    const waitMs = this.#isFirst ? 0 : this.options.pollMs;
    const body = { ...asking(), worker_id: workerId, max, wait_ms: waitMs, again: true, version,
      tool_specs: this.#announced ? undefined : specs() };
    const reply = await this.transport.sendOnce({ method: "POST", path: `${API}/dispatch/claim`, body: stringify(body),
      kind: "Page of WorkItem", timeoutMs: waitMs + ANSWER_TIMEOUT_MS, signal: ended });
    const items = (reply.document as { items?: Assignment[] } | null)?.items;
    if (!Array.isArray(items)) {
      throw new KeelsonError("BAD_ANSWER", `${this.transport.url} does not answer claims as a Keelson server does; ${CHECK_URL}`);
    }
    this.#announced = true;
    return items;
  }

  /** The message of a claim's error, with the tool that it is about and what its reader can do. */
  private advised(e: KeelsonError): string {
    const advice = e.status === 403 ? `; the key of a worker needs the scope work; ${CHECK_KEY}`
      : e.code === "CONNECTION_LOST" ? `; if this lasts, ${CHECK_URL}: the address of a server of HTTPS begins with https://` : "";
    const [, list, index] = /^\/(tools|tool_specs)\/(\d+)/.exec(String(e.document["pointer"] ?? "")) ?? [];
    const names = list === "tools" ? this.options.asking().tools : (this.options.specs() as { name: string }[]).map(each => each.name);
    const tool = index === undefined ? undefined : names[Number(index)];
    return (tool === undefined ? "" : `tool ${tool}: `) + e.detail + advice;
  }
}

/**
 * Whether a worker that the server has never accepted gives up. A page instead of an answer is final as the first answer only; later a
 * proxy may have sent it for a server that restarts.
 */
function isFinal(e: KeelsonError, first: boolean): boolean {
  return e.code === "TLS_FAILED" || e.code === "NOT_JSON" || (e.code === "BAD_ANSWER" && first)
    || (e.status >= 400 && e.status < 500 && ![408, 425, 429].includes(e.status)) || e.status === 501;
}
