import { html, nothing } from 'lit';
import { all, get, now, post } from '../api/client.js';
import { live } from '../live/stream.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { runs } from '../store/runs.js';
import { count, credits, duration, exact, label, many, shortId, short } from '../draw/format.js';
import { effective, isOpen, reasonFamily, tally } from '../draw/state.js';
import { breakdown, earlier, segments } from '../draw/timeline.js';
import { Part } from '../part/base.js';
import { badge, copy, mark, meter, name, problem, skeleton, stateBar, toast, when } from '../part/bits.js';
import { ask, show } from '../part/dialog.js';
import { icon } from '../part/icon.js';
import { json } from '../part/json.js';
import { ACTIONS, bodyOf } from './actions.js';
import './drawer.js';
import './graph.js';
import './runtabs.js';
import './tree.js';

const TABS = [['timeline', 'Timeline'], ['graph', 'Graph'], ['steps', 'Steps'], ['events', 'Events'], ['artifacts', 'Artifacts'], ['money', 'Money'], ['agents', 'Agents'], ['plan', 'Plan']];
const WORDS = { work: 'work', queued: 'queue', backoff: 'backoff', person: 'people', timer: 'timers', failed: 'failed tries', other: 'other' };
const MOST_ATTEMPTS = 10;
const MOST_STEPS = 3000;

class Run extends Part {
  static properties = { run: { attribute: false }, tasks: { state: true }, why: { state: true }, failure: { state: true }, doing: { state: true }, gone: { state: true } };
  #steps = new Map();
  #all = new Map();
  #past = new Map();
  #begun = null;
  #asked = null;
  took = 0;

