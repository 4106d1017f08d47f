import { html, nothing } from 'lit';
import { all, get, now, post } from '../api/client.js';
import { live } from '../live/stream.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { count, many } from '../draw/format.js';
import { Part } from '../part/base.js';
import { ago, empty, name, problem, skeleton, toast } from '../part/bits.js';
import { ask } from '../part/dialog.js';
import { icon } from '../part/icon.js';

const SILENT_MS = 60_000;
const EVERY_MS = 5_000;
/** Rows of the queue that are shown at first. */
const MOST_QUEUED = 6;
const silent = (at) => now() - Date.parse(at) >= SILENT_MS;

/** What does the work, what waits for it, and whether the servers are well. */
class Workers extends Part {
  static properties = {
    data: { state: true },
    tools: { state: true },
    failure: { state: true },
    text: { state: true },
    all: { state: true },
    whole: { state: true },
  };
  #timer = null;

  constructor() {
    super();
    this.text = '';
    for (const store of [prefs, me]) this.watch(store);
    this.watch(route, 'change', () => this.#load());
    this.watch(live, 'resume', () => this.#load());
  }

  connectedCallback() {
    super.connectedCallback();
    this.#load();
    this.#timer = setInterval(() => {
      if (!document.hidden) this.#load();
    }, EVERY_MS);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearInterval(this.#timer);
  }

  async #load() {
    if (route.path[0] !== 'workers') return;
    const sees = !me.lacks('operator');
    try {
      this.tools ??= (await all('/tools', {}, 2000)).items;
      const [workers, versions, queue, nodes, ready] = await Promise.all([
        all('/workers', {}, 1000),
        all('/versions', {}, 1000),
        get('/queue'),
        sees ? get('/nodes') : null,
        get('/readyz').then(
          () => true,
          (failure) => failure,
        ),
      ]);
      this.data = {
        workers: workers.items,
        versions: versions.items,
        queue: queue.items,
        nodes: nodes?.items ?? null,
        ready,
      };
      this.failure = null;
    } catch (failure) {
      this.failure = failure;
    }
  }

