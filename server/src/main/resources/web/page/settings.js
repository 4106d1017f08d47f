import { html, nothing } from 'lit';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { Part } from '../part/base.js';
import { problem, revealTab, skeleton, toast } from '../part/bits.js';
import { ask } from '../part/dialog.js';
import { access } from './settings/access.js';
import { agents } from './settings/agents.js';
import { audit } from './settings/audit.js';
import { commands } from './settings/commands.js';
import { limits } from './settings/limits.js';
import { mcp } from './settings/mcp.js';
import { models } from './settings/models.js';
import { notifications } from './settings/notifications.js';
import { secrets } from './settings/secrets.js';
import { sessions } from './settings/sessions.js';
import { webhooks } from './settings/webhooks.js';

/** Each tab: its title, the scope that reading takes, how it is read, and how it is shown. */
const TABS = { sessions, notifications, access, agents, models, mcp, webhooks, secrets, limits, commands, audit };

/** The settings of a workspace, and the sessions of the person who looks. */
class Settings extends Part {
  static properties = { data: { state: true }, failure: { state: true }, shown: { state: true } };

  constructor() {
    super();
    for (const store of [prefs, me]) this.watch(store);
    this.watch(route, 'change', () => this.#load());
  }

  connectedCallback() {
    super.connectedCallback();
    this.#load();
  }

  get #tab() {
    return TABS[route.get('tab')] ? route.get('tab') : 'sessions';
  }

  async #load() {
    if (route.path[0] !== 'settings') return;
    const tab = this.#tab;
    const { scope, load } = TABS[tab];
    if (this.shown !== tab) {
      this.data = null;
      this.failure = null;
    }
    this.shown = tab;
    if (scope && me.lacks(scope)) return;
    try {
      const data = await load();
      if (tab === this.#tab) {
        this.data = data;
        this.failure = null;
      }
    } catch (failure) {
      this.failure = failure;
    }
  }

  /** Does it, says so, and shows the outcome; asks first where there is a question. */
  act = async (work, said, question) => {
    if (question && !(await ask(question))) return;
    try {
      const done = await work();
      if (done !== undefined) toast(said);
    } catch (failure) {
      toast(`${failure.message} (${failure.code})`, true);
    }
    this.#load();
  };

  updated() {
    if (this.#tab === this.revealed) return;
    this.revealed = this.#tab;
    revealTab(this);
  }

  #move(event) {
    const names = Object.keys(TABS);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    route.set({ tab: names[(names.indexOf(this.#tab) + step + names.length) % names.length] }, true);
    this.updateComplete.then(() => this.querySelector('[role=tab][aria-selected=true]')?.focus());
  }

  render() {
    const tab = this.#tab;
    const { title, scope, view } = TABS[tab];
    const lacks = scope ? me.lacks(scope) : null;
    return html`<div class="head"><h1>Settings</h1></div>
      <div class="views tabs" role="tablist" aria-label="Settings" @keydown=${(event) => this.#move(event)}>
        ${Object.entries(TABS).map(([id, each]) => html`<button class="view" role="tab" id="tab-${id}" aria-selected=${id === tab} aria-controls="settings-panel" tabindex=${id === tab ? 0 : -1} @click=${() => route.set({ tab: id }, true)}>${each.title}</button>`)}
      </div>
      <div role="tabpanel" id="settings-panel" aria-labelledby="tab-${tab}" class="stack gap4">
        ${
          lacks
            ? html`<div class="note" role="note"><span>${title}: ${lacks}. Sign in with a key that has it.</span></div>`
            : this.failure
              ? problem(this.failure, () => this.#load())
              : this.data && this.shown === tab
                ? view(this.data, this.act)
                : html`<div class="card">${skeleton()}</div>`
        }
      </div>`;
  }
}
customElements.define('k-settings', Settings);
