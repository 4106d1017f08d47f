// The thread that keeps the leases, so that no handler can starve it: one call for all executions older than a third of a lease, and
// sooner, at most once a second, for those whose handlers have something to report.
import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { Backoff, pause } from "../backoff.js";
import { KeelsonError } from "../errors.js";
import { API, Transport } from "../http.js";
import { exact, stringify } from "../json.js";
import { Pulse } from "./watch.js";
import { type FromThread, type Notes, type ThreadData, type ToThread, usageBody } from "./protocol.js";

interface Lease {
  readonly key: string;
  readonly stepId: string;
  readonly epoch: number;
  readonly begun: number;
  /** When the server got the last heartbeat */
  signed: number;
  notes: Notes;
}

const MAX_LINES = 1000;
const NEWS_DELAY_MS = 1000;
/** How often a failed call is repeated within an interval. */
const REPEATS = 4;
const ANSWER_TIMEOUT_MS = 15_000;

const WARNED_MS = 60_000;
const STANDARD_ERROR = 2;

const { connection, workerId, leaseMs, pulse: memory, blockedMs } = workerData as ThreadData;
const pulse = new Pulse(memory);
const transport = new Transport(connection);
const interval = leaseMs / 3;
const leases = new Map<string, Lease>();
let news: (() => void) | null = null;
let hasNews = false;
let failing = false;
/** Whether the last call may succeed if it is repeated soon, before leases end. */
let repeat = false;
/** Calls one after the other, so that log lines keep their order. */
let turn: Promise<void> = Promise.resolve();

const tell = (message: FromThread): void => parentPort?.postMessage(message);

function nudge(): void {
  hasNews = true;
  news?.();
}

/** Adds newer notes to older ones. */
function merge(older: Notes, newer: Notes): Notes {
  const logs = [...(older.logs ?? []), ...(newer.logs ?? [])].slice(-MAX_LINES);
  return { ...older, ...newer, ...(logs.length > 0 ? { logs } : {}) };
}

function take(lease: Lease): Notes {
  const notes = lease.notes;
  lease.notes = {};
  return notes;
}

const isEmpty = (notes: Notes): boolean => Object.keys(notes).length === 0;

/** Waits for the call in progress and makes the next one. */
function beat(wanted: () => Lease[]): Promise<void> {
  const mine = turn.then(() => send(wanted()));
  turn = mine.catch(() => {});
  return mine;
}

async function send(executions: readonly Lease[]): Promise<void> {
  if (executions.length === 0) return;
  const taken = executions.map(take);
  const sent = performance.now();
  const items = executions.map((lease, i) => {
    const { progress, logs, details, usage } = taken[i]!;
    return { step_id: lease.stepId, lease_epoch: lease.epoch, progress, logs, ...usageBody(usage, exact),
      ...(details === undefined ? {} : { details: JSON.parse(details) as unknown }) };
  });
  try {
    const reply = await transport.sendOnce({ method: "POST", path: `${API}/dispatch/heartbeat`,
      body: stringify({ worker_id: workerId, items }), timeoutMs: Math.min(leaseMs / 2, ANSWER_TIMEOUT_MS) });
    for (const lease of executions) lease.signed = sent;
    heed(executions, (reply.document as { items?: Answer[] } | null)?.items ?? []);
  } catch (e) {
    if (mayPass(e)) executions.forEach((lease, i) => { lease.notes = merge(taken[i]!, lease.notes); });
    throw e;
  }
}

interface Answer {
  readonly step_id: string;
  readonly status: string;
  readonly reason?: string;
}

/** Answers of a step that is in the batch twice, under two leases, come in the order of its items. */
function heed(executions: readonly Lease[], answers: Answer[]): void {
  for (const lease of executions) {
    const index = answers.findIndex(each => each.step_id === lease.stepId);
    const [answer] = index < 0 ? [] : answers.splice(index, 1);
    if (answer?.status !== "stop" && answer?.status !== "not_found") continue;
    const reason = answer.reason ?? "lost";
    if (reason !== "budget_exceeded") leases.delete(lease.key);
    tell({ type: "stop", key: lease.key, reason });
  }
}

