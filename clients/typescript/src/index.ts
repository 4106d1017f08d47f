export { connect, Keelson, type KeelsonOptions } from "./client.js";
export { type ErrorClass, KeelsonError, type Problem, StepDeferral, StepFailure, StepStopped, type StopReason } from "./errors.js";
export type { components, Decimal } from "./generated/api.js";
export type { Inbox, InboxDecision, InboxItem, Steps } from "./inbox.js";
export { expr, Mission, Task } from "./mission.js";
export type { Abortable, Artifact, Explanation, ForkOptions, Keyed, LogLine, Run, RunEvent, RunRecord, Runs, RunStep,
  RunTask, RunUndo, TaskRound } from "./runs.js";
export type { JsonSchema, StandardSchema } from "./schema.js";
export type { StepContext } from "./worker/execution.js";
export type { Gateway } from "./worker/gateway.js";
export { type CallResult, type PastTurn, type ToolCall, type Turn, TurnAnswer } from "./worker/turn.js";
export type { Trigger, TriggerDelivery, TriggerDeliveryReceipt, Triggers } from "./triggers.js";
export { Continue, type Effects, type HandlerInput, type Logger, type Tool, type Worker, type WorkerOptions } from "./worker/worker.js";
