import { html, nothing } from 'lit';
import { get, post } from '../api/client.js';
import { me } from '../store/me.js';
import { Part } from './base.js';
import { name, problem, toast } from './bits.js';
import { icon } from './icon.js';

/** Of an answer that comes too late: another person has given one, or another question waits. */
const LATE = new Set(['GATE_CHANGED', 'INBOX_ITEM_NOT_FOUND', 'INVALID_STATE_TRANSITION', 'RUN_FINISHING']);

/** An amount with all of its digits that tell something. */
const exactly = (value) => String(Number(Number(value ?? 0).toFixed(6)));

/** Twice the limit, or what the next step needs, with at most two digits that are not zero. */
function proposed(limit, needed) {
  const least = Math.max(2 * Number(limit ?? 0), Number(needed ?? 0));
  if (!least) return '';
  const unit = 10 ** (Math.floor(Math.log10(least)) - 1);
  return String(Number((Math.ceil(least / unit - 1e-9) * unit).toPrecision(2)));
}

/**
 * The question about the budget of a run that has stopped: an amount for each limit that stopped it, and the button that raises
 * it. `run` is the run's id, and `version` its version; or `item` is its inbox item. Sends the event `answered` after an answer,
 * and `late` with item and refusal where the question does not wait any more; both bubble.
 */
class Budget extends Part {
  static properties = {
    run: { type: String },
    version: { type: Number },
    item: { attribute: false },
    found: { state: true },
    reasons: { state: true },
    busy: { state: true },
    failure: { state: true },
    wrong: { state: true },
  };
  #asked = '';

  willUpdate() {
    const of = this.item?.id ?? `${this.run} ${this.version}`;
    if (this.#asked === of) return;
    this.#asked = of;
    if (this.item && this.item.id !== this.found?.id) this.found = null;
    this.#load(of);
  }

  async #load(of) {
    try {
      const id = this.item?.run_id ?? this.run;
      const [items, explained] = await Promise.all([
        this.item ? null : get('/inbox', { run_id: id, kind: 'budget' }),
        get(`/runs/${id}/explain`),
      ]);
      if (this.#asked !== of) return;
      const found = items ? (items.items[0] ?? null) : this.item;
      const other = found?.id !== this.found?.id;
      Object.assign(this, { found, reasons: explained.reasons.filter((reason) => reason.code === 'BUDGET_EXCEEDED') });
      if (!other) return;
      Object.assign(this, { failure: null, wrong: {} });
      await this.updateComplete;
      this.querySelector('form')?.reset();
    } catch (failure) {
      if (this.#asked === of) this.failure = failure;
    }
  }

  /** The limits that stopped the run; none where the workspace has no credits left. */
  #limits() {
    const { data, hard_limit_usd: now } = this.found;
    const needed = (task) =>
      this.reasons.find((reason) => task === null || reason.on.includes(task))?.needed_usd ?? null;
    const tasks = (data?.task_budgets ?? []).filter((each) => each.exceeded);
    const limit = (task, label, before, used) => ({
      task,
      label,
      now: before,
      needed: needed(task) ?? used,
      known: needed(task) > used,
    });
    if (tasks.length)
      return tasks.map((each) =>
        limit(each.task, html`New budget of ${name(each.task, 60)}`, each.budget_usd, each.used),
      );
    return needed(null) === null ? [] : [limit(null, 'New limit of the run', now, data?.charged ?? 0)];
  }

  async #raise(event, limits) {
    event.preventDefault();
    if (this.busy) return;
    const values = [...event.target.querySelectorAll('input')].map((input) =>
      input.value.trim() === '' ? NaN : Number(input.value),
    );
    this.wrong = Object.fromEntries(
      limits.flatMap(({ needed, known }, i) =>
        values[i] > needed || (known && values[i] === Number(needed))
          ? []
          : [[i, known ? `It must be ${exactly(needed)} or more.` : `It must be more than ${exactly(needed)}.`]],
      ),
    );
    if (Object.keys(this.wrong).length) return;
    const tasks = Object.fromEntries(limits.flatMap(({ task }, i) => (task === null ? [] : [[task, values[i]]])));
    await this.#send(Object.keys(tasks).length ? { tasks } : limits.length ? { hard_limit_usd: values[0] } : {});
  }

  async #send(body) {
    const { found } = this;
    this.busy = true;
    this.failure = null;
    try {
      await post(found.links.accept, body);
      toast('The run continues');
      document.dispatchEvent(new Event('keelson-answered'));
      this.dispatchEvent(new CustomEvent('answered', { bubbles: true, detail: found }));
    } catch (failure) {
      this.failure = failure;
      if (LATE.has(failure.code)) {
        this.#asked = '';
        this.requestUpdate();
        this.dispatchEvent(new CustomEvent('late', { bubbles: true, detail: { item: found, failure } }));
      }
    } finally {
      this.busy = false;
    }
  }

  #button(title) {
    const lacks = me.lacks('approve');
    return html`<button class="btn first" ?disabled=${!!lacks || this.busy} title=${lacks ?? nothing}>
      ${icon('play', 'small')}${this.busy ? 'Sending…' : title}
    </button>`;
  }

  #field({ label, now, needed, known }, i, last) {
    const id = `budget-${i}`;
    return html`<div class="field">
      <label for=${id}>${label}</label
      ><span class="row wrap"
        ><input
          class="input num"
          id=${id}
          type="number"
          step="any"
          min="0"
          required
          .defaultValue=${proposed(now, needed)}
          aria-describedby="${id}-hint"
          aria-invalid=${!!this.wrong?.[i]}
          autocomplete="off"
        /><span>credits</span>${last ? this.#button('Raise and go on') : nothing}</span
      >
      <span class="small soft" id="${id}-hint"
        >Now ${exactly(now)} credits.
        ${known ? `The run continues with ${exactly(needed)} credits or more` : `It must be more than ${exactly(needed)} credits, which are used`}.</span
      >${this.wrong?.[i] ? html`<span class="small i-failed" role="alert">${this.wrong[i]}</span>` : nothing}
    </div>`;
  }

  render() {
    if (!this.found || !this.reasons) return this.failure ? problem(this.failure) : nothing;
    const limits = this.#limits();
    return html`<form class="budget stack" novalidate @submit=${(event) => this.#raise(event, limits)}>
      ${limits.map((limit, i) => this.#field(limit, i, i === limits.length - 1))}
      ${limits.length ? nothing : html`<span class="row wrap"><a class="btn" href="/ui/money">${icon('coins', 'small')}Grant credits</a>${this.#button('Go on')}</span>`}${this.failure ? problem(this.failure) : nothing}
    </form>`;
  }
}
customElements.define('k-budget', Budget);
