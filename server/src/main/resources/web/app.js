import { html, nothing } from 'lit';
import { abandon, events as api, get, known, send, signOut } from './api/client.js';
import { live } from './live/stream.js';
import { me } from './store/me.js';
import { prefs } from './store/prefs.js';
import { route } from './store/route.js';
import { clock } from './draw/format.js';
import { Part } from './part/base.js';
import { empty, problem, skeleton } from './part/bits.js';
import { icon } from './part/icon.js';

/** @type {any[]} */
const PAGES = [
  {
    name: '',
    href: '/ui/',
    title: 'Overview',
    icon: 'home',
    key: 'o',
    load: () => import('./page/overview.js'),
    view: () => html`<k-overview></k-overview>`,
  },
  {
    name: 'runs',
    href: '/ui/runs',
    title: 'Runs',
    icon: 'list',
    key: 'r',
    load: () => import('./page/runs.js'),
    view: () => html`<k-runs></k-runs>`,
  },
  {
    name: 'inbox',
    href: '/ui/inbox',
    title: 'Inbox',
    icon: 'inbox',
    key: 'i',
    load: () => import('./page/inbox.js'),
    view: () => html`<k-inbox></k-inbox>`,
  },
  {
    name: 'launch',
    href: '/ui/launch',
    title: 'Launch',
    icon: 'play',
    key: 'l',
    load: () => import('./page/launch.js'),
    view: () => html`<k-launch></k-launch>`,
  },
  {
    name: 'money',
    href: '/ui/money',
    title: 'Money',
    icon: 'coins',
    key: 'm',
    load: () => import('./page/money.js'),
    view: () => html`<k-money></k-money>`,
  },
  ...[
    ['board', 'Board', 'graph', 'b', () => import('./page/board.js'), () => html`<k-board></k-board>`],
    [
      'schedules',
      'Schedules',
      'clock',
      's',
      () => import('./page/schedules.js'),
      () => html`<k-schedules></k-schedules>`,
    ],
    ['triggers', 'Triggers', 'in', 'h', () => import('./page/triggers.js'), () => html`<k-triggers></k-triggers>`],
    ['reports', 'Reports', 'file', 'p', () => import('./page/reports.js'), () => html`<k-reports></k-reports>`],
    ['workers', 'Workers', 'server', 'w', () => import('./page/workers.js'), () => html`<k-workers></k-workers>`],
    ['events', 'Events', 'pulse', 'e', () => import('./page/events.js'), () => html`<k-events></k-events>`],
    ['settings', 'Settings', 'gear', 't', () => import('./page/settings.js'), () => html`<k-settings></k-settings>`],
  ].map(([name, title, symbol, key, load, view]) => ({
    name,
    href: `/ui/${name}`,
    title,
    icon: symbol,
    key,
    second: true,
    load,
    view,
  })),
];
/** @type {any} */
const COMPARE = {
  name: 'compare',
  title: 'Compare',
  load: () => import('./page/compare.js'),
  view: () => html`<k-compare></k-compare>`,
};
/** @type {any} */
const RUN = { load: () => import('./page/run.js'), view: (id) => html`<k-run .run=${id}></k-run>` };
const TRANSCRIPT = {
  load: () => import('./page/transcript.js'),
  view: (id) => html`<k-transcript .run=${id} .task=${route.path[3]}></k-transcript>`,
};
const THEMES = { auto: ['auto', 'Theme of the system'], light: ['sun', 'Light theme'], dark: ['moon', 'Dark theme'] };
const ZONES = () => [
  ...new Set([
    Intl.DateTimeFormat().resolvedOptions().timeZone,
    'UTC',
    'Europe/Berlin',
    'Europe/London',
    'America/New_York',
    'America/Los_Angeles',
    'Asia/Kolkata',
    'Asia/Tokyo',
    'Australia/Sydney',
    prefs.values.zone,
  ]),
];
const KEYS = [
  ['⌘K', 'Search or jump'],
  [
    'g then o r i l m b s h p w e t',
    'Overview, Runs, Inbox, Launch, Money, Board, Schedules, Triggers, Reports, Workers, Events, Settings',
  ],
  ['j k', 'Next, previous row'],
  ['x', 'Select a row'],
  ['Enter', 'Open a row'],
  ['/', 'Filter'],
  ['↑ ↓ ← →', 'Move in the tree of tasks'],
  ['Shift ← →', 'On the board: move a task'],
  ['a r e n', 'In the inbox: accept, reject, assign, next'],
  ['?', 'This list'],
];

