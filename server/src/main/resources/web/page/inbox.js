import { html, nothing } from 'lit';
import { all, get, post } from '../api/client.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { count, credits, many } from '../draw/format.js';
import { planDiff } from '../draw/diff.js';
import { KINDS, kindOf } from '../draw/state.js';
import { Page } from '../part/page.js';
import { ago, empty, name, problem, skeleton, toast, when } from '../part/bits.js';
import { formOf } from '../part/answers.js';
import { decided } from '../part/decided.js';
import { edit } from '../part/editor.js';
import '../part/budget.js';
import { icon } from '../part/icon.js';
import { json } from '../part/json.js';
import { comparable, planTasks } from '../part/plan.js';
import { checks, earlier, facts, given, newPlan, result, shown } from '../part/subject.js';

const TITLES = {
  accept: 'Accept',
  reject: 'Reject',
  withdraw: 'Withdraw my approval',
  finish_current: 'Finish what runs',
  done: 'Done by hand',
};
const FAILED = { accept: 'Try again', reject: 'Fail the run' };
const UNDO = { accept: 'Try again', reject: 'Leave not undone' };
const DEAD = { accept: 'Replay', reject: 'Dismiss' };
/** Scopes that answers take besides `approve`. */
const SCOPES = { tool_change: 'admin', dead_letter: 'runs:write' };
const failed = (item) => item.kind === 'escalation' && !item.data?.changes;
const titleOf = (action, item) =>
  (item.data?.undo ? UNDO : failed(item) ? FAILED : item.kind === 'dead_letter' ? DEAD : {})[action] ??
  TITLES[action] ??
  (action[0].toUpperCase() + action.slice(1)).replaceAll('_', ' ');
const mine = (approvals) => approvals?.votes.some((each) => each.by === me.name);
/** Who has approved a question that several people approve. */
const votes = ({ required, votes: given }) =>
  html`<div class="note" role="status">
    ${icon('user')}
    <span
      >${given.length} of ${required} people have
      approved${given.map((each) => html`${each === given[0] ? ': ' : ', '}<strong>${name(each.by, 80)}</strong> ${when(each.at)}${each.reason ? html` (${name(each.reason, 300)})` : nothing}`)}.
      ${mine({ votes: given }) ? 'Another person has to approve.' : 'One rejection decides.'}</span
    >
  </div>`;
