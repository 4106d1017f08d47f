// What one can do with a run, as data: which states allow it, what is asked first, what is sent.
import { remove } from '../api/client.js';
import { isOpen } from '../draw/state.js';
import { edit } from '../part/editor.js';
import { sendSignal } from '../part/signal.js';
import { route } from '../store/route.js';

const reason = { name: 'reason', label: 'Reason', hint: 'The events show it beside your name.' };

const undone = (run) => run.undo && !['refused', 'nothing'].includes(run.undo.state);
const retried = (run) => ['failed', 'cancelled'].includes(run.state) && !undone(run);

export const ACTIONS = [
  { name: 'start', title: 'Start', icon: 'play', when: (run) => run.state === 'created', first: true },
  {
    name: 'pause',
    title: 'Pause',
    icon: 'pause',
    doing: 'Pausing…',
    when: (run) => ['running', 'pending', 'planning', 'ready', 'retrying'].includes(run.state),
    first: true,
  },
  {
    name: 'resume',
    title: 'Resume',
    icon: 'play',
    doing: 'Resuming…',
    when: (run) => run.state === 'paused',
    first: true,
  },
  {
    name: 'retry',
    title: 'Retry',
    icon: 'retry',
    when: retried,
    first: true,
    ask: () => ({
      title: 'Retry this run?',
      text: 'Its next attempt keeps the outputs of tasks that are done, and does the others again.',
      yes: 'Retry from what failed',
    }),
    body: () => ({ from: 'failed' }),
  },
  {
    name: 'cancel',
    title: 'Cancel…',
    icon: 'stop',
    danger: true,
    doing: 'Cancelling…',
    when: isOpen,
    first: true,
    ask: (run) => ({
      title: `Cancel ${run.name}?`,
      text: 'Steps at work are stopped. Outputs, artifacts and charges so far stay.',
      yes: 'Cancel the run',
      danger: true,
      fields: [reason],
    }),
  },
  {
    name: 'retry',
    title: 'Retry from the start…',
    icon: 'retry',
    when: (run) => retried(run) && !run.undoes,
    ask: () => ({
      title: 'Do everything again?',
      text: 'All tasks are done again, at full cost.',
      yes: 'Retry from the start',
    }),
    body: () => ({ from: 'start' }),
  },
  {
    name: 'undo',
    title: 'Undo…',
    said: 'Undo requested',
    icon: 'undo',
    danger: true,
    when: (run) => !isOpen(run) && !run.undoes && (!run.undo || run.undo.state === 'refused'),
    ask: (run) => ({
      title: `Undo ${run.name}?`,
      text: 'A run of its own undoes the completed work that has an undo, in reverse order. This run has no further attempt then.',
      yes: 'Undo the run',
      danger: true,
      fields: [reason],
    }),
  },
  {
    name: 'replan',
    title: 'Make a new plan…',
    icon: 'branch',
    when: isOpen,
    ask: () => ({
      title: 'Make a new plan?',
      text: 'The planner is asked for a plan in place of the tasks that have not ended.',
      yes: 'Ask the planner',
      fields: [{ ...reason, required: true }],
    }),
  },
  {
    name: 'fork',
    title: 'Fork from a task…',
    icon: 'branch',
    when: () => true,
    goes: true,
    ask: () => ({
      title: 'Fork this run',
      text: 'A new run takes over the outputs of all tasks that this one does not need again.',
      yes: 'Fork',
      fields: [
        { name: 'task', label: 'First task to do again', required: true },
        { name: 'name', label: 'Name of the new run' },
      ],
    }),
  },
  {
    name: 'signal',
    title: 'Send a signal…',
    icon: 'right',
    when: isOpen,
    said: 'Signal sent',
    open: (run, reasons) => sendSignal(run.id, reasons),
  },
  {
    name: 'budget',
    title: 'Change the budget…',
    icon: 'coins',
    when: (run) => isOpen(run) || run.state === 'failed',
    ask: (run) => ({
      title: 'Change the budget',
      text: 'The run stops before it costs more.',
      yes: 'Change',
      fields: [
        {
          name: 'hard_limit_usd',
          label: 'Limit in credits',
          kind: 'number',
          required: true,
          value: String(run.hard_limit_usd ?? ''),
        },
      ],
    }),
    body: (values) => ({ hard_limit_usd: Number(values.hard_limit_usd) }),
  },
  {
    name: 'save-as-recipe',
    title: 'Save as recipe…',
    icon: 'file',
    when: () => true,
    ask: (run) => ({
      title: 'Save as recipe',
      yes: 'Save',
      fields: [{ name: 'name', label: 'Name of the recipe', required: true, value: run.name }],
    }),
  },
  {
    name: 'fail',
    title: 'Fail…',
    icon: 'cross',
    danger: true,
    when: isOpen,
    ask: (run) => ({
      title: `Fail ${run.name}?`,
      text: 'The run ends as failed. It can be retried.',
      yes: 'Fail the run',
      danger: true,
      fields: [{ ...reason, required: true }],
    }),
  },
  {
    name: 'delete',
    title: 'Delete…',
    icon: 'cross',
    danger: true,
    when: (run) => !isOpen(run),
    said: 'Deleted',
    open: (run) =>
      edit({
        title: `Delete ${run.name}?`,
        text: 'The run leaves all lists. What it was charged stays in the ledger.',
        yes: 'Delete the run',
        danger: true,
        fields: [],
        save: async () => {
          await remove(`/runs/${run.id}`);
          route.go('/ui/runs');
        },
      }),
  },
];

/** The body of a question's values: without those left empty. */
export const bodyOf = (action, values) =>
  action.body
    ? action.body(values)
    : Object.fromEntries(Object.entries(values ?? {}).filter(([, value]) => value !== ''));
