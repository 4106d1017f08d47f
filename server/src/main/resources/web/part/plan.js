import { html, nothing } from 'lit';
import { credits, label, many } from '../draw/format.js';
import { name } from './bits.js';
import { json } from './json.js';

const SIGN = { added: '+', removed: '−', changed: '~' };
const WORD = { added: 'added', removed: 'removed', changed: 'changed', same: 'kept' };
const plain = (value) => (value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value));

/** The tools of a task's steps, or those that its agent may use. */
const tools = (task) =>
  [task.tools, task.steps?.map((step) => step.tool ?? step.kind), task.tools_needed].find((each) => each?.length) ?? [];

const agentOf = (task) => task.assigned_agent?.agent_name ?? task.suggested_agent?.agent_name ?? task.agent;
const toolOf = (step) => step.tool ?? step.kind ?? 'step';
const hasInput = (step) => step.input && Object.keys(step.input).length > 0;
const doing = (step) => `${toolOf(step)}${hasInput(step) ? ` ${JSON.stringify(step.input)}` : ''}`;

/**
 * The members by which a task of a planner's answer and one of a run's plan can be compared: the run's plan has defaults beside
 * them, such as the judge of a check.
 */
export function comparable(task) {
  const { title, description, steps, for_each: each, when, verify, success_criteria: criteria } = task;
  const members = {
    title,
    description: description === title ? null : description,
    after: task.depends_on
      ?.map((on) => on.task ?? on)
      .toSorted()
      .join(', '),
    agent: agentOf(task),
    when,
    for_each: each,
    tools: task.tools_needed?.join(', '),
    success_criteria: criteria,
    checks: verify?.map(({ model, ...check }) => JSON.stringify(check)).join('\n'),
    steps: steps ? steps.map(doing).join('\n') : task.tools?.join('\n'),
  };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value));
}

const SHORT = 160;
const MOST_STEPS = 20;
/** Characters of a changed member. */
const CHANGE = 600;

/** What the steps of a task call, with their inputs. */
function stepsOf(task) {
  if (!task.steps?.some(hasInput))
    return tools(task).length
      ? html`<span class="small soft mono cut">${name(tools(task).join(task.steps?.length ? ' → ' : ', '), 300)}</span>`
      : nothing;
  return html`<ol class="calls small">
      ${task.steps.slice(0, MOST_STEPS).map((step) => (doing(step).length <= SHORT ? html`<li class="mono soft"><bdi>${label(doing(step), SHORT)}</bdi></li>` : html`<li>${json(label(toolOf(step), 80), step.input)}</li>`))}
    </ol>
    ${task.steps.length > MOST_STEPS ? html`<span class="small soft">and ${many(task.steps.length - MOST_STEPS, 'more step')}</span>` : nothing}`;
}

/** A check of an output in words: its kind, and what it demands. */
function checkOf(check) {
  const { kind, model, criteria, ...rest } = check;
  const demands = criteria?.length
    ? criteria.map((each) => `${each.criterion ?? each}${each.must_pass ? ' (must pass)' : ''}`).join('; ')
    : Object.entries(rest)
        .map(([key, value]) => `${key.replaceAll('_', ' ')} ${plain(value)}`)
        .join(', ');
  return html`<li>
    ${kind === 'model' ? `Judge${model ? ` by the model ${model}` : ''}` : html`<code>${kind}</code>`}:
    ${name(demands || 'as it is', 400)}
  </li>`;
}

/** Model and tools of the agent of a task, by the roster or by the plan's contractor. */
function terms(task, roster) {
  const own = task.suggested_agent?.instructions || task.suggested_agent?.tools ? task.suggested_agent : null;
  const agent =
    own ??
    roster.find(
      (each) => each.slug === agentOf(task) || each.name === agentOf(task) || each.id === task.assigned_agent?.agent_id,
    );
  const model = task.suggested_model ?? agent?.model ?? agent?.suggested_model;
  const callable = [...new Set([...(agent?.tools ?? []), ...(task.tools_needed ?? [])])];
  if (!agent && !model) return nothing;
  return html`<span class="small soft"
    >${agentOf(task) ? html`agent ${name(agentOf(task), 60)}, ` : nothing}model ${name(model ?? 'of the worker', 80)},
    ${callable.length ? html`tools <span class="mono">${name(callable.join(', '), 300)}</span>` : 'no tools'}</span
  >`;
}