function mayPass(e: unknown): boolean {
  return e instanceof KeelsonError && e.code !== "NOT_JSON"
    && (e.status === 0 || e.status >= 500 || [401, 403, 408, 429].includes(e.status));
}

async function loop(): Promise<void> {
  for (let last = performance.now(); ; last = performance.now()) {
    await nextBeat(last);
    try {
      await beat(old);
      failing = repeat = false;
    } catch (e) {
      if (!failing) tell({ type: "warning", text: `heartbeat of ${leases.size} steps failed: ${(e as Error).message}` });
      failing = true;
      repeat = e instanceof KeelsonError && e.transient;
    }
  }
}

/** The leases that are older or have news. */
function old(): Lease[] {
  const time = performance.now() - interval;
  return [...leases.values()].filter(lease => lease.begun <= time || !isEmpty(lease.notes));
}

/** When a lease needs a heartbeat; an interval from now if there is no lease. Leases wait for each other, to be in one call. */
function due(last: number): number {
  let sign = performance.now();
  for (const { signed } of leases.values()) sign = Math.min(sign, signed);
  return Math.max(last + interval / 2, sign + interval);
}

async function nextBeat(last: number): Promise<void> {
  for (;;) {
    const soon = repeat ? interval / REPEATS : hasNews ? Math.min(NEWS_DELAY_MS, interval) : Infinity;
    const left = Math.min(due(last), last + soon) - performance.now();
    if (left <= 0) {
      hasNews = false;
      return;
    }
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, left);
      news = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    news = null;
  }
}

/** Takes the notes for the report. What a report cannot have reaches the server before it. */
async function finish(key: string, kind: string): Promise<void> {
  const backoff = new Backoff(100, 5000);
  await turn;
  const lease = leases.get(key);
  const { progress, logs, details, usage } = lease ? take(lease) : {};
  const given: Notes = { ...(progress ? { progress } : {}), ...(logs ? { logs } : {}) };
  const before: Notes = {
    ...(kind === "complete" || details === undefined ? {} : { details }),
    ...(kind === "release" ? { ...given, ...(usage ? { usage } : {}) } : {}),
  };
  if (lease) lease.notes = before;
  while (lease && leases.has(key) && !isEmpty(lease.notes)) {
    try {
      await beat(() => [lease]);
    } catch (e) {
      if (!mayPass(e)) tell({ type: "warning", text: `last notes of step ${lease.stepId} rejected: ${(e as Error).message}` });
      else await pause(backoff.next(e instanceof KeelsonError ? e.retryAfter : null));
    }
  }
  tell({ type: "finished", key, notes: kind === "release" ? {} : given });
}

/**
 * Warns of a handler that never returns the event loop: neither a log of the program nor a cancellation can be executed then. Writes the
 * line itself.
 */
function watch(): void {
  let [beats, since, silent] = [pulse.beats, performance.now(), 0];
  setInterval(() => {
    const now = performance.now();
    const { tools } = pulse;
    if (pulse.beats !== beats || tools === "") [beats, since] = [pulse.beats, now];
    if (now - since < blockedMs || now < silent) return;
    silent = now + WARNED_MS;
    writeSync(STANDARD_ERROR, `${new Date().toISOString()} WARN worker ${workerId}: the handler of ${tools} has blocked the event loop for `
      + `${((now - since) / 1000).toFixed(1)} s and has not returned: it cannot be cancelled, and no other handler works; await instead, or `
      + "compute in a worker_threads.Worker\n");
  }, Math.min(1000, blockedMs / 2)).unref();
}

parentPort?.on("message", (message: ToThread) => {
  switch (message.type) {
    case "add":
      leases.set(message.key, { ...message, begun: performance.now(), signed: performance.now(), notes: {} });
      break;
    case "note": {
      const lease = leases.get(message.key);
      if (lease) lease.notes = merge(lease.notes, message.notes);
      nudge();
      break;
    }
    case "finish":
      void finish(message.key, message.kind);
      break;
    case "drop":
      leases.delete(message.key);
  }
});
void loop();
watch();
// Loads what the first call needs, before there is a lease to keep.
await fetch("data:,");
tell({ type: "ready" });
