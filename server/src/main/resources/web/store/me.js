// Who looks, and what the key may do.
import { get } from '../api/client.js';

class Me extends EventTarget {
  value = null;

  async load() {
    this.value = await get('/whoami');
    this.dispatchEvent(new Event('change'));
    return this.value;
  }

  forget() {
    this.value = null;
    this.dispatchEvent(new Event('change'));
  }

  get scopes() { return (this.value?.key ?? this.value?.session)?.scopes ?? []; }
  get name() { return (this.value?.key ?? this.value?.session)?.principal ?? ''; }

  /** Null where the key has the scope, else the reason for a button that is disabled. */
  lacks(scope) { return this.scopes.includes(scope) ? null : `Needs the scope ${scope}`; }
}

export const me = new Me();
