import { html, nothing } from 'lit';
import { all, get, post, read, remove } from '../api/client.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { count, many } from '../draw/format.js';
import { Page } from '../part/page.js';
import { copy, empty, name, skeleton, toast, when } from '../part/bits.js';
import { act, row, table } from '../part/definitions.js';
import { show } from '../part/dialog.js';
import { edit, save } from '../part/editor.js';
import { icon } from '../part/icon.js';
import { json } from '../part/json.js';

const OUTCOMES = {
  pending: ['waits', 'circle'],
  started: ['done', 'check'],
  signalled: ['done', 'check'],
  merged: ['done', 'branch'],
  dropped: ['ended', 'ban'],
  refused: ['failed', 'cross'],
  dead: ['failed', 'alert'],
};
const SHOWN = 50;

const outcome = (state) => html`<span class="state f-${OUTCOMES[state][0]}">${icon(OUTCOMES[state][1])}${state}</span>`;
const instant = (local) => (local ? new Date(local).toISOString() : null);

/** Triggers: events that start runs, and the outcome of each. The address has the opened trigger and the state of its deliveries. */
class Triggers extends Page {
  static properties = {
    items: { state: true },
    opened: { state: true },
    events: { state: true },
    failure: { state: true },
  };

  constructor() {
    super();
    for (const store of [prefs, me]) this.watch(store);
    this.follows(
      'triggers',
      () => this.#load(),
      (type) => /^run_created/.test(type),
      2_000,
    );
  }

