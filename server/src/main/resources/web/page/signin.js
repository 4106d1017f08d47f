import { html, nothing } from 'lit';
import { useKey } from '../api/client.js';
import { me } from '../store/me.js';
import { icon } from '../part/icon.js';
import { Part } from '../part/base.js';

/** A key that is pasted is exchanged for a session; it is kept nowhere but in this page's memory. */
class SignIn extends Part {
  static properties = { note: { type: String }, failure: { state: true }, busy: { state: true } };

  async #enter(event) {
    event.preventDefault();
    const key = new FormData(event.target).get('key').trim();
    if (!key) return;
    this.busy = true;
    this.failure = null;
    useKey(key);
    try {
      await me.load();
    } catch (failure) {
      useKey(null);
      this.failure = failure;
    }
    this.busy = false;
  }

  render() {
    return html`<main class="signin"><div class="card">
      <img src=${document.querySelector('link[rel=icon]').href} alt="" width="44" height="44">
      <h1>Sign in to Keelson</h1>
      ${this.note ? html`<div class="note warn" role="status">${icon('info')}<span>${this.note}</span></div>` : nothing}
      <p class="soft">Paste an API key; the server's own is in the file <code>api-key</code> of its data folder. The key is kept in the memory of this
        page only, so a reload asks again.</p>
      <form class="stack" @submit=${(event) => this.#enter(event)}>
        <label class="field"><span>API key</span>
          <input class="input mono" name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="kl_…"></label>
        ${this.failure ? html`<div class="note bad" role="alert">${icon('alert')}<span>${this.failure.status === 401
    ? 'The server does not know this key, or it has ended.' : this.failure.message} <code>${this.failure.code}</code></span></div>` : nothing}
        <button class="btn first" ?disabled=${this.busy}>${this.busy ? 'Signing in…' : 'Sign in'}</button>
      </form></div></main>`;
  }
}
customElements.define('k-signin', SignIn);