/** Copies a time that the user selected by itself as ISO 8601 in UTC, in each zone of the page. */
function copyTime(event) {
  const { anchorNode, focusNode } = getSelection();
  const time = (anchorNode instanceof Element ? anchorNode : anchorNode?.parentElement)?.closest('time');
  if (!time?.contains(focusNode)) return;
  event.clipboardData.setData('text/plain', new Date(time.dateTime).toISOString());
  event.preventDefault();
}

class App extends Part {
  static properties = {
    phase: { state: true },
    stale: { state: true },
    waiting: { state: true },
    upgraded: { state: true },
    notices: { state: true },
    note: { state: true },
    broken: { state: true },
  };
  #prefix = false;

  constructor() {
    super();
    this.phase = 'loading';
    this.notices = [];
    this.waiting = 0;
    for (const store of [route, prefs, me]) this.watch(store);
    this.watch(route, 'change', () => this.#arrive());
    this.watch(live, 'state', () => {
      if (live.state === 'reconnecting' || live.state === 'polling') this.away = true;
      else if (live.state === 'live' && this.away) {
        this.away = false;
        this.#compare();
      }
      this.requestUpdate();
    });
    this.watch(api, 'signed-out', () => {
      if (!me.value) return;
      me.forget();
      this.note = 'Your session has ended. Sign in to go on where you were.';
    });
    this.watch(api, 'reach', (event) => {
      this.stale = event.detail ? null : (this.stale ?? Date.now());
    });
    this.watch(live, 'event', (event) => {
      if (/approval|escalat|human|proposal|verif|budget|resumed|ticket/.test(event.detail.event_type ?? ''))
        this.#countSoon();
    });
    this.watch(document, 'keelson-answered', () => this.#count());
    this.watch(document, 'keelson-waiting', (event) => {
      this.waiting = event.detail;
    });
    this.watch(document, 'keelson-toast', (event) => this.#notice(event.detail));
    this.watch(document, 'keydown', (event) => this.#key(event));
    this.watch(document, 'copy', copyTime);
    this.watch(me, 'change', () => {
      if (me.value) {
        this.note = null;
        this.#count();
      }
    });
    this.#begin();
  }

  async #begin() {
    this.#page()
      ?.load()
      .catch(() => {
        /* said on arrival */
      });
    const early = me.value;
    this.note = await me.entered;
    this.phase = 'ready';
    if (early) this.#count();
    else if (!me.value) this.#arrive();
  }

  #page() {
    const [first, second] = route.path;
    if (first === 'runs' && second) return route.path[2] === 'tasks' && route.path[3] ? TRANSCRIPT : RUN;
    if (first === COMPARE.name) return COMPARE;
    return PAGES.find((page) => page.name === (first ?? ''));
  }

  async #arrive() {
    const page = this.#page();
    if (page !== RUN && page !== TRANSCRIPT) live.follow(me.value?.workspace.id ?? null);
    try {
      await page?.load();
      this.broken = null;
    } catch (failure) {
      this.broken = failure;
    }
    document.title = `${page?.title ?? (page === RUN ? 'Run' : 'Not found')} · Keelson`;
  }

  /** After a stream has broken off, the server may be another version than the page. */
  async #compare() {
    const now = await get('/whoami').catch(() => null);
    if (now && me.value && now.version !== me.value.version) this.upgraded = now.version;
  }

