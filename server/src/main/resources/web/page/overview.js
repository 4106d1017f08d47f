import { html, nothing } from 'lit';
import { get, now } from '../api/client.js';
import { me } from '../store/me.js';
import { route } from '../store/route.js';
import { runs } from '../store/runs.js';
import { days, count, credits, exact, shortId } from '../draw/format.js';
import { OPEN, family, kindOf, reasonFamily, words } from '../draw/state.js';
import { Page } from '../part/page.js';
import { ago, empty, mark, name, problem, sentence, skeleton, spark, stateBar } from '../part/bits.js';
import { icon } from '../part/icon.js';

const DAY = 86_400_000;

/** The line below a list that does not show all. */
const rest = (all, shown, href) => (all > shown ? html`<p class="pad small"><a href=${href}>and ${count(all - shown)} more</a></p>` : nothing);

/** What needs a person, what runs, what failed, what it costs. */
class Overview extends Page {
  static properties = { data: { state: true }, failure: { state: true } };

  constructor() {
    super();
    this.watch(runs);
    this.follows('', () => this.#load(), undefined, 2_000);
  }

  connectedCallback() {
    super.connectedCallback();
    this.ticking = setInterval(() => { if (!document.hidden) this.requestUpdate(); }, 1000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.ticking);
  }

  async #load() {
    const since = new Date(now() - DAY).toISOString();
    const money = me.lacks('credits:read') ? [null, null] : [get('/credits'), get('/usage', { by: 'day', from: new Date(now() - 13 * DAY).toISOString() })];
    const [inbox, stats, open, states, failed, balance, usage, schedules] = await Promise.all([get('/inbox', { limit: 6 }), get('/inbox/stats'), get('/runs', { state: OPEN, now: true, limit: 9 }),
      get('/runs/stats', { state: OPEN }), get('/runs', { state: 'failed', created_after: since, limit: 100 }), ...money, get('/schedules', { limit: 5 }).catch(() => null)]);
    for (const page of [open, failed]) page.items = page.items.map((run) => runs.put(run));
    this.data = { inbox: inbox.items, stats, open, total: states.items.reduce((sum, each) => sum + each.count, 0), failed, balance, usage, schedules };
  }

  #needs({ inbox, stats }) {
    return html`<section class="card"><header><h2>Needs you</h2><span class="count num">${count(stats.total)}${stats.overdue ? html` · <strong class="i-failed">${stats.overdue} overdue</strong>` : nothing}</span><a class="end small" href="/ui/inbox">Inbox</a></header>
      ${inbox.length ? html`<ul class="lines">${inbox.map((item) => html`<li><a class="line-link" href="/ui/inbox?item=${item.id}"><span class="i-person row">${icon(kindOf(item)[0])}</span><span class="grow stack tight"><span class="cut"><strong>${name(item.run_name ?? kindOf(item)[1], 80)}</strong></span><span class="cut soft small">${name(item.question, 160)}</span></span>
        <span class="small num ${item.overdue ? 'i-failed' : 'soft'}">${item.overdue ? 'overdue' : ago(item.created_at)}</span></a></li>`)}</ul>${rest(stats.total, inbox.length, '/ui/inbox')}` : empty('check', 'Nothing waits for you', 'Approvals, reviews and tickets appear here.')}</section>`;
  }

  #now({ open: { items: list }, total }) {
    return html`<section class="card"><header><h2>Now</h2><span class="count num">${count(total)} open</span><a class="end small" href="/ui/runs">Runs</a></header>
      ${list.length ? html`<ul class="lines">${list.map((run) => {
    const reason = runs.reason(run);
    return html`<li><a class="line-link" href="/ui/runs/${run.id}">${reason ? mark(reasonFamily(reason.code), reason.code) : mark(family(run.state), words(run.state))}<span class="grow stack tight"><span class="cut"><strong>${name(run.name, 80)}</strong> <span class="faint mono small">${shortId(run.id)}</span></span>
          <span class="cut soft small">${reason ? sentence(reason.text, 200) : words(run.state)}</span></span>
          <span class="mini">${stateBar({ done: run.tasks_completed, failed: run.tasks_failed, ended: run.tasks_skipped }, run.task_count)}</span><span class="small soft num">${ago(run.created_at)}</span></a></li>`;
  })}</ul>${rest(total, list.length, '/ui/runs')}` : empty('play', 'Nothing runs', 'Start a run from a recipe, or from the command line:', 'keelson run examples/repository-report.yaml')}</section>`;
  }

  #failed({ failed }) {
    const groups = new Map();
    for (const run of failed.items) groups.set(run.error_code, [...(groups.get(run.error_code) ?? []), run]);
    const sorted = [...groups].sort((a, b) => b[1].length - a[1].length).slice(0, 6);
    return html`<section class="card"><header><h2>Failed</h2><span class="count num">${count(failed.items.length)}${failed.next_cursor ? '+' : ''} in 24 hours</span><a class="end small" href="/ui/runs?view=failed">All failed</a></header>
      ${sorted.length ? html`<ul class="lines">${sorted.map(([code, list]) => html`<li><a class="line-link" href="/ui/runs?view=failed&error_code=${encodeURIComponent(code ?? '')}"><strong class="num big i-failed">${count(list.length)}</strong><span class="grow stack tight"><code class="cut">${code}</code>
        <span class="cut soft small">${name([...new Set(list.map((run) => run.name))].slice(0, 4).join(', '), 200)}</span></span><span class="small soft">${ago(list[0].completed_at)}</span></a></li>`)}</ul>` : empty('check', 'Nothing failed', 'in the last 24 hours.')}</section>`;
  }

  #cost({ balance, usage }) {
    if (!balance) return nothing;
    const list = days(usage.items, usage.from, usage.to);
    const today = list[list.length - 1]?.credits ?? 0;
    return html`<section class="card"><header><h2>Cost</h2><a class="end small" href="/ui/money">Money</a></header><div class="pad cost"><div><span class="soft small">Today</span><strong class="num" title=${exact(today)}>${credits(today)}</strong></div><div><span class="soft small">14 days</span><strong class="num" title=${exact(usage.total.credits)}>${credits(usage.total.credits)}</strong></div>
      <div><span class="soft small">Available</span><strong class="num" title=${exact(balance.available)}>${credits(balance.available)}</strong></div>${spark(list.map((each) => each.credits), 'Credits per day, 14 days')}</div></section>`;
  }

  render() {
    if (this.failure) return problem(this.failure, () => this.read());
    const head = html`<div class="head"><h1>Overview</h1><span class="end"><a class="btn first" href="/ui/launch">${icon('play', 'small')}Launch</a></span></div>`;
    if (!this.data) return html`${head}<div class="halves"><div class="card">${skeleton()}</div><div class="card">${skeleton()}</div></div>`;
    return html`${head}<div class="halves"><div class="stack gap4">${this.#needs(this.data)}${this.#failed(this.data)}</div><div class="stack gap4">${this.#now(this.data)}${this.#cost(this.data)}</div></div>`;
  }
}
customElements.define('k-overview', Overview);
