import { html, nothing } from 'lit';
import { all, get, now, post } from '../api/client.js';
import { passing } from '../live/messages.js';
import { me } from '../store/me.js';
import { route } from '../store/route.js';
import { runs } from '../store/runs.js';
import { count, duration, short, within } from '../draw/format.js';
import { family, isHeld, isOpen, reasonFamily, words } from '../draw/state.js';
import { Part } from '../part/base.js';
import {
  badge,
  fromRun,
  mark,
  money,
  name,
  others,
  problem,
  sentence,
  skeleton,
  toast,
  until,
  when,
} from '../part/bits.js';
import { ask } from '../part/dialog.js';
import { icon } from '../part/icon.js';
import { json } from '../part/json.js';
import { value } from '../part/value.js';

const MOST_STEPS = 60;
const MOST_LINKS = 30;
const MOST_LINES = 500;
/** Between two reads of a task that changes, and of the states of the tasks around it. */
const CHANGE_MS = 500;
const REACH_MS = 5_000;

/** One task: why it is not further, what it waits for, what waits for it, its steps and what one can do. */
class Drawer extends Part {
  static properties = {
    row: { attribute: false },
    run: { type: String },
    task: { state: true },
    steps: { state: true },
    reach: { state: true },
    why: { state: true },
    logs: { state: true },
    failure: { state: true },
  };
  #asked = null;
  #texts = new Map();
  #logs = null;
  #reached = 0;

  willUpdate() {
    if (this.#asked === this.row) return;
    const other = this.#asked?.id !== this.row.id;
    this.#asked = this.row;
    if (other) {
      this.task = null;
      this.steps = null;
      this.reach = null;
      this.why = null;
      this.logs = null;
      this.failure = null;
      this.#texts.clear();
      this.#logs?.abort();
    }
    this.#load(this.row);
  }

  /** Reads again if the row changed meanwhile, after a pause where it is the same task. */
  async #load(row) {
    if (this.busy) return;
    this.busy = true;
    const begun = performance.now();
    const known = this.reach && begun - this.#reached < REACH_MS ? this.reach : null;
    try {
      const [task, steps, reach, why] = await Promise.all([
        get(`/tasks/${row.id}`, { light: true }),
        all(`/tasks/${row.id}/steps`, { light: true, history: true, limit: 200 }, 200),
        known ?? get(`/tasks/${row.id}/dependencies`),
        isOpen(row) || row.flow ? get(`/tasks/${row.id}/explain`).then((explained) => explained.reasons) : null,
      ]);
      if (!known) this.#reached = begun;
      if (this.row.id === row.id) Object.assign(this, { task, steps: steps.items, reach, why, failure: null });
    } catch (failure) {
      this.failure = failure;
    }
    if (this.row !== row && this.row.id === row.id)
      await new Promise((done) => {
        setTimeout(done, Math.max(CHANGE_MS, (performance.now() - begun) * 3));
      });
    this.busy = false;
    if (this.isConnected && this.row !== row) this.#load(this.row);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#logs?.abort();
  }

  firstUpdated() {
    this.querySelector('h2')?.focus({ preventScroll: true });
  }

