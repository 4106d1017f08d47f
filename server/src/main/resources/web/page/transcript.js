import { html, nothing } from 'lit';
import { all, get, now, post } from '../api/client.js';
import { passing } from '../live/messages.js';
import { live } from '../live/stream.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { count, duration, label, many, short } from '../draw/format.js';
import { isOpen } from '../draw/state.js';
import { Part } from '../part/base.js';
import { badge, copy, empty, mark, money, name, problem, skeleton, toast, when } from '../part/bits.js';
import { ask } from '../part/dialog.js';
import { icon } from '../part/icon.js';
import { json } from '../part/json.js';
import { prompt, request } from '../part/prompt.js';

const MOST = 2000;
const SHOWN = 400;

const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const failed = (entry) => entry.error_code || entry.state === 'skipped' || entry.again;

/** What an agent saw, called and said, in all attempts of its task, with tokens, cost and the text that arrives now. */
class Transcript extends Part {
  static properties = {
    run: { type: String },
    task: { type: String },
    row: { state: true },
    attempts: { state: true },
    failure: { state: true },
    writing: { state: true },
    prompts: { state: true },
    tools: { state: true },
    artifacts: { state: true },
  };
  #asked = '';
  #asking = new Set();
  #abort = null;

  constructor() {
    super();
    for (const store of [route, prefs, me]) this.watch(store);
    this.watch(live, 'event', (event) => {
      if (event.detail.run_id === this.run) this.#soon();
    });
    this.watch(live, 'resume', () => this.#load());
    this.watch(document, 'visibilitychange', () => {
      if (document.hidden) this.#silence();
      else this.#soon();
    });
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.coming);
    this.#abort?.abort();
    this.#asked = '';
  }

  willUpdate() {
    if (this.#asked === this.task) return;
    this.#asked = this.task;
    this.row = null;
    this.attempts = null;
    this.prompts = new Map();
    this.#asking.clear();
    this.#silence();
    this.#load();
  }

  /** Gives up the stream of the turn's text, so that another tab may have it. */
  #silence() {
    this.#abort?.abort();
    this.writing = null;
  }

