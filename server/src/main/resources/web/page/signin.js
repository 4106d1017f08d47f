import { html, nothing } from 'lit';
import { send, signsIn, useKey, useWorkspace } from '../api/client.js';
import { me } from '../store/me.js';
import { icon } from '../part/icon.js';
import { Part } from '../part/base.js';

/** A key that is pasted is exchanged for a session; the session is a cookie that scripts cannot read. */
class SignIn extends Part {
  static properties = {
    note: { type: String },
    failure: { state: true },
    busy: { state: true },
    provider: { state: true },
  };

  async connectedCallback() {
    super.connectedCallback();
    this.provider = await signsIn();
  }

  async #enter(event) {
    event.preventDefault();
    const key = String(new FormData(event.target).get('key')).trim();
    if (!key) return;
    this.busy = true;
    this.failure = null;
    useKey(key);
    try {
      const session = await (await send('POST', '/sessions', { body: {} })).json();
      useKey(null);
      useWorkspace(session.workspace_id);
      await me.load();
    } catch (failure) {
      useKey(null);
      this.failure = failure;
    }
    this.busy = false;
  }

  render() {
    return html`<main class="signin">
      <div class="card">
        <img src=${document.querySelector('link[rel=icon]').href} alt="" width="44" height="44" />
        <h1>Sign in to Keelson</h1>
        ${this.note ? html`<div class="note warn" role="status">${icon('info')}<span>${this.note}</span></div>` : nothing}
        ${
          this.provider
            ? html`<a
                class="btn first"
                href="/auth/login?page=${encodeURIComponent(location.pathname + location.search)}"
                >Sign in with your organization</a
              >`
            : nothing
        }
        <p class="soft">
          Run <code>keelson open</code> on the machine of the server and follow its link, or paste an API key. The key
          is exchanged for a session of this browser and not stored.
        </p>
        <form class="stack" @submit=${(event) => this.#enter(event)}>
          <label class="field"
            ><span>API key</span>
            <input
              class="input mono"
              name="key"
              type="password"
              required
              autocomplete="off"
              spellcheck="false"
              placeholder="kl_…"
          /></label>
          ${
            this.failure
              ? html`<div class="note bad" role="alert">
                  ${icon('alert')}<span
                    >${
                      this.failure.status === 401
                        ? 'The server does not know this key, or it has ended.'
                        : this.failure.message
                    } <code>${this.failure.code}</code></span
                  >
                </div>`
              : nothing
          }
          <button class="btn first" ?disabled=${this.busy}>${this.busy ? 'Signing in…' : 'Sign in'}</button>
        </form>
      </div>
    </main>`;
  }
}
customElements.define('k-signin', SignIn);