  async #drain(worker) {
    if (
      !(await ask({
        title: html`Drain ${name(worker.id, 100)}?`,
        text: 'It gets no further steps and ends when those it has are done.',
        yes: 'Drain',
      }))
    )
      return;
    await post(`/workers/${encodeURIComponent(worker.id)}/drain`).then(
      () => toast('The worker is drained'),
      (failure) => toast(`${failure.message} (${failure.code})`, true),
    );
    this.#load();
  }

  #figures({ workers, queue, nodes, ready }) {
    const waiting = queue.reduce((sum, each) => sum + each.waiting, 0);
    const oldest = queue
      .map((each) => each.oldest_at)
      .filter(Boolean)
      .toSorted()[0];
    const heard = workers.filter((each) => !silent(each.last_seen_at));
    return html`<dl class="figures">
      <div>
        <dt>Servers</dt>
        <dd>
          <strong class=${ready === true ? 'i-done' : 'i-failed'}>${ready === true ? 'ready' : 'not ready'}</strong
          ><span class="small soft"
            >${nodes ? many(nodes.length, 'server') : ready === true ? 'the database answers' : ready.message}</span
          >
        </dd>
      </div>
      <div>
        <dt>Workers with recent requests</dt>
        <dd>
          <strong class="num">${count(heard.length)}</strong
          ><span class="small soft">${many(workers.length - heard.length, 'silent worker')}</span>
        </dd>
      </div>
      <div>
        <dt>Ready steps</dt>
        <dd>
          <strong class="num">${count(waiting)}</strong
          ><span class="small soft">${oldest ? html`the oldest for ${ago(oldest)}` : 'nothing waits'}</span>
        </dd>
      </div>
      <div>
        <dt>Steps at work</dt>
        <dd><strong class="num">${count(queue.reduce((sum, each) => sum + each.leased, 0))}</strong></dd>
      </div>
    </dl>`;
  }

  #queue({ queue, workers }) {
    const served = new Set([
      ...workers.filter((each) => !silent(each.last_seen_at) && !each.draining).flatMap((each) => each.tools),
      ...this.tools.filter((tool) => tool.source !== 'worker').map((tool) => tool.name),
    ]);
    return html`<section class="card">
      <header>
        <h2>Queue</h2>
        <span class="count">by tool</span>
      </header>
      ${
        queue.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Queue">
                <table class="list">
                  <thead>
                    <tr>
                      <th>Tool</th>
                      <th class="right">Ready</th>
                      <th class="right">At work</th>
                      <th>Oldest waits for</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${queue.slice(0, this.whole ? queue.length : MOST_QUEUED).map(
                      (each) =>
                        html`<tr>
                          <td class="mono small">
                            ${name(each.tool, 120)}${each.waiting && !served.has(each.tool) ? html` <span class="state f-failed">${icon('alert')}no worker serves it</span>` : nothing}
                          </td>
                          <td class="right num">${count(each.waiting)}</td>
                          <td class="right num">${count(each.leased)}</td>
                          <td>${each.oldest_at ? ago(each.oldest_at) : html`<span class="faint">–</span>`}</td>
                        </tr>`,
                    )}
                  </tbody>
                </table>
              </div>
              ${
                queue.length > MOST_QUEUED
                  ? html`<p class="pad">
                      <button
                        class="btn bare low"
                        aria-expanded=${!!this.whole}
                        @click=${() => {
                          this.whole = !this.whole;
                        }}
                      >
                        ${this.whole ? 'Fewer' : `and ${queue.length - MOST_QUEUED} more`}
                      </button>
                    </p>`
                  : nothing
              }`
          : html`<p class="pad soft">Nothing is ready or at work.</p>`
      }
    </section>`;
  }

  #workers({ workers }) {
    const lacks = me.lacks('admin');
    const gone = workers.filter((each) => silent(each.last_seen_at));
    const shown = [
      ...workers.filter((each) => !silent(each.last_seen_at)).toSorted((a, b) => a.id.localeCompare(b.id)),
      ...(this.all ? gone.toSorted((a, b) => Date.parse(b.last_seen_at) - Date.parse(a.last_seen_at)) : []),
    ];
    return html`<section class="card">
      <header>
        <h2>Workers</h2>
        <span class="count">${count(workers.length - gone.length)}</span>${
          gone.length
            ? html`<button
                class="btn bare low end"
                aria-expanded=${!!this.all}
                @click=${() => {
                  this.all = !this.all;
                }}
              >
                ${this.all ? 'Hide' : 'Show'} ${many(gone.length, 'silent worker')}
              </button>`
            : nothing
        }
      </header>
      ${
        shown.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Workers">
              <table class="list low-cards">
                <thead>
                  <tr>
                    <th>Worker</th>
                    <th>Last request</th>
                    <th class="right">Slots</th>
                    <th>Tools</th>
                    <th>Version</th>
                    <th><span class="hidden-text">Actions</span></th>
                  </tr>
                </thead>
                <tbody>
                  ${shown.map(
                    (each) =>
                      html`<tr>
                        <td>
                          <strong>${name(each.id, 100)}</strong
                          >${each.draining ? html` <span class="state f-waits">${icon('pause')}draining</span>` : nothing}
                        </td>
                        <td class=${silent(each.last_seen_at) ? 'i-failed' : ''}>
                          ${silent(each.last_seen_at) ? icon('alert', 'small') : nothing} ${ago(each.last_seen_at)} ago
                        </td>
                        <td class="right num" data-title="Slots">${each.slots}</td>
                        <td class="mono small" data-title="Tools">${name(each.tools.join(', '), 300)}</td>
                        <td class="soft">${name(each.version ?? '', 60)}</td>
                        <td class="right">
                          ${each.draining ? nothing : html`<button class="btn low" ?disabled=${!!lacks} title=${lacks ?? nothing} @click=${() => this.#drain(each)}>Drain…</button>`}
                        </td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
          : empty(
              'server',
              gone.length ? 'No worker at present' : 'No workers',
              'The servers execute their own tools. Workers outside serve further ones; the worker SDK tells how.',
            )
      }
    </section>`;
  }

  #versions({ versions }) {
    const rows = versions
      .filter((tool) => tool.current !== null)
      .flatMap((tool) => tool.versions.map((each) => ({ ...each, tool })));
    if (!rows.length) return nothing;
    return html`<section class="card">
      <header><h2>Versions of workers</h2></header>
      <div class="scroll-x" tabindex="0" role="region" aria-label="Versions of workers">
        <table class="list">
          <thead>
            <tr>
              <th>Tool</th>
              <th>Version</th>
              <th>State</th>
              <th class="right">Workers</th>
              <th class="right">Runs</th>
              <th class="right">Ready steps</th>
            </tr>
          </thead>
          <tbody>
            ${rows.map(
              ({ tool, version, state, workers, runs, waiting }) =>
                html`<tr>
                  <td class="mono small">${name(tool.tool, 120)}</td>
                  <td>${name(version, 60)}</td>
                  <td>
                    ${state}${state === 'ramping' ? ` ${tool.percent} %` : ''}${waiting && !workers ? html` <span class="state f-failed">${icon('alert')}no worker has it</span>` : nothing}
                  </td>
                  <td class="right num">${count(workers)}</td>
                  <td class="right num">${count(runs)}</td>
                  <td class="right num">${count(waiting)}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>`;
  }

  #nodes({ nodes }) {
    if (!nodes) return nothing;
    return html`<section class="card">
      <header>
        <h2>Servers</h2>
        <span class="count">${count(nodes.length)}</span>
      </header>
      <div class="scroll-x" tabindex="0" role="region" aria-label="Servers">
        <table class="list">
          <thead>
            <tr>
              <th>Server</th>
              <th>Version</th>
              <th>Runs for</th>
              <th>Last request</th>
            </tr>
          </thead>
          <tbody>
            ${nodes.map(
              (each) =>
                html`<tr>
                  <td class="mono small">${name(each.id, 100)}</td>
                  <td>${name(each.version, 60)}</td>
                  <td>${ago(each.started_at)}</td>
                  <td>${ago(each.last_seen_at)} ago</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>`;
  }

  #catalogue() {
    const wanted = this.text.toLowerCase();
    const found = this.tools.filter((tool) => `${tool.name} ${tool.description ?? ''}`.toLowerCase().includes(wanted));
    return html`<section class="card">
      <header>
        <h2>Tools</h2>
        <span class="count">${count(found.length)}</span
        ><label class="search end"
          >${icon('search', 'small')}<span class="hidden-text">Filter tools</span
          ><input
            type="search"
            placeholder="Filter tools"
            .value=${this.text}
            @input=${(event) => {
              this.text = event.target.value;
            }}
        /></label>
      </header>
      <ul class="tools" tabindex="0" aria-label="Tools">
        ${found.slice(0, 200).map((tool) => html`<li><code>${name(tool.name, 100)}</code> <span class="tag">${tool.source}</span>${tool.effects ? html` <span class="tag">${tool.effects}</span>` : nothing}<span class="small soft clamp">${name(tool.description ?? '', 300)}</span></li>`)}
      </ul>
    </section>`;
  }

  render() {
    return html`<div class="head"><h1>Workers and health</h1></div>
      ${this.failure ? problem(this.failure, () => this.#load()) : nothing}
      ${
        this.data
          ? html`${this.#figures(this.data)}${this.#workers(this.data)}${this.#versions(this.data)}
              <div class="halves">${this.#queue(this.data)}${this.#nodes(this.data)}</div>
              ${this.#catalogue()}`
          : this.failure
            ? nothing
            : html`<div class="card">${skeleton()}</div>`
      }`;
  }
}
customElements.define('k-workers', Workers);
