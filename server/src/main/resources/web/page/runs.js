import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { all, get, now } from '../api/client.js';
import { live } from '../live/stream.js';
import { me } from '../store/me.js';
import { route } from '../store/route.js';
import { runs } from '../store/runs.js';
import { amount, count, duration, exact, label, shortId, utc } from '../draw/format.js';
import { family, isOpen, reasonFamily } from '../draw/state.js';
import { Part } from '../part/base.js';
import { ago, badge, empty, mark, name, problem, sentence, skeleton, stateBar, toast } from '../part/bits.js';
import '../part/views.js';
import { bulk } from '../part/bulk.js';
import { icon } from '../part/icon.js';
import { place } from '../part/place.js';
import { prefs } from '../store/prefs.js';

/** Waiting is a matter of the reason: a run that is running may wait for a person. */
/** @type {any[][]} */
const VIEWS = [
  ['all', 'All', {}],
  ['trouble', 'Trouble', { waits_for: ['human', 'worker', 'limit', 'retry', 'money'] }],
  ['people', 'For people', { waits_for: 'human' }],
  ['running', 'Running', { state_type: 'running' }],
  ['failed', 'Failed', { state: 'failed' }],
  ['done', 'Done', { state: 'completed' }],
  ['archived', 'Archived', { archived: true }],
];
const COLUMNS = { created_at: 'Age', cost: 'Credits', name: 'Name', state: 'State', progress: 'Progress' };
const CHIPS = {
  recipe_id: 'recipe',
  error_code: 'error',
  trigger: 'begun by',
  parent_run_id: 'child of',
  created_after: 'created since',
  created_before: 'created before',
};
const BULK = [
  ['pause', 'Pause'],
  ['resume', 'Resume'],
  ['retry', 'Retry'],
  ['cancel', 'Cancel'],
  ['delete', 'Delete'],
];
/** How runs are begun, as people call it. */
const TRIGGERS = {
  api: 'the API',
  cli: 'the command line',
  schedule: 'a schedule',
  recipe: 'a recipe',
  manual: 'a person',
};
const PAGE = 100;
const MOST_PAUSE_MS = 1_000;

class Runs extends Part {
  static properties = {
    rows: { state: true },
    recipes: { state: true },
    failure: { state: true },
    busy: { state: true },
    top: { state: true },
    at: { state: true },
    picked: { state: true },
  };
  #cursors = null;
  #question = '';
  #took = 0;
  #dirty = new Set();
  #recipes = null;

