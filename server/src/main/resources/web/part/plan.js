import { html, nothing } from 'lit';
import { credits, many } from '../draw/format.js';
import { name } from './bits.js';

const SIGN = { added: '+', removed: '−', changed: '~' };
const WORD = { added: 'added', removed: 'removed', changed: 'changed', same: 'kept' };
const plain = (value) => (value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value));

/** The tools of a task's steps, or those that its agent may use. */
const tools = (task) => [task.tools, task.steps?.map((step) => step.tool ?? step.kind), task.tools_needed].find((each) => each?.length) ?? [];

/** Tasks of a plan as cards, with what is different from the one before. */
export function planTasks(diff) {
  return html`<ol class="plan">${diff.slice(0, 300).map((row, i) => html`<li class="plan-task d-${row.kind}"><span class="sign" title=${WORD[row.kind]} aria-label=${WORD[row.kind]} role="img">${SIGN[row.kind] ?? i + 1}</span>
    <div class="stack grow"><div class="row wrap"><strong>${name(row.title ?? row.id, 160)}</strong><code class="soft cut">${name(row.id, 60)}</code>
      ${row.task.suggested_agent?.agent_name || row.task.agent ? html`<span class="soft small">agent ${name(row.task.suggested_agent?.agent_name ?? row.task.agent, 60)}</span>` : nothing}
      ${row.task.estimated_cost ? html`<span class="end num soft">~${credits(row.task.estimated_cost)}</span>` : nothing}</div>
      ${row.task.depends_on?.length ? html`<span class="small soft">after ${name(row.task.depends_on.map((each) => each.task ?? each).join(', '), 200)}</span>` : nothing}
      ${row.task.description && row.task.description !== row.title ? html`<span class="small clamp">${name(row.task.description, 600)}</span>` : nothing}
      ${tools(row.task).length ? html`<span class="small soft mono cut">${name(tools(row.task).join(row.task.steps?.length ? ' → ' : ', '), 300)}</span>` : nothing}
      ${row.task.success_criteria ? html`<span class="small soft">done when: ${name(row.task.success_criteria, 300)}</span>` : nothing}
      ${row.task.verify?.length ? html`<span class="small soft">${many(row.task.verify.length, 'check')} of its output</span>` : nothing}
      ${row.fields.map((field) => html`<div class="change small"><code>${field.name}</code><del>${name(plain(field.before), 600)}</del><ins>${name(plain(field.after), 600)}</ins></div>`)}</div></li>`)}</ol>
    ${diff.length > 300 ? html`<p class="soft">and ${diff.length - 300} more tasks</p>` : nothing}`;
}