  #soon() {
    this.coming ??= setTimeout(() => {
      this.coming = null;
      if (!document.hidden) this.#load();
    }, 400);
  }

  async #load() {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    const id = this.task;
    try {
      const row = await get(`/tasks/${id}`, { light: true });
      if (isOpen(row)) live.follow(me.value?.workspace.id ?? null, () => this.#soon());
      const { items, complete } = await all(`/tasks/${id}/transcript`, { history: true, limit: 500 }, MOST);
      if (id !== this.task) return;
      this.row = row;
      this.attempts = [
        ...Map.groupBy(
          items,
          (entry) => entry.task_attempt ?? items.find((each) => each.task_attempt)?.task_attempt ?? 1,
        ),
      ].map(([number, each]) => ({ number, items: each }));
      this.complete = complete;
      this.failure = null;
      document.title = `${label(row.title || row.key, 60)} · transcript · Keelson`;
      this.#prompts();
      this.#follow(items.findLast((entry) => entry.kind === 'turn' && entry.state === 'running'));
    } catch (failure) {
      this.failure = failure;
    } finally {
      this.busy = false;
      if (this.again) {
        this.again = false;
        this.#soon();
      }
    }
  }

  /** What the first turn of each attempt was given, once; the tools and the kept requests of the run with it. */
  async #prompts() {
    this.tools ??= (await all('/tools', {}, 2000).catch(() => ({ items: [] }))).items;
    this.artifacts = (await all(`/runs/${this.run}/artifacts`, {}, 1000).catch(() => ({ items: [] }))).items;
    const { task } = this;
    for (const { items } of this.attempts) {
      const first = items.find((entry) => entry.kind === 'turn');
      if (!first || this.#asking.has(first.step_id)) continue;
      this.#asking.add(first.step_id);
      const step = await get(`/steps/${first.step_id}`).catch(() => null);
      if (task === this.task && step?.input) this.prompts = new Map([...this.prompts, [first.step_id, step.input]]);
    }
  }

  /** The text of the turn that is being taken. An execution that replaces another begins the text again. */
  async #follow(turn) {
    if (turn?.step_id === this.writing?.step) return;
    this.#abort?.abort();
    this.writing = turn ? { step: turn.step_id, text: '', superseded: 0 } : null;
    if (!turn) return;
    const abort = new AbortController();
    this.#abort = abort;
    try {
      await passing(`/steps/${turn.step_id}/stream`, abort.signal, (event) => this.#take(turn.step_id, event));
    } catch {
      /* the rows say what came of it */
    }
  }

  #take(step, event) {
    if (this.writing?.step !== step) return;
    if (event.type === 'text') this.writing = { ...this.writing, text: this.writing.text + event.text };
    else if (event.type === 'superseded')
      this.writing = { ...this.writing, text: '', superseded: this.writing.superseded + 1 };
    else this.#soon();
  }

  async #fork(entry) {
    const values = await ask({
      title: `Fork from turn ${entry.turn}?`,
      text: 'A new run copies the turns before it, and takes this one again.',
      yes: 'Fork',
      fields: [
        { name: 'model', label: 'Another model', hint: 'Empty: the same.' },
        { name: 'name', label: 'Name of the new run' },
      ],
    });
    if (!values) return;
    try {
      const made = await post(`/runs/${this.run}/fork`, {
        task: this.row.key,
        turn: entry.turn,
        ...(values.name ? { name: values.name } : {}),
        ...(values.model ? { overrides: { model: values.model } } : {}),
      });
      route.go(`/ui/runs/${made.id}`);
    } catch (failure) {
      toast(`${failure.message} (${failure.code})`, true);
    }
  }

  async #whole(entry) {
    const step = await get(`/steps/${entry.step_id}`).catch((failure) => {
      toast(failure.message, true);
    });
    if (!step) return;
    for (const member of entry.omitted) entry[member] = step[member];
    entry.omitted = [];
    this.requestUpdate();
  }

  #figures(entry) {
    const usage = entry.usage;
    const took = entry.started_at
      ? (entry.completed_at ? Date.parse(entry.completed_at) : now()) - Date.parse(entry.started_at)
      : null;
    return html`<span class="end row small soft num turn-figures"
      >${took === null ? nothing : html`<span title="Took">${duration(took)}</span>`}
      ${usage ? html`<span title="Tokens of the input${usage.cache_read ? `, ${count(usage.cache_read)} of them from the cache` : ''}">in ${short((usage.input ?? 0) + (usage.cache_write ?? 0) + (usage.cache_read ?? 0))}</span><span title="Tokens of the output">out ${short(usage.output)}</span>` : entry.tokens ? html`<span>${short(entry.tokens)} tokens</span>` : nothing}
      ${entry.cost ? money(entry.cost) : nothing}</span
    >`;
  }

  #trouble(entry) {
    const refused = entry.error_code ?? entry.again?.code;
    return refused
      ? html`<div class="note bad small">
          ${icon('cross', 'small')}<span
            ><code>${refused}</code> ${name(entry.error_message ?? entry.again?.message ?? '', 2000)}</span
          >
        </div>`
      : nothing;
  }

  #more(entry) {
    return entry.omitted?.length
      ? html`<button class="btn low" @click=${() => this.#whole(entry)}>Load ${entry.omitted.join(' and ')}</button>`
      : nothing;
  }

  #turn(entry, last) {
    const writes = this.writing?.step === entry.step_id ? this.writing : null;
    const said = entry.text ?? (entry.output === null || entry.output === undefined ? null : entry.output);
    const long = typeof said === 'string' && !said.startsWith('{');
    const may = !isOpen(this.row) && last && !me.lacks('runs:write');
    return html`<li class="turn ${failed(entry) ? 'turn-bad' : ''}">
      <div class="row wrap">
        <span class="turn-number num">${entry.turn}</span
        >${entry.state === 'completed' ? nothing : badge(entry.state)}<strong
          >${entry.model ? name(entry.model_answered ?? entry.model, 60) : 'turn'}</strong
        >
        ${entry.copied ? html`<span class="tag small" title="Taken over from the run that this one is a fork of">copied</span>` : nothing}${entry.attempt > 1 ? html`<span class="small soft">try ${entry.attempt}</span>` : nothing}${this.#figures(entry)}
        ${may ? html`<button class="btn low" title="A new run takes this turn again" @click=${() => this.#fork(entry)}>${icon('branch', 'small')}Fork from turn ${entry.turn}…</button>` : nothing}
      </div>
      ${said === null ? nothing : long || entry.text ? html`<div class="said">${name(said, 20_000)}</div>` : json('Output', said, true)}
      ${writes ? html`<div class="said writing" aria-live="off">${writes.superseded ? html`<span class="small soft">A new execution has begun; the text before it is void.</span> ` : nothing}${label(writes.text.slice(-20_000), 20_000)}<span class="caret"></span></div>` : nothing}
      ${this.#trouble(entry)}${this.#more(entry)}${request(this.run, entry.step_id, this.artifacts ?? [])}
    </li>`;
  }

  #call(entry) {
    const done = entry.state === 'completed';
    const short_ = entry.input === null || entry.input === undefined ? '' : text(entry.input);
    return html`<li class="call ${failed(entry) ? 'turn-bad' : ''}">
      <details open>
        <summary class="row">
          ${mark(done ? 'done' : entry.state === 'skipped' ? 'ended' : entry.error_code ? 'failed' : 'works', entry.state)}
          <strong class="mono small">${name(entry.tool, 80)}</strong
          >${entry.called_by ? html`<span class="small soft">called by ${name(this.#caller(entry), 80)}</span>` : nothing}${entry.kind === 'verify' ? html`<span class="tag small">verifier</span>` : nothing}<code
            class="cut soft grow"
            >${entry.kind === 'verify' ? (entry.output?.verdict ?? '') : label(short_, SHOWN)}</code
          >${entry.error_code ? html`<code class="small i-failed">${entry.error_code}</code>` : nothing}${this.#figures(entry)}
        </summary>
        <div class="stack call-body">
          <div class="${entry.kind === 'verify' ? 'stack' : 'call-values'}">
            ${json('Input', entry.input, entry.kind !== 'verify')}${json('Result', entry.output, true)}
          </div>
          ${this.#trouble(entry)}${this.#more(entry)}
        </div>
      </details>
    </li>`;
  }

  /** The tool of the step whose program has made the call. */
  #caller(entry) {
    const items = this.attempts.flatMap((attempt) => attempt.items);
    return items.find((each) => each.step_id === entry.called_by && each.kind === 'tool')?.tool ?? 'a program';
  }

  /** A request of a step's program to a model. Executions after the one that has sent it get the recorded answer. */
  #request(entry) {
    const { differs } = entry;
    return html`<li class="call ${failed(entry) ? 'turn-bad' : ''}">
      <div class="row wrap">
        ${mark(entry.state === 'completed' ? 'done' : entry.error_code ? 'failed' : 'works', entry.state)}
        <span class="small">request to</span><strong>${name(entry.model_answered ?? entry.model, 60)}</strong>
        ${entry.lease_epoch > 1 ? html`<span class="small soft" title="The execution that has paid for the answer; later ones replay it">execution ${entry.lease_epoch}</span>` : nothing}${this.#figures(entry)}
      </div>
      ${entry.text ? html`<div class="said">${name(entry.text, 20_000)}</div>` : nothing}
      ${(entry.calls ?? []).map((call) => html`<div class="row"><strong class="mono small">${name(call.name ?? '', 80)}</strong><code class="cut soft grow">${label(text(call.input ?? {}), SHOWN)}</code></div>`)}
      ${differs ? html`<p class="small soft call-body">Not recorded: message ${differs.message} (${name(differs.role, 20)}) has <code>${name(differs.sent, 200)}</code> instead of <code>${name(differs.recorded, 200)}</code></p>` : nothing}
      ${this.#trouble(entry)}
    </li>`;
  }

  /** Calls that a turn asked for and that were refused before they became steps. */
  #refused(entry) {
    return (entry.calls ?? [])
      .filter((call) => call.refused)
      .map(
        (call) =>
          html`<li class="call turn-bad">
            <div class="row">
              ${mark('ended', 'skipped')}<strong class="mono small">${name(call.name, 80)}</strong
              ><code class="cut soft grow">${label(text(call.input ?? {}), SHOWN)}</code>
              <span class="small">skipped <code class="i-failed">${call.refused.code}</code></span>
            </div>
            <p class="small soft call-body">${name(call.refused.message, 600)}</p>
          </li>`,
      );
  }

  #attempt(attempt, last) {
    const only = route.get('only') === 'errors';
    const items = only
      ? attempt.items.filter((entry) => failed(entry) || (entry.calls ?? []).some((call) => call.refused))
      : attempt.items;
    const verdict = attempt.items.findLast((entry) => entry.kind === 'verify');
    const first = this.prompts.get(attempt.items.find((entry) => entry.kind === 'turn')?.step_id);
    const list = html`${
        first && !only
          ? html`<details class="prompt-of" ?open=${last}>
              <summary class="row pad"><strong>Prompt</strong></summary>
              ${prompt(first, this.tools ?? [])}
            </details>`
          : nothing
      }
      <ol class="turns" aria-label="Attempt ${attempt.number}">
        ${items.map((entry) => (entry.kind === 'turn' ? html`${this.#turn(entry, last)}${this.#refused(entry)}` : entry.kind === 'request' ? this.#request(entry) : this.#call(entry)))}
      </ol>
      ${items.length ? nothing : html`<p class="pad soft">No errors.</p>`}`;
    if (this.attempts.length === 1) return html`<div class="card">${list}</div>`;
    return html`<details class="card attempt" ?open=${last || only || this.attempts.length <= 3}>
      <summary class="row pad">
        <strong>Attempt ${attempt.number}</strong
        ><span class="soft small">${many(attempt.items.filter((entry) => entry.kind === 'turn').length, 'turn')}</span>
        ${!last && verdict ? html`<span class="small soft cut">rejected: ${label(text(verdict.output?.feedback ?? verdict.error_message ?? verdict.output ?? ''), SHOWN)}</span>` : nothing}
      </summary>
      ${list}
    </details>`;
  }

  #raw() {
    return html`<div class="card pad">
      ${json(
        'Transcript',
        this.attempts.map(({ number, items }) => ({ attempt: number, items })),
        true,
      )}
    </div>`;
  }

  render() {
    const { row, attempts } = this;
    if (this.failure && !row) return problem(this.failure, () => this.#load());
    if (!row || !attempts) return html`<div class="card">${skeleton(8)}</div>`;
    const entries = attempts.flatMap((each) => each.items);
    const turns = entries.filter((entry) => entry.kind === 'turn');
    const model = turns.findLast((entry) => entry.model)?.model;
    const toggle = (parameter, value, title) =>
      html`<button
        class="view"
        aria-pressed=${route.get(parameter) === value}
        @click=${() => route.set({ [parameter]: route.get(parameter) === value ? null : value }, true)}
      >
        ${title}
      </button>`;
    return html`<div class="head">
        <div class="stack grow tight">
          <nav class="row small soft" aria-label="Breadcrumb">
            <a href="/ui/runs">Runs</a>${icon('right', 'small')}<a
              href="/ui/runs/${this.run}?task=${encodeURIComponent(row.key)}"
              >Run</a
            >${icon('right', 'small')}<span>Transcript</span>
          </nav>
          <div class="row wrap">
            <h1 class="cut">${name(row.title || row.key, 200)}</h1>
            ${badge(row.state)}
          </div>
          <p class="soft small row wrap">
            ${row.agent_name ? html`<span>${icon('user', 'small')} ${name(row.agent_name, 60)}</span>` : nothing}${model ? html`<span>model ${name(model, 60)}</span>` : nothing}<span
              >${many(turns.length, 'turn')}</span
            ><span>${many(entries.filter((entry) => entry.kind === 'call').length, 'call')}</span>
            <span>${short(row.tokens_used)} tokens</span
            >${money(row.cost)}${row.started_at ? html`<span>${when(row.started_at)}</span>` : nothing}
          </p>
        </div>
        <div class="row wrap">
          <div class="views" role="group" aria-label="View">
            ${toggle('only', 'errors', 'Only errors')}${toggle('view', 'raw', 'Raw')}
          </div>
          <button
            class="btn"
            @click=${() =>
              copy(
                JSON.stringify(
                  attempts.map(({ number, items }) => ({ attempt: number, items })),
                  null,
                  2,
                ),
              )}
          >
            ${icon('copy', 'small')}Copy as JSON
          </button>
        </div>
      </div>
      ${this.failure ? problem(this.failure, () => this.#load()) : nothing}
      ${
        row.error_message
          ? html`<div class="note bad">
              ${icon('cross')}<span><code>${row.error_code}</code> ${name(row.error_message, 2000)}</span>
            </div>`
          : nothing
      }
      ${this.complete ? nothing : html`<p class="soft">The first ${MOST} entries. The command line has all.</p>`}
      ${attempts.length ? (route.get('view') === 'raw' ? this.#raw() : attempts.toReversed().map((each, i) => this.#attempt(each, i === 0))) : html`<div class="card">${empty('list', 'Nothing yet', 'The task has not begun a turn or a step.')}</div>`}`;
  }
}
customElements.define('k-transcript', Transcript);