  constructor() {
    super();
    this.rows = null;
    this.at = -1;
    this.top = 0;
    this.picked = new Set();
    this.watch(route, 'change', () => this.#load());
    this.watch(runs);
    this.watch(prefs);
    this.watch(live, 'event', (event) => this.#changed(event.detail));
    this.watch(live, 'resume', () => this.#load(true));
    this.watch(document, 'keydown', (event) => this.#key(event));
    this.watch(window, 'scroll', () => this.#scrolled());
    this.watch(window, 'resize');
  }

  connectedCallback() {
    super.connectedCallback();
    this.#load();
    this.ticking = setInterval(() => {
      if (!document.hidden) this.requestUpdate();
    }, 1000);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.ticking);
  }

  #queries() {
    const view = VIEWS.find(([id]) => id === route.get('view')) ?? VIEWS[0];
    const filter = Object.fromEntries(
      ['text', 'tag', 'recipe_id', 'error_code', 'name', 'trigger', 'parent_run_id', 'created_after', 'created_before']
        .map((each) => [each, route.get(each)])
        .filter(([, value]) => value),
    );
    const { archived } = view[2];
    const sort =
      archived || view[2].waits_for || !COLUMNS[route.get('sort')?.replace('-', '')] ? null : route.get('sort');
    return [
      {
        ...filter,
        ...view[2],
        ...(sort && !sort.endsWith('created_at') ? { sort } : {}),
        ...(archived ? {} : { now: true }),
        limit: PAGE,
      },
    ];
  }

  async #load(again = false) {
    if (route.path[0] !== 'runs' || route.path[1]) return;
    const queries = this.#queries();
    const question = JSON.stringify(queries);
    if (question === this.#question && !again) {
      this.requestUpdate();
      return;
    }
    if (question !== this.#question) {
      this.rows = null;
      this.picked = new Set();
      this.at = -1;
    }
    this.#question = question;
    const begun = performance.now();
    try {
      const pages = await Promise.all(queries.map((query) => get('/runs', query)));
      if (question !== this.#question) return;
      this.#cursors = pages.map((page, i) => [queries[i], page.next_cursor]).filter(([, cursor]) => cursor);
      this.rows = pages.flatMap((page) => page.items).map((run) => runs.put(run).id);
      this.failure = null;
    } catch (failure) {
      this.failure = failure;
    }
    this.#took = performance.now() - begun;
  }

  async #more() {
    if (this.busy || !this.#cursors?.length) return;
    this.busy = true;
    const question = this.#question;
    try {
      const pages = await Promise.all(this.#cursors.map(([query, cursor]) => get('/runs', { ...query, cursor })));
      if (question === this.#question) {
        const known = new Set(this.rows);
        this.rows = [
          ...this.rows,
          ...pages
            .flatMap((page) => page.items)
            .map((run) => runs.put(run).id)
            .filter((id) => !known.has(id)),
        ];
        this.#cursors = pages.map((page, i) => [this.#cursors[i][0], page.next_cursor]).filter(([, cursor]) => cursor);
      }
    } catch (failure) {
      toast(failure.message, true);
    }
    this.busy = false;
  }

  /** Rows that changed and are known are asked for together, at most four times a second, and more seldom where the list takes long. Any change may bring a run into a view. */
  #changed(event) {
    if (!event.run_id || !this.rows) return;
    if (event.event_type === 'run_created' || (route.get('view') && this.rows.length <= PAGE)) this.fresh = true;
    else if (this.rows.includes(event.run_id)) this.#dirty.add(event.run_id);
    this.refreshing ??= setTimeout(
      async () => {
        this.refreshing = null;
        const ids = [...this.#dirty];
        this.#dirty.clear();
        if (this.fresh || ids.length > 8) {
          this.fresh = false;
          await this.#load(true);
          return;
        }
        await Promise.all(
          ids.map((id) =>
            get(`/runs/${id}`, { light: true }).then(
              (run) => runs.put(run),
              (failure) => {
                if (failure.status === 404) {
                  this.rows = this.rows.filter((each) => each !== id);
                  runs.forget(id);
                }
              },
            ),
          ),
        );
        this.requestUpdate();
      },
      Math.max(this.fresh ? MOST_PAUSE_MS : 250, Math.min(MOST_PAUSE_MS, this.#took)),
    );
  }

  #height() {
    return matchMedia('(max-width: 860px)').matches ? 84 : 48;
  }

  #scrolled() {
    const list = this.querySelector('.rows');
    if (!list) return;
    const top = Math.max(0, Math.floor(-list.getBoundingClientRect().top / this.#height()));
    if (Math.abs(top - this.top) >= 4) this.top = top;
    if (list.getBoundingClientRect().bottom < innerHeight * 2) this.#more();
  }

  #sorted() {
    const by = route.get('sort');
    const list = this.rows.map((id) => runs.get(id)).filter(Boolean);
    if (!by) return list;
    const down = by.startsWith('-') ? -1 : 1;
    const column = by.replace('-', '');
    const value = (run) =>
      column === 'progress'
        ? run.tasks_completed / Math.max(1, run.task_count)
        : column === 'cost'
          ? run.credits_charged
          : (run[column] ?? '');
    return list.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * down);
  }

  #key(event) {
    if (
      !prefs.values.shortcuts ||
      event.defaultPrevented ||
      event.metaKey ||
      event.ctrlKey ||
      event.altKey ||
      event.target.closest?.('input, textarea, select, dialog, .menu')
    )
      return;
    const list = this.rows ? this.#sorted() : [];
    const move = { j: 1, k: -1 }[event.key];
    if (move && list.length) {
      this.at = Math.max(0, Math.min(list.length - 1, this.at + move));
      this.updateComplete.then(() => this.querySelector('[data-at]')?.scrollIntoView({ block: 'nearest' }));
    } else if (event.key === 'x' && list[this.at]) this.#pick(list[this.at].id);
    else if (event.key === 'Enter' && list[this.at] && !event.target.closest?.('a, button'))
      route.go(`/ui/runs/${list[this.at].id}`);
    else if (event.key === '/') this.querySelector('input[type=search]')?.focus();
    else return;
    event.preventDefault();
  }

  #pick(id) {
    const picked = new Set(this.picked);
    if (!picked.delete(id)) picked.add(id);
    this.picked = picked;
  }

  /** A job over the selected runs, which says how many it changed and which codes refused. */
  async #act(action) {
    await bulk(action, { ids: [...this.picked] });
    this.picked = new Set();
    this.#load(true);
  }

  #sortBy(column) {
    const now = route.get('sort');
    route.set({ sort: now === `-${column}` ? column : now === column ? null : `-${column}` });
  }

