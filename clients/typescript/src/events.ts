import { Backoff, pause } from "./backoff.js";
import { KeelsonError } from "./errors.js";
import type { Call, Transport } from "./http.js";
import { parse } from "./json.js";

/** An event of a stream: its number, and the document. */
type Numbered = readonly [number, unknown];

/** Divides a stream of server-sent events into events. */
class Frames {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private id = -1;
  private data: string[] = [];

  constructor(private readonly kind: string) {}

  /** The events that are complete. */
  feed(more: Uint8Array): Numbered[] {
    const lines = (this.rest + this.decoder.decode(more, { stream: true })).split("\n");
    this.rest = lines.pop() ?? "";
    const events: Numbered[] = [];
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line.startsWith("id:")) this.id = Number(line.slice(3));
      else if (line.startsWith("data:")) this.data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
      else if (line === "") {
        if (this.data.length > 0 && this.id >= 0) events.push([this.id, parse(this.data.join("\n"), this.kind)]);
        this.data = [];
      }
    }
    return events;
  }
}

/**
 * Each event of a stream once and in order. Resumes behind the last one after a lost connection, and ends when the server says
 * that nothing follows.
 *
 * @param where makes the path from the number of the last event
 */
export async function* events(transport: Transport, where: (seen: number) => string, kind: string, after: number,
  signal?: AbortSignal | null): AsyncGenerator<unknown, void, void> {
  const backoff = new Backoff(100, 5000);
  let seen = after;
  for (;;) {
    const call: Call = { method: "GET", path: where(seen), headers: { Accept: "text/event-stream", "Accept-Encoding": "identity" },
      signal };
    let wish: number | null = null;
    const connection = new AbortController();
    try {
      for await (const more of chunks(transport, call, connection)) {
        if (more === null) return;
        for (const [id, event] of more) {
          if (id <= seen) continue;
          seen = id;
          backoff.reset();
          yield event;
        }
      }
    } catch (e) {
      const error = transport.error(e, call, connection.signal);
      if (!(error instanceof KeelsonError) || !error.transient) throw error;
      wish = error.retryAfter;
    } finally {
      connection.abort();
    }
    if (backoff.failures > 0 || wish !== null) await pause(backoff.next(wish), signal);
    else backoff.failures = 1; // the first resumption is at once
  }

  /** The events of each piece; null if the stream has ended for good. A silent connection counts as a lost one. */
  async function* chunks(transport: Transport, call: Call, connection: AbortController): AsyncGenerator<Numbered[] | null> {
    const silent = () => connection.abort();
    let timer = setTimeout(silent, transport.silenceMs);
    try {
      const response = await transport.open(call, connection);
      if (response.status === 204) yield null;
      const frames = new Frames(kind);
      for await (const bytes of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        yield frames.feed(bytes);
        timer = setTimeout(silent, transport.silenceMs);
      }
    } finally {
      clearTimeout(timer);
    }
  }
}
