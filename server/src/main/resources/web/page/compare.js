import { html, nothing } from 'lit';
import { all, get } from '../api/client.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { runs } from '../store/runs.js';
import { pairs } from '../draw/compare.js';
import { planDiff } from '../draw/diff.js';
import { isOpen } from '../draw/state.js';
import { amount, count, credits, duration, many, short, shortId } from '../draw/format.js';
import { Part } from '../part/base.js';
import { badge, empty, money, name, problem, skeleton, when } from '../part/bits.js';
import { icon } from '../part/icon.js';
import { json } from '../part/json.js';
import { planTasks } from '../part/plan.js';
import { shown } from '../part/subject.js';

const MOST_TASKS = 2_000;
/** Tasks whose outputs differ. */
const MOST_OUTPUTS = 50;
const ORDERS = { plan: 'As planned', time: 'Slower first', cost: 'Dearer first' };

function delta(before, after, text, bad = 1) {
  if (before === null || after === null || before === undefined || after === undefined) return nothing;
  const by = after - before;
  if (Math.abs(by) < 1e-9) return html`<span class="faint">=</span>`;
  return html`<span class=${by * bad > 0 ? 'i-failed' : 'i-done'}>${by > 0 ? '+' : '−'}${text(Math.abs(by))}</span>`;
}

/** Two runs side by side: outcome, time, cost, tasks and plan. */
class Compare extends Part {
  static properties = {
    runs: { state: true },
    rows: { state: true },
    failure: { state: true },
    complete: { state: true },
  };

  constructor() {
    super();
    this.watch(prefs);
    this.watch(runs);
    this.watch(route, 'change', () => this.#load());
  }

  connectedCallback() {
    super.connectedCallback();
    this.#load();
  }

  async #load() {
    if (route.path[0] !== 'compare') return;
    const ids = [route.get('a'), route.get('b')];
    if (!ids[0] || !ids[1] || this.asked === ids.join()) return;
    this.asked = ids.join();
    this.runs = null;
    try {
      const found = await Promise.all(
        ids.map(async (id) => {
          const [run, tasks] = await Promise.all([
            get(`/runs/${id}`),
            all(`/runs/${id}/tasks`, { limit: 500 }, MOST_TASKS),
          ]);
          return { run, tasks };
        }),
      );
      this.complete = found.every((each) => each.tasks.complete);
      this.rows = pairs(found[0].tasks.items, found[1].tasks.items);
      this.runs = found.map((each) => each.run);
      this.failure = null;
    } catch (failure) {
      this.failure = failure;
      this.asked = null;
    }
  }

