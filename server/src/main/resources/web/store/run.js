// One run as its page shows it: the run, short rows of its tasks with their stretches of time, and why it is not further.
import { get, known } from '../api/client.js';
import { isOpen, tally } from '../draw/state.js';
import { me } from './me.js';
import { runs } from './runs.js';

/** Up to so many tasks all rows are read again after a change; of larger runs only those that changed. */
const WHOLE = 500;
/** How often the sums of a large run's times are read again while it is open. */
const SUMS_MS = 20_000;
/** Between an answer about a run's reasons and the next question. */
const MOST_PAUSE_MS = 1_500;

/** The state that a row shows: that of its waiting steps, if it only waits. */
const shown = (row) => ({ ...row, state: row.waits ?? row.state });

export class RunData extends EventTarget {
  tasks = null;
  reasons = [];
  /** Open tasks whose reasons are not among them. */
  leftOut = 0;
  failure = null;
  /** When the run was found to be deleted, or null. */
  gone = null;
  /** The entry of the audit log about that, for those who may read it. */
  deletion = null;
  timeline = null;
  #rows = new Map();
  #count = 0;
  #busy = false;
  #explaining = false;
  /** The run as it was read while an earlier state of it was being explained. */
  #unexplained = null;
  #again = false;
  #timer = null;
  #took = 0;
  #sums = 0;
  #closed = false;

  constructor(id) {
    super();
    this.id = id;
  }

  get run() {
    return runs.get(this.id);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Gathers changes: at most four reads a second, and fewer of a large run. A hidden page reads nothing. */
  soon() {
    if (this.#closed) return;
    this.#timer ??= setTimeout(
      () => {
        this.#timer = null;
        if (document.hidden) this.missed = true;
        else this.load();
      },
      Math.max(250, this.#took * 3),
    );
  }

  /** Reads what was left out while the page was hidden. */
  seen() {
    if (this.missed) {
      this.missed = false;
      this.load();
    }
  }

  async load() {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    const begun = performance.now();
    try {
      const first = this.timeline ? null : get(`/runs/${this.id}/timeline`);
      first?.catch(() => null);
      const run = runs.put(await get(`/runs/${this.id}`, { light: true }));
      this.failure = null;
      this.#tell();
      if (document.hidden) {
        this.missed = true;
        return;
      }
      this.#explain(run);
      this.#take(await (first ?? this.#times(run)), run);
    } catch (failure) {
      if (failure.status === 404 && this.run) this.#lost();
      else this.failure = failure;
    } finally {
      this.#busy = false;
      this.#took = performance.now() - begun;
      if (this.#again) {
        this.#again = false;
        this.soon();
      }
      this.#tell();
    }
  }

  /** Asks only whether there is news, by the number of the last event. */
  async check() {
    const status = await known(`/runs/${this.id}/status`).catch((failure) => {
      if (failure.status === 404 && this.run) this.#lost();
    });
    if (!status && !this.failure) return;
    if (document.hidden) this.missed = true;
    else await this.load();
  }

  /** The audit log has who deleted it among its last entries. */
  async #lost() {
    if (this.gone) return;
    this.gone = Date.now();
    this.#tell();
    if (me.lacks('operator')) return;
    const log = await get('/audit', { limit: 200 }).catch(() => null);
    this.deletion = log?.items.find((entry) => entry.action === 'run_deleted' && entry.subject === this.id) ?? null;
    this.#tell();
  }

  /** On its own: the reasons of a large run take longer than its rows, and are asked for again after a pause. */
  async #explain(run) {
    if (!isOpen(run)) {
      Object.assign(this, { reasons: [], leftOut: 0 });
      return;
    }
    if (this.#explaining) {
      this.#unexplained = run;
      return;
    }
    this.#explaining = true;
    const begun = performance.now();
    const explained = await get(`/runs/${this.id}/explain`).catch(() => null);
    if (explained) Object.assign(this, { reasons: explained.reasons, leftOut: explained.tasks_left_out });
    this.#tell();
    await new Promise((done) => {
      setTimeout(done, Math.min(MOST_PAUSE_MS, (performance.now() - begun) * 3));
    });
    this.#explaining = false;
    const later = this.#unexplained;
    this.#unexplained = null;
    if (later && document.hidden) this.missed = true;
    else if (later && !this.#closed) this.#explain(later);
  }

  #tell() {
    if (!this.#closed) this.dispatchEvent(new Event('change'));
  }

  /** All rows, or those with an event after the last answer. */
  #times(run) {
    const known = this.timeline;
    const grown =
      run.task_count !== this.#count || known?.attempt !== run.attempt_number || run.plan_version !== this.plan;
    const sums = isOpen(run) ? performance.now() - this.#sums > SUMS_MS : known?.open;
    if (!known || grown || sums || this.#rows.size <= WHOLE) {
      this.#sums = performance.now();
      return get(`/runs/${this.id}/timeline`);
    }
    return get(`/runs/${this.id}/timeline`, { after: known.last_seq });
  }

  #take(timeline, run) {
    this.#count = run.task_count;
    this.plan = run.plan_version;
    if (timeline.spent) {
      this.#rows = new Map(timeline.tasks.map((row) => [row.id, shown(row)]));
      this.timeline = timeline;
    } else {
      for (const row of timeline.tasks) this.#rows.set(row.id, shown(row));
      this.timeline = {
        ...this.timeline,
        to: timeline.to,
        open: timeline.open,
        last_seq: timeline.last_seq,
        asked: timeline.asked ?? this.timeline.asked,
      };
      if (!timeline.tasks.length) return;
    }
    this.tasks = [...this.#rows.values()];
    const parents = new Set(this.tasks.map((row) => row.group_id).filter(Boolean));
    this.counts = tally(this.tasks.filter((row) => !parents.has(row.id)));
    this.byKey = new Map(this.tasks.map((row) => [row.key, row]));
  }
}