  async #load() {
    const [asked, given] = [route.get('trigger'), route.get('state')];
    this.items = (await all('/triggers', { limit: 200 }, 200)).items;
    const found = asked ? this.items.find((each) => each.id === asked || each.name === asked) : null;
    const [id, state] = [found?.id ?? null, OUTCOMES[given] ? given : null];
    if (asked && !found) toast(`There is no trigger ${asked}`, true);
    if (asked !== id || given !== state) route.set({ trigger: id, state: id ? state : null }, true);
    if (this.opened?.id !== id) this.opened = this.events = null;
    [this.opened, this.events] = id
      ? await Promise.all([get(`/triggers/${id}`), get(`/triggers/${id}/deliveries`, { state, limit: SHOWN })])
      : [null, null];
  }

  #turn(trigger) {
    act(
      this,
      async () => {
        const version = await read(`/triggers/${trigger.id}`);
        return save('PATCH', `/triggers/${trigger.id}`, { enabled: !trigger.enabled }, version, {
          of: (each) => ({ enabled: each.enabled }),
          mine: { enabled: !trigger.enabled },
        });
      },
      () => (trigger.enabled ? 'It is off' : 'It is on'),
      trigger.enabled
        ? {
            title: html`Turn off ${name(trigger.name, 100)}?`,
            text: 'It receives no events, and starts no runs for those that wait.',
            yes: 'Turn off',
          }
        : null,
    );
  }

  #replayed = ({ count: done, more }) => `${many(done, 'event')}${more ? ' and more' : ''} will be decided again`;

  #replayOne(trigger, delivery) {
    act(
      this,
      () => post(`/triggers/${trigger.id}/replay`, { delivery_id: delivery.id }),
      this.#replayed,
      delivery.run_id
        ? {
            title: 'Replay this delivery?',
            text: 'It has a run, and gets another one, by the trigger as it is now.',
            yes: 'Replay',
          }
        : null,
    );
  }

  async #replay(trigger) {
    const done = await edit({
      title: html`Replay deliveries of ${name(trigger.name, 100)}`,
      text: 'They are decided again, by the trigger as it is now. A delivery that had a run gets another one.',
      yes: 'Replay',
      danger: true,
      fields: [
        {
          name: 'state',
          label: 'Outcome',
          kind: 'select',
          options: ['dead', 'refused', 'dropped', 'merged', 'signalled', 'started', ['', 'all']].map((each) =>
            Array.isArray(each) ? each : [each, each],
          ),
          value: route.get('state') ?? 'dead',
        },
        { name: 'since', label: 'Received since', kind: 'datetime-local', half: true },
        { name: 'until', label: 'Received before', kind: 'datetime-local', half: true },
      ],
      save: ({ state, since, until }) =>
        post(
          `/triggers/${trigger.id}/replay`,
          Object.fromEntries(
            Object.entries({ state, since: instant(since), until: instant(until) }).filter(([, value]) => value),
          ),
        ),
    });
    if (done) toast(this.#replayed(done));
    this.read();
  }

  async #look(trigger, delivery) {
    let whole;
    try {
      whole = await get(`/triggers/${trigger.id}/deliveries/${delivery.id}`);
    } catch (failure) {
      toast(failure.message, true);
      return;
    }
    show(
      (close) =>
        html`<div class="body">
          <h2>Delivery</h2>
          <p class="soft">${outcome(whole.state)} ${name(whole.error_message ?? '', 2000)}</p>
          <dl class="facts">
            <dt>Key</dt>
            <dd class="mono">${name(whole.key, 255)}</dd>
            <dt>Received</dt>
            <dd>${when(whole.received_at)}${whole.repeats ? ` and ${many(whole.repeats, 'further time')}` : ''}</dd>
          </dl>
          ${json('Headers', whole.headers)}${json('Body', whole.body, true)}
          <footer><button class="btn first" @click=${() => close()}>Close</button></footer>
        </div>`,
      'wide',
    );
  }

  #deliveries(trigger) {
    if (!this.events) return skeleton(2);
    const lacks = me.lacks('runs:write');
    const { items, next_cursor: more } = this.events;
    return html`<div class="row">
        <label class="row small nowrap"
          >Outcome
          <select class="input" @change=${(event) => route.set({ state: event.target.value }, true)}>
            <option value="">all</option>
            ${Object.keys(OUTCOMES).map((each) => html`<option ?selected=${each === route.get('state')}>${each}</option>`)}
          </select></label
        ><button
          class="btn low end"
          ?disabled=${!!lacks}
          title=${lacks ?? nothing}
          @click=${() => this.#replay(trigger)}
        >
          ${icon('retry', 'small')}Replay…
        </button>
      </div>
      ${
        items.length
          ? html`<ul class="runs-made">
              ${items.map(
                (each) =>
                  html`<li class="row small">
                    <button class="link num" @click=${() => this.#look(trigger, each)}>
                      ${when(each.received_at)}
                    </button>
                    ${outcome(each.state)}<span class="mono cut">${name(each.key, 60)}</span>
                    ${each.run_id ? html`<a href="/ui/runs/${each.run_id}">run</a>` : nothing}<span class="cut soft"
                      >${each.error_code ?? ''}${each.due_at && each.error_code ? html` until ${when(each.due_at)}` : nothing}
                      ${name(each.error_message ?? '', 200)}</span
                    ><button
                      class="btn low end"
                      ?disabled=${!!lacks || each.state === 'pending'}
                      title=${lacks ?? nothing}
                      aria-label="Replay ${each.key}"
                      @click=${() => this.#replayOne(trigger, each)}
                    >
                      Replay
                    </button>
                  </li>`,
              )}
            </ul>`
          : html`<p class="soft small">None.</p>`
      }
      ${more ? html`<p class="soft small">These are the latest ${SHOWN}.</p>` : nothing} ${json('Definition', trigger)}`;
  }

  #row(each) {
    const lacks = me.lacks('admin');
    const open = route.get('trigger') === each.id;
    const { kind, event } = each.source;
    return row(each, {
      open,
      toggle: () => route.set({ trigger: open ? null : each.id, state: null }, true),
      cells: html`<td data-title="Source">
          ${kind}${
            event
              ? html` <code>${name(event, 100)}</code>`
              : each.path &&
                html`<div class="small soft">
                  <code>${each.path}</code>
                  <button
                    class="btn bare only"
                    title="Copy the address"
                    aria-label="Copy the address of ${each.name}"
                    @click=${() => copy(location.origin + each.path)}
                  >
                    ${icon('copy', 'small')}
                  </button>
                </div>`
          }
        </td>
        <td data-title="Starts">
          ${each.recipe_id ? html`<a href="/ui/launch?recipe=${each.recipe_id}">a recipe</a>` : each.signal ? html`the signal <code>${each.signal.name}</code>` : 'its own mission'}
        </td>
        <td data-title="State">
          ${each.enabled ? html`<span class="state f-done">${icon('check')}on</span>` : html`<span class="state f-waits">${icon('pause')}off</span>`}
        </td>`,
      actions: html`<button
        class="btn low"
        ?disabled=${!!lacks}
        title=${lacks ?? nothing}
        @click=${() => this.#turn(each)}
      >
        ${each.enabled ? 'Turn off…' : 'Turn on'}
      </button>`,
      lacks,
      remove: () => remove(`/triggers/${each.id}`),
      text: 'Its deliveries are deleted with their bodies. Its runs stay.',
      page: this,
      below: () => (this.opened ? this.#deliveries(this.opened) : skeleton(2)),
    });
  }

  render() {
    return html`<div class="head">
        <h1>Triggers</h1>
        <span class="soft num">${this.items ? count(this.items.length) : ''}</span>
      </div>
      ${table(
        this,
        'Triggers',
        ['Name', 'Source', 'Starts', 'State'],
        (each) => this.#row(each),
        empty(
          'pulse',
          'No triggers',
          'A trigger starts a run for each event that a program or a provider sends. The file has its source and its mission:',
          'keelson triggers create issues.yaml',
        ),
      )}`;
  }
}
customElements.define('k-triggers', Triggers);
