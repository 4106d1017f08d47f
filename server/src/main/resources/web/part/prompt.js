// What a turn was given: instructions, task, results of other tasks, feedback, tools, and the request as it was sent.
import { html, nothing } from 'lit';
import { label, many } from '../draw/format.js';
import { name } from './bits.js';
import { icon } from './icon.js';
import { json } from './json.js';
import { links } from './preview.js';

const MOST = 20_000;
const empty = (value) =>
  value === null || value === undefined || value === '' || (typeof value === 'object' && !Object.keys(value).length);
const plain = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** One message of the prompt. */
const message = (role, body) =>
  html`<section class="message">
    <h3 class="small soft">${role}</h3>
    <div class="stack">${body}</div>
  </section>`;
const text = (value) => html`<div class="prose" tabindex="0">${label(plain(value), MOST)}</div>`;
const titled = (title, value) =>
  empty(value) ? nothing : html`<div><strong class="small">${title}</strong>${text(value)}</div>`;

/** @param {any[]} tools of the server, with the schemas of their inputs */
function tool(each, tools) {
  const known = tools.find((tool) => tool.name === each);
  return html`<li>
    <details class="json">
      <summary><code>${name(each, 100)}</code></summary>
      <div class="stack tool-terms">
        ${
          known
            ? html`<p class="small">${name(known.description ?? '', 2000)}</p>
                ${json('Schema of its input', known.input_schema, true)}`
            : html`<p class="small soft">No tool of this name is known now.</p>`
        }
      </div>
    </details>
  </li>`;
}

/**
 * The prompt of an attempt's first turn; later turns see the turns and results before them, too.
 * @param {any} input of the turn
 * @param {any[]} tools of the server
 */
export function prompt(input, tools) {
  const {
    instructions,
    title,
    description,
    success_criteria: criteria,
    goal,
    inputs,
    upstream,
    feedback,
    tools: callable = [],
    output_schema: schema,
  } = input;
  const names = callable.map((each) => (typeof each === 'string' ? each : each.name));
  return html`<div class="prompt">
    ${message(
      'System: instructions of the agent',
      html`${empty(instructions) ? html`<p class="soft small">This agent has no instructions of its own.</p>` : text(instructions)}
        <p class="soft small">
          The server sets its own rules for agents before them; a kept request has the whole text.
        </p>`,
    )}
    ${message(
      'User: the task',
      html`${titled('Task', title)}${description === title ? nothing : titled('Description', description)}${titled('The result is good if', criteria)}${titled('Goal of the run', goal)}${titled('Inputs of the run', inputs)}
      ${Object.entries(upstream ?? {}).map(([key, value]) => titled(`Result of the task ${label(key, 80)}`, value))}`,
    )}
    ${empty(feedback) ? nothing : message('User: why the result before was not accepted', text(feedback.message ?? feedback))}
    ${message(
      `Tools: ${names.length ? many(names.length, 'tool') : 'none'}`,
      names.length
        ? html`<ul class="stack tight">
            ${names.map((each) => tool(each, tools))}
          </ul>`
        : html`<p class="soft small">This agent may call no tool.</p>`,
    )}
    ${empty(schema) ? nothing : message('Schema of the result', json('Schema', schema, true))}
  </div>`;
}

/** The request of a turn as it was sent, where the model keeps requests. @param {any[]} artifacts of the run */
export function request(run, step, artifacts) {
  const kept = artifacts.filter((each) => each.name.startsWith(`request-${step}-`));
  return kept.length
    ? html`<div class="row wrap small">
        <span class="soft">${icon('file', 'small')} Request as it was sent</span>${kept.map((each) => links(run, each))}
      </div>`
    : nothing;
}