/** Names of the members whose change is shown whole, so that the card does not repeat them. */
const shownWhole = (row) =>
  new Set(
    row.fields
      .filter((field) => Math.max(plain(field.before).length, plain(field.after).length) <= CHANGE)
      .map((field) => field.name),
  );

const ids = (list) => (Array.isArray(list) ? list.map((each) => each?.id ?? each?.temp_id).join(', ') : '');

/** The branches of a switch, or the tasks of a group, of a plan as it is written. */
function entries(task) {
  if (Array.isArray(task.group)) return html`<span class="small soft">group of ${name(ids(task.group), 300)}</span>`;
  if (!Array.isArray(task.switch)) return nothing;
  return html`<ul class="bullets small soft">
    ${task.switch.map((each) => html`<li>${each?.else ? 'else' : html`if <code>${name(each?.when, 200)}</code>`}: ${name(ids(each?.tasks ?? each?.else) || 'nothing', 300)}</li>`)}
  </ul>`;
}

/** A task of a plan as a card. */
function card(row, i, roster) {
  const shown = shownWhole(row);
  const { task } = row;
  const after = task.depends_on?.map((each) => each.task ?? each).join(', ');
  return html`<li class="plan-task d-${row.kind}">
    <span class="sign" title=${WORD[row.kind]} aria-label=${WORD[row.kind]} role="img">${SIGN[row.kind] ?? i + 1}</span>
    <div class="stack grow">
      <div class="row wrap">
        <strong>${name(row.title ?? row.id, 160)}</strong><code class="soft cut">${name(row.id, 60)}</code>
        ${agentOf(task) && !task.steps?.length && roster.length ? nothing : agentOf(task) ? html`<span class="soft small">agent ${name(agentOf(task), 60)}</span>` : nothing}
        ${task.estimated_cost ? html`<span class="end num soft nowrap">~${credits(task.estimated_cost)}</span>` : nothing}
      </div>
      ${after && !shown.has('after') ? html`<span class="small soft">after ${name(after, 200)}</span>` : nothing}
      ${entries(task)}
      ${task.description && task.description !== row.title && !shown.has('description') ? html`<span class="small clamp">${name(task.description, 600)}</span>` : nothing}
      ${task.steps?.length ? nothing : terms(task, roster)}
      ${shown.has('steps') || (roster.length && agentOf(task) && !task.steps?.length) ? nothing : stepsOf(task)}
      ${task.success_criteria && !shown.has('success_criteria') ? html`<span class="small soft">done when: ${name(task.success_criteria, 300)}</span>` : nothing}
      ${
        task.verify?.length && !shown.has('checks')
          ? html`<div class="small soft">
              ${many(task.verify.length, 'check')} of its output
              <ul class="bullets">
                ${task.verify.slice(0, 12).map(checkOf)}
              </ul>
            </div>`
          : nothing
      }
      ${row.fields.map((field) => html`<div class="change small"><code>${field.name}</code><del>${name(plain(field.before), CHANGE)}</del><ins>${name(plain(field.after), CHANGE)}</ins></div>`)}
    </div>
  </li>`;
}

/** Tasks of a plan as cards, with what is different from the one before. @param {any[]} roster agents of the workspace, for their models and tools */
export function planTasks(diff, roster = []) {
  return html`<ol class="plan">
      ${diff.slice(0, 300).map((row, i) => card(row, i, roster))}
    </ol>
    ${diff.length > 300 ? html`<p class="soft">and ${many(diff.length - 300, 'more task')}</p>` : nothing}`;
}