  constructor() {
    super();
    for (const store of [route, prefs, runs, me]) this.watch(store);
    this.watch(live, 'event', () => this.#soon());
    this.watch(live, 'resume', () => this.#soon());
    this.watch(document, 'keydown', (event) => this.#key(event));
    this.addEventListener('acted', () => this.#soon());
  }

  connectedCallback() {
    super.connectedCallback();
    this.ticking = setInterval(() => { const run = runs.get(this.run); if (!document.hidden && run && isOpen(run)) this.requestUpdate(); }, 1000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.ticking);
    clearTimeout(this.coming);
  }

  willUpdate() {
    if (this.#asked === this.run) return;
    this.#asked = this.run;
    this.tasks = null;
    this.why = null;
    this.failure = null;
    this.gone = null;
    this.#steps = new Map();
    this.#all = new Map();
    this.#past = new Map();
    this.#begun = null;
    this.#load();
    live.follow(`/runs/${this.run}/events/stream`);
  }

  /** Events are gathered: at most four reloads a second, and of a large run fewer. */
  #soon() {
    this.coming ??= setTimeout(() => { this.coming = null; this.#load(); }, Math.max(250, this.took * 3));
  }

  async #load() {
    if (this.loading) { this.again = true; return; }
    this.loading = true;
    const begun = performance.now();
    const id = this.run;
    try {
      const run = runs.put(await get(`/runs/${id}`));
      document.title = `${label(run.name, 60)} · Keelson`;
      this.failure = null;
      this.requestUpdate();
      const first = !this.tasks;
      const [tasks, steps, why] = await Promise.all([all(`/runs/${id}/tasks`, {}, 20_000, first ? (items) => { if (id === this.run) this.tasks = items.filter((task) => !task.superseded); } : null), all(`/runs/${id}/steps`, { history: true }, MOST_STEPS),
        isOpen(run) ? get(`/runs/${id}/explain`).then((explained) => explained.reasons).catch(() => []) : []]);
      const before = await this.#before(run);
      if (id !== this.run) return;
      const byTask = Map.groupBy(steps.items.filter((step) => !step.superseded), (step) => step.task_id);
      this.#steps = byTask;
      this.#all = Map.groupBy(steps.items, (step) => step.task_id);
      this.#past = Map.groupBy(before.steps, (step) => step.task_key);
      this.#begun = before.begun;
      this.tasks = tasks.items.filter((task) => !task.superseded).map((task) => ({ ...task, state: effective(task, byTask.get(task.id) ?? []) }));
      this.why = why;
    } catch (failure) {
      if (failure.status === 404 && runs.get(id)) this.gone = Date.now();
      else if (!runs.get(id) || failure.status !== 0) this.failure = failure;
    } finally {
      this.loading = false;
      this.took = performance.now() - begun;
      if (this.again || id !== this.run) { this.again = false; this.#soon(); }
    }
  }

  /** When the first attempt of the run began, and the steps of the attempts before this one. */
  async #before(run) {
    if (run.attempt_number < 2) return { begun: null, steps: [] };
    const [first] = (await get(`/runs/${run.id}/attempts`, { limit: 1 })).items;
    const numbers = Array.from({ length: run.attempt_number - 1 }, (_, i) => i + 1).slice(-MOST_ATTEMPTS);
    const lists = await Promise.all(numbers.map((attempt) => all(`/runs/${run.id}/steps`, { attempt, history: true }, MOST_STEPS)
      .then(({ items }) => items.map((step) => ({ ...step, run_attempt: attempt })))));
    return { begun: first ? Date.parse(first.started_at) : null, steps: lists.flat() };
  }

  #key(event) {
    if (!prefs.values.shortcuts || event.metaKey || event.ctrlKey || event.altKey || event.target.closest?.('input, textarea, select, dialog')) return;
    if (event.key === 't') route.set({ view: null });
    if (event.key === 'Escape' && route.get('task')) route.set({ task: null });
  }

  async #act(action) {
    const run = runs.get(this.run);
    this.querySelector('.menu')?.hidePopover?.();
    const values = action.ask ? await ask(action.ask(run)) : {};
    if (!values) return;
    this.doing = action;
    try {
      const answer = await post(`/runs/${this.run}/${action.path ? action.path(values) : action.name}`, bodyOf(action, values));
      if (action.goes) { route.go(`/ui/runs/${answer.id}`); return; }
      if (answer?.version_id && answer.id === this.run) runs.put(answer);
      toast(`${action.title.replace('…', '')}: done`);
      this.#soon();
    } catch (failure) {
      toast(failure.code ? `${failure.message} (${failure.code})` : 'The payload is not JSON.', true);
    } finally { this.doing = null; }
  }

  /** The run's state in the words of each contract. */
  async #vocabulary(run) {
    const states = await get(`/runs/${run.id}/states`).catch((failure) => { toast(failure.message, true); });
    if (!states) return;
    const counts = (tasks) => Object.entries(tasks ?? {}).map(([state, n]) => `${n} ${state}`).join(', ');
    show((close) => html`<div class="body"><h2>The states of this run in other words</h2><table class="list"><thead><tr><th>Contract</th><th>Run</th><th>Tasks</th></tr></thead><tbody>
      <tr><td><strong>Keelson</strong></td><td>${states.canonical.run}</td><td>${counts(states.canonical.tasks)}</td></tr>
      ${Object.entries(states.contracts).map(([contract, words]) => html`<tr><td>${contract}</td><td>${words.run}</td><td>${counts(words.tasks ?? words.steps)}</td></tr>`)}</tbody></table>
      <footer><button class="btn first" @click=${() => close()}>Close</button></footer></div>`);
  }

  #button(action, run) {
    const lacks = me.lacks('runs:write');
    return html`<button class="btn ${action.danger ? 'danger' : ''}" ?disabled=${lacks || this.doing} title=${lacks ?? ''} @click=${() => this.#act(action, run)}>${icon(action.icon, 'small')}${this.doing === action ? action.doing ?? '…' : action.title}</button>`;
  }

  #headline(run) {
    if (run.state === 'failed' || run.error_code) {
      return html`<div class="headline h-failed">${icon('cross')}<div class="stack grow"><strong>${name(run.error_message ?? run.error_code, 1000)}</strong><span class="small"><code>${run.error_code}</code></span></div></div>`;
    }
    if (!isOpen(run)) return nothing;
    const reasons = this.why ?? [];
    if (!reasons.length) return nothing;
    const first = reasons[0];
    const of = reasonFamily(first.code);
    const others = reasons.slice(1, 4);
    const key = (reason) => this.tasks?.find((task) => task.id === reason.task_id)?.key;
    const line = (reason) => html`${name(reason.text, 600)}${reason.until ? html` <span class="soft">until ${when(reason.until)}</span>` : nothing}`;
    return html`<div class="headline h-${of}">${mark(of, first.code)}<div class="stack grow"><strong>${line(first)}</strong>
      ${others.map((each) => html`<span class="row small">${mark(reasonFamily(each.code), each.code)}<span>${line(each)}</span></span>`)}
      ${reasons.length > 4 ? html`<span class="small soft">and ${many(reasons.length - 4, 'more reason')}</span>` : nothing}</div>
      <span class="row wrap">${of === 'person' ? html`<a class="btn" href="/ui/inbox?run=${run.id}">${icon('inbox', 'small')}Answer</a>` : nothing}
      ${key(first) ? html`<button class="btn" @click=${() => route.set({ task: key(first), view: null })}>Show it</button>` : nothing}</span></div>`;
  }