/** A clause of the API as a sentence. */
const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}.` : '');
const ANSWERED = new Set([
  'APPROVAL_ALREADY_DECIDED',
  'TICKET_NOT_OPEN',
  'PROPOSAL_NOT_PENDING',
  'INBOX_ITEM_NOT_FOUND',
  'INVALID_STATE_TRANSITION',
  'GATE_CHANGED',
]);

/** Kinds of items whose data the server has put together. The data of the others are of a plan, an agent or another server. */
const OWN = new Set([
  'plan_approval',
  'result_acceptance',
  'task_review',
  'escalation',
  'budget',
  'call_approval',
  'tool_change',
  'dead_letter',
]);
/** Why a person approves an agent's call. */
const CALL_REASONS = {
  always: 'this tool is never called without a person',
  destructive: 'the tool is destructive',
  tainted: 'the agent has read data from outside',
  condition: 'a condition for such calls holds',
  condition_failed: 'a condition for such calls could not be evaluated',
};
/** Members of the data that are shown elsewhere. */
const KNOWN = {
  escalation: ['why', 'undo', 'task_title', 'error_code', 'alike'],
  task_review: ['score', 'attempt'],
  budget: ['total_cost'],
};

/** Where list and question do not fit side by side: a question is a page of its own, with a way back. */
const NARROW = matchMedia('(max-width: 860px)');

/** Events that begin and end no question. */
const NO_QUESTION = /^(run_created|agent_|task_(created|queued|assigned|started)|step_started)/;

/** The inbox in two panes: what waits for a person, and what happens by each answer. */
class Inbox extends Page {
  static properties = {
    items: { state: true },
    failure: { state: true },
    versions: { state: true },
    busy: { state: true },
    changed: { state: true },
    single: { state: true },
    earlier: { state: true },
    files: { state: true },
    roster: { state: true },
  };
  #plansOf = null;
  #agents = null;
  #place = 0;

  constructor() {
    super();
    for (const store of [prefs, me]) this.watch(store);
    this.follows(
      'inbox',
      () => this.#load(),
      (type) => !NO_QUESTION.test(type),
    );
    this.watch(document, 'keydown', (event) => this.#key(event));
  }

  async #load() {
    const query = {
      kind: route.get('kind'),
      run_id: route.get('run'),
      assignee: route.get('mine') ? '@me' : null,
      limit: 100,
    };
    const { items, complete } = await all('/inbox', query, 500);
    this.#set(items, complete && !query.kind && !query.run_id && !query.assignee);
  }

  /** @param whole whether these are all that wait, so that the number beside the page's name is known */
  #set(items, whole) {
    this.items = items;
    this.whole = whole;
    if (whole) document.dispatchEvent(new CustomEvent('keelson-waiting', { detail: items.length }));
  }

  willUpdate() {
    const item = this.#current();
    this.other = this.shown !== undefined && item?.id !== this.shown;
    this.shown = item?.id;
    if (item) this.#place = this.items.indexOf(item);
    if (!item || this.single?.id === item.id || this.asked === item.id) return;
    this.asked = item.id;
    this.files = null;
    this.#actions(item).catch(() => null);
    if (item.data?.artifacts?.length)
      all(`/runs/${item.run_id}/artifacts`, {}, 200).then(
        ({ items }) => {
          if (this.shown === item.id) this.files = items;
        },
        () => null,
      );
  }

  /** Another question is shown from its beginning. */
  updated() {
    if (!this.other) return;
    this.other = false;
    const detail = this.querySelector('.detail');
    if (detail?.getBoundingClientRect().top < 0) detail.scrollIntoView({ block: 'start' });
  }

  /** The chosen question. One that came first by itself stays when others come; where it has gone, the next one in its place is shown. */
  #current() {
    const of = (id) => this.items.find((item) => item.id === id);
    return (
      this.items &&
      (of(route.get('item')) ?? of(this.shown) ?? this.items[Math.min(this.#place, this.items.length - 1)])
    );
  }

  #go(by) {
    const at = this.items.indexOf(this.#current());
    const next = this.items[Math.max(0, Math.min(this.items.length - 1, at + by))];
    if (next) route.set({ item: next.id }, true);
    this.updateComplete.then(() => this.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' }));
  }

  #key(event) {
    if (
      !prefs.values.shortcuts ||
      event.defaultPrevented ||
      event.metaKey ||
      event.ctrlKey ||
      event.altKey ||
      event.target.closest?.('input, textarea, select, dialog') ||
      !this.items?.length
    )
      return;
    const item = this.#current();
    const act = {
      j: () => this.#go(1),
      n: () => this.#go(1),
      k: () => this.#go(-1),
      a: () => this.#accept(item),
      r: () => this.#answer(item, 'reject'),
      e: () => this.#assign(item),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** A budget is raised by the amount in its form. */
  #accept(item) {
    const amount = /** @type {HTMLInputElement | null} */ (this.querySelector('k-budget input'));
    if (amount) amount.select();
    else this.#answer(item, 'accept');
  }

  #lacks(item) {
    return me.lacks('approve') ?? (SCOPES[item.kind] ? me.lacks(SCOPES[item.kind]) : null);
  }

  /** The answers to an item, as the server describes them for a single one. */
  async #actions(item) {
    if (this.single?.id !== item.id || this.single.gate !== item.gate) this.single = await get(`/inbox/${item.id}`);
    return this.single.actions;
  }

  async #answer(item, answer) {
    if (this.#lacks(item) || this.busy || document.querySelector('dialog')) return;
    this.busy = true;
    let action;
    try {
      action = (await this.#actions(item)).find((each) => each.name === answer);
    } catch (failure) {
      await this.#refused(item, failure);
    }
    this.busy = false;
    if (!action || document.querySelector('dialog')) return;
    const models =
      answer === 'downgrade'
        ? (await all('/models', {}, 1000).catch(() => ({ items: [] }))).items.map((each) => each.name)
        : [];
    const form = formOf(item, action, models);
    const title = titleOf(answer, item);
    const done = await edit({
      title: `${title}?`,
      text: html`${name(sentence(action.confirm), 600)}`,
      fields: form.fields,
      more: form.more,
      yes: title,
      danger: answer !== 'accept',
      save: async (values, element) => {
        const body = form.body(values, element);
        try {
          const made = await post(action.href, body);
          return answer === 'withdraw' || made?.decision === 'voted' ? 'voted' : 'answered';
        } catch (failure) {
          if (ANSWERED.has(failure.code)) return failure;
          throw failure;
        }
      },
    });
    if (!done) return;
    if (done === 'voted') {
      toast(
        answer === 'withdraw'
          ? 'Your approval is withdrawn'
          : 'Your approval is recorded. Another person has to approve, too.',
      );
      this.single = null;
    } else if (done === 'answered') {
      toast(
        (failed(item) || item.kind === 'dead_letter' ? null : { accept: 'Accepted', reject: 'Rejected' }[answer]) ??
          `${title}: done`,
      );
      this.changed = null;
      document.dispatchEvent(new Event('keelson-answered'));
      this.#leave(item);
    } else await this.#refused(item, done);
    this.read();
  }

  /** The next question takes the place of an answered one. */
  #leave(item) {
    this.#set(
      this.items.filter((each) => each.id !== item.id),
      this.whole,
    );
    this.shown = null;
    route.set({ item: this.#current()?.id ?? null }, true);
  }

  /** Another output than the one that was looked at, or an answer that another person has given. */
  async #refused(item, failure) {
    this.single = null;
    if (failure.code === 'GATE_CHANGED' && item.gate !== null) this.changed = { before: item, id: item.run_id };
    else if (ANSWERED.has(failure.code)) this.earlier = { item, last: await decided(item) };
    else toast(`${failure.message} (${failure.code})`, true);
  }

  #earlier() {
    const { item, last } = this.earlier ?? {};
    if (!item) return nothing;
    return html`<div class="note" role="status">
      ${icon('info')}
      <div class="stack grow tight">
        <strong>Another person has answered it, or the run has moved on. Nothing was changed by you.</strong>
        <span
          >${name(item.question, 300)}${last ? html` – <strong>${name(last.by, 80)}</strong> ${last.did}, ${when(last.at)}${last.reason ? html`: ${name(last.reason, 300)}` : nothing}` : nothing}</span
        >
      </div>
      <button
        class="btn bare only"
        title="Close"
        aria-label="Close the note"
        @click=${() => {
          this.earlier = null;
        }}
      >
        ${icon('cross', 'small')}
      </button>
    </div>`;
  }

  async #assign(item) {
    const people = (await get('/principals').catch(() => ({ items: [] }))).items
      .filter((each) => each.kind === 'person')
      .map((each) => each.name);
    const done = await edit({
      title: 'Assign',
      text: 'Empty takes the assignment away.',
      yes: 'Assign',
      fields: [{ name: 'assignee', label: 'To', list: people, value: item.assignee ?? me.name }],
      save: ({ assignee }) => post(`/inbox/${item.id}/assign`, { assignee }),
    });
    if (done) toast('Assigned');
    this.read();
  }

  /** A tool that its server describes otherwise than it was accepted. */
  #toolChange({ differences, accepted, seen }) {
    if (!differences) return nothing;
    return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Differences">
        <table class="list both">
          <thead>
            <tr>
              <th>Where</th>
              <th>Accepted</th>
              <th>Now</th>
            </tr>
          </thead>
          <tbody>
            ${differences.map(
              (each) =>
                html`<tr class="differs">
                  <td><code>${name(each.pointer || '/', 200)}</code></td>
                  ${[each.accepted, each.seen].map((value) => html`<td>${value === null ? html`<span class="faint">not there</span>` : name(typeof value === 'string' ? value : JSON.stringify(value, null, 1), 2000)}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${json('As it was accepted', accepted)}${json('As it is now', seen)}`;
  }

  #plan(item) {
    if (item.kind !== 'plan_approval' && !(item.kind === 'escalation' && item.data?.changes)) return nothing;
    if (this.#plansOf !== item.id) {
      this.#plansOf = item.id;
      this.versions = null;
      this.#agents ??= all('/agents', { limit: 500 }, 1000).then(
        ({ items }) => {
          this.roster = items;
        },
        () => null,
      );
      get(`/runs/${item.run_id}/plans`).then(
        ({ items }) => {
          this.versions = items.toSorted((a, b) => a.version - b.version);
        },
        () => null,
      );
    }
    const proposed = item.data?.plan;
    const { changes } = item.data ?? {};
    const last = this.versions?.[this.versions.length - 1];
    const before = changes
      ? last?.plan
      : this.versions?.length > 1
        ? this.versions[this.versions.length - 2].plan
        : null;
    const after = changes || !last ? proposed : last.plan;
    let diff = planDiff(before, after, changes ? comparable : undefined);
    if (changes)
      diff = diff.filter(
        (row) => row.kind !== 'removed' || changes.dropped.includes(row.id) || changes.replaced.includes(row.id),
      );
    return html`${changes ? newPlan(item.data) : nothing}
      <section class="stack">
        <h3>
          ${before ? 'What changes' : 'The plan'}<span class="soft">
            ·
            ${many(item.data?.task_count ?? diff.length, 'task')}${item.data?.estimated_cost ? html`, estimated ${credits(item.data.estimated_cost)}` : nothing}</span
          >
        </h3>
        ${changes || !proposed?.reasoning ? nothing : html`<p class="soft">${shown('Reasoning', proposed.reasoning)}</p>`}${planTasks(diff, this.roster ?? [])}${changes || !after ? nothing : html`<div><button class="btn" ?disabled=${!!this.#lacks(item)} title=${this.#lacks(item) ?? 'Approves the plan as you change it'} @click=${() => this.#edit(item, after)}>${icon('file', 'small')}Edit the plan…</button></div>`}
      </section>`;
  }

  /** The plan as a person changes it takes the place of the one that waits; the server checks it. */
  async #edit(item, plan) {
    const done = await edit({
      title: 'Edit and approve the plan',
      text: 'The changed plan is the next version. The server checks it before it is carried out.',
      yes: 'Approve this plan',
      wide: true,
      fields: [
        {
          name: 'plan',
          label: 'Plan, as JSON',
          kind: 'lines',
          rows: 20,
          required: true,
          value: JSON.stringify(plan, null, 2),
        },
        { name: 'reason', label: 'Comment', most: 2000, hint: 'Stored with the answer' },
      ],
      save: async ({ plan: text, reason }) => {
        let changed;
        try {
          changed = JSON.parse(text ?? '');
        } catch (wrong) {
          throw { input: 'plan', message: `This is not JSON: ${wrong.message}` };
        }
        await post(`/runs/${item.run_id}/approve`, { plan: changed, ...(reason ? { reason } : {}) });
        return true;
      },
    });
    if (!done) return;
    toast('Approved');
    document.dispatchEvent(new Event('keelson-answered'));
    this.#leave(item);
    this.read();
  }

  #data(item) {
    if (item.kind === 'result_acceptance' && item.data) return result(item, this.files);
    if (!OWN.has(item.kind)) return given(item.data, item.question);
    const {
      plan,
      changes,
      earlier: before,
      estimated_cost,
      task_count,
      failed,
      differences,
      accepted,
      seen,
      checks: made,
      output,
      goal,
      task_budgets,
      reason,
      message,
      ...rest
    } = item.data ?? {};
    const asked =
      item.kind === 'escalation'
        ? rest.why
        : item.kind === 'call_approval'
          ? CALL_REASONS[reason]
          : item.kind === 'task_review'
            ? reason
            : null;
    for (const known of KNOWN[item.kind] ?? []) delete rest[known];
    return html`${this.#toolChange({ differences, accepted, seen })}${asked ? html`<p>You are asked because ${name(asked, 300)}.</p>` : nothing}
    ${
      output !== undefined && output !== null
        ? html`<section class="stack">
            <h3>The output</h3>
            <div class="value">${shown('Output', output)}</div>
          </section>`
        : nothing
    }
    ${
      made?.length
        ? html`<section class="stack">
            <h3>How it was checked</h3>
            ${checks(made)}
          </section>`
        : nothing
    }${facts(asked || item.data?.plan ? rest : { ...rest, reason }, ['input', 'schema', 'questions'])}`;
  }

  #detail(item) {
    const lacks = this.#lacks(item);
    const [symbol, kind] = kindOf(item);
    const raised = item.kind === 'budget';
    const beside = failed(item) && (item.data?.undo ? 'done' : 'skip');
    const before = this.changed?.before;
    const others =
      this.single?.id === item.id
        ? this.single.actions.filter(
            (each) =>
              !['accept', 'reject', 'assign'].includes(each.name) && (each.name !== 'withdraw' || mine(item.approvals)),
          )
        : [];
    return html`<article class="card detail" aria-label="The question">
      <header>
        <span class="row i-person">${icon(symbol)}</span
        ><span class="grow cut"
          >${kind}${item.run_id ? html` · <a href="/ui/runs/${item.run_id}${item.task_key ? `?task=${encodeURIComponent(item.task_key)}` : ''}">${name(item.run_name, 80)}</a>` : nothing}${item.task_title ? html` · ${name(item.task_title, 80)}` : nothing}</span
        >
        <button class="btn low bare" @click=${() => this.#assign(item)}>
          ${icon('user', 'small')}${item.assignee ? name(item.assignee, 40) : 'Assign'}
        </button>
      </header>
      <div class="pad stack gap4">
        <h2 class="question">${name(item.question, 2000)}</h2>
        <p class="soft small">
          Waits for
          ${ago(item.created_at)}${item.due_at ? html`, due ${when(item.due_at)}` : nothing}${item.overdue ? html` <strong class="i-failed">overdue</strong>` : nothing}${item.error_code ? html` · <code>${item.error_code}</code>` : nothing}
        </p>
        ${item.approvals ? votes(item.approvals) : nothing}
        ${
          before?.run_id === item.run_id && before.gate !== item.gate
            ? html`<div class="note warn" role="alert">
                ${icon('alert')}
                <div class="stack grow">
                  <strong>The output has changed since you looked. Nothing was decided.</strong
                  >${json('What you saw', before.data?.output, true)}${json('What it is now', item.data?.output, true)}
                </div>
              </div>`
            : nothing
        }
        ${item.data?.alike > 1 && failed(item) ? html`<p class="soft small">One of ${item.data.alike} questions of the run about this failure.</p>` : nothing}
        ${item.body ? html`<p>${name(item.body, 4000)}</p>` : nothing}${item.feedback ? html`<div class="note">${icon('info')}<span>${name(item.feedback, 2000)}</span></div>` : nothing}
        ${
          raised
            ? html`<k-budget
                .item=${item}
                @answered=${() => {
                  this.#leave(item);
                  this.read();
                }}
                @late=${async (event) => {
                  await this.#refused(item, event.detail.failure);
                  this.read();
                }}
              ></k-budget>`
            : nothing
        }
        ${OWN.has(item.kind) ? earlier(item.data?.earlier) : nothing}${OWN.has(item.kind) && item.data?.goal && item.data.goal !== item.run_name ? html`<p class="soft">${name(item.data.goal, 2000)}</p>` : nothing}${this.#plan(item)}${this.#data(item)}
        <section class="stack">
          <h3>What each answer does</h3>
          <dl class="consequences">
            <dt class="i-done">${raised ? 'Raise' : titleOf('accept', item)}</dt>
            <dd>${name(sentence(item.on_accept), 600)}</dd>
            <dt class="i-failed">${titleOf('reject', item)}</dt>
            <dd>${name(sentence(item.on_reject), 600)}</dd>
            ${others.map(
              (each) =>
                html`<dt>
                    <button
                      class="btn low"
                      ?disabled=${!!lacks || this.busy}
                      title=${lacks ?? nothing}
                      @click=${() => this.#answer(item, each.name)}
                    >
                      ${titleOf(each.name, item)}…
                    </button>
                  </dt>
                  <dd>${name(sentence(each.confirm ?? ''), 600)}</dd>`,
            )}
          </dl>
        </section>
      </div>
      <footer class="answers">
        <button
          class="btn first"
          ?disabled=${!!lacks || this.busy}
          title=${lacks ?? nothing}
          @click=${() => this.#accept(item)}
        >
          ${icon(raised ? 'coins' : 'check', 'small')}${raised ? 'Raise…' : titleOf('accept', item)} <kbd>a</kbd>
        </button>
        ${beside ? html`<button class="btn" ?disabled=${!!lacks || this.busy} title=${lacks ?? nothing} @click=${() => this.#answer(item, beside)}>${titleOf(beside, item)}</button>` : nothing}
        <button
          class="btn danger"
          ?disabled=${!!lacks || this.busy}
          title=${lacks ?? nothing}
          @click=${() => this.#answer(item, 'reject')}
        >
          ${icon('cross', 'small')}${titleOf('reject', item)} <kbd>r</kbd>
        </button>
      </footer>
    </article>`;
  }

  #nothing() {
    const run = route.get('run');
    return run
      ? html`<div class="empty">
          ${icon('check')}
          <h2>Nothing of this run waits any more</h2>
          <p class="row wrap">
            <a class="btn" href="/ui/runs/${run}">Back to the run</a
            ><button class="btn bare" @click=${() => route.set({ run: null })}>All questions</button>
          </p>
        </div>`
      : empty('search', 'Nothing of this filter waits', 'Change or remove the filter.');
  }

  render() {
    const item = this.#current();
    return html`<div class="head">
        <h1>Inbox</h1>
        <span class="soft num">${this.items ? count(this.items.length) : ''}</span>
        <span class="end row wrap"
          ><label class="row small"
            ><input
              type="checkbox"
              .checked=${!!route.get('mine')}
              @change=${(event) => route.set({ mine: event.target.checked ? 'yes' : null })}
            />Only mine</label
          >
          <label
            ><span class="hidden-text">Kind</span
            ><select class="input" @change=${(event) => route.set({ kind: event.target.value })}>
              <option value="">All kinds</option>
              ${Object.entries(KINDS).map(([id, [, title]]) => html`<option value=${id} ?selected=${route.get('kind') === id}>${title}</option>`)}
            </select></label
          ></span
        >
      </div>
      ${route.get('run') ? html`<div><button class="chip" @click=${() => route.set({ run: null })}>of one run ${icon('cross', 'small')}</button></div>` : nothing}
      ${this.#earlier()}
      ${
        this.failure
          ? problem(this.failure, () => this.read())
          : !this.items
            ? html`<div class="card">${skeleton()}</div>`
            : !this.items.length
              ? html`<div class="card">
                  ${['run', 'kind', 'mine'].some((each) => route.get(each)) ? this.#nothing() : empty('check', 'Nothing waits for you', 'Approvals, reviews, tickets and proposals appear here.')}
                </div>`
              : html`<div
                  class="panes ${route.get('item') || (route.get('run') && this.items.length === 1) ? 'one' : 'several'}"
                >
                  <button class="btn low back" @click=${() => route.set({ item: null })}>
                    ${icon('left', 'small')}All questions
                  </button>
                  <ul class="card queue" aria-label="Questions">
                    ${this.items.map(
                      (each) =>
                        html`<li>
                          <button
                            class="item"
                            aria-current=${each === item ? 'true' : nothing}
                            @click=${() => route.set({ item: each.id }, !NARROW.matches)}
                          >
                            <span class="row i-person">${icon(kindOf(each)[0])}</span
                            ><span class="grow stack tight"
                              ><span class="cut"><strong>${name(each.run_name ?? kindOf(each)[1], 80)}</strong></span
                              ><span class="cut soft small">${name(each.question, 160)}</span></span
                            >
                            <span class="small soft num"
                              >${each.overdue ? html`<strong class="i-failed">overdue</strong>` : ago(each.created_at)}</span
                            >
                          </button>
                        </li>`,
                    )}
                  </ul>
                  ${this.#detail(item)}
                </div>`
      }`;
  }
}
customElements.define('k-inbox', Inbox);
