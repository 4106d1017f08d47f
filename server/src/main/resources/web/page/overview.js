import { html, nothing } from 'lit';
import { get, now } from '../api/client.js';
import { me } from '../store/me.js';
import { route } from '../store/route.js';
import { runs } from '../store/runs.js';
import { days, count, shortId } from '../draw/format.js';
import { OPEN, family, kindOf, reasonFamily, words } from '../draw/state.js';
import { Page } from '../part/page.js';
import { ago, empty, mark, money, name, problem, sentence, skeleton, spark, stateBar, when } from '../part/bits.js';
import { icon } from '../part/icon.js';

const DAY = 86_400_000;
const HOUR = 3_600_000;

/** The line below a list that does not show all. */
const rest = (all, shown, href) =>
  all > shown ? html`<p class="pad small"><a href=${href}>and ${count(all - shown)} more</a></p>` : nothing;

/** What needs a person, what runs, what failed, what it costs. */
class Overview extends Page {
  static properties = {
    data: { state: true },
    failure: { state: true },
    next: { state: true },
    hours: { state: true },
  };

  constructor() {
    super();
    this.watch(runs);
    this.follows('', () => this.#load(), undefined, 2_000);
  }

  connectedCallback() {
    super.connectedCallback();
    this.ticking = setInterval(() => {
      if (!document.hidden) this.requestUpdate();
    }, 1000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.ticking);
  }

  async #load() {
    const since = new Date(now() - DAY).toISOString();
    const money = me.lacks('credits:read')
      ? [null, null]
      : [get('/credits'), get('/usage', { by: 'day', from: new Date(now() - 13 * DAY).toISOString() })];
    const [inbox, stats, open, states, failed, balance, usage] = await Promise.all([
      get('/inbox', { limit: 6 }),
      get('/inbox/stats'),
      get('/runs', { state: OPEN, now: true, limit: 9 }),
      get('/runs/stats', { state: OPEN }),
      get('/runs', { state: 'failed', created_after: since, limit: 100 }),
      ...money,
    ]);
    for (const page of [open, failed]) page.items = page.items.map((run) => runs.put(run));
    this.data = {
      inbox: inbox.items,
      stats,
      open,
      total: states.items.reduce((sum, each) => sum + each.count, 0),
      failed,
      balance,
      usage,
    };
    [this.next, this.hours] = await Promise.all([
      get('/schedules/next', { limit: 5 }).catch(() => null),
      get('/runs/stats', { by: 'hour', created_after: since }).catch(() => null),
    ]);
  }

