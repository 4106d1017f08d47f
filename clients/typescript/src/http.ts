import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { checked, isLocal } from "./address.js";
import { Backoff, pause } from "./backoff.js";
import { CHECK_KEY, CHECK_URL, KeelsonError } from "./errors.js";
import { parse, stringify } from "./json.js";

export const API = "/api/v1";
const VERSION = (createRequire(import.meta.url)("../package.json") as { version: string }).version;
const TRIES = 4;
const UNREACHABLE = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);

/** One request. */
export interface Call {
  readonly method: string;
  /** From the server's root */
  readonly path: string;
  /** A JSON text, bytes, or a function that opens a stream of bytes */
  readonly body?: string | Uint8Array | (() => ReadableStream<Uint8Array>);
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds for the whole answer; the client's own if absent */
  readonly timeoutMs?: number;
  /** Whether it may be sent again when it is not known if the first one arrived */
  readonly repeatable?: boolean;
  /** Kind of the answer's document, as of `parse` */
  readonly kind?: string;
  readonly signal?: AbortSignal | null | undefined;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly document: unknown;
}

/** Settings of a client's connections. */
export interface Connection {
  readonly url: string;
  readonly apiKey: string | null;
  readonly localKey: string | null;
  readonly timeoutMs: number;
  readonly silenceMs: number;
}

/** Sends requests. The key is in no representation of it. */
export class Transport {
  readonly #connection: Connection;
  #key: string | null | undefined;

  constructor(connection: Connection) {
    const url = checked(connection.url);
    const apiKey = connection.apiKey?.trim() || null;
    if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError(`not an API key: it has characters that no key has; ${CHECK_KEY}`);
    this.#connection = { ...connection, apiKey, url };
  }

  get url(): string {
    return this.#connection.url;
  }

  get silenceMs(): number {
    return this.#connection.silenceMs;
  }

  /** Address and key for a thread of this process. */
  async forThread(): Promise<Connection> {
    return { ...this.#connection, apiKey: await this.key(), localKey: null };
  }

  private async key(): Promise<string | null> {
    if (this.#key === undefined) {
      const { apiKey, localKey, url } = this.#connection;
      this.#key = apiKey ?? (localKey !== null && (await isLocal(url)) ? localKey : null);
    }
    return this.#key;
  }

  /** Sends a request, again where it may be repeated and repeating can help. */
  async send(call: Call): Promise<Reply> {
    return this.repeat(call, () => this.sendOnce(call));
  }

  /** The answer's bytes. */
  async bytes(call: Call): Promise<Uint8Array> {
    return this.repeat(call, () => this.within(call, async response => new Uint8Array(await response.arrayBuffer())));
  }

  /** Sends a request once and reads the whole answer. */
  async sendOnce(call: Call): Promise<Reply> {
    return this.within(call, async response => {
      const text = await response.text();
      return { status: response.status, headers: response.headers, document: this.document(text, call.kind) };
    });
  }

  private async repeat<T>(call: Call, attempt: () => Promise<T>): Promise<T> {
    const backoff = new Backoff(100, 2000);
    for (;;) {
      try {
        return await attempt();
      } catch (e) {
        if (!(e instanceof KeelsonError) || !call.repeatable || !e.repeatable || backoff.failures + 1 >= TRIES) throw e;
        await pause(backoff.next(e.retryAfter), call.signal);
      }
    }
  }

  private async within<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(), call.timeoutMs ?? this.#connection.timeoutMs);
    try {
      return await read(await this.open(call, ended));
    } catch (e) {
      throw this.error(e, call, ended.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Sends a request and returns its answer with an open body. Throws for a refusal.
   *
   * @param ended closes the connection when aborted
   */
  async open(call: Call, ended: AbortController): Promise<Response> {
    const signal = call.signal ? AbortSignal.any([call.signal, ended.signal]) : ended.signal;
    signal.throwIfAborted();
    const key = await this.key();
    const body = typeof call.body === "function" ? call.body() : call.body;
    const response = await fetch(this.#connection.url + call.path, {
      method: call.method,
      headers: {
        Accept: "application/json, application/problem+json, */*;q=0.1",
        "User-Agent": `keelson-typescript/${VERSION}`,
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(typeof body === "string" ? { "Content-Type": "application/json" } : {}),
        ...call.headers,
      },
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body: body as NonNullable<RequestInit["body"]> }),
      ...(typeof call.body === "function" ? { duplex: "half" } : {}),
    });
    if (response.status >= 400) {
      const text = await response.text();
      throw KeelsonError.refused(response.status, quietly(text), retryAfter(response.headers), this.url);
    }
    if (response.status >= 300 && response.status !== 304) {
      await response.body?.cancel();
      const where = response.headers.get("location") ?? "another address";
      throw new KeelsonError("BAD_ANSWER", `${this.url} refers to ${where}, which no Keelson server does; ${CHECK_URL}`);
    }
    return response;
  }

