import { setTimeout as sleep } from "node:timers/promises";

const LONGEST_WISH_MS = 60_000;

/** Delays with full jitter, whose upper limit doubles from one failure to the next. */
export class Backoff {
  failures = 0;

  constructor(private readonly firstMs: number, private readonly longestMs: number) {}

  /**
   * The delay in milliseconds after one more failure.
   *
   * @param wish seconds that the server asks for (`Retry-After`); honoured up to 60 s
   */
  next(wish: number | null = null): number {
    const limit = Math.min(this.firstMs * 2 ** Math.min(this.failures++, 30), this.longestMs);
    return Math.max(Math.random() * limit, Math.min((wish ?? 0) * 1000, LONGEST_WISH_MS));
  }

  /** After a success. */
  reset(): void {
    this.failures = 0;
  }
}

/** Waits; throws the signal's reason when it is aborted. */
export async function pause(ms: number, signal?: AbortSignal | null): Promise<void> {
  signal?.throwIfAborted();
  try {
    await sleep(ms, undefined, signal ? { signal } : {});
  } catch (e) {
    signal?.throwIfAborted();
    throw e;
  }
}
