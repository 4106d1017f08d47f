// The states of runs, tasks and steps in eight families: each has a colour, an icon, a pattern and a word.
const OF = {
  pending: 'waits',
  created: 'waits',
  ready: 'waits',
  paused: 'waits',
  waiting: 'waits',
  queued: 'queued',
  assigned: 'queued',
  running: 'works',
  planning: 'works',
  continuing: 'works',
  verifying: 'works',
  resuming: 'works',
  awaiting_human: 'person',
  awaiting_approval: 'person',
  waiting_approval: 'person',
  escalated: 'person',
  budget_exceeded: 'person',
  awaiting_retry: 'backoff',
  retrying: 'backoff',
  completed: 'done',
  failed: 'failed',
  cancelled: 'ended',
  skipped: 'ended',
};

export const FAMILIES = ['done', 'works', 'queued', 'backoff', 'person', 'failed', 'waits', 'ended'];
export const WORDS = {
  waits: 'waits',
  queued: 'queued',
  works: 'works',
  person: 'waits for a person',
  backoff: 'retries',
  done: 'done',
  failed: 'failed',
  ended: 'ended otherwise',
};
export const ICONS = {
  waits: 'circle',
  queued: 'dashed',
  works: 'half',
  person: 'hand',
  backoff: 'retry',
  done: 'check',
  failed: 'cross',
  ended: 'ban',
};

export const family = (state) => OF[state] ?? 'waits';
export const words = (state) => String(state ?? '').replaceAll('_', ' ');
/** The states of runs that have not ended. */
export const OPEN = [
  'created',
  'pending',
  'planning',
  'awaiting_approval',
  'ready',
  'running',
  'paused',
  'budget_exceeded',
  'escalated',
  'resuming',
  'retrying',
];
export const isOpen = (run) => run.state_type !== 'terminal';

/** Families of stretches of time in which a task only waits, by their kinds. */
const WAITING = { person: 'person', backoff: 'backoff', timer: 'waits', queued: 'queued' };
/** The family of a task's row: one that is running may only wait, as its last stretch tells. */
export function familyOf(row) {
  const last = row.stretches?.[row.stretches.length - 1];
  return (row.state === 'running' && last?.to_ms === null && WAITING[last.kind]) || family(row.state);
}

/** True for a task that has not ended while its run is paused, stopped at its limit or escalated: `effective_state` of the API. */
export const isHeld = (run, row) =>
  run?.state_type === 'paused' && !['done', 'failed', 'ended'].includes(family(row.state));

/** Number of rows by family. */
export function tally(rows) {
  const counts = {};
  for (const row of rows) counts[familyOf(row)] = (counts[familyOf(row)] ?? 0) + 1;
  return counts;
}

const REASONS = {
  MISSING_WORKER: 'queued',
  MISSING_VERSION: 'queued',
  QUEUED: 'queued',
  STEP_BACKOFF: 'backoff',
  TASK_BACKOFF: 'backoff',
  AGENT_BACKOFF: 'backoff',
  TIMER: 'waits',
  SIGNAL: 'waits',
  CHILD_RUN: 'waits',
  UPSTREAM_OPEN: 'waits',
  RUNNING: 'works',
  PAUSED: 'waits',
};
/** The family whose icon is beside a reason. */
export function reasonFamily(code) {
  if (REASONS[code]) return REASONS[code];
  if (/LIMIT|QUEUE|SLOT|WORKER|CONCURRENCY/.test(code)) return 'queued';
  if (/RETRY|BACKOFF/.test(code)) return 'backoff';
  if (/APPROVAL|REVIEW|TICKET|ESCALAT|BUDGET|HUMAN|ACCEPT|QUESTION/.test(code)) return 'person';
  if (/FAILED/.test(code)) return 'failed';
  return 'waits';
}

/** States that do not tell whether something works. */
const VAGUE = new Set(['running', 'pending', 'planning', 'ready', 'assigned', 'verifying']);
/** What is waited for, by the codes of reasons. */
const AWAITED = {
  SIGNAL: 'a signal',
  TIMER: 'its time',
  STARTS_LATER: 'its time',
  CHILD_RUN: 'a child run',
  MISSING_WORKER: 'a worker',
  MISSING_VERSION: 'a worker',
  QUEUED: 'a worker',
  MODEL_BUSY: 'a busy model',
  DEFERRED: 'a busy system',
  CREDITS_HELD: 'credits',
  CONCURRENCY_KEY: 'other runs',
  UPSTREAM_OPEN: 'other tasks',
  HOOK_OPEN: 'other tasks',
  EARLIER_STEP: 'other steps',
};
/** Reasons of parts of what runs, while others of its parts work. */
const OF_PARTS = /^(QUEUED|CREDITS_HELD|UPSTREAM_OPEN|HOOK_OPEN|EARLIER_STEP|.+_LIMIT)$/;
/** What a run or task waits for, where its state does not tell it and its reason does; else null. */
export function awaits(state, reason) {
  if (!reason?.code || !VAGUE.has(state) || (state === 'running' && OF_PARTS.test(reason.code))) return null;
  const of = reasonFamily(reason.code);
  const what =
    AWAITED[reason.code] ??
    (of === 'person' ? 'a person' : of === 'backoff' ? 'a retry' : /LIMIT/.test(reason.code) ? 'a free place' : null);
  return what && { of, text: `waits for ${what}` };
}

/** Kinds of inbox items: icon and word. */
export const KINDS = {
  plan_approval: ['branch', 'Plan'],
  result_acceptance: ['check', 'Result'],
  approval_step: ['hand', 'Approval'],
  task_review: ['file', 'Review'],
  escalation: ['alert', 'Failure or new plan'],
  budget: ['coins', 'Budget'],
  call_approval: ['hand', 'Call'],
  question: ['info', 'Question'],
  elicitation: ['info', 'MCP question'],
  proposal: ['info', 'Proposal'],
  tool_change: ['alert', 'Changed tool'],
  dead_letter: ['alert', 'Dead events'],
};
/** Icon and word of an inbox item: a ticket is about a failure or about a new plan. */
export const kindOf = (item) =>
  item.kind !== 'escalation'
    ? (KINDS[item.kind] ?? ['info', item.kind])
    : item.data?.changes
      ? ['branch', 'New plan']
      : ['alert', 'Failure'];