  async #act(action, question) {
    const values = await ask(question);
    if (!values) return;
    try {
      await post(`/tasks/${this.row.id}/${action}`, values.reason ? { reason: values.reason } : {});
      toast(`${question.yes}: done`);
      this.dispatchEvent(new Event('acted', { bubbles: true }));
    } catch (failure) {
      toast(`${failure.message} (${failure.code})`, true);
    }
  }

  /** Lines so far, and those that come while the step is executed. */
  async #showLogs(step) {
    this.#logs?.abort();
    const abort = new AbortController();
    this.#logs = abort;
    this.logs = { [step.id]: [] };
    const add = (lines) => {
      if (this.logs?.[step.id] && lines.length)
        this.logs = { [step.id]: [...this.logs[step.id], ...lines].slice(-MOST_LINES) };
    };
    if (!isOpen(step)) {
      add((await all(`/steps/${step.id}/logs`, {}, MOST_LINES).catch(() => ({ items: [] }))).items);
      return;
    }
    try {
      await passing(`/steps/${step.id}/logs/stream`, abort.signal, (event) => {
        if (event.type === 'log') add([event]);
      });
    } catch {
      /* what came is shown */
    }
  }

  #links(title, reached) {
    if (!reached?.items.length) return nothing;
    return html`<dt>${title}</dt>
      <dd class="row wrap">
        ${reached.items.slice(0, MOST_LINKS).map((task) => html`<button class="chip" title=${`${task.key}: ${task.state}`} @click=${() => route.set({ task: task.key })}>${mark(family(task.state))}<span class="cut">${name(task.key, 40)}</span></button>`)}
        ${reached.count > MOST_LINKS ? html`<span class="soft">and ${count(reached.count - MOST_LINKS)} more</span>` : nothing}
      </dd>`;
  }

  #value(title, of, member, path, pick) {
    return value(title, of, member, { path, pick, name: `${this.row.key}-${member}` }, this.#texts, () =>
      this.requestUpdate(),
    );
  }

  #step(step) {
    return html`<li class="step ${step.superseded ? 'old' : ''}">
      <div class="row wrap">
        ${badge(step.state)}<strong class="cut">${name(step.name, 80)}</strong
        ><span class="mono small soft cut">${name(step.tool ?? step.kind, 60)}</span
        >${step.called_by ? html`<span class="small soft cut">called by ${name(this.steps.find((each) => each.id === step.called_by)?.name ?? 'a program', 60)}</span>` : nothing}
        <span class="end small soft num"
          >${step.superseded ? `attempt ${step.task_attempt} · ` : ''}${step.started_at ? duration((step.completed_at ? Date.parse(step.completed_at) : now()) - Date.parse(step.started_at)) : ''}${step.failures ? ` · ${step.failures} failed` : ''}</span
        >
      </div>
      ${
        step.error_message
          ? html`<div class="note bad small">
              <span><code>${step.error_code}</code> ${name(step.error_message, 2000)}</span>
            </div>`
          : nothing
      }
      ${step.progress_message || step.progress !== null ? html`<p class="small soft">${step.progress !== null ? `${Math.round(step.progress * 100)} % ` : ''}${name(step.progress_message, 300)}</p>` : nothing}
      ${['failed', 'awaiting_retry'].includes(step.state) && step.kind === 'tool' && step.input_bytes === null ? html`<p class="soft small">No resolved input was recorded for this attempt.</p>` : nothing}
      ${step.result_from ? html`<p class="small">${fromRun(step.result_from.run_id)}, at no cost</p>` : nothing}${this.#value('Input', step, 'input', `/steps/${step.id}`, (each) => each.input)}${this.#value('Output', step, 'output', `/steps/${step.id}`, (each) => each.output)}
      <div class="row"><button class="btn bare low" @click=${() => this.#showLogs(step)}>Logs</button></div>
      ${this.logs?.[step.id] ? json('Logs', this.logs[step.id].map((line) => line.message).join('\n') || 'No lines', true) : nothing}
    </li>`;
  }

  #buttons() {
    const { row } = this;
    const lacks = me.lacks('runs:write');
    const button = (action, title, question, symbol) =>
      html`<button
        class="btn low ${question.danger && action === 'cancel' ? 'danger' : ''}"
        ?disabled=${lacks}
        title=${lacks ?? ''}
        @click=${() => this.#act(action, question)}
      >
        ${symbol ? icon(symbol, 'small') : nothing}${title}
      </button>`;
    const turns = this.steps?.some((step) => step.kind === 'turn');
    const asks = this.why?.some((reason) => reasonFamily(reason.code) === 'person');
    return html`<div class="row wrap">
      ${asks ? html`<a class="btn low first" href="/ui/inbox?run=${this.run}">${icon('inbox', 'small')}Answer</a>` : nothing}${turns ? html`<a class="btn low" href="/ui/runs/${this.run}/tasks/${row.id}">${icon('list', 'small')}Transcript</a>` : nothing}
      ${
        isOpen(row)
          ? html`${button('skip', 'Skip…', { title: `Skip ${row.key}?`, text: 'Tasks behind it start as if it had been skipped by the plan.', yes: 'Skip', danger: true })}
            ${button('cancel', 'Cancel…', { title: `Cancel ${row.key}?`, text: 'Its step is stopped; the failure mode of its agent decides about the rest.', yes: 'Cancel the task', danger: true })}`
          : nothing
      }
      ${row.state === 'failed' || row.state === 'awaiting_retry' ? button('retry', 'Retry…', { title: `Retry ${row.key} now?`, yes: 'Retry' }, 'retry') : nothing}
    </div>`;
  }

  #details() {
    const { task, row } = this;
    if (!task) return this.failure ? nothing : skeleton(5);
    const again = task.started_at && task.queued_at > task.started_at;
    return html`<dl class="facts">
        ${this.#links('Waits for', this.reach?.waits_for)}${this.#links('Blocks', this.reach?.blocks)}
        ${
          again
            ? nothing
            : html`<dt>Queued</dt>
                <dd>${when(task.queued_at)}</dd>`
        }
        <dt>Started</dt>
        <dd>${when(task.started_at)}</dd>
        ${
          again
            ? html`<dt>Queued again</dt>
                <dd>${when(task.queued_at)}</dd>`
            : nothing
        }
        <dt>Ended</dt>
        <dd>${when(task.completed_at ?? task.cancelled_at)}</dd>
        <dt>Took</dt>
        <dd class="num">
          ${duration(task.duration_ms ?? (task.started_at ? now() - Date.parse(task.started_at) : null))}
        </dd>
        <dt>Cost</dt>
        <dd class="num">
          ${money(task.cost)}${task.tokens_used ? html` <span class="soft">· ${short(task.tokens_used)} tokens</span>` : nothing}
        </dd>
        ${
          task.agent_name
            ? html`<dt>Agent</dt>
                <dd>${name(task.agent_name)}</dd>`
            : nothing
        }
        ${
          task.flow?.within.length
            ? html`<dt>Within</dt>
                <dd>${name(within(task.flow))}</dd>`
            : nothing
        }
        ${
          task.round
            ? html`<dt>Round</dt>
                <dd class="num">${count(task.round)}${task.max_rounds ? ` of ${count(task.max_rounds)}` : ''}</dd>`
            : nothing
        }
        ${
          task.trigger_rule !== 'all_success'
            ? html`<dt>Starts on</dt>
                <dd><code>${task.trigger_rule}</code></dd>`
            : nothing
        }
      </dl>
      ${this.#value('Item', task, 'item', `/tasks/${row.id}`, (each) => each.item)}${this.#value('Output', task, 'output', `/tasks/${row.id}/output`)}
      ${task.max_rounds && !this.steps.length ? nothing : html`<h2>Steps <span class="soft">${this.steps.length}</span></h2>`}
      <ol class="stack">
        ${this.steps.slice(-MOST_STEPS).map((step) => this.#step(step))}
      </ol>
      ${this.steps.length > MOST_STEPS ? html`<p class="soft small">The latest ${MOST_STEPS} steps.</p>` : nothing}`;
  }

  render() {
    const { row, task } = this;
    return html`<aside class="drawer card" aria-label="Task ${row.key}">
      <header>
        <h2 tabindex="-1" class="cut grow">${name(row.title || row.key, 200)}</h2>
        <button class="btn bare only" title="Close" aria-label="Close" @click=${() => route.set({ task: null })}>
          ${icon('cross')}
        </button>
      </header>
      <div class="pad stack gap4">
        <div class="row wrap">
          ${isHeld(runs.get(this.run), row) ? html`${badge('paused')}<span class="soft small">its own state is ${words(row.state)}</span>` : badge(row.state, this.why?.[0])}<code
            class="cut"
            >${name(row.key, 80)}</code
          >${row.attempt_number > 1 ? html`<span class="soft small">attempt ${row.attempt_number}</span>` : nothing}
        </div>
        ${
          this.why?.length
            ? html`<ul class="why stack">
                ${this.why.map((reason) => html`<li class="row">${mark(reasonFamily(reason.code), reason.code)}<span>${sentence(reason.text, 1000)}${until(reason)} ${others(reason)}</span></li>`)}
              </ul>`
            : nothing
        }
        ${
          task?.error_message
            ? html`<div class="note bad">
                ${icon('cross')}<span><code>${task.error_code}</code> ${name(task.error_message, 2000)}</span>
              </div>`
            : nothing
        }
        ${this.#buttons()}${this.#details()}${this.failure ? problem(this.failure, () => this.#load(this.row)) : nothing}
      </div>
    </aside>`;
  }
}
customElements.define('k-drawer', Drawer);
