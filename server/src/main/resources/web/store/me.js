// Who looks, and what the key may do.
import { get, setTime } from '../api/client.js';

class Me extends EventTarget {
  value = null;

  async load() {
    const begun = Date.now();
    this.value = await get('/whoami');
    setTime(this.value.now, begun);
    this.dispatchEvent(new Event('change'));
    return this.value;
  }

  forget() {
    this.value = null;
    this.dispatchEvent(new Event('change'));
  }

  get scopes() { return this.value?.scopes ?? []; }
  get name() { return this.value?.key?.principal ?? ''; }

  /** Null where the key has the scope, else the reason for a button that is disabled. */
  lacks(scope) { return this.scopes.includes(scope) ? null : `Needs the scope ${scope}`; }
}

export const me = new Me();
