const INTERVAL_MS = 500;
const BLOCKED_MS = 1000;
const WARNED_MS = 60_000;

const NAMES_BYTES = 1000;

/** What the heartbeat thread sees of the event loop in shared memory: a number that rises, and the tools at work. */
export class Pulse {
  readonly #numbers: Int32Array;
  readonly #names: Uint8Array;

  /** @param memory of another thread's pulse; new if absent */
  constructor(readonly memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT + NAMES_BYTES)) {
    this.#numbers = new Int32Array(memory, 0, 2);
    this.#names = new Uint8Array(memory, 2 * Int32Array.BYTES_PER_ELEMENT);
  }

  beat(): void {
    Atomics.add(this.#numbers, 0, 1);
  }

  get beats(): number {
    return Atomics.load(this.#numbers, 0);
  }

  /** Names of tools, separated; empty if no handler is at work. */
  set tools(text: string) {
    const bytes = new TextEncoder().encode(text).subarray(0, NAMES_BYTES);
    this.#names.set(bytes);
    Atomics.store(this.#numbers, 1, bytes.length);
  }

  get tools(): string {
    return new TextDecoder().decode(this.#names.slice(0, Atomics.load(this.#numbers, 1)));
  }
}

/** Warns of handlers that block the event loop for longer than a second, after they have. The heartbeat thread warns of endless ones. */
export class Watch {
  readonly #atWork = new Map<string, number>();
  readonly #ended = new Set<string>();
  readonly #warned = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #last = performance.now();

  constructor(private readonly pulse: Pulse, private readonly warn: (text: string) => void) {
    this.#timer = setInterval(() => this.look(), INTERVAL_MS);
    this.#timer.unref();
  }

  begin(tool: string): void {
    this.#atWork.set(tool, (this.#atWork.get(tool) ?? 0) + 1);
    if (this.#atWork.get(tool) === 1) this.show();
  }

  end(tool: string): void {
    const left = (this.#atWork.get(tool) ?? 1) - 1;
    if (left > 0) this.#atWork.set(tool, left);
    else {
      this.#atWork.delete(tool);
      this.show();
    }
    this.#ended.add(tool);
  }

  private show(): void {
    this.pulse.tools = [...this.#atWork.keys()].sort().join(" or ");
  }

  close(): void {
    clearInterval(this.#timer);
  }

  private look(): void {
    this.pulse.beat();
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
