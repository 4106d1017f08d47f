import { Worker as Thread } from "node:worker_threads";
import type { FromThread, Notes, ReportKind, ThreadData, ToThread } from "./protocol.js";

interface Kept {
  readonly stepId: string;
  readonly epoch: number;
  noted: boolean;
  finished: ((notes: Notes) => void) | null;
}

/** Keeps the leases of executions by a thread of its own, which a busy handler cannot starve. */
export class Heartbeats {
  private readonly kept = new Map<string, Kept>();
  private thread: Thread | null = null;
  private closed = false;
  private isReady = false;
  private begin!: (error?: Error) => void;
  /** Resolved when the thread can keep leases. */
  readonly ready = new Promise<void>((resolve, reject) => {
    this.begin = error => (error ? reject(error) : resolve());
  });

  /** @param onStop called when the server no longer wants an execution */
  constructor(private readonly data: ThreadData, private readonly onStop: (key: string, reason: string) => void,
    private readonly warn: (text: string) => void) {
    this.open();
  }

  add(key: string, stepId: string, epoch: number): void {
    this.kept.set(key, { stepId, epoch, noted: false, finished: null });
    this.post({ type: "add", key, stepId, epoch });
  }

  note(key: string, notes: Notes): void {
    const lease = this.kept.get(key);
    if (lease === undefined) return;
    lease.noted = true;
    this.post({ type: "note", key, notes });
  }

  /** The notes that belong into a report. The others have reached the server then. */
  finish(key: string, kind: ReportKind): Promise<Notes> {
    const lease = this.kept.get(key);
    if (lease === undefined || !lease.noted) return Promise.resolve({});
    return new Promise(resolve => {
      lease.finished = resolve;
      this.post({ type: "finish", key, kind });
    });
  }

  drop(key: string): void {
    this.kept.get(key)?.finished?.({});
    this.kept.delete(key);
    this.post({ type: "drop", key });
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.thread?.terminate();
  }

  private post(message: ToThread): void {
    this.thread?.postMessage(message);
  }

  private open(): void {
    const thread = new Thread(new URL("./heartbeat-thread.js", import.meta.url), { workerData: this.data, execArgv: [] });
    thread.unref();
    thread.on("message", (message: FromThread) => this.heed(message));
    thread.on("error", error => {
      if (!this.isReady) this.begin(error);
      this.warn(`the heartbeat thread ended: ${error.message}`);
    });
    // It has no reason to end. If it does, another one takes its place at once, for leases must not expire.
    thread.on("exit", () => {
      if (this.closed || !this.isReady) return;
      this.open();
      for (const [key, { stepId, epoch, finished }] of this.kept) {
        this.post({ type: "add", key, stepId, epoch });
        finished?.({});
      }
    });
    this.thread = thread;
  }

  private heed(message: FromThread): void {
    switch (message.type) {
      case "ready":
        this.isReady = true;
        this.begin();
        break;
      case "stop":
        this.onStop(message.key, message.reason);
        break;
      case "finished":
        this.kept.get(message.key)?.finished?.(message.notes);
        break;
      case "warning":
        this.warn(message.text);
    }
  }
}
