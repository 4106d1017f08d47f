/** One of the problems of a request's body. */
export interface Problem {
  /** Stable, UPPER_SNAKE */
  readonly code: string;
  /** JSON pointer to the value */
  readonly pointer: string;
  /** The problem and its fix, for people */
  readonly message: string;
}

export const CHECK_URL = "check KEELSON_URL, or the url given in code";
export const CHECK_KEY = "check KEELSON_API_KEY, or the key given in code";
const LOST = new Set(["SERVER_UNREACHABLE", "CONNECTION_LOST"]);
const MAX_CAUSES = 4;
const AWAY = new Set([429, 502, 503, 504]);

type Members = Readonly<Record<string, unknown>>;

/**
 * A call that the server refused, or that did not reach it. `code` is stable; the message is for people.
 *
 * Codes of this package, all with status 0: `NO_SERVER_KNOWN`, `SERVER_UNREACHABLE`, `TLS_FAILED`, `CONNECTION_LOST`,
 * `CALL_TIMEOUT`, `AWAIT_TIMEOUT`, `BAD_ANSWER`, `NOT_JSON`, `OUTPUT_INVALID`. All others are the server's.
 */
export class KeelsonError extends Error {
  override readonly name = "KeelsonError";
  /** Stable, UPPER_SNAKE; `HTTP_` and the status if the answer names none */
  readonly code: string;
  /** HTTP status; 0 without an answer */
  readonly status: number;
  /** Seconds until the next try, as the server asks; null if it does not say */
  readonly retryAfter: number | null;
  readonly #detail: string;
  /** The whole problem document (RFC 9457); empty without one */
  readonly document: Members;

  constructor(code: string, message: string,
    options: { status?: number; document?: Members; retryAfter?: number | null; cause?: unknown } = {}) {
    super(text(code, message, problemsOf(options.document ?? {})), "cause" in options ? { cause: options.cause } : {});
    this.code = code;
    this.#detail = message;
    this.status = options.status ?? 0;
    this.retryAfter = options.retryAfter ?? null;
    this.document = options.document ?? {};
  }

  /** An answer of 400 or above; its body need not be a problem document. */
  static refused(status: number, document: unknown, retryAfter: number | null, server = "the server"): KeelsonError {
    const body: Members = typeof document === "object" && document !== null ? (document as Members) : {};
    const code = body["code"];
    let message = body["detail"] || body["title"];
    if (!code && !AWAY.has(status)) {
      message = `${server} answered ${status}, not as a Keelson server does${message ? ` (${String(message)})` : ""}; ${CHECK_URL}`;
    }
    else if (status === 401) message = `${String(message)}; ${CHECK_KEY}`;
    return new KeelsonError(String(code || `HTTP_${status}`), String(message || `${server} answered ${status}`),
      { status, document: body, retryAfter });
  }

  /** What is wrong and what to do, without code and problems. */
  get detail(): string {
    return this.#detail;
  }

  /** Everything that is wrong with the request, each with its place. */
  get problems(): readonly Problem[] {
    return problemsOf(this.document);
  }

  /** The allowed values or actions; empty if the answer names none. */
  get allowed(): readonly string[] {
    const allowed = this.document["allowed"];
    return Array.isArray(allowed) ? allowed.map(String) : [];
  }

  /** Whether the same call may succeed later: no connection, a restart, too many calls. */
  get transient(): boolean {
    return this.code === "CALL_TIMEOUT" || this.repeatable;
  }

  /** Whether a call that may be repeated is. */
  get repeatable(): boolean {
    return LOST.has(this.code) || AWAY.has(this.status) || this.code === "IDEMPOTENCY_IN_FLIGHT";
  }
}

function problemsOf(document: Members): Problem[] {
  const problems = document["problems"];
  if (!Array.isArray(problems)) return [];
  return problems.filter((each): each is Members => typeof each === "object" && each !== null).map(each => ({
    code: String(each["code"] ?? ""), pointer: String(each["pointer"] ?? ""), message: String(each["message"] ?? ""),
  }));
}

function text(code: string, message: string, problems: readonly Problem[]): string {
  const only = problems.length === 1 ? problems[0] : undefined;
  if (only?.code === code && message.includes(only.message)) {
    return `${code}: ${message}${message.includes(only.pointer) ? "" : ` (${only.pointer})`}`;
  }
  return [`${code}: ${message}`, ...problems.map(each => `  ${each.pointer || "/"} ${each.code}: ${each.message}`)].join("\n");
}

/** Name and message of an error and of its causes. */
export function told(e: unknown): string {
  const lines: string[] = [];
  for (let cause = e; cause !== undefined && cause !== null && lines.length < MAX_CAUSES;) {
    const { message, code } = cause as { message?: unknown; code?: unknown };
    lines.push(String(cause) + (cause instanceof Error && message === "" && typeof code === "string" ? `: ${code}` : ""));
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return lines.length === 0 ? String(e) : lines.join("; cause: ");
}

/**
 * How a failure is treated. `infrastructure`: the surroundings failed, tried again. `quality`: the result is not good enough,
 * tried again with the failure in hand. `permanent`: trying again cannot help.
 */
export type ErrorClass = "infrastructure" | "quality" | "permanent";

const CLASSES: readonly string[] = ["infrastructure", "quality", "permanent"] satisfies readonly ErrorClass[];
const MAX_CODE = 100;

/** Thrown by a handler: the step failed, with the facts that the retry policy needs. */
export class StepFailure extends Error {
  override readonly name = "StepFailure";

  /** @param retryAfterMs least time until the next attempt; null for the retry policy's */
  constructor(readonly code: string, readonly errorClass: ErrorClass, message: string, readonly retryAfterMs: number | null = null) {
    super(message);
    if (code.trim() === "" || code.length > MAX_CODE) {
      throw new RangeError(`a code has 1 to ${MAX_CODE} characters: ${JSON.stringify(code)}`);
    }
    if (!CLASSES.includes(errorClass)) {
      throw new RangeError(`the class of a failure is one of ${CLASSES.join(", ")}: ${JSON.stringify(errorClass)}`);
    }
  }
}

/**
 * Thrown by a handler: a system that the step needs is busy. Any worker gets the step after the delay, which counts as no
 * attempt and no failure.
 */
export class StepDeferral extends Error {
  override readonly name = "StepDeferral";

  /**
   * @param options `busy`: the busy system, such as `model:NAME`. `code`: of the step's failure when the system is busy for
   *   too long; `UPSTREAM_UNAVAILABLE` if absent
   */
  constructor(readonly delayMs: number, message: string, readonly options: { busy?: string; code?: string } = {}) {
    super(message);
    if (!(delayMs >= 0)) throw new RangeError(`a delay is not negative: ${delayMs}`);
  }
}

/** Why the work on a step is no longer wanted; `stopping` if the worker stops. The reason of a handler's `ctx.signal`. */
export type StopReason = "budget_exceeded" | "cancelled" | "timed_out" | "lost" | "stopping";

/** The reason of `ctx.signal`. */
export class StepStopped extends Error {
  override readonly name = "AbortError";

  constructor(readonly reason: StopReason) {
    super(`the step is to stop: ${reason}`);
  }
}
