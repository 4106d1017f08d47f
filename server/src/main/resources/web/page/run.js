import { html, nothing } from 'lit';
import { get, now, post } from '../api/client.js';
import { live } from '../live/stream.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { RunData } from '../store/run.js';
import { runs } from '../store/runs.js';
import { amount, besideCharges, clock, count, credits, duration, label, many, shortId, short } from '../draw/format.js';
import { family, isOpen, reasonFamily } from '../draw/state.js';
import { Part } from '../part/base.js';
import {
  badge,
  copy,
  mark,
  meter,
  money,
  name,
  others,
  problem,
  revealTab,
  sentence,
  skeleton,
  stateBar,
  toast,
  until,
  when,
  withoutSubject,
} from '../part/bits.js';
import { ask, show } from '../part/dialog.js';
import { icon } from '../part/icon.js';
import { beside } from '../part/place.js';
import { value } from '../part/value.js';
import { awaited, sendSignal } from '../part/signal.js';
import { ACTIONS, bodyOf } from './actions.js';
import '../part/budget.js';
import './drawer.js';
import './graph.js';
import './runtabs.js';
import './tree.js';

const TABS = [
  ['timeline', 'Timeline'],
  ['graph', 'Graph'],
  ['steps', 'Steps'],
  ['events', 'Events'],
  ['artifacts', 'Artifacts'],
  ['money', 'Money'],
  ['agents', 'Agents'],
  ['plan', 'Plan'],
];
const WORDS = {
  work: 'work',
  queued: 'queue',
  backoff: 'backoff',
  person: 'waiting for a person',
  timer: 'waiting for a time, a signal or a child run',
  failed: 'failed tries',
  other: 'other',
};
/** The states of an undo, in words, and the look of its note. */
const UNDO = {
  requested: ['Its undo begins.', ''],
  running: ['It is being undone.', ''],
  undone: ['It is undone.', ''],
  partly_undone: ['It is partly undone.', 'warn'],
  failed: ['Its undo has failed. Retry that run to continue.', 'warn'],
  cancelled: ['Its undo was cancelled.', 'warn'],
  nothing: ['No work of it has an undo.', ''],
  refused: ['Its undo could not begin.', 'warn'],
};
const COUNTS = [
  ['undone', 'undone'],
  ['by_hand', 'done by hand'],
  ['not_done', 'never done'],
  ['not_undone', 'not undone'],
];
const RESTORE = { name: 'restore', title: 'Restore', doing: 'Restoring…', icon: 'retry' };
const CHECK_MS = 30_000;
const MOST_SIGNALS = 4;
/** Codes of failures by a check of an output. */
const REFUSED = /^VERIF|SCHEMA|REJECTED/;

class Run extends Part {
  static properties = { run: { attribute: false }, doing: { state: true }, result: { state: true } };
  #texts = new Map();

  constructor() {
    super();
    for (const store of [route, prefs, runs, me]) this.watch(store);
    this.watch(live, 'event', (event) => {
      const at = event.detail.run_id;
      if (at === this.run || (at && at === runs.get(this.run)?.undo?.run_id)) this.data.soon();
    });
    this.watch(live, 'resume', () => this.data.load());
    this.watch(document, 'visibilitychange', () => {
      if (!document.hidden) this.data.seen();
    });
    this.watch(document, 'keydown', (event) => this.#key(event));
    this.addEventListener('acted', () => this.data.soon());
  }

  connectedCallback() {
    super.connectedCallback();
    this.ticking = setInterval(() => {
      const run = runs.get(this.run);
      if (!document.hidden && run && isOpen(run)) this.requestUpdate();
    }, 1000);
    this.checking = setInterval(() => {
      if (!document.hidden && live.state !== 'polling' && !runs.get(this.run)?.archived_at) this.data.check();
    }, CHECK_MS);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.ticking);
    clearInterval(this.checking);
    this.data?.close();
    this.data = null;
  }