  #head(column, title = COLUMNS[column]) {
    const by = route.get('sort');
    const sorted = by === column ? 'ascending' : by === `-${column}` ? 'descending' : 'none';
    return html`<span role="columnheader" aria-sort=${sorted}
      ><button class="sort" @click=${() => this.#sortBy(column)}>
        ${title}${sorted === 'none' ? nothing : icon('down', sorted === 'ascending' ? 'small up' : 'small')}
      </button></span
    >`;
  }

  /** A click beside the link opens the run, too; one that ends a selection of text does not. */
  #opened(event, href) {
    if (!event.target.closest('a, input, .c-pick') && getSelection().isCollapsed) route.go(href);
  }

  /** The name of a recipe. The names are read once one is asked for. */
  #nameOf(recipe) {
    this.#recipes ??= all('/recipes', {}, 1000).then(
      ({ items }) => {
        this.recipes = new Map(items.map((each) => [each.id, each.name]));
      },
      () => null,
    );
    return this.recipes?.get(recipe);
  }

  #lasted(run) {
    return duration(
      run.duration_ms ?? (run.started_at && isOpen(run) ? now() - Date.parse(run.started_at) - run.ended_ms : null),
    );
  }

  #row(run, i) {
    const reason = runs.reason(run);
    const done = { done: run.tasks_completed, failed: run.tasks_failed, ended: run.tasks_skipped };
    const href = `/ui/runs/${run.id}`;
    return html`<div
      class="run-row ${i === this.at ? 'at' : ''}"
      role="row"
      aria-rowindex=${i + 2}
      aria-selected=${this.picked.has(run.id)}
      ?data-at=${i === this.at}
      ${place({ transform: `translateY(${i * this.#height()}px)` })}
      @click=${(event) => this.#opened(event, href)}
    >
      <span role="cell" class="c-pick"
        ><input
          type="checkbox"
          aria-label="Select ${label(run.name, 60)} ${shortId(run.id)}"
          .checked=${this.picked.has(run.id)}
          @change=${() => this.#pick(run.id)}
      /></span>
      <span role="cell" class="c-state">${badge(run.state, isOpen(run) ? reason : null)}</span>
      <span role="cell" class="c-name cut"
        ><a href=${href}>${name(run.name)}</a> <span class="faint mono small">${shortId(run.id)}</span></span
      >
      <span role="cell" class="c-now cut"
        >${reason ? html`${reason.code ? mark(isOpen(run) ? reasonFamily(reason.code) : 'failed', reason.code) : nothing}<span class="now-text ${isOpen(run) || run.state === 'failed' ? '' : 'soft'}" title=${label(reason.text, 2000)}>${sentence(reason.text, 400)}</span>${isOpen(run) && reason.since ? html`<span class="soft small num since" title="Since ${utc(reason.since)}">${duration(now() - Date.parse(reason.since))}</span>` : nothing}` : nothing}</span
      >
      <span role="cell" class="c-progress"
        >${stateBar(done, run.task_count, family(run.state))}<span class="num small soft"
          >${count(run.tasks_completed)}/${count(run.task_count)}</span
        ></span
      >
      <span role="cell" class="c-cost num" title="${exact(run.credits_charged)} credits charged"
        >${amount(run.credits_charged)}<span class="unit narrow-only"> credits</span></span
      >
      <span
        role="cell"
        class="c-took num soft"
        title="From the first start to the end, without the time between an end and a retry"
        >${this.#lasted(run)}</span
      >
      <span role="cell" class="c-age soft">${ago(run.created_at)}</span>
      <span role="cell" class="c-recipe cut"
        >${run.recipe_id ? html`<a href="/ui/runs?recipe_id=${run.recipe_id}">${name(this.#nameOf(run.recipe_id) ?? 'recipe', 80)}</a>` : nothing}</span
      >
      <span role="cell" class="c-agents soft cut">${name((run.agent_names ?? []).join(', '), 200)}</span>
      <span role="cell" class="c-by soft cut">${run.schedule_id ? 'schedule' : name(run.created_by)}</span>
    </div>`;
  }

  #list() {
    if (this.failure) return problem(this.failure, () => this.#load(true));
    if (!this.rows) return html`<div class="card">${skeleton(9)}</div>`;
    const list = this.#sorted();
    if (!list.length && !this.#cursors?.length) {
      const filtered = [...route.query.keys()].length > 0;
      return html`<div class="card">
        ${filtered ? empty('search', 'No run is like that', 'Change or remove the filter.') : empty('list', 'No runs yet', 'Start one from a recipe, or from the command line:', 'keelson run examples/repository-report.yaml')}
      </div>`;
    }
    const height = this.#height();
    const from = Math.max(0, Math.min(this.top, list.length) - 8);
    const shown = list.slice(from, from + Math.ceil(innerHeight / height) + 20);
    return html`<div
        class="card runs"
        role="table"
        aria-label="Runs"
        aria-rowcount=${this.#cursors?.length ? -1 : list.length + 1}
      >
        <div class="run-head" role="row">
          <span role="columnheader"><span class="hidden-text">Select</span></span
          >${this.#head('state')}${this.#head('name')}
          <span role="columnheader">Now — why it is not further</span
          >${this.#head('progress')}${this.#head('cost')}<span role="columnheader">Took</span
          >${this.#head('created_at')}<span role="columnheader">Recipe</span><span role="columnheader">Agents</span
          ><span role="columnheader">By</span>
        </div>
        <div class="rows" role="rowgroup" ${place({ height: `${list.length * height}px` })}>
          ${repeat(
            shown,
            (run) => run.id,
            (run, i) => this.#row(run, from + i),
          )}
        </div>
      </div>
      ${this.#cursors?.length ? html`<button class="btn" @click=${() => this.#more()}>${this.busy ? 'Loading…' : 'More'}</button>` : nothing}`;
  }

  #filter(event) {
    clearTimeout(this.typing);
    const { value } = event.target;
    this.typing = setTimeout(() => route.set({ text: value.trim() || null }, true), 250);
  }

  /** Asks for what the views do not have. The answers are in the address, as all filters are. */
  async #ask() {
    const none = () => ({ items: [] });
    const [{ edit }, recipes, codes] = await Promise.all([
      import('../part/editor.js'),
      get('/recipes', { limit: 200 }).catch(none),
      get('/runs/stats', { by: 'error_code' }).catch(none),
    ]);
    const seen = (this.rows ?? []).map((id) => runs.get(id)).filter(Boolean);
    const choices = (values) => [...new Set(values.filter(Boolean))].sort();
    const triggers = choices([...Object.keys(TRIGGERS), ...seen.map((run) => run.trigger)]);
    await edit({
      title: 'Filter runs',
      text: 'Empty fields filter nothing.',
      yes: 'Filter',
      fields: [
        {
          name: 'recipe_id',
          label: 'Recipe',
          kind: 'select',
          half: true,
          options: [['', 'All'], ...recipes.items.map((each) => [each.id, label(each.name, 60)])],
        },
        { name: 'name', label: 'Exact name', list: choices(seen.map((run) => run.name)), half: true },
        { name: 'tag', label: 'Tag', list: choices(seen.flatMap((run) => run.tags)), half: true },
        {
          name: 'error_code',
          label: 'Error',
          kind: 'select',
          half: true,
          options: [
            ['', 'All'],
            ...choices([...codes.items.map((each) => each.key), route.get('error_code')]).map((code) => [code, code]),
          ],
        },
        { name: 'created_after', label: 'Created on this day (UTC) or later', kind: 'date', half: true },
        { name: 'created_before', label: 'Created before this day (UTC)', kind: 'date', half: true },
        {
          name: 'trigger',
          label: 'Begun by',
          kind: 'select',
          half: true,
          options: [['', 'All'], ...triggers.map((each) => [each, TRIGGERS[each] ?? each])],
        },
      ].map((field) => ({ ...field, value: route.get(field.name) })),
      save: async (values) => {
        route.set(values);
      },
    });
  }

  #filterOfBulk() {
    if (VIEWS.find(([id]) => id === route.get('view'))?.[2].waits_for) return null;
    const { limit, now: _, sort, tag, parent_run_id, ...rest } = this.#queries()[0];
    const filter = tag ? { ...rest, tags: [tag] } : rest;
    return limit && this.rows?.length && !parent_run_id && Object.keys(filter).length ? filter : null;
  }

  render() {
    const view = route.get('view') ?? 'all';
    const lacks = me.lacks('runs:write');
    const filter = this.#filterOfBulk();
    const chips = [
      'tag',
      'recipe_id',
      'error_code',
      'name',
      'trigger',
      'parent_run_id',
      'created_after',
      'created_before',
    ].filter((each) => route.get(each));
    return html`<div class="head">
        <h1>Runs</h1>
        <span class="soft num"
          >${this.rows ? `${count(this.#sorted().length)}${this.#cursors?.length ? '+' : ''}` : ''}</span
        >
        <span class="end row wrap"><a class="btn first" href="/ui/launch">${icon('play', 'small')}Launch</a></span>
      </div>
      <div class="filters">
        <div class="views" role="group" aria-label="Views">
          ${VIEWS.map(
            ([id, title]) =>
              html`<button
                class="view"
                aria-pressed=${view === id}
                @click=${() => route.set({ view: id === 'all' ? null : id })}
              >
                ${title}
              </button>`,
          )}
        </div>
        <label class="search"
          >${icon('search', 'small')}<span class="hidden-text">Filter by name or goal</span
          ><input
            type="search"
            placeholder="Filter by name or goal"
            .value=${route.get('text') ?? ''}
            @input=${(event) => this.#filter(event)} /></label
        ><button class="btn" @click=${() => this.#ask()}>Filter…</button><k-views page="runs"></k-views>
      </div>
      ${chips.length ? html`<div class="row wrap">${chips.map((each) => html`<button class="chip" @click=${() => route.set({ [each]: null })}>${CHIPS[each] ?? each.replaceAll('_', ' ')}: <bdi>${label((each === 'recipe_id' && this.#nameOf(route.get(each))) || TRIGGERS[each === 'trigger' ? route.get(each) : ''] || route.get(each), 60)}</bdi>${icon('cross', 'small')}<span class="hidden-text">remove</span></button>`)}</div>` : nothing}
      ${
        this.picked.size || filter
          ? html`<div class="picked" role="region" aria-label="Selected runs">
              ${
                this.picked.size
                  ? html`<strong>${this.picked.size} selected</strong>
                      ${BULK.map(([action, title]) => html`<button class="btn low ${['cancel', 'delete'].includes(action) ? 'danger' : ''}" ?disabled=${lacks} title=${lacks ?? ''} @click=${() => this.#act(action)}>${title}…</button>`)}
                      ${this.picked.size === 2 ? html`<a class="btn low" href="/ui/compare?a=${[...this.picked][0]}&b=${[...this.picked][1]}">Compare</a>` : nothing}
                      <button
                        class="btn bare low"
                        @click=${() => {
                          this.picked = new Set();
                        }}
                      >
                        Clear
                      </button>`
                  : html`<span class="soft">All that match:</span>`
              }
              ${filter ? html`<span class="end row wrap">${BULK.map(([action, title]) => html`<button class="btn low ${['cancel', 'delete'].includes(action) ? 'danger' : ''}" ?disabled=${lacks} title=${lacks ?? ''} @click=${() => bulk(action, filter)}>${title}…</button>`)}</span>` : nothing}
            </div>`
          : nothing
      }
      ${this.#list()}`;
  }
}
customElements.define('k-runs', Runs);