  #needs({ inbox, stats }) {
    return html`<section class="card">
      <header>
        <h2>Needs you</h2>
        <span class="count num"
          >${count(stats.total)}${stats.overdue ? html` · <strong class="i-failed">${stats.overdue} overdue</strong>` : nothing}</span
        ><a class="end small" href="/ui/inbox">Inbox</a>
      </header>
      ${
        inbox.length
          ? html`<ul class="lines">
                ${inbox.map(
                  (item) =>
                    html`<li>
                      <a class="line-link" href="/ui/inbox?item=${item.id}"
                        ><span class="i-person row">${icon(kindOf(item)[0])}</span
                        ><span class="grow stack tight"
                          ><span class="cut"><strong>${name(item.run_name ?? kindOf(item)[1], 80)}</strong></span
                          ><span class="cut soft small">${name(item.question, 160)}</span></span
                        >
                        <span class="small num ${item.overdue ? 'i-failed' : 'soft'}"
                          >${item.overdue ? 'overdue' : ago(item.created_at)}</span
                        ></a
                      >
                    </li>`,
                )}
              </ul>
              ${rest(stats.total, inbox.length, '/ui/inbox')}`
          : empty('check', 'Nothing waits for you', 'Approvals, reviews and tickets appear here.')
      }
    </section>`;
  }

  #now({ open: { items: list }, total }) {
    return html`<section class="card">
      <header>
        <h2>Now</h2>
        <span class="count num">${count(total)} open</span><a class="end small" href="/ui/runs">Runs</a>
      </header>
      ${
        list.length
          ? html`<ul class="lines">
                ${list.map((run) => {
                  const reason = runs.reason(run);
                  return html`<li>
                    <a class="line-link" href="/ui/runs/${run.id}"
                      >${reason ? mark(reasonFamily(reason.code), reason.code) : mark(family(run.state), words(run.state))}<span
                        class="grow stack tight"
                        ><span class="cut"
                          ><strong>${name(run.name, 80)}</strong>
                          <span class="faint mono small">${shortId(run.id)}</span></span
                        >
                        <span class="cut soft small"
                          >${reason ? sentence(reason.text, 200) : words(run.state)}</span
                        ></span
                      >
                      <span class="mini"
                        >${stateBar({ done: run.tasks_completed, failed: run.tasks_failed, ended: run.tasks_skipped }, run.task_count, family(run.state))}</span
                      ><span class="small soft num">${ago(run.created_at)}</span></a
                    >
                  </li>`;
                })}
              </ul>
              ${rest(total, list.length, '/ui/runs')}`
          : empty(
              'play',
              'Nothing runs',
              'Start a run from a recipe, or from the command line:',
              'keelson run examples/repository-report.yaml',
            )
      }
    </section>`;
  }

  /** The dialog says first how many runs of the last 24 hours these are. */
  async #retry(code) {
    const { bulk } = await import('../part/bulk.js');
    await bulk('retry', { state: 'failed', error_code: code, created_after: new Date(now() - DAY).toISOString() });
    this.read();
  }

  #failed({ failed }) {
    const lacks = me.lacks('runs:write');
    const groups = new Map();
    for (const run of failed.items) groups.set(run.error_code, [...(groups.get(run.error_code) ?? []), run]);
    const sorted = [...groups].sort((a, b) => b[1].length - a[1].length).slice(0, 6);
    return html`<section class="card">
      <header>
        <h2>Failed</h2>
        <span class="count num">${count(failed.items.length)}${failed.next_cursor ? '+' : ''} in 24 hours</span
        ><a class="end small" href="/ui/runs?view=failed">All failed</a>
      </header>
      ${
        sorted.length
          ? html`<ul class="lines">
              ${sorted.map(
                ([code, list]) =>
                  html`<li class="with-act">
                    <a class="line-link grow" href="/ui/runs?view=failed&error_code=${encodeURIComponent(code ?? '')}"
                      ><strong class="num big i-failed">${count(list.length)}</strong
                      ><span class="grow stack tight"
                        ><code class="cut">${code}</code>
                        <span class="cut soft small"
                          >${name([...new Set(list.map((run) => run.name))].slice(0, 4).join(', '), 200)}</span
                        ></span
                      ><span class="small soft">${ago(list[0].completed_at)}</span></a
                    >
                    ${code ? html`<button class="btn low" ?disabled=${!!lacks} title=${lacks ?? nothing} aria-label="Retry all with ${code}" @click=${() => this.#retry(code)}>Retry all…</button>` : nothing}
                  </li>`,
              )}
            </ul>`
          : empty('check', 'Nothing failed', 'in the last 24 hours.')
      }
    </section>`;
  }

  #cost({ balance, usage }) {
    if (!balance) return nothing;
    const list = days(usage.items, usage.from, usage.to);
    const today = list[list.length - 1]?.credits ?? 0;
    return html`<section class="card">
      <header>
        <h2>Cost</h2>
        <a class="end small" href="/ui/money">Money</a>
      </header>
      <div class="pad cost">
        <div><span class="soft small">Today</span><strong>${money(today)}</strong></div>
        <div><span class="soft small">14 days</span><strong>${money(usage.total.credits)}</strong></div>
        <div><span class="soft small">Available</span><strong>${money(balance.available)}</strong></div>
        ${spark(
          list.map((each) => each.credits),
          'Credits per day, 14 days',
        )}
      </div>
    </section>`;
  }

  /** Runs by the hour in which they were created. */
  #day() {
    if (!this.hours) return nothing;
    const known = new Map(this.hours.items.map((each) => [Date.parse(each.key), each]));
    const last = Math.floor(now() / HOUR) * HOUR;
    const list = Array.from(
      { length: 24 },
      (_, i) => known.get(last - (23 - i) * HOUR) ?? { count: 0, completed: 0, failed: 0 },
    );
    const sum = (member) => list.reduce((all, each) => all + each[member], 0);
    return html`<section class="card">
      <header>
        <h2>24 hours</h2>
        <span class="count">by creation</span>
      </header>
      <div class="pad cost">
        <div><span class="soft small">Runs</span><strong class="num">${count(sum('count'))}</strong></div>
        <div><span class="soft small">Done</span><strong class="num">${count(sum('completed'))}</strong></div>
        <div>
          <span class="soft small">Failed</span
          ><strong class="num ${sum('failed') ? 'i-failed' : ''}">${count(sum('failed'))}</strong>
        </div>
        ${spark(
          list.map((each) => each.count),
          'Runs created per hour, 24 hours',
        )}
      </div>
    </section>`;
  }

  #next() {
    if (!this.next?.items.length) return nothing;
    return html`<section class="card">
      <header>
        <h2>Next</h2>
        <a class="end small" href="/ui/schedules">Schedules</a>
      </header>
      <ul class="lines">
        ${this.next.items.map(
          (each) =>
            html`<li class="line-link">
              <span class="row">${icon('clock')}</span
              ><span class="grow cut"><strong>${name(each.name, 80)}</strong></span
              ><span class="small soft num">${when(each.at)}</span>
            </li>`,
        )}
      </ul>
    </section>`;
  }

  render() {
    if (this.failure) return problem(this.failure, () => this.read());
    const head = html`<div class="head">
      <h1>Overview</h1>
      <span class="end"><a class="btn first" href="/ui/launch">${icon('play', 'small')}Launch</a></span>
    </div>`;
    if (!this.data)
      return html`${head}
        <div class="halves">
          <div class="card">${skeleton()}</div>
          <div class="card">${skeleton()}</div>
        </div>`;
    return html`${head}
      <div class="halves">
        <div class="stack gap4">${this.#needs(this.data)}${this.#failed(this.data)}${this.#day()}</div>
        <div class="stack gap4">${this.#now(this.data)}${this.#cost(this.data)}${this.#next()}</div>
      </div>`;
  }
}
customElements.define('k-overview', Overview);
