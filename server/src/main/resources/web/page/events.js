import { html, nothing } from 'lit';
import { get } from '../api/client.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { runs } from '../store/runs.js';
import { count, label, shortId } from '../draw/format.js';
import { Page } from '../part/page.js';
import { empty, name, problem, skeleton, toast } from '../part/bits.js';
import { icon } from '../part/icon.js';
import { eventRow, hasWords } from '../part/event.js';

const PAGE = 100;
const MOST = 1_000;
/** Kinds of events: a title, and their types. @type {Record<string, [string, string[]]>} */
const KINDS = {
  runs: [
    'Runs begin and end',
    ['run_created', 'run_started', 'run_completed', 'run_failed', 'run_cancelled', 'run_skipped', 'run_retrying'],
  ],
  failures: [
    'Failures and retries',
    [
      'run_failed',
      'agent_failed',
      'task_failed',
      'task_retrying',
      'task_crashed',
      'step_failed',
      'step_retrying',
      'step_lease_expired',
      'task_verification_failed',
      'stall_detected',
      'run_planning_refused',
      'run_replan_failed',
      'model_fallback',
      'model_answer_lost',
    ],
  ],
  people: [
    'Questions and answers',
    [
      'run_plan_ready',
      'run_approved',
      'run_rejected',
      'run_acceptance_requested',
      'run_accepted',
      'step_approval_requested',
      'step_approved',
      'step_rejected',
      'task_human_review_requested',
      'task_human_approved',
      'task_human_rejected',
      'approval_voted',
      'approval_vote_withdrawn',
      'escalation_opened',
      'escalation_resolved',
      'proposal_created',
      'proposal_accepted',
      'proposal_rejected',
      'run_paused',
      'run_resumed',
    ],
  ],
  money: [
    'Budgets',
    [
      'run_budget_warning',
      'run_budget_threshold',
      'run_budget_exceeded',
      'run_budget_changed',
      'run_budget_approved',
      'run_budget_increased',
      'run_credits_extended',
      'run_downgraded',
      'run_finishing',
    ],
  ],
};

/** What happens in the workspace, newest first, and as it happens. */
class Events extends Page {
  static properties = {
    items: { state: true },
    failure: { state: true },
    text: { state: true },
    held: { state: true },
    busy: { state: true },
  };
  #asked = null;
  #cursor = null;
  #names = new Map();

  constructor() {
    super();
    this.watch(prefs);
    this.follows('events', () => (this.held && this.items ? Promise.resolve() : this.#load()));
  }

  #query(more = {}) {
    return { types: KINDS[route.get('kind')]?.[1].join(',') ?? null, run_id: route.get('run'), limit: PAGE, ...more };
  }

  /** The newest page; what was read before stays below it, unless events between them are missing. */
  async #load() {
    const query = this.#query();
    const asked = JSON.stringify(query);
    const { items, next_cursor: cursor } = await get('/events', query);
    const known = this.#asked === asked ? (this.items ?? []) : [];
    const ids = new Set(known.map((each) => each.id));
    const joined = items.some((each) => ids.has(each.id)) || (items.length === 0 && known.length > 0);
    if (!joined) this.#cursor = cursor;
    this.#asked = asked;
    this.items = joined ? [...items.filter((each) => !ids.has(each.id)), ...known].slice(0, MOST) : items;
    this.#call(items);
  }

  /** Looks through the past until a page has events. */
  async #older() {
    this.busy = true;
    const asked = this.#asked;
    try {
      for (let found = 0; !found && this.#cursor;) {
        const page = await get('/events', this.#query({ cursor: this.#cursor }));
        if (asked !== this.#asked) return;
        found = page.items.length;
        this.#cursor = page.next_cursor;
        this.items = [...this.items, ...page.items];
        this.#call(page.items);
      }
    } catch (failure) {
      toast(failure.message, true);
    } finally {
      this.busy = false;
    }
  }

  /** Names of runs, each asked for once. */
  #call(items) {
    for (const id of new Set(items.map((each) => each.run_id))) {
      if (this.#names.has(id)) continue;
      this.#names.set(id, runs.get(id)?.name ?? null);
      if (!runs.get(id))
        get(`/runs/${id}`, { fields: 'name' }).then(
          (run) => {
            this.#names.set(id, run.name);
            this.requestUpdate();
          },
          () => null,
        );
    }
  }

  #run(event) {
    return html`<a href="/ui/runs/${event.run_id}?view=events"
      >${this.#names.get(event.run_id) ? name(this.#names.get(event.run_id), 40) : nothing}
      <span class="mono small">${shortId(event.run_id)}</span></a
    >`;
  }

  #list() {
    if (this.failure) return problem(this.failure, () => this.read());
    if (!this.items || this.#asked !== JSON.stringify(this.#query()))
      return html`<div class="card">${skeleton()}</div>`;
    const shown = this.items.filter((each) => hasWords(each, this.text));
    return html`<div class="card">
      ${
        shown.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Events">
              <table class="list events">
                <thead>
                  <tr>
                    <th>Time</th>
                    <th>Run</th>
                    <th>Event</th>
                    <th>By</th>
                    <th>Details</th>
                  </tr>
                </thead>
                <tbody>
                  ${shown.map((event) => eventRow(event, this.#run(event)))}
                </tbody>
              </table>
            </div>`
          : empty('list', 'No event is like that', 'Change or remove the filter, or look further back.')
      }
      ${this.#cursor ? html`<p class="pad"><button class="btn low" ?disabled=${this.busy} @click=${() => this.#older()}>${this.busy ? 'Loading…' : 'Older events'}</button></p>` : nothing}
    </div>`;
  }

  render() {
    const run = route.get('run');
    return html`<div class="head">
        <h1>Events</h1>
        <span class="soft num">${this.items ? count(this.items.length) : ''}</span>
        <span class="end row wrap"
          ><label class="row small"
            ><input
              type="checkbox"
              .checked=${!this.held}
              @change=${(event) => {
                this.held = !event.target.checked;
                this.read();
              }}
            />Follow</label
          >
          <label
            ><span class="hidden-text">Kind</span
            ><select class="input" @change=${(event) => route.set({ kind: event.target.value })}>
              <option value="">All kinds</option>
              ${Object.entries(KINDS).map(([id, [title]]) => html`<option value=${id} ?selected=${route.get('kind') === id}>${title}</option>`)}
            </select></label
          ></span
        >
      </div>
      <div class="filters">
        <label class="search"
          >${icon('search', 'small')}<span class="hidden-text">Filter events</span
          ><input
            type="search"
            placeholder="Filter by type, person or payload"
            @input=${(event) => {
              this.text = event.target.value.trim().toLowerCase();
            }}
        /></label>
        ${run ? html`<button class="chip" @click=${() => route.set({ run: null })}>run: <bdi>${label(this.#names.get(run) ?? shortId(run), 60)}</bdi> ${icon('cross', 'small')}<span class="hidden-text">remove</span></button>` : nothing}
      </div>
      ${this.#list()}`;
  }
}
customElements.define('k-events', Events);
