import { html, nothing } from 'lit';
import { address, get } from '../api/client.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { duration, label, short } from '../draw/format.js';
import { Page } from '../part/page.js';
import { ago, badge, empty, money, name, problem, skeleton, toast } from '../part/bits.js';
import { icon } from '../part/icon.js';

const PAGE = 50;
const TYPES = ['summary', 'standup', 'research', 'incident', 'delivery', 'audit'];

/** Reports: the list, and the chosen one as the server renders it, in a frame without scripts and without an origin. */
class Reports extends Page {
  static properties = { items: { state: true }, cursor: { state: true }, failure: { state: true } };

  constructor() {
    super();
    this.watch(prefs);
    this.follows(
      'reports',
      () => this.#load(),
      (type) => /^(run|task)_(completed|failed|skipped)/.test(type),
      3_000,
    );
  }

  #query() {
    return { run_id: route.get('run'), type: route.get('type'), agent: route.get('agent'), limit: PAGE };
  }

  async #load() {
    const page = await get('/reports', this.#query());
    const asked = route.get('report');
    const extra =
      asked && !page.items.some((each) => each.id === asked) ? await get(`/reports/${asked}`).catch(() => null) : null;
    this.items = extra ? [extra, ...page.items] : page.items;
    this.cursor = page.next_cursor;
  }

  async #more() {
    const page = await get('/reports', { ...this.#query(), cursor: this.cursor }).catch((failure) => {
      toast(failure.message, true);
    });
    if (page) {
      this.items = [...this.items, ...page.items];
      this.cursor = page.next_cursor;
    }
  }

  #report(report) {
    return html`<article class="card report-card" aria-label="The report">
      <header>
        <span class="row grow"
          >${badge(report.state)}
          ${report.failures ? html`<span class="i-failed small">${report.failures} failed</span>` : nothing}</span
        >
        <span class="soft small num"
          >${duration(report.duration_ms)} · ${short(report.tokens)} tokens · ${money(report.cost)}</span
        >
        ${report.run_id ? html`<a class="btn low" href="/ui/runs/${report.run_id}">The run</a>` : nothing}<a
          class="btn low bare only"
          title="Open by itself"
          aria-label="Open by itself"
          target="_blank"
          rel="noopener"
          href=${address(`/reports/${report.id}`)}
          >${icon('right', 'small')}</a
        >
      </header>
      <iframe
        class="frame"
        title=${label(report.title, 200)}
        sandbox="allow-popups allow-popups-to-escape-sandbox"
        referrerpolicy="no-referrer"
        src=${address(`/reports/${report.id}`)}
      ></iframe>
    </article>`;
  }

  render() {
    const current = this.items?.find((each) => each.id === route.get('report')) ?? this.items?.[0];
    const chips = ['run', 'agent'].filter((each) => route.get(each));
    return html`<div class="head">
        <h1>Reports</h1>
        <span class="end"
          ><label
            ><span class="hidden-text">Kind</span
            ><select class="input" @change=${(event) => route.set({ type: event.target.value, report: null })}>
              <option value="">All kinds</option>
              ${TYPES.map((type) => html`<option value=${type} ?selected=${route.get('type') === type}>${type}</option>`)}
            </select></label
          ></span
        >
      </div>
      ${chips.length ? html`<div class="row wrap">${chips.map((each) => html`<button class="chip" @click=${() => route.set({ [each]: null, report: null })}>${each}: ${name(route.get(each), 60)}${icon('cross', 'small')}<span class="hidden-text">remove</span></button>`)}</div>` : nothing}
      ${
        this.failure
          ? problem(this.failure, () => this.read())
          : !this.items
            ? html`<div class="card">${skeleton()}</div>`
            : !current
              ? html`<div class="card">
                  ${chips.length || route.get('type') ? empty('search', 'No report is like that', 'Remove the filter.') : empty('file', 'No reports', 'A run that has ended has a summary here, and so has each of its tasks.')}
                </div>`
              : html`<div class="panes">
                  <ul class="card queue" aria-label="Reports">
                    ${this.items.map(
                      (each) =>
                        html`<li>
                          <button
                            class="item"
                            aria-current=${each === current ? 'true' : nothing}
                            @click=${() => route.set({ report: each.id }, true)}
                          >
                            <span class="row">${icon(each.task_id ? 'file' : 'list', 'small')}</span
                            ><span class="grow stack tight"
                              ><strong class="cut">${name(each.title, 160)}</strong
                              ><span class="row small soft"
                                >${each.task_id ? 'task' : 'run'}${each.agent ? html` · ${name(each.agent, 40)}` : nothing}
                                ${each.state === 'completed' && !each.failures ? nothing : badge(each.state)}</span
                              ></span
                            >
                            <span class="small soft num">${ago(each.created_at)}</span>
                          </button>
                        </li>`,
                    )}${this.cursor ? html`<li class="pad"><button class="btn low" @click=${() => this.#more()}>More</button></li>` : nothing}
                  </ul>
                  ${this.#report(current)}
                </div>`
      }`;
  }
}
customElements.define('k-reports', Reports);