  #countSoon() {
    this.counting ??= setTimeout(() => {
      this.counting = null;
      this.#count();
    }, 1_000);
  }

  async #count() {
    if (!me.value) return;
    this.#arrive();
    const stats = await known('/inbox/stats').catch(() => null);
    if (stats) this.waiting = stats.total;
  }

  #notice(notice) {
    this.notices = [...this.notices.slice(-3), notice];
    setTimeout(
      () => {
        this.notices = this.notices.filter((each) => each !== notice);
      },
      notice.bad ? 9000 : 3500,
    );
  }

  #key(event) {
    if ((event.metaKey || event.ctrlKey) && event.key === 'k' && me.value) {
      event.preventDefault();
      this.#find();
      return;
    }
    if (!prefs.values.shortcuts || !me.value || event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.target.closest?.('input, textarea, select, dialog')) return;
    if (this.#prefix) {
      this.#prefix = false;
      const page = PAGES.find((each) => each.key === event.key);
      if (page) {
        event.preventDefault();
        route.go(page.href);
      }
    } else if (event.key === 'g') this.#prefix = true;
    else if (event.key === '?') this.#help();
  }

  async #find() {
    const { openPalette } = await import('./part/palette.js');
    if (document.querySelector('dialog')) return;
    openPalette(PAGES, [
      { icon: 'sun', title: 'Change theme', act: () => this.#theme() },
      { icon: 'keyboard', title: 'Keyboard shortcuts', key: '?', act: () => this.#help() },
      { icon: 'out', title: 'Sign out', act: () => this.#leave() },
    ]);
  }

  async #help() {
    const { show } = await import('./part/dialog.js');
    if (document.querySelector('dialog')) return;
    show(
      (close, draw) =>
        html`<div class="body">
          <h2>Keyboard</h2>
          <div class="keys">
            ${KEYS.map(
              ([keys, text]) =>
                html`<span><kbd>${keys}</kbd></span
                  ><span>${text}</span>`,
            )}
          </div>
          <label class="row"
            ><input
              type="checkbox"
              .checked=${prefs.values.shortcuts}
              @change=${(event) => {
                prefs.set('shortcuts', event.target.checked);
                draw();
              }}
            />
            Shortcuts of a single key</label
          >
          <footer><button class="btn first" @click=${() => close()}>Close</button></footer>
        </div>`,
    );
  }

  #theme() {
    const names = Object.keys(THEMES);
    prefs.set('theme', names[(names.indexOf(prefs.values.theme) + 1) % names.length]);
  }

  #leave() {
    const session = me.value?.session;
    live.follow(null);
    abandon();
    if (session) signOut(session.workspace_id);
    me.forget();
  }

  #live() {
    const words = {
      live: 'Live',
      polling: 'Polling',
      reconnecting: 'Reconnecting…',
      paused: 'Paused while hidden',
      ended: 'Ended',
      closed: 'Not following',
    };
    const state = this.stale ? 'reconnecting' : live.state;
    return html`<div class="live ${state === 'live' || state === 'ended' ? '' : 'off'}" role="status">
      <span class="dot"></span>${words[state]}
    </div>`;
  }

  #tools() {
    const [symbol, title] = THEMES[prefs.values.theme];
    return html`<button class="btn bare only" title=${title} aria-label=${title} @click=${() => this.#theme()}>
        ${icon(symbol)}
      </button>
      <button
        class="btn bare only"
        title="Keyboard shortcuts"
        aria-label="Keyboard shortcuts"
        @click=${() => this.#help()}
      >
        ${icon('keyboard')}
      </button>
      <button class="btn bare only" title="Sign out" aria-label="Sign out" @click=${() => this.#leave()}>
        ${icon('out')}
      </button>`;
  }

  #links(pages = PAGES) {
    const first = route.path[0] ?? '';
    return pages.map(
      (page) =>
        html`${page.second && page.name === 'board' ? html`<hr />` : nothing}<a
            href=${page.href}
            aria-current=${page.name === first ? 'page' : nothing}
            >${icon(page.icon)}${page.title}
            ${page.name === 'inbox' && this.waiting ? html`<span class="pill">${this.waiting}<span class="hidden-text"> waiting</span></span>` : nothing}</a
          >`,
    );
  }

  #brand() {
    return html`<a class="brand" href="/ui/"
      ><img class="mark" src=${document.querySelector('link[rel=icon]').href} alt="" /><span
        >Keelson <small><bdi>${me.value?.workspace?.name ?? ''}</bdi></small></span
      ></a
    >`;
  }

  render() {
    const expected = !me.value && me.expected;
    if (!me.value && !expected) {
      if (this.phase === 'loading') return nothing;
      import('./page/signin.js');
      return html`<k-signin .note=${this.note}></k-signin>`;
    }
    const page = this.#page();
    return html`<a
        class="skip"
        href="#main"
        @click=${(event) => {
          event.preventDefault();
          this.querySelector('main').focus();
        }}
        >Skip to the content</a
      >
      <div class="shell">
        <div class="side">
          ${this.#brand()}
          <button class="find" @click=${() => this.#find()}>
            ${icon('search')}<span class="grow">Search or jump</span><kbd>⌘K</kbd>
          </button>
          <nav class="nav stack" aria-label="Pages">${this.#links()}</nav>
          <div class="foot">
            ${this.#live()}
            <label class="row small"
              ><span class="hidden-text">Time zone</span>${icon('clock', 'small')}
              <select class="input" @change=${(event) => prefs.set('zone', event.target.value)}>
                ${ZONES().map((zone) => html`<option ?selected=${zone === prefs.values.zone}>${zone}</option>`)}
              </select></label
            >
            <div class="row">
              <span class="who grow"
                >${icon('user')}<span class="cut"><bdi>${me.name}</bdi></span></span
              >${this.#tools()}
            </div>
          </div>
        </div>
        <div>
          <div class="top">
            ${this.#brand()}<span class="end row"
              ><button class="btn bare only" aria-label="Search or jump" @click=${() => this.#find()}>
                ${icon('search')}</button
              >${this.#tools()}</span
            >
          </div>
          <main class="main" id="main" tabindex="-1">
            <div class="page">
              ${
                this.upgraded
                  ? html`<div class="note warn" role="status">
                      ${icon('retry')}<span
                        >The server is a new version, ${this.upgraded}.
                        <button class="btn low" @click=${() => location.reload()}>Reload</button></span
                      >
                    </div>`
                  : nothing
              }
              ${this.stale ? html`<div class="note warn" role="status">${icon('alert')}<span>The server has not answered since ${clock(this.stale)}. What you see is from then.</span></div>` : nothing}
              ${
                this.broken
                  ? html`<div class="note bad" role="alert">
                      ${icon('alert')}<span
                        >A part of this page could not be loaded; the server may have been replaced by a newer one.
                        <button class="btn low" @click=${() => location.reload()}>Reload</button></span
                      >
                    </div>`
                  : expected
                    ? me.failure
                      ? problem(me.failure, () => me.again())
                      : html`<div class="card">${skeleton(9)}</div>`
                    : page
                      ? page.view(route.path[1])
                      : empty('search', 'There is no such page', 'The address may be mistyped.')
              }
            </div>
          </main>
        </div>
      </div>
      <nav class="tabs-low" aria-label="Main pages">
        ${this.#links(PAGES.filter((each) => !each.second))}<button @click=${() => this.#find()}>
          ${icon('more')}More
        </button>
      </nav>
      <div class="toasts" role="status">
        ${this.notices.map((each) => html`<div class="toast">${icon(each.bad ? 'alert' : 'check', each.bad ? 'i-failed' : 'i-done')}<span>${each.text}</span></div>`)}
      </div>`;
  }
}
customElements.define('k-app', App);