  /** The client's own error for one of the transport. An abort by the caller keeps its reason. */
  error(e: unknown, call: Call, ended: AbortSignal): unknown {
    if (e instanceof KeelsonError) return e;
    if (call.signal?.aborted) return call.signal.reason;
    if (ended.aborted) {
      return new KeelsonError("CALL_TIMEOUT", `${call.method} ${call.path} was not answered in time by ${this.url}`);
    }
    const cause = causeOf(e);
    const tls = tlsFault(cause);
    if (tls !== null) {
      return new KeelsonError("TLS_FAILED", `no encrypted connection to ${this.url}: ${tls}; ${CHECK_URL}`, { cause: e });
    }
    if (cause.code.startsWith("HPE_")) {
      return new KeelsonError("BAD_ANSWER", `${this.url} does not answer in HTTP; ${CHECK_URL}`, { cause: e });
    }
    if (UNREACHABLE.has(cause.code)) {
      return new KeelsonError("SERVER_UNREACHABLE", `no server at ${this.url}; start it with 'keelson server', or ${CHECK_URL}`, { cause: e });
    }
    return new KeelsonError("CONNECTION_LOST", `connection to ${this.url} lost: ${cause.message}`, { cause: e });
  }

  private document(text: string, kind: string | undefined): unknown {
    try {
      return parse(text, kind);
    } catch (e) {
      throw new KeelsonError("BAD_ANSWER", `${this.url} answered something that is not JSON, which no Keelson server does; ${CHECK_URL}`,
        { cause: e });
    }
  }
}

/** A path below `/api/v1` of text with encoded segments: `` path`/runs/${id}/start` ``. */
export function path(texts: TemplateStringsArray, ...parts: readonly string[]): string {
  return API + texts.map((text, i) => (i === 0 ? "" : encodeURIComponent(parts[i - 1]!)) + text).join("");
}

/** Adds a query without the values that are absent. */
export function query(where: string, values: Readonly<Record<string, string | number | boolean | null | undefined>>): string {
  const parts = Object.entries(values).filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return parts.length === 0 ? where : `${where}?${parts.join("&")}`;
}

/** A read, which may be repeated. */
export function get(where: string, kind: string, signal?: AbortSignal | null): Call {
  return { method: "GET", path: where, repeatable: true, kind, signal };
}

/** A request under an idempotency key, of the caller or made here, so that it may be repeated. */
export function post(where: string, body: unknown, kind: string, options: { idempotencyKey?: string | undefined;
  signal?: AbortSignal | null | undefined } = {}): Call {
  const headers = { "Idempotency-Key": options.idempotencyKey ?? randomUUID() };
  return { method: "POST", path: where, body: stringify(body), headers, repeatable: true, kind, signal: options.signal };
}

function retryAfter(headers: Headers): number | null {
  const value = headers.get("retry-after") ?? "";
  return /^\d{1,6}$/.test(value) ? Number(value) : null;
}

function quietly(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

const NO_TLS = new Set(["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "ERR_SSL_HTTP_REQUEST",
  "ERR_SSL_RECORD_LAYER_FAILURE"]);
const NO_CERTIFICATE = /^(ERR_TLS_CERT|CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_)/;

/** Why no encrypted connection was made; null if the error is another one. */
function tlsFault({ code, message }: { readonly code: string; readonly message: string }): string | null {
  if (NO_TLS.has(code)) return "it is not a server of HTTPS; its address may begin with http://";
  return NO_CERTIFICATE.test(code) ? `its certificate is not accepted (${message})` : null;
}

function causeOf(e: unknown): { code: string; message: string } {
  let error = e as { code?: string; message?: string; cause?: unknown; errors?: unknown[] };
  while (error?.cause) error = error.cause;
  const first = (error?.errors?.[0] ?? error) as typeof error;
  return { code: String(first?.code ?? error?.code ?? ""), message: String(first?.message || first?.code || e) };
}
