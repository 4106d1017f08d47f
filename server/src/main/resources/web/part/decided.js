// How a question of the inbox was answered, when an answer to it comes too late.
import { all } from '../api/client.js';

const DID = {
  run_approved: 'approved the plan',
  run_rejected: 'rejected the plan',
  run_accepted: 'accepted the result',
  run_budget_approved: 'let the run go on',
  run_budget_increased: "raised the run's limit",
  run_failed: 'ended the run as failed',
  run_cancelled: 'cancelled the run',
  task_human_approved: 'accepted the output',
  task_human_rejected: 'rejected the output',
  step_approved: 'accepted',
  step_rejected: 'rejected',
  escalation_resolved: 'answered the ticket',
  proposal_accepted: 'accepted the proposal',
  proposal_rejected: 'rejected the proposal',
};
/** Answers to questions about a run as a whole, by kind of item. */
const OF_RUN = {
  plan_approval: ['run_approved', 'run_rejected'],
  result_acceptance: ['run_accepted', 'run_failed', 'run_rejected'],
  budget: ['run_budget_approved', 'run_budget_increased', 'run_failed'],
};
const ENDS = ['run_failed', 'run_cancelled'];

/** Whether an event answers the question of an item. */
function answers(item, event) {
  if (ENDS.includes(event.event_type)) return true;
  if (OF_RUN[item.kind]) return OF_RUN[item.kind].includes(event.event_type);
  const subject = item.id.slice(item.id.indexOf('_') + 1);
  return [event.step_id, event.task_id, event.payload?.ticket_id, event.payload?.proposal_id].includes(subject);
}

/** The first decision of a person about the question after it was asked: {by, did, at, reason}; null where no event tells it. */
export async function decided(item) {
  if (!item.run_id) return null;
  const { items } = await all(`/runs/${item.run_id}/events`, { limit: 500 }, 5000).catch(() => ({ items: [] }));
  const event = items.find(
    (each) =>
      each.actor_type === 'human' &&
      DID[each.event_type] &&
      Date.parse(each.created_at) >= Date.parse(item.created_at) &&
      answers(item, each),
  );
  return event
    ? { by: event.actor_id, did: DID[event.event_type], at: event.created_at, reason: event.payload?.reason ?? null }
    : null;
}
