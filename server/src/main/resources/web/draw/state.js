// The states of runs, tasks and steps in eight families: each has a colour, an icon, a pattern and a word.
const OF = {
  pending: 'waits', created: 'waits', ready: 'waits', paused: 'waits', waiting: 'waits',
  queued: 'queued', assigned: 'queued',
  running: 'works', planning: 'works', continuing: 'works', verifying: 'works', resuming: 'works',
  awaiting_human: 'person', awaiting_approval: 'person', waiting_approval: 'person', escalated: 'person', budget_exceeded: 'person',
  awaiting_retry: 'backoff', retrying: 'backoff',
  completed: 'done', failed: 'failed', cancelled: 'ended', skipped: 'ended',
};

export const FAMILIES = ['done', 'works', 'queued', 'backoff', 'person', 'failed', 'waits', 'ended'];
export const WORDS = {
  waits: 'waits', queued: 'queued', works: 'works', person: 'waits for a person', backoff: 'retries', done: 'done',
  failed: 'failed', ended: 'ended otherwise',
};
export const ICONS = {
  waits: 'circle', queued: 'dashed', works: 'half', person: 'hand', backoff: 'retry', done: 'check', failed: 'cross', ended: 'ban',
};

export const family = (state) => OF[state] ?? 'waits';
export const words = (state) => String(state ?? '').replaceAll('_', ' ');
/** The states of runs that have not ended. */
export const OPEN = ['created', 'pending', 'planning', 'awaiting_approval', 'ready', 'running', 'paused', 'budget_exceeded', 'escalated', 'resuming', 'retrying'];
export const isOpen = (run) => run.state_type !== 'terminal';

/** Number of rows by family. */
export function tally(rows) {
  const counts = {};
  for (const row of rows) counts[family(row.state)] = (counts[family(row.state)] ?? 0) + 1;
  return counts;
}

const REASONS = {
  MISSING_WORKER: 'queued', QUEUED: 'queued', STEP_BACKOFF: 'backoff', TASK_BACKOFF: 'backoff', AGENT_BACKOFF: 'backoff',
  TIMER: 'waits', SIGNAL: 'waits', CHILD_RUN: 'waits', UPSTREAM_OPEN: 'waits', RUNNING: 'works', PAUSED: 'waits',
};
/** The family whose icon stands beside a reason. */
export function reasonFamily(code) {
  if (REASONS[code]) return REASONS[code];
  if (/LIMIT|QUEUE|SLOT|WORKER|CONCURRENCY/.test(code)) return 'queued';
  if (/RETRY|BACKOFF/.test(code)) return 'backoff';
  if (/APPROVAL|REVIEW|TICKET|ESCALAT|BUDGET|HUMAN|ACCEPT|QUESTION/.test(code)) return 'person';
  if (/FAILED/.test(code)) return 'failed';
  return 'waits';
}

/** Kinds of inbox items: icon and word. */
export const KINDS = { plan_approval: ['branch', 'Plan'], result_acceptance: ['check', 'Result'], approval_step: ['hand', 'Approval'], task_review: ['file', 'Review'],
  escalation: ['alert', 'Ticket'], budget: ['coins', 'Budget'], call_approval: ['hand', 'Call'], question: ['info', 'Question'], elicitation: ['info', 'MCP question'], proposal: ['info', 'Proposal'], tool_change: ['alert', 'Changed tool'] };
