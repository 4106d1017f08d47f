// Runs by id, for list and run page alike: an older answer never overwrites a newer one.
import { get } from '../api/client.js';
import { isOpen } from '../draw/state.js';

/** A summary that says something to a reader: a sentence, and no JSON. */
const HAS_TEXT = /^(?!\s*[[{]).*[\p{L}\p{N}]/su;
/** The reasons of a run of more tasks are asked for again only after a pause. */
const MANY_TASKS = 5_000;
const PAUSE_MS = 5_000;

class Runs extends EventTarget {
  #rows = new Map();
  #reasons = new Map();
  #asking = new Set();

  put(run) {
    const known = this.#rows.get(run.id);
    const row = known && known.version_id > run.version_id ? known : { ...known, archived_at: null, ...run };
    if (run.now && row !== known) this.#explained(run, run.now);
    this.#rows.set(run.id, row);
    return row;
  }

  get(id) {
    return this.#rows.get(id);
  }

  forget(id) {
    this.#rows.delete(id);
  }

  /** Why the run is not further: of the row of a list with `now`, or else asked for once per version. Null while unknown. */
  reason(run) {
    if (run.state === 'failed')
      return { code: run.error_code ?? 'FAILED', text: run.error_message ?? run.error_code ?? '' };
    if (!isOpen(run)) return HAS_TEXT.test(run.result_summary ?? '') ? { code: '', text: run.result_summary } : null;
    const known = this.#reasons.get(run.id);
    const recent = run.task_count > MANY_TASKS && performance.now() - known?.at < PAUSE_MS;
    if (known?.version !== run.version_id && !recent) this.#ask(run);
    return known?.reason ?? null;
  }

  async #ask(run) {
    if (this.#asking.has(run.id) || this.#asking.size >= 6) return;
    this.#asking.add(run.id);
    const explained = await get(`/runs/${run.id}/explain`).catch(() => null);
    this.#asking.delete(run.id);
    this.#explained(run, explained?.reasons[0] ?? null);
    this.dispatchEvent(new Event('change'));
  }

  #explained(run, reason) {
    this.#reasons.set(run.id, { version: run.version_id, reason, at: performance.now() });
  }
}

export const runs = new Runs();