  #facts(run) {
    const counts = this.tasks ? tally(this.tasks) : { done: run.tasks_completed, failed: run.tasks_failed, ended: run.tasks_skipped };
    const end = run.completed_at ? Date.parse(run.completed_at) : now();
    const begun = this.#begun ?? (run.started_at ? Date.parse(run.started_at) : null);
    const lists = this.tasks && this.tasks.length <= 400 ? this.tasks.map((task) => [...earlier(this.#past.get(task.key) ?? []), ...segments(task, this.#all.get(task.id) ?? [], end)]) : [];
    if (run.config?.acceptance === 'human' && lists.length) lists.push([{ kind: 'person', from: Math.max(...lists.flat().map((each) => each.to)), to: end }]);
    const parts = begun && lists.length ? Object.entries(breakdown(lists, begun, end)).filter(([, ms]) => ms >= 1).sort((a, b) => b[1] - a[1]) : [];
    const limit = run.hard_limit_usd;
    return html`<dl class="figures">
      <div><dt>Tasks</dt><dd><strong class="num">${count(run.tasks_completed)}<span class="soft"> / ${count(run.task_count)}</span></strong>${stateBar(counts, Math.max(run.task_count, this.tasks?.length ?? 0))}</dd></div>
      <div><dt>Cost</dt><dd><strong class="num" title=${exact(run.total_cost)}>${credits(run.total_cost)}${Number(run.credits_uncollected) > 0 ? html`<span class="soft"> (${credits(run.credits_uncollected)} not collected)</span>` : nothing}${limit ? html`<span class="soft"> of ${credits(limit)}</span>` : nothing}</strong>
        ${limit ? meter(run.total_cost / limit, run.total_cost / limit > 0.9 ? 'failed' : run.total_cost / limit > 0.7 ? 'backoff' : 'works', `${Math.round((run.total_cost / limit) * 100)} % of the limit`) : html`<span class="small soft">${run.credits_reserved && isOpen(run) ? `${credits(run.credits_reserved)} set aside` : 'no limit of its own'}</span>`}</dd></div>
      <div><dt>Tokens</dt><dd><strong class="num">${short(run.total_tokens)}</strong><span class="small soft">${count(run.steps_completed)} of ${count(run.steps_total)} steps done</span></dd></div>
      <div class="wide"><dt>Elapsed</dt><dd><strong class="num">${begun ? duration(end - begun) : 'not started'}</strong>${parts.length ? html`<span class="small soft">${parts.map(([kind, ms], i) => `${i ? ' · ' : ''}${WORDS[kind]} ${duration(ms)}`)}</span>` : html`<span class="small soft">since ${when(run.started_at ?? run.created_at)}</span>`}</dd></div></dl>`;
  }

  #view(run, view) {
    if (!TABS.some(([id]) => id === view)) return nothing;
    if (!['timeline', 'graph'].includes(view)) return html`<k-run-tab .run=${run} .tab=${view}></k-run-tab>`;
    if (!this.tasks) return html`<div class="card">${skeleton(8)}</div>`;
    const picked = this.tasks.find((task) => task.key === route.get('task'));
    return html`<div class="with-drawer ${picked ? 'open' : ''}">${view === 'graph' ? html`<k-graph .tasks=${this.tasks} .picked=${picked?.key ?? ''}></k-graph>`
      : html`<k-tree .run=${run} .tasks=${this.tasks} .stepsOf=${(id) => this.#steps.get(id) ?? []} .allOf=${(id) => this.#all.get(id) ?? []} .pastOf=${(key) => this.#past.get(key) ?? []} .begun=${this.#begun ?? Date.parse(run.started_at ?? run.created_at)} .picked=${picked?.key ?? ''}></k-tree>`}
      ${picked ? html`<k-drawer .task=${picked} .tasks=${this.tasks} .steps=${this.#steps.get(picked.id) ?? []}></k-drawer>` : nothing}</div>`;
  }

  render() {
    const run = runs.get(this.run);
    if (this.failure && (!run || this.failure.status === 404)) return problem(this.failure, () => this.#load());
    if (!run) return html`<div class="card">${skeleton(4)}</div>`;
    const view = route.get('view') ?? 'timeline';
    const allowed = ACTIONS.filter((action) => action.when(run));
    return html`<div class="head"><div class="stack grow tight"><nav class="row small soft" aria-label="Breadcrumb"><a href="/ui/runs">Runs</a>${icon('right', 'small')}<button class="link mono" title="Copy the id" @click=${() => copy(run.id)}>${shortId(run.id)}</button>
          ${run.attempt_number > 1 ? html`<span>attempt ${run.attempt_number}</span>` : nothing}<span>plan v${run.plan_version}</span>${run.forked_from ? html`<a href="/ui/runs/${run.forked_from}">forked</a>` : nothing}${run.parent_run_id ? html`<a href="/ui/runs/${run.parent_run_id}">parent</a>` : nothing}
          ${run.child_count ? html`<a href="/ui/runs?parent_run_id=${run.id}">${many(run.child_count, 'child run')}</a>` : nothing}${run.tags.slice(0, 6).map((tag) => html`<a class="tag" href="/ui/runs?tag=${encodeURIComponent(tag)}">${name(tag, 40)}</a>`)}</nav>
        <div class="row wrap"><h1 class="cut">${name(run.name, 200)}</h1>${badge(run.state)}<button class="btn bare low" @click=${() => this.#vocabulary(run)}>In other words</button></div></div>
        <div class="row wrap">${allowed.filter((action) => action.first).map((action) => this.#button(action, run))}
          <button class="btn only" popovertarget="more" aria-label="More actions" title="More actions">${icon('more')}</button>
          <div class="menu card" id="more" popover>${allowed.filter((action) => !action.first).map((action) => this.#button(action, run))}</div></div></div>
      ${this.gone ? html`<div class="note warn" role="status">${icon('alert')}<span>This run was deleted. What you see is from before.</span></div>` : nothing}
      ${this.#headline(run)}${this.#facts(run)}
      ${run.goal && run.goal !== run.name ? html`<p class="goal soft">${name(run.goal, 600)}</p>` : nothing}
      <div class="views tabs" role="tablist" aria-label="Parts of the run">${TABS.map(([id, title]) => html`<button class="view" role="tab" aria-selected=${view === id} @click=${() => route.set({ view: id === 'timeline' ? null : id })}>${title}</button>`)}</div>
      ${this.#view(run, view)}
      ${run.output !== null && run.output !== undefined && view === 'timeline' ? html`<div class="card pad">${json('Output of the run', run.output, true)}</div>` : nothing}`;
  }
}
customElements.define('k-run', Run);
