import { html, nothing } from 'lit';
import { all, get, now, post } from '../api/client.js';
import { live } from '../live/stream.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { count, credits, duration, exact, short } from '../draw/format.js';
import { Part } from '../part/base.js';
import { ago, badge, empty, name, problem, skeleton, toast, when } from '../part/bits.js';
import { ask, show } from '../part/dialog.js';
import { icon } from '../part/icon.js';

const SILENT_MS = 60_000;
const COLUMNS = { inbox: 'Inbox', assigned: 'Assigned', in_progress: 'In progress', review: 'Review', done: 'Done' };

/** Pages that are one list of the API with a few actions. */
class List extends Part {
  static properties = { kind: { type: String }, data: { state: true }, failure: { state: true } };
  #asked = null;

  constructor() {
    super();
    for (const store of [prefs, me]) this.watch(store);
    this.watch(live, 'event', () => { this.coming ??= setTimeout(() => { this.coming = null; this.#load(); }, 2000); });
  }

  willUpdate() {
    if (this.#asked === this.kind) return;
    this.#asked = this.kind;
    this.data = null;
    this.#load();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.coming);
  }

  async #load() {
    const { kind } = this;
    const load = {
      schedules: () => all('/schedules', {}, 500), reports: () => all('/reports', { limit: 100 }, 300), board: () => get('/board'),
      workers: async () => ({ ...(await all('/workers', {}, 500)), tools: (await all('/tools', {}, 1000)).items }),
    }[kind];
    try {
      const data = await load();
      if (kind === this.kind) { this.data = data; this.failure = null; }
    } catch (failure) { this.failure = failure; }
  }

  async #act(path, question) {
    if (question && !await ask(question)) return;
    await post(path).then(() => toast('Done'), (failure) => toast(`${failure.message} (${failure.code})`, true));
    this.#load();
  }

  #schedules({ items }) {
    if (!items.length) return empty('clock', 'No schedules', 'A schedule starts runs of a recipe by the clock:', 'keelson schedules create nightly --cron "30 2 * * *" --zone Europe/Berlin --recipe nightly-report');
    const lacks = me.lacks('runs:write');
    return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Schedules"><table class="list"><thead><tr><th>Name</th><th>When</th><th>Next run</th><th class="right">Runs</th><th class="right">Missed</th><th>Overlap</th><th><span class="hidden-text">Actions</span></th></tr></thead>
      <tbody>${items.map((each) => html`<tr><td><strong>${name(each.name, 100)}</strong>${each.paused ? html` <span class="state f-waits">${icon('pause')}paused</span>` : nothing}</td><td><code>${each.cron}</code> <span class="soft small">${each.time_zone}</span></td>
        <td>${each.next_run_at && !each.paused ? html`${when(each.next_run_at)} <span class="soft small">in ${duration(Date.parse(each.next_run_at) - now())}</span>` : html`<span class="faint">–</span>`}</td><td class="right num">${count(each.runs_made)}${each.max_runs ? ` of ${count(each.max_runs)}` : ''}</td>
        <td class="right num ${each.times_missed ? 'i-failed' : ''}">${count(each.times_missed)}</td><td class="soft">${each.overlap}</td>
        <td class="right"><button class="btn low" ?disabled=${lacks} title=${lacks ?? ''} @click=${() => this.#act(`/schedules/${each.id}/${each.paused ? 'resume' : 'pause'}`)}>${each.paused ? 'Resume' : 'Pause'}</button>
          <button class="btn low" ?disabled=${lacks} title=${lacks ?? ''} @click=${() => this.#act(`/schedules/${each.id}/trigger`, { title: `Run ${each.name} now?`, yes: 'Run now' })}>Run now…</button></td></tr>`)}</tbody></table></div>`;
  }

  #workers({ items, tools }) {
    const heard = new Set(items.filter((each) => now() - Date.parse(each.last_seen_at) < SILENT_MS).flatMap((each) => each.tools));
    const lacks = me.lacks('work');
    return html`${items.length ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Workers"><table class="list"><thead><tr><th>Worker</th><th>Heard of</th><th class="right">Slots</th><th>Tools</th><th>Version</th><th><span class="hidden-text">Actions</span></th></tr></thead>
      <tbody>${items.map((each) => {
    const silent = now() - Date.parse(each.last_seen_at) >= SILENT_MS;
    return html`<tr><td><strong>${name(each.id, 100)}</strong>${each.draining ? html` <span class="state f-waits">${icon('pause')}draining</span>` : nothing}</td><td class=${silent ? 'i-failed' : ''}>${silent ? icon('alert', 'small') : nothing} ${ago(each.last_seen_at)} ago</td>
        <td class="right num">${each.slots}</td><td class="mono small">${name(each.tools.join(', '), 300)}</td><td class="soft">${name(each.version, 60)}</td><td class="right">${each.draining ? nothing : html`<button class="btn low" ?disabled=${lacks} title=${lacks ?? ''} @click=${() => this.#act(`/workers/${encodeURIComponent(each.id)}/drain`, { title: `Drain ${each.id}?`, text: 'It gets no further steps and ends when those it has are done.', yes: 'Drain' })}>Drain…</button>`}</td></tr>`;
  })}</tbody></table></div>` : empty('server', 'No workers', 'The server executes its own tools. Workers outside serve further ones; the worker SDK tells how.')}
      <details class="pad"><summary>${count(tools.length)} tools</summary><ul class="chips">${tools.map((tool) => html`<li class="chip" title=${tool.description ?? ''}><code>${name(tool.name, 80)}</code>${heard.has(tool.name) ? html`<span class="soft small">worker</span>` : nothing}</li>`)}</ul></details>`;
  }

  async #read(report) {
    const whole = await get(`/reports/${report.id}`).catch((failure) => { toast(failure.message, true); });
    if (whole) show((close) => html`<div class="body"><h2 class="cut">${name(whole.title, 200)}</h2><pre class="code preview report" tabindex="0">${whole.content}</pre><footer><a class="btn" href="/ui/runs/${whole.run_id}" @click=${() => close()}>The run</a><button class="btn first" @click=${() => close()}>Close</button></footer></div>`, 'wide');
  }

  #reports({ items }) {
    if (!items.length) return empty('file', 'No reports', 'A run that has ended has a summary here.');
    return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Reports"><table class="list"><thead><tr><th>Report</th><th>Kind</th><th>Of</th><th class="right">Took</th><th class="right">Tokens</th><th class="right">Cost</th><th>Made</th></tr></thead>
      <tbody>${items.map((each) => html`<tr><td><button class="link" @click=${() => this.#read(each)}><strong>${name(each.title, 160)}</strong></button></td><td>${each.type}</td><td>${badge(each.state)} ${each.agent ? name(each.agent, 60) : nothing}</td><td class="right num">${duration(each.duration_ms)}</td>
        <td class="right num">${short(each.tokens)}</td><td class="right num" title=${exact(each.cost)}>${credits(each.cost)}</td><td>${when(each.created_at)}</td></tr>`)}</tbody></table></div>`;
  }

  #board({ columns }) {
    return html`<div class="board">${columns.map((column) => html`<section class="column" aria-label=${COLUMNS[column.status]}><h2>${COLUMNS[column.status] ?? column.status} <span class="soft num">${count(column.count)}</span></h2>
      <ul class="stack">${column.items.map((task) => html`<li class="card ticket"><strong class="clamp">${name(task.title, 200)}</strong><span class="row small soft"><span class="tag">${task.priority}</span>${task.assignee ? html`<span class="cut">${name(task.assignee, 40)}</span>` : nothing}${task.run_id ? html`<a class="end" href="/ui/runs/${task.run_id}">run</a>` : nothing}</span></li>`)}</ul>
      ${column.more ? html`<p class="small soft">and more</p>` : nothing}</section>`)}</div>`;
  }

  render() {
    const title = { schedules: 'Schedules', workers: 'Workers', reports: 'Reports', board: 'Board' }[this.kind];
    const view = { schedules: this.#schedules, workers: this.#workers, reports: this.#reports, board: this.#board }[this.kind];
    return html`<div class="head"><h1>${title}</h1></div>${this.failure ? problem(this.failure, () => this.#load()) : !this.data ? html`<div class="card">${skeleton()}</div>`
      : this.kind === 'board' ? view.call(this, this.data) : html`<div class="card">${view.call(this, this.data)}</div>`}`;
  }
}
customElements.define('k-list', List);
