const INTERVAL_MS = 500;
const BLOCKED_MS = 1000;
const WARNED_MS = 60_000;

/** Warns of handlers that block the event loop for longer than a second, after they have. */
export class Watch {
  readonly #atWork = new Map<string, number>();
  readonly #ended = new Set<string>();
  readonly #warned = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #last = performance.now();

  constructor(private readonly warn: (text: string) => void) {
    this.#timer = setInterval(() => this.look(), INTERVAL_MS);
    this.#timer.unref();
  }

  begin(tool: string): void {
    this.#atWork.set(tool, (this.#atWork.get(tool) ?? 0) + 1);
  }

  end(tool: string): void {
    const left = (this.#atWork.get(tool) ?? 1) - 1;
    if (left > 0) this.#atWork.set(tool, left);
    else this.#atWork.delete(tool);
    this.#ended.add(tool);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  private look(): void {
    const now = performance.now();
    const blocked = now - this.#last - INTERVAL_MS;
    const tools = [...new Set([...this.#atWork.keys(), ...this.#ended])].sort().join(" or ");
    this.#last = now;
    this.#ended.clear();
    if (blocked < BLOCKED_MS || tools === "" || now < (this.#warned.get(tools) ?? 0)) return;
    this.#warned.set(tools, now + WARNED_MS);
    this.warn(`the handler of ${tools} has blocked the event loop for ${(blocked / 1000).toFixed(1)} s, and with it all handlers of the `
      + "worker: await instead, or compute in a worker_threads.Worker");
  }
}
