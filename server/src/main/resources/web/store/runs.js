// Runs by id, for list and run page alike: an older answer never overwrites a newer one.
import { get } from '../api/client.js';
import { isOpen } from '../draw/state.js';

/** A summary of brackets alone says nothing. */
const TOLD = /[\p{L}\p{N}]/u;

class Runs extends EventTarget {
  #rows = new Map();
  #reasons = new Map();
  #asking = new Set();

  put(run) {
    const known = this.#rows.get(run.id);
    const row = known && known.version_id > run.version_id ? known : { ...known, ...run };
    if (run.now && row !== known) this.#reasons.set(run.id, { version: run.version_id, reason: run.now });
    this.#rows.set(run.id, row);
    return row;
  }

  get(id) { return this.#rows.get(id); }

  forget(id) { this.#rows.delete(id); }

  /** Why the run is not further: of the row of a list with `now`, or else asked for once per version. Null while unknown. */
  reason(run) {
    if (run.state === 'failed') return { code: run.error_code ?? 'FAILED', text: run.error_message ?? run.error_code ?? '' };
    if (!isOpen(run)) return TOLD.test(run.result_summary ?? '') ? { code: '', text: run.result_summary } : null;
    const known = this.#reasons.get(run.id);
    if (known?.version !== run.version_id) this.#ask(run);
    return known?.reason ?? null;
  }

  async #ask(run) {
    if (this.#asking.has(run.id) || this.#asking.size >= 6) return;
    this.#asking.add(run.id);
    const explained = await get(`/runs/${run.id}/explain`).catch(() => null);
    this.#asking.delete(run.id);
    this.#reasons.set(run.id, { version: run.version_id, reason: explained?.reasons[0] ?? null });
    this.dispatchEvent(new Event('change'));
  }
}

export const runs = new Runs();
