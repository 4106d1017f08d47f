import { html, nothing } from 'lit';
import { all, get } from '../api/client.js';
import {
  agentName,
  amount,
  besideCharges,
  bytes,
  count,
  credits,
  duration,
  exact,
  many,
  short,
  shortId,
} from '../draw/format.js';
import { planDiff } from '../draw/diff.js';
import { Part } from '../part/base.js';
import { badge, empty, meter, money, name, problem, skeleton, toast, when } from '../part/bits.js';
import { icon } from '../part/icon.js';
import { eventRow, hasWords } from '../part/event.js';
import { json } from '../part/json.js';
import { planTasks } from '../part/plan.js';
import { links } from '../part/preview.js';
import { save } from '../part/value.js';

/** Of equal ones in the order of their numbers. */
const dearestFirst = (tasks) =>
  tasks.toSorted(
    (a, b) => b.credits - a.credits || String(a.task).localeCompare(String(b.task), 'en', { numeric: true }),
  );

const LOAD = {
  steps: (id) => all(`/runs/${id}/steps`, { light: true }, 1000),
  events: (id) => all(`/runs/${id}/events`, { limit: 200 }, 1000),
  artifacts: (id) => all(`/runs/${id}/artifacts`, {}, 1000),
  money: async (id) => ({
    ...(await all(`/runs/${id}/ledger`, {}, 1000)),
    purposes: (await get(`/runs/${id}/usage`, { by: 'purpose' })).items,
    tasks: dearestFirst((await get(`/runs/${id}/usage`, { by: 'task' })).items),
  }),
  agents: async (id) => {
    const [list, charged] = await Promise.all([
      all(`/runs/${id}/agents`, {}, 1000),
      get(`/runs/${id}/usage`, { by: ['agent', 'purpose'] }).catch(() => null),
    ]);
    return { ...list, charged: charged?.items ?? null };
  },
  plan: (id) => all(`/runs/${id}/plans`, {}, 100),
};
/** What charges are for: a word, and what it means. */
const PURPOSES = {
  work: ['Work', 'Steps of the tasks, and the turns of agents'],
  planning: ['Planning', 'Turns of the planner'],
  verification: ['Verification', 'Judges that check the outputs of tasks'],
  compaction: ['Compaction', 'Summaries of long conversations of agents'],
};
const MOST_TASKS = 20;
const MOST_EVENTS = 100_000;

/** The tabs of a run beside timeline and graph: each is one list of the API. */
class RunTab extends Part {
  static properties = {
    run: { attribute: false },
    tab: { type: String },
    data: { state: true },
    failure: { state: true },
    version: { state: true },
    text: { state: true },
    open: { state: true },
  };
  #asked = '';
  #reading = '';