  willUpdate() {
    if (this.data?.id === this.run) return;
    this.data?.close();
    this.data = new RunData(this.run);
    this.data.addEventListener('change', () => this.#changed());
    this.result = null;
    this.#texts.clear();
    this.data.load();
  }

  updated() {
    const view = route.get('view');
    if (view === this.revealed || !this.querySelector('[role=tab]')) return;
    this.revealed = view;
    revealTab(this);
  }

  #changed() {
    const { data } = this;
    const { run } = data ?? {};
    if (run) {
      document.title = `${label(run.name, 60)} · Keelson`;
      if (isOpen(run) || run.undo?.state === 'running') live.follow(me.value?.workspace.id ?? null, () => data.check());
      else live.rest();
      if (!isOpen(run) && data.timeline && !data.timeline.open) this.#last();
    }
    this.requestUpdate();
  }

  /** The output of the last task that has one, of a run without an output of its own. */
  async #last() {
    const { run, tasks } = this.data;
    const last =
      run.output_start === null && run.state === 'completed'
        ? tasks?.findLast((task) => !task.group_id && task.state === 'completed')
        : null;
    if (!last || this.result?.id === last.id) return;
    this.result = { id: last.id };
    this.result = await get(`/tasks/${last.id}`, { light: true }).catch(() => null);
  }

  #key(event) {
    if (
      !prefs.values.shortcuts ||
      event.defaultPrevented ||
      event.metaKey ||
      event.ctrlKey ||
      event.altKey ||
      event.target.closest?.('input, textarea, select, dialog')
    )
      return;
    if (event.key === 't') route.set({ view: null });
    if (event.key === 'Escape' && route.get('task')) route.set({ task: null });
  }

  async #act(action) {
    const run = runs.get(this.run);
    this.querySelector('.menu')?.hidePopover?.();
    if (action.open) {
      this.#done(action.said, await action.open(run, this.data.reasons));
      return;
    }
    const values = action.ask ? await ask(action.ask(run)) : {};
    if (!values) return;
    this.doing = action;
    try {
      const answer = await post(
        `/runs/${this.run}/${action.path ? action.path(values) : action.name}`,
        bodyOf(action, values),
      );
      if (action.goes) {
        route.go(`/ui/runs/${answer.id}`);
        return;
      }
      this.#done(action.said ?? `${action.title.replace('…', '')}: done`, answer);
    } catch (failure) {
      toast(`${failure.message} (${failure.code})`, true);
    } finally {
      this.doing = null;
    }
  }

  /** @param answer of the API; undefined where nothing was asked of it */
  #done(said, answer) {
    if (answer === undefined) return;
    if (answer?.version_id && answer.id === this.run) runs.put(answer);
    toast(said);
    this.data?.soon();
  }

  /** The run's state in the words of each contract. */
  async #vocabulary(run) {
    this.querySelector('.menu')?.hidePopover?.();
    const states = await get(`/runs/${run.id}/states`).catch((failure) => {
      toast(failure.message, true);
    });
    if (!states) return;
    const counts = (tasks) =>
      Object.entries(tasks ?? {})
        .map(([state, n]) => `${n} ${state}`)
        .join(', ');
    show(
      (close) =>
        html`<div class="body">
          <h2>Names of this state</h2>
          <p class="soft">
            Programs that follow one of the published contracts use its names of states. Each row has the present state
            of the run and of its tasks by one contract; they mean the same.
          </p>
          <div class="scroll-x" tabindex="0" role="region" aria-label="Names">
            <table class="list">
              <thead>
                <tr>
                  <th>Contract</th>
                  <th>Run</th>
                  <th>Tasks</th>
                </tr>
              </thead>
              <tbody>
                <tr>
                  <td><strong>Keelson</strong></td>
                  <td>${states.canonical.run}</td>
                  <td>${counts(states.canonical.tasks)}</td>
                </tr>
                ${Object.entries(states.contracts).map(
                  ([contract, words]) =>
                    html`<tr>
                      <td>${contract}</td>
                      <td>${words.run}</td>
                      <td>${counts(words.tasks ?? words.steps)}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>
          <footer><button class="btn first" @click=${() => close()}>Close</button></footer>
        </div>`,
    );
  }

  #button(action, run) {
    const lacks = me.lacks('runs:write');
    return html`<button
      class="btn ${action.danger ? 'danger' : ''}"
      ?disabled=${lacks || this.doing}
      title=${lacks ?? ''}
      @click=${() => this.#act(action)}
    >
      ${icon(action.icon, 'small')}${this.doing === action ? (action.doing ?? '…') : action.title}
    </button>`;
  }

  #headline(run) {
    if (run.archived_at) {
      return html`<div class="headline">
        ${icon('file')}
        <div class="stack grow">
          <strong>This run is archived</strong
          ><span class="small">It can be read, not changed. Archived ${when(run.archived_at)}.</span>
        </div>
        ${this.#button(RESTORE, run)}
      </div>`;
    }
    if (run.state === 'failed' || run.error_code) {
      return html`<div class="headline h-failed">
        ${icon('cross')}
        <div class="stack grow">
          <strong>${name(run.error_message ?? run.error_code, 1000)}</strong
          ><span class="small"><code>${run.error_code}</code></span>
        </div>
        ${this.#failed(run)}
      </div>`;
    }
    if (!isOpen(run)) return nothing;
    const { reasons, leftOut } = this.data;
    if (!reasons.length) return nothing;
    const first = reasons[0];
    const alike = [...Map.groupBy(reasons, withoutSubject).values()];
    const of = reasonFamily(first.code);
    const key = (reason) => this.data.tasks?.find((task) => task.id === reason.task_id)?.key;
    const line = (/** @type {any[]} */ [reason, ...more]) =>
      html`${sentence(reason.text, 600)}${until(reason)}${more.length ? html` <span class="soft">and ${count(more.length)}${leftOut ? '+' : ''} more like it</span>` : nothing}`;
    const stopped = first.code === 'BUDGET_EXCEEDED';
    return html`<div class="headline h-${of}">
      ${mark(of, first.code)}
      <div class="stack grow">
        <strong>${line(alike[0])}</strong>
        ${alike.slice(1, 4).map((each) => html`<span class="row small">${mark(reasonFamily(each[0].code), each[0].code)}<span>${line(each)}</span></span>`)}
        ${alike.length > 4 ? html`<span class="small soft">and ${many(alike.length - 4, 'more reason')}</span>` : nothing}
        ${leftOut ? html`<span class="small soft">Not listed here: ${many(leftOut, 'further open task')}. Select one in the tree to see why it waits.</span>` : nothing}
        ${stopped && !this.data.gone ? html`<k-budget .run=${run.id} .version=${run.version_id} @answered=${() => this.data.soon()} @late=${() => this.data.soon()}></k-budget>` : nothing}
      </div>
      <span class="row wrap"
        >${of === 'person' ? html`<a class="btn" href="/ui/inbox?run=${run.id}">${icon('inbox', 'small')}${stopped ? 'Other answers' : 'Answer'}</a>` : nothing}${this.#signals(run)}${others(first)}
        ${first.code.startsWith('MISSING_') ? html`<a class="btn" href="/ui/workers">${icon('server', 'small')}Workers</a>` : nothing}
        ${key(first) ? html`<button class="btn" @click=${() => route.set({ task: key(first), view: null })}>Show the task</button>` : nothing}</span
      >
    </div>`;
  }

  /** How far the undo of the run is. */
  #undo({ undo, undoes }) {
    const link = (id, text) => html`<a class="btn low" href="/ui/runs/${id}">${icon('right', 'small')}${text}</a>`;
    if (undoes)
      return html`<div class="note">
        ${icon('undo')}<span class="grow">This run undoes another.</span>${link(undoes, 'The original')}
      </div>`;
    if (!undo) return nothing;
    const counts = COUNTS.filter(([key]) => undo[key]).map(([key, what]) => `${count(undo[key])} ${what}`);
    return html`<div class="note ${UNDO[undo.state][1]}" role="status">
      ${icon('undo')}
      <span class="grow"
        ><strong>${UNDO[undo.state][0]}${undo.waits_for_humans ? ' It waits for a person.' : ''}</strong
        >${counts.length ? html` <span class="soft">${counts.join(', ')} of ${many(undo.tasks, 'task')}</span>` : nothing}${undo.error_code ? html` ${name(undo.error_message, 600)} <code>${undo.error_code}</code>` : nothing}</span
      >${undo.run_id ? link(undo.run_id, 'The undo') : nothing}
    </div>`;
  }

  /** The task that failed the run, and the output of it that a check has refused. */
  #failed(run) {
    const task =
      this.data.tasks?.find((each) => each.state === 'failed' && !each.group_id) ??
      this.data.tasks?.find((each) => each.state === 'failed');
    if (!task) return nothing;
    return html`<span class="row wrap"
      >${REFUSED.test(run.error_code) ? html`<a class="btn" href="/ui/runs/${run.id}/tasks/${task.id}">${icon('file', 'small')}Refused output</a>` : nothing}
      <button class="btn" @click=${() => route.set({ task: task.key, view: null })}>Show the task</button></span
    >`;
  }

  /** A button for each signal that the run waits for. */
  #signals(run) {
    const names = awaited(this.data.reasons);
    const lacks = me.lacks('runs:write');
    return names
      .slice(0, MOST_SIGNALS)
      .map(
        (signal) =>
          html`<button
            class="btn"
            ?disabled=${!!lacks}
            title=${lacks ?? `Ends the wait for the signal ${signal}`}
            @click=${async () => this.#done('Signal sent', await sendSignal(run.id, this.data.reasons, signal))}
          >
            ${icon('right', 'small')}${names.length > 1 ? html`<span>Send “${name(signal, 40)}”…</span>` : 'Send signal…'}
          </button>`,
      );
  }

  #facts(run) {
    const { timeline } = this.data;
    const counts = this.data.counts ?? {
      done: run.tasks_completed,
      failed: run.tasks_failed,
      ended: run.tasks_skipped,
    };
    const shown = this.data.counts ? Object.values(counts).reduce((sum, each) => sum + each, 0) : run.task_count;
    const end = run.completed_at ? Date.parse(run.completed_at) : now();
    const spent = Object.keys(WORDS).map((kind) => [kind, timeline?.spent[`${kind}_ms`] ?? 0]);
    // A run that plans, waits for the approval of its plan, or is queued has spent time, though none of its tasks has started.
    const begun =
      run.started_at || spent.some(([kind, ms]) => kind !== 'other' && ms > 0)
        ? Date.parse(timeline?.from ?? run.started_at)
        : null;
    const ended = timeline?.spent.ended_ms ?? 0;
    const parts = begun
      ? spent.filter(([, ms]) => ms > Math.max(0, end - begun - ended) / 200).sort((a, b) => b[1] - a[1])
      : [];
    const limit = run.hard_limit_usd;
    const charged = run.credits_charged;
    const beside = besideCharges(run);
    return html`<dl class="figures">
      <div>
        <dt>Tasks</dt>
        <dd>
          <strong class="num">${count(run.tasks_completed)}<span class="soft"> / ${count(run.task_count)}</span></strong
          >${stateBar(counts, shown, family(run.state))}
        </dd>
      </div>
      <div>
        <dt>Charged</dt>
        <dd>
          <strong>${money(charged)}${limit ? html`<span class="soft"> of ${amount(limit)}</span>` : nothing}</strong>
          ${limit ? meter(charged / limit, charged / limit > 0.9 ? 'failed' : charged / limit > 0.7 ? 'backoff' : 'works', `${Math.round((charged / limit) * 100)} % of the limit`) : nothing}${beside.length || !limit ? html`<span class="small soft">${beside.length ? beside.map(({ what, amount: sum, why }, i) => html`${i ? ' · ' : ''}<span title=${why}>${credits(sum)} ${what}</span>`) : 'no limit of its own'}</span>` : nothing}
        </dd>
      </div>
      <div>
        <dt>Tokens</dt>
        <dd>
          <strong class="num">${short(run.total_tokens)}</strong
          ><span class="small soft">${count(run.steps_completed)} of ${count(run.steps_total)} steps done</span>
        </dd>
      </div>
      <div class="wide">
        <dt>Elapsed</dt>
        <dd>
          <strong class="num">${begun ? duration(end - begun - ended) : 'not started'}</strong
          >${parts.length ? html`<span class="small soft">${parts.map(([kind, ms], i) => html`${i ? ' · ' : ''}<span title=${kind === 'other' ? 'Planning, pauses, and the backoff between attempts' : nothing}>${WORDS[kind]} ${duration(ms).replaceAll(' ', '\u00a0')}</span>`)}</span>` : html`<span class="small soft">since ${when(run.started_at ?? run.created_at)}</span>`}
        </dd>
      </div>
    </dl>`;
  }

  #view(run, view) {
    if (!TABS.some(([id]) => id === view)) return nothing;
    if (!['timeline', 'graph'].includes(view)) return html`<k-run-tab .run=${run} .tab=${view}></k-run-tab>`;
    const { data } = this;
    if (!data.tasks)
      return data.failure ? problem(data.failure, () => data.load()) : html`<div class="card">${skeleton(8)}</div>`;
    const picked = data.byKey.get(route.get('task'));
    return html`<div class="with-drawer ${picked ? 'open' : ''}">
      ${
        view === 'graph'
          ? html`<k-graph
              .data=${data}
              .tasks=${data.tasks}
              .expanded=${route.get('expand')}
              .picked=${picked?.key ?? ''}
            ></k-graph>`
          : html`<k-tree
              .data=${data}
              .tasks=${data.tasks}
              .tick=${Math.floor(now() / 1000)}
              .filters=${route.query}
              .picked=${picked?.key ?? ''}
            ></k-tree>`
      }
      ${picked ? html`<k-drawer .row=${picked} .run=${run.id}></k-drawer>` : nothing}
    </div>`;
  }

  #output(run) {
    const draw = () => this.requestUpdate();
    const show = (title, of, path, name, pick) =>
      html`<div class="card pad">
        ${value(title, of, 'output', { path, name, pick }, this.#texts, draw, pick !== undefined)}
      </div>`;
    if (run.output_start)
      return show(
        'Output of the run',
        run,
        `/runs/${run.id}?fields=output`,
        label(run.name, 60),
        (each) => each.output,
      );
    return this.result?.output_start
      ? show(
          `Output of ${label(this.result.title || this.result.key, 80)}`,
          this.result,
          `/tasks/${this.result.id}/output`,
          this.result.key,
        )
      : nothing;
  }

  /** Where the run comes from, and what it was given. */
  #origin(run) {
    const text = (title, shown) =>
      shown
        ? html`<dt>${title}</dt>
            <dd>${shown}</dd>`
        : nothing;
    return html`<section class="card pad stack" aria-label="Origin">
      <dl class="facts wide-facts">
        ${text('Created', html`${when(run.created_at)} by ${name(run.created_by, 80)}${run.trigger ? html` <span class="soft">(${name(run.trigger, 60)})</span>` : nothing}`)}
        ${text('Recipe', run.recipe_id && html`<a href="/ui/launch?recipe=${run.recipe_id}">version ${run.recipe_version}</a>`)}${text('Schedule', run.schedule_id && html`<a href="/ui/schedules">${when(run.scheduled_for)}</a>`)}${text('External id', run.external_id && name(run.external_id, 200))}
        ${text('Id', html`<button class="link mono small" title="Copy the id" @click=${() => copy(run.id)}>${run.id}</button>`)}
      </dl>
      ${run.inputs_bytes > 2 ? value('Inputs', run, 'inputs', { path: `/runs/${run.id}?fields=inputs`, name: `${label(run.name, 60)}-inputs`, pick: (each) => each.inputs }, this.#texts, () => this.requestUpdate(), true) : nothing}
    </section>`;
  }

  render() {
    const run = runs.get(this.run);
    const { failure, gone, deletion } = this.data;
    if (failure && !run) return problem(failure, () => this.data.load());
    if (!run) return html`<div class="card">${skeleton(4)}</div>`;
    const view = route.get('view') ?? 'timeline';
    const allowed = gone || run.archived_at ? [] : ACTIONS.filter((action) => action.when(run));
    return html`<div class="head">
        <div class="stack grow tight">
          <nav class="row small soft" aria-label="Breadcrumb">
            <a href="/ui/runs">Runs</a>${icon('right', 'small')}<button
              class="link mono"
              title="Copy the id"
              @click=${() => copy(run.id)}
            >
              ${shortId(run.id)}
            </button>
            ${run.attempt_number > 1 ? html`<span>attempt ${run.attempt_number}</span>` : nothing}<span
              >plan v${run.plan_version}</span
            >${run.forked_from ? html`<a href="/ui/runs/${run.forked_from}">forked</a>` : nothing}${run.parent_run_id ? html`<a href="/ui/runs/${run.parent_run_id}">parent</a>` : nothing}
            ${run.child_count ? html`<a href="/ui/runs?parent_run_id=${run.id}">${many(run.child_count, 'child run')}</a>` : nothing}${run.tags.slice(0, 6).map((tag) => html`<a class="tag" href="/ui/runs?tag=${encodeURIComponent(tag)}">${name(tag, 40)}</a>`)}
          </nav>
          <div class="row wrap">
            <h1 class="cut">${name(run.name, 200)}</h1>
            ${badge(run.state, isOpen(run) ? this.data.reasons[0] : null)}
          </div>
        </div>
        <div class="row wrap">
          ${allowed.filter((action) => action.first).map((action) => this.#button(action, run))}
          <button class="btn only" popovertarget="more" aria-label="More actions" title="More actions">
            ${icon('more')}
          </button>
          <div class="menu card" id="more" popover @beforetoggle=${beside}>
            ${allowed.filter((action) => !action.first).map((action) => this.#button(action, run))}
            <button
              class="btn"
              title="What the published contracts call this state"
              @click=${() => this.#vocabulary(run)}
            >
              ${icon('list', 'small')}Names of this state…
            </button>
          </div>
        </div>
      </div>
      ${gone ? html`<div class="note warn" role="status">${icon('alert')}<span>This run was deleted${deletion ? html` by ${name(deletion.actor_id, 80)}, at ${clock(deletion.created_at)}` : html`, at ${clock(gone)} at the latest`}. What you see is from before.</span></div>` : nothing}
      ${this.#headline(run)}${this.#undo(run)}${this.#facts(run)}
      ${run.goal && run.goal !== run.name ? html`<p class="goal soft">${name(run.goal, 600)}</p>` : nothing}
      <div class="views tabs" role="tablist" aria-label="Parts of the run">
        ${TABS.map(([id, title]) => html`<button class="view" role="tab" aria-selected=${view === id} @click=${() => route.set({ view: id === 'timeline' ? null : id })}>${title}</button>`)}
      </div>
      ${this.#view(run, view)} ${view === 'timeline' ? html`${this.#output(run)}${this.#origin(run)}` : nothing}`;
  }
}
customElements.define('k-run', Run);
