// Who looks, and what the key may do. The page executes this module first, so that the session is asked for while the others are loaded.
import { get, send, setTime, useKey, useWorkspace } from '../api/client.js';

const SESSION = 'keelson.session';
/** The workspace of the session that this browser may have, empty for any: without one nothing is asked. The session itself is in a cookie that scripts cannot read. */
function remembered() {
  try {
    return localStorage.getItem(SESSION);
  } catch {
    return '';
  }
}
function remember(workspace) {
  try {
    if (workspace) localStorage.setItem(SESSION, workspace);
    else localStorage.removeItem(SESSION);
  } catch {
    /* a private window keeps nothing */
  }
}

class Me extends EventTarget {
  value = null;
  /** Why the session could not be asked for, though there may be one. */
  failure = null;
  /** Whether this browser may be signed in; known before the server has answered. */
  expected = false;
  /** What is wrong with the link that was followed, or null, once it is known who looks. */
  entered = this.#enter();

  /** The code of a one-time link is in the fragment, which no log has; it leaves the address at once. */
  async #enter() {
    const hash = new URLSearchParams(location.hash.slice(1));
    const code = hash.get('code');
    const begun = hash.get('session');
    const known = begun ?? remembered();
    if (begun) history.replaceState(null, '', location.pathname + location.search);
    let note = null;
    this.expected = known !== null || !!code;
    useWorkspace(known);
    if (code) {
      history.replaceState(null, '', location.pathname + location.search);
      await send('POST', '/sessions', { body: { code } })
        .then(async (response) => useWorkspace((await response.json()).workspace_id))
        .catch(() => {
          note = 'This link was used already or is older than 60 seconds. The command keelson open makes another.';
        });
    }
    if (this.expected) await this.again();
    return note;
  }

  /** Asks who looks; a server that does not answer ends no session. */
  async again() {
    try {
      await this.load();
    } catch (failure) {
      if (failure.status === 401 || failure.status === 403) {
        this.forget();
        return;
      }
      this.failure = failure;
      this.dispatchEvent(new Event('change'));
    }
  }

  async load() {
    const begun = Date.now();
    this.value = await get('/whoami');
    this.failure = null;
    setTime(this.value.now, begun);
    remember(this.value.workspace.id);
    this.dispatchEvent(new Event('change'));
    return this.value;
  }

  forget() {
    this.value = null;
    this.failure = null;
    this.expected = false;
    remember(null);
    useKey(null);
    useWorkspace(null);
    this.dispatchEvent(new Event('change'));
  }

  get scopes() {
    return this.value?.scopes ?? [];
  }
  get name() {
    return this.value?.key?.principal ?? '';
  }

  /** Null where the key has the scope, else the reason for a button that is disabled. */
  lacks(scope) {
    return this.scopes.includes(scope) ? null : `Needs the scope ${scope}`;
  }
}

export const me = new Me();
