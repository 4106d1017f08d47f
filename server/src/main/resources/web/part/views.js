import { html, nothing } from 'lit';
import { get, put, send } from '../api/client.js';
import { me } from '../store/me.js';
import { route } from '../store/route.js';
import { Part } from './base.js';
import { name, toast } from './bits.js';
import { ask } from './dialog.js';
import { icon } from './icon.js';

const keyOf = (view) => `${view.shared ? 'all' : 'own'} ${view.name}`;

/** Saved views of the page: its filter, order and columns, which are its address. */
class Views extends Part {
  static properties = { page: { type: String }, views: { state: true } };

  constructor() {
    super();
    this.views = [];
    this.watch(route);
    this.watch(me);
  }

  connectedCallback() {
    super.connectedCallback();
    this.#load();
  }

  async #load() {
    this.views = (await get('/views', { page: this.page }).catch(() => ({ items: [] }))).items;
  }

  async #save(current) {
    const lacks = me.lacks('runs:write');
    const { edit } = await import('./editor.js');
    const saved = await edit({
      title: 'Save this view',
      text: 'Filter, order and view of this list, as they are now.',
      yes: 'Save',
      fields: [
        { name: 'name', label: 'Name', required: true, most: 100, value: current?.name },
        {
          name: 'shared',
          label: 'For all of the workspace',
          kind: 'checkbox',
          value: current?.shared && !lacks,
          hint: lacks ? `${lacks} to share it` : null,
        },
      ],
      save: ({ name: own, shared }) =>
        put(`/views/${encodeURIComponent(own ?? '')}`, { page: this.page, query: route.query.toString(), shared }),
    });
    if (saved) {
      toast('Saved');
      this.#load();
    }
  }

  async #delete(view) {
    if (
      !(await ask({
        title: html`Delete the view ${name(view.name, 100)}?`,
        text: view.shared ? 'All of the workspace lose it.' : 'The list stays as it is.',
        yes: 'Delete',
        danger: true,
      }))
    )
      return;
    await send('DELETE', `/views/${encodeURIComponent(view.name)}`, {
      query: view.shared ? { shared: true } : {},
    }).then(
      () => toast('Deleted'),
      (failure) => toast(`${failure.message} (${failure.code})`, true),
    );
    this.#load();
  }

  render() {
    const here = route.query.toString();
    const current = this.views.find((view) => view.query === here);
    return html`<span class="row saved-views"
      >${
        this.views.length
          ? html`<label
              ><span class="hidden-text">Saved views</span
              ><select
                class="input"
                @change=${(event) => {
                  const view = this.views.find((each) => keyOf(each) === event.target.value);
                  if (view) route.go(`/ui/${view.page}${view.query ? `?${view.query}` : ''}`);
                }}
              >
                <option value="" ?selected=${!current}>Saved views</option>
                ${this.views.map((view) => html`<option value=${keyOf(view)} ?selected=${view === current}>${view.name}${view.shared ? ' (shared)' : ''}</option>`)}
              </select></label
            >`
          : nothing
      }
      ${
        current
          ? html`<button
              class="btn bare only"
              title="Delete this view"
              aria-label="Delete the view ${current.name}"
              @click=${() => this.#delete(current)}
            >
              ${icon('cross', 'small')}
            </button>`
          : here
            ? html`<button class="btn" @click=${() => this.#save(current)}>Save view…</button>`
            : nothing
      }</span
    >`;
  }
}
customElements.define('k-views', Views);