  /** @param {any[]} runs */
  #figures([a, b]) {
    const rows = [
      ['State', ...[a, b].map((run) => badge(run.state, isOpen(run) ? runs.reason(run) : null)), nothing],
      ['Took', duration(a.duration_ms), duration(b.duration_ms), delta(a.duration_ms, b.duration_ms, duration)],
      [
        'Charged',
        money(a.credits_charged),
        money(b.credits_charged),
        delta(Number(a.credits_charged), Number(b.credits_charged), credits),
      ],
      [
        'Tokens',
        short(a.total_tokens),
        short(b.total_tokens),
        delta(Number(a.total_tokens), Number(b.total_tokens), short),
      ],
      [
        'Tasks done',
        `${count(a.tasks_completed)} of ${count(a.task_count)}`,
        `${count(b.tasks_completed)} of ${count(b.task_count)}`,
        delta(a.tasks_completed, b.tasks_completed, count, -1),
      ],
      ['Tasks failed', count(a.tasks_failed), count(b.tasks_failed), delta(a.tasks_failed, b.tasks_failed, count)],
      ['Attempt', a.attempt_number, b.attempt_number, nothing],
      ['Plan', `v${a.plan_version}`, `v${b.plan_version}`, nothing],
      ['Created', when(a.created_at), when(b.created_at), nothing],
      ...(a.error_code || b.error_code
        ? [['Error', html`<code>${a.error_code ?? '–'}</code>`, html`<code>${b.error_code ?? '–'}</code>`, nothing]]
        : []),
    ];
    return html`<div class="card scroll-x" tabindex="0" role="region" aria-label="Figures">
      <table class="list compare">
        <thead>
          <tr>
            <th><span class="hidden-text">What</span></th>
            ${[a, b].map((run, i) => html`<th><span class="tag">${'AB'[i]}</span> <a href="/ui/runs/${run.id}">${name(run.name, 80)}</a> <span class="faint mono">${shortId(run.id)}</span></th>`)}
            <th>Difference</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ([title, one, other, by]) =>
              html`<tr>
                <th scope="row">${title}</th>
                <td class="num">${one}</td>
                <td class="num">${other}</td>
                <td class="num">${by}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
  }

  #sorted() {
    const order = route.get('order');
    const only = route.get('only') ? this.rows.filter((row) => row.differs) : this.rows;
    const by = {
      time: (row) => (row.b?.ms ?? 0) - (row.a?.ms ?? 0),
      cost: (row) => (row.b?.cost ?? 0) - (row.a?.cost ?? 0),
    }[order];
    return by ? only.toSorted((x, y) => by(y) - by(x)) : only;
  }

  #tasks() {
    const rows = this.#sorted();
    const cell = (row) =>
      row
        ? html`${badge(row.state)}${row.items > 1 ? html` <span class="soft small">×${count(row.items)}</span>` : nothing}`
        : html`<span class="faint">not there</span>`;
    return html`<section class="card">
      <header>
        <h2>Tasks</h2>
        <span class="count">${count(rows.length)}</span
        ><span class="end row wrap"
          ><label class="row small"
            ><input
              type="checkbox"
              .checked=${!!route.get('only')}
              @change=${(event) => route.set({ only: event.target.checked ? 'different' : null }, true)}
            />Only other outcomes</label
          >
          <label
            ><span class="hidden-text">Order</span
            ><select
              class="input"
              @change=${(event) => route.set({ order: event.target.value === 'plan' ? null : event.target.value }, true)}
            >
              ${Object.entries(ORDERS).map(([id, title]) => html`<option value=${id} ?selected=${route.get('order') === id}>${title}</option>`)}
            </select></label
          ></span
        >
      </header>
      <div class="scroll-x" tabindex="0" role="region" aria-label="Tasks">
        <table class="list">
          <thead>
            <tr>
              <th>Task</th>
              <th>A</th>
              <th>B</th>
              <th class="right">A took</th>
              <th class="right">B took</th>
              <th class="right">Difference</th>
              <th class="right">A, credits</th>
              <th class="right">B, credits</th>
              <th class="right">Difference, credits</th>
            </tr>
          </thead>
          <tbody>
            ${rows.slice(0, 500).map(
              (row) =>
                html`<tr class=${row.differs ? 'differs' : ''}>
                  <td>${name(row.title ?? row.key, 120)} <code class="faint small">${name(row.key, 60)}</code></td>
                  <td>${cell(row.a)}</td>
                  <td>${cell(row.b)}</td>
                  <td class="right num">${duration(row.a?.ms)}</td>
                  <td class="right num">${duration(row.b?.ms)}</td>
                  <td class="right num">${delta(row.a?.ms, row.b?.ms, duration)}</td>
                  <td class="right num">${row.a ? amount(row.a.cost) : ''}</td>
                  <td class="right num">${row.b ? amount(row.b.cost) : ''}</td>
                  <td class="right num">${delta(row.a?.cost, row.b?.cost, amount)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${rows.length > 500 || !this.complete ? html`<p class="pad soft small">Only a part of the tasks is compared here.</p>` : nothing}
    </section>`;
  }

  /**
   * What came of both, side by side: the outputs of the runs, and those of tasks that differ.
   * @param {any[]} runs
   */
  #outputs([a, b]) {
    const of = (title, run) =>
      html`<div class="stack">
        <h3 class="small soft">${title}</h3>
        ${run.output === null || run.output === undefined ? html`<p class="soft">${run.result_summary ? name(run.result_summary, 4000) : 'It has no output.'}</p>` : html`<div class="value">${shown(title, run.output)}</div>`}
      </div>`;
    const rows = this.rows
      .filter(
        (row) =>
          row.a &&
          row.b &&
          row.a.items === 1 &&
          row.b.items === 1 &&
          JSON.stringify(row.a.output ?? null) !== JSON.stringify(row.b.output ?? null),
      )
      .slice(0, MOST_OUTPUTS);
    const side = (title, output) =>
      output === null || output === undefined
        ? html`<p class="soft">no output</p>`
        : html`<div class="value">${shown(title, output)}</div>`;
    return html`<section class="card">
      <header>
        <h2>Outputs</h2>
        <span class="count"
          >${JSON.stringify(a.output ?? null) === JSON.stringify(b.output ?? null) ? 'of the runs: the same' : 'of the runs: different'}</span
        >
      </header>
      <div class="pad stack gap4">
        <div class="sides">${of('A', a)}${of('B', b)}</div>
        ${rows.map(
          (row) =>
            html`<details class="json">
              <summary>
                ${name(row.title ?? row.key, 120)} <code class="faint small">${name(row.key, 60)}</code>
              </summary>
              <div class="sides">${side(`A, ${row.key}`, row.a.output)}${side(`B, ${row.key}`, row.b.output)}</div>
            </details>`,
        )}
      </div>
    </section>`;
  }

  /** @param {any[]} runs */
  #plans([a, b]) {
    const diff = planDiff(a.plan, b.plan).filter((row) => row.kind !== 'same');
    return html`<section class="card">
      <header>
        <h2>Plan</h2>
        <span class="count"
          >${diff.length ? `${many(diff.length, 'task')} ${diff.length === 1 ? 'differs' : 'differ'}` : 'the same'}</span
        >
      </header>
      <div class="pad stack gap4">
        ${diff.length ? planTasks(diff) : html`<p class="soft">Both runs have the same tasks with the same definitions.</p>`}
        ${JSON.stringify(a.inputs ?? {}) === JSON.stringify(b.inputs ?? {}) ? nothing : html`<div class="halves">${json('Inputs of A', a.inputs ?? {}, true)}${json('Inputs of B', b.inputs ?? {}, true)}</div>`}
      </div>
    </section>`;
  }

  render() {
    const [a, b] = [route.get('a'), route.get('b')];
    return html`<div class="head">
        <h1>Compare</h1>
        ${a && b ? html`<button class="btn low end" @click=${() => route.set({ a: b, b: a }, true)}>${icon('retry', 'small')}Swap</button>` : nothing}
      </div>
      ${
        !a || !b
          ? html`<div class="card">
              ${empty('list', 'Choose two runs', 'Select two rows in the list of runs, then "Compare".')}
            </div>`
          : this.failure
            ? problem(this.failure, () => this.#load())
            : this.runs
              ? html`${this.#figures(this.runs)}${this.#outputs(this.runs)}${this.#tasks()}${this.#plans(this.runs)}`
              : html`<div class="card">${skeleton()}</div>`
      }`;
  }
}
customElements.define('k-compare', Compare);
