import type { components, Decimal } from "../generated/api.js";
import type { Connection } from "../http.js";

export type Assignment = components["schemas"]["WorkItem"];

/** What an execution has used in all so far. */
export interface UsageMembers {
  readonly tokens?: number;
  readonly cost?: Decimal;
  readonly model?: string;
  readonly usage?: components["schemas"]["ReportedUsage"];
}

/** Notes of a handler for the next heartbeat. */
export interface Notes {
  progress?: { fraction: number; message: string };
  logs?: string[];
  /** JSON text */
  details?: string;
  usage?: UsageMembers;
}

/** What the heartbeat thread is started with. */
export interface ThreadData {
  readonly connection: Connection;
  readonly workerId: string;
  readonly leaseMs: number;
  /** Memory of the `Pulse` of the event loop */
  readonly pulse: SharedArrayBuffer;
  /** After how long without a beat a handler is named */
  readonly blockedMs: number;
}

/** Routes of reports under `/dispatch`. */
export type ReportKind = "complete" | "continue" | "fail" | "release";

/** To the heartbeat thread. `key` names an execution. */
export type ToThread =
  | { readonly type: "add"; readonly key: string; readonly stepId: string; readonly epoch: number }
  | { readonly type: "note"; readonly key: string; readonly notes: Notes }
  | { readonly type: "finish"; readonly key: string; readonly kind: ReportKind }
  | { readonly type: "drop"; readonly key: string };

/** From the heartbeat thread. `finished` has the notes that belong into the report. */
export type FromThread =
  | { readonly type: "ready" }
  | { readonly type: "stop"; readonly key: string; readonly reason: string }
  | { readonly type: "finished"; readonly key: string; readonly notes: Notes }
  | { readonly type: "warning"; readonly text: string };

/** Members of a report or heartbeat: cost is written as a number with all its digits. */
export function usageBody(usage: UsageMembers | undefined, exact: (decimal: Decimal) => unknown): Record<string, unknown> {
  if (usage === undefined) return {};
  return usage.cost === undefined ? { ...usage } : { ...usage, cost: exact(usage.cost) };
}