  willUpdate() {
    const shown = `${this.run.id} ${this.tab}`;
    const asked = `${shown} ${this.run.version_id}`;
    if (asked === this.#asked) return;
    if (!this.#asked.startsWith(`${shown} `)) this.data = null;
    this.#asked = asked;
    if (this.#reading !== shown) this.#read(shown);
  }

  /** One read of a tab at a time; where the run has changed meanwhile, once more. */
  async #read(shown) {
    this.#reading = shown;
    let asked;
    do {
      asked = this.#asked;
      try {
        const data = await LOAD[this.tab](this.run.id);
        if (this.#reading !== shown) return;
        this.data = data;
        this.failure = null;
      } catch (failure) {
        if (this.#reading === shown) this.failure = failure;
      }
    } while (this.#reading === shown && asked !== this.#asked && this.isConnected);
    if (this.#reading === shown) this.#reading = '';
  }

  #steps(items) {
    const shown = this.open ? items.filter((step) => step.state_type !== 'terminal' || step.state === 'failed') : items;
    return html`<div class="tree-tools">
        <label class="row small"
          ><input
            type="checkbox"
            .checked=${!!this.open}
            @change=${(event) => {
              this.open = event.target.checked;
            }}
          />Only open and failed</label
        ><span class="end small soft num">${count(shown.length)}</span>
      </div>
      <table class="list">
        <thead>
          <tr>
            <th>State</th>
            <th>Step</th>
            <th>Task</th>
            <th>Tool</th>
            <th>Started</th>
            <th class="right">Took</th>
            <th class="right">Credits</th>
          </tr>
        </thead>
        <tbody>
          ${shown.slice(0, 500).map(
            (step) =>
              html`<tr>
                <td>${badge(step.state)}</td>
                <td>
                  ${name(step.name, 100)}${step.error_message ? html`<div class="small i-failed">${step.error_code}: ${name(step.error_message, 200)}</div>` : nothing}${step.state_type !== 'terminal' && step.failures ? html`<div class="small soft">attempt ${step.attempt + (step.next_run_at ? 1 : 0)} of ${step.max_attempts}${step.next_run_at ? html`, next at ${when(step.next_run_at)}` : nothing}</div>` : nothing}
                </td>
                <td>
                  <a href="/ui/runs/${this.run.id}?task=${encodeURIComponent(step.task_key)}"
                    >${name(step.task_key, 60)}</a
                  >
                </td>
                <td class="mono small">${name(step.tool ?? step.kind, 60)}</td>
                <td>${when(step.started_at)}</td>
                <td class="right num">
                  ${step.completed_at && step.started_at ? duration(Date.parse(step.completed_at) - Date.parse(step.started_at)) : ''}
                </td>
                <td class="right num" title=${exact(step.cost)}>${amount(step.cost)}</td>
              </tr>`,
          )}
        </tbody>
      </table>`;
  }

  #events(items) {
    const shown = items.toReversed().filter((event) => hasWords(event, this.text));
    return html`<div class="tree-tools">
        <label class="search"
          >${icon('search', 'small')}<span class="hidden-text">Filter events</span
          ><input
            type="search"
            placeholder="Filter by type, person or payload"
            @input=${(event) => {
              this.text = event.target.value.trim().toLowerCase();
            }}
        /></label>
        <span class="end row wrap"
          ><a class="btn low" href="/ui/events?run=${this.run.id}">Follow</a
          ><button class="btn low" @click=${() => this.#download()}>
            ${icon('download', 'small')}Download all
          </button></span
        >
      </div>
      ${
        shown.length
          ? html`<table class="list events">
              <thead>
                <tr>
                  <th>Time</th>
                  <th>Number</th>
                  <th>Event</th>
                  <th>By</th>
                  <th>Details</th>
                </tr>
              </thead>
              <tbody>
                ${shown.slice(0, 500).map((event) => eventRow(event, html`<span class="num faint">${event.seq}</span>`))}
              </tbody>
            </table>`
          : html`<p class="pad soft">No event is like that.</p>`
      }`;
  }

  /** All events of the run, one JSON document per line. */
  async #download() {
    try {
      const { items } = await all(`/runs/${this.run.id}/events`, { limit: 500 }, MOST_EVENTS);
      save(`${items.map((each) => JSON.stringify(each)).join('\n')}\n`, `${this.run.name}-events.jsonl`);
    } catch (failure) {
      toast(`${failure.message} (${failure.code})`, true);
    }
  }

  #artifacts(items) {
    return html`<table class="list">
      <thead>
        <tr>
          <th>Name</th>
          <th>Type</th>
          <th class="right">Size</th>
          <th>Kept until</th>
          <th><span class="hidden-text">Open</span></th>
        </tr>
      </thead>
      <tbody>
        ${items.map(
          (each) =>
            html`<tr>
              <td>${icon('file', 'small')} ${name(each.name, 200)}</td>
              <td class="mono small">${name(each.content_type, 80)}</td>
              <td class="right num">${bytes(each.size_bytes)}</td>
              <td>${when(each.expires_at)}</td>
              <td class="right">${links(this.run.id, each)}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
  }

  #money(items) {
    const { purposes = [], tasks = [] } = this.data;
    const sums = [
      { what: 'charged', amount: this.run.credits_charged, why: 'What the run has paid, all attempts together' },
      ...besideCharges(this.run),
    ];
    return html`<dl class="facts wide-facts pad" aria-label="Sums">
        ${sums.map(
          ({ what, amount: sum, why }) =>
            html`<dt>${what[0].toUpperCase() + what.slice(1)}</dt>
              <dd>${money(sum)} <span class="small soft">${why}</span></dd>`,
        )}
      </dl>
      ${
        purposes.length
          ? html`<dl class="facts wide-facts pad" aria-label="Charges by purpose">
              ${purposes.map(
                (each) =>
                  html`<dt>${PURPOSES[each.purpose]?.[0] ?? each.purpose}</dt>
                    <dd>
                      ${money(each.credits)} <span class="small soft">${PURPOSES[each.purpose]?.[1] ?? ''}</span>
                    </dd>`,
              )}
            </dl>`
          : nothing
      }${
        tasks.length
          ? html`<section aria-label="Charges by task">
              <table class="list by-task">
                <thead>
                  <tr>
                    <th>Task</th>
                    <th><span class="hidden-text">Part of all</span></th>
                    <th class="right">Credits</th>
                  </tr>
                </thead>
                <tbody>
                  ${tasks.slice(0, MOST_TASKS).map(
                    (each) =>
                      html`<tr>
                        <td class="mono small">${name(each.task ?? 'no task', 100)}</td>
                        <td>
                          ${meter(each.credits / Math.max(1e-9, tasks[0].credits), 'works', `${exact(each.credits)} credits`)}
                        </td>
                        <td class="right num" title=${exact(each.credits)}>${amount(each.credits)}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
              ${tasks.length > MOST_TASKS ? html`<p class="pad small soft">and ${many(tasks.length - MOST_TASKS, 'more task')}</p>` : nothing}
            </section>`
          : nothing
      }
      <table class="list">
        <thead>
          <tr>
            <th>Time</th>
            <th>What</th>
            <th>Tool, model, agent</th>
            <th class="right">Tokens</th>
            <th class="right">Credits</th>
          </tr>
        </thead>
        <tbody>
          ${items.slice(0, 500).map(
            (each) =>
              html`<tr>
                <td class="num">${when(each.created_at)}</td>
                <td>
                  ${each.transaction_type}
                  <span class="faint small">${each.debit_account} → ${each.credit_account}</span>
                </td>
                <td class="mono small">
                  ${name([each.tool, each.model, each.agent].filter(Boolean).join(' · '), 120)}
                </td>
                <td class="right num">${each.tokens ? short(each.tokens) : ''}</td>
                <td class="right num">${exact(each.amount)}</td>
              </tr>`,
          )}
        </tbody>
      </table>`;
  }

  /** Charges of an agent over all attempts: the sum, and what it was for where that is not work alone. */
  #charged(agent) {
    const order = Object.keys(PURPOSES);
    const parts = this.data.charged
      .filter((each) => each.agent === agent)
      .sort((a, b) => order.indexOf(a.purpose) - order.indexOf(b.purpose));
    const sum = parts.reduce((all, each) => all + Number(each.credits), 0);
    return html`${money(sum)}${parts.some((each) => each.purpose !== 'work') ? html`<div class="small soft">${parts.map((each, i) => html`${i ? ' · ' : ''}<span title=${PURPOSES[each.purpose]?.[1] ?? nothing}>${credits(each.credits)} ${PURPOSES[each.purpose]?.[0].toLowerCase() ?? each.purpose}</span>`)}</div>` : nothing}`;
  }

  #agents(items) {
    const { charged } = this.data;
    const last = new Map(items.map((each) => [each.name, each]));
    const others = [...new Set((charged ?? []).map((each) => each.agent))].filter((agent) => !last.has(agent));
    return html`<table class="list">
        <thead>
          <tr>
            <th>State</th>
            <th>Agent</th>
            <th class="right">Tasks</th>
            <th class="right">Attempt</th>
            ${charged ? html`<th class="right">Charged</th>` : nothing}
            <th>Started</th>
            <th>Tasks ended</th>
          </tr>
        </thead>
        <tbody>
          ${items.map(
            (each) =>
              html`<tr>
                <td>${badge(each.state)}</td>
                <td>
                  ${each.name ? name(agentName(each.name), 100) : html`<span class="soft">of the run itself</span>`}
                </td>
                <td class="right num">${each.task_count}</td>
                <td class="right num">${each.attempt_number}</td>
                ${charged ? html`<td class="right">${last.get(each.name) === each ? this.#charged(each.name) : nothing}</td>` : nothing}
                <td>${when(each.started_at)}</td>
                <td>${when(each.task_count ? each.tasks_ended_at : each.completed_at)}</td>
              </tr>`,
          )}
          ${others.map(
            (agent) =>
              html`<tr>
                <td></td>
                <td>${agent ? name(agentName(agent), 100) : html`<span class="soft">without an agent</span>`}</td>
                <td></td>
                <td></td>
                <td class="right">${this.#charged(agent)}</td>
                <td></td>
                <td></td>
              </tr>`,
          )}
        </tbody>
      </table>
      ${charged?.some((each) => each.purpose === 'verification') ? html`<p class="pad small soft">Verification is what judges cost that checked the output of the agent's tasks.</p>` : nothing}`;
  }

  #plan(items) {
    const versions = items.toSorted((a, b) => a.version - b.version);
    const at = versions.findIndex((each) => each.version === (this.version ?? versions[versions.length - 1]?.version));
    const chosen = versions[at];
    if (!chosen) return empty('branch', 'No plan yet', 'The planner has not answered.');
    return html`<div class="pad stack gap4">
      <div class="views" role="group" aria-label="Versions of the plan">
        ${versions.map(
          (each) =>
            html`<button
              class="view"
              aria-pressed=${each === chosen}
              @click=${() => {
                this.version = each.version;
              }}
            >
              v${each.version}${each.in_force ? ' · in force' : ''}
            </button>`,
        )}
      </div>
      ${at > 0 ? html`<p class="soft">What is different from version ${versions[at - 1].version}${versions[at - 1].replaced_at ? html`, which was replaced ${when(versions[at - 1].replaced_at)}` : nothing}.</p>` : nothing}
      ${planTasks(planDiff(versions[at - 1]?.plan, chosen.plan))}${json('The whole plan', chosen.plan)}
    </div>`;
  }

  render() {
    if (this.failure) return problem(this.failure);
    if (!this.data) return html`<div class="card">${skeleton()}</div>`;
    const { items, complete } = this.data;
    if (!items.length)
      return html`<div class="card">
        ${empty('info', `No ${this.tab === 'money' ? 'charges' : this.tab}`, 'This run has none so far.')}
      </div>`;
    const view = {
      steps: this.#steps,
      events: this.#events,
      artifacts: this.#artifacts,
      money: this.#money,
      agents: this.#agents,
      plan: this.#plan,
    }[this.tab];
    return html`<div class="card scroll-x">
      ${view.call(this, items)}${complete && items.length <= 500 ? nothing : html`<p class="pad soft">Only a part is shown: ${Math.min(500, items.length)} rows${complete ? ` of ${items.length}` : ''}. The API and the command line have all.</p>`}
    </div>`;
  }
}
customElements.define('k-run-tab', RunTab);
