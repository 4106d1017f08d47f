import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { now } from '../api/client.js';
import { route } from '../store/route.js';
import { prefs } from '../store/prefs.js';
import { clock, count, duration } from '../draw/format.js';
import { WORDS, family } from '../draw/state.js';
import { group, rows } from '../draw/tree.js';
import { earlier, merged, scale, segments, ticks } from '../draw/timeline.js';
import { Part } from '../part/base.js';
import { mark, name, stateBar } from '../part/bits.js';
import { icon } from '../part/icon.js';
import { place } from '../part/place.js';

const HEIGHT = 32;
const KINDS = { work: 'work', queued: 'in the queue', backoff: 'waits for its next try', person: 'waits for a person', timer: 'waits for a time, a signal or a child', failed: 'failed try' };

/** Tree of tasks and timeline as one treegrid; only rows in view are elements. */
class Tree extends Part {
  static properties = { run: { attribute: false }, tasks: { attribute: false }, stepsOf: { attribute: false }, allOf: { attribute: false }, pastOf: { attribute: false }, begun: { attribute: false }, picked: { type: String }, top: { state: true }, opened: { state: true }, at: { state: true }, text: { state: true } };
  #rows = [];

  constructor() {
    super();
    this.top = 0;
    this.opened = new Set((route.get('open') ?? '').split(',').filter(Boolean));
    this.at = 0;
    this.watch(prefs);
  }

  #open(id, open) {
    const opened = new Set(this.opened);
    if (open) opened.add(id); else opened.delete(id);
    this.opened = opened;
    route.set({ open: [...opened].slice(0, 30).join(',') || null }, true);
  }

  #pick(row) {
    if (row.task) route.set({ task: row.task.key }); else this.#open(row.id, !row.open);
  }

  #key(event) {
    const row = this.#rows[this.at];
    const last = this.#rows.length - 1;
    const page = Math.floor(this.#body().clientHeight / HEIGHT);
    const to = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, Home: 0, End: last, PageDown: this.at + page, PageUp: this.at - page }[event.key];
    if (to !== undefined) this.at = Math.max(0, Math.min(last, to));
    else if (event.key === 'ArrowRight' && row?.kids && !row.open) this.#open(row.id, true);
    else if (event.key === 'ArrowLeft' && row?.open) this.#open(row.id, false);
    else if (event.key === 'ArrowLeft' && row?.level > 1) this.at = this.#rows.slice(0, this.at).findLastIndex((each) => each.level < row.level);
    else if ((event.key === 'Enter' || event.key === ' ') && row) this.#pick(row);
    else if (event.key === 'Escape') route.set({ task: null });
    else return;
    event.preventDefault();
    const body = this.#body();
    if (this.at * HEIGHT < body.scrollTop) body.scrollTop = this.at * HEIGHT;
    else if ((this.at + 1) * HEIGHT > body.scrollTop + body.clientHeight) body.scrollTop = (this.at + 1) * HEIGHT - body.clientHeight;
  }

  #body() { return this.querySelector('.tree-body'); }

  #segments(row, at) {
    if (row.group) return merged(row.group.items.map((task) => this.#ofTask(task, at)));
    if (row.step) return segments({ ...row.step, queued_at: row.step.started_at ?? row.step.created_at, state: row.step.state }, [row.step], at);
    return merged([this.#ofTask(row.task, at)]);
  }

  #ofTask(task, at) {
    return [...earlier(this.pastOf(task.key)), ...segments(task, this.allOf(task.id), at)];
  }

  #line(row, axis, at) {
    return html`<span role="gridcell" class="line">${axis.marks.map((each) => html`<i class="rule" ${place({ left: `${each.x * 100}%` })}></i>`)}${axis.folds.map((fold) => html`<i class="fold" ${place({ left: `${fold.x * 100}%` })}></i>`)}
      ${this.#segments(row, at).map((each) => {
    const x = axis.part(each.from);
    const width = axis.part(each.to) - x;
    const text = `${KINDS[each.kind] ?? each.kind}, ${duration(each.to - each.from)}, from ${clock(each.from)}`;
    return html`<i class="seg s-${each.kind}" title=${text} ${place({ left: `${x * 100}%`, width: `max(3px, ${width * 100}%)` })}></i>`;
  })}</span>`;
  }

  #row(row, i, axis, at) {
    const { task, step } = row;
    const state = (step ?? task)?.state;
    const took = step ? (step.started_at ? (step.completed_at ? Date.parse(step.completed_at) : at) - Date.parse(step.started_at) : null)
      : task ? task.duration_ms ?? (task.started_at && task.state_type !== 'terminal' ? at - Date.parse(task.started_at) : null) : null;
    return html`<div class="tree-row ${i === this.at ? 'at' : ''} ${task && !step && task.key === this.picked ? 'picked-row' : ''}" role="row" id="row-${i}" aria-level=${row.level} aria-rowindex=${i + 2}
        aria-expanded=${row.kids ? String(!!row.open) : nothing} aria-selected=${!!task && !step && task.key === this.picked} ${place({ transform: `translateY(${i * HEIGHT}px)`, '--level': row.level })}
        @click=${() => { this.at = i; this.#pick(row); }}>
      <span role="gridcell" class="tree-name">${row.kids ? html`<i class="twist" @click=${(event) => { event.stopPropagation(); this.at = i; this.#open(row.id, !row.open); }}>${icon(row.open ? 'down' : 'right', 'small')}</i>` : html`<i class="twist"></i>`}
        ${row.group ? html`<span class="cut"><strong>${name(row.group.key, 120)}</strong> <span class="soft num">×${count(row.group.items.length)}</span></span><span class="group-bar">${stateBar(row.group.counts)}</span>`
    : html`${mark(family(state), `${state}`)}<span class="cut ${step ? 'soft' : ''}">${step ? name(step.name, 120) : name(task.title || task.key, 160)}</span>
        ${step ? html`<span class="mono faint small cut">${name(step.tool ?? step.kind, 40)}</span>` : task.item_index !== null && task.item_index !== undefined ? html`<span class="faint small num">[${task.item_index}]</span>` : nothing}
        ${!step && task.failures ? html`<span class="small i-backoff num">↻ ${task.failures}</span>` : nothing}`}
      </span><span role="gridcell" class="took num small soft">${took === null ? '' : duration(took)}</span>${this.#line(row, axis, at)}</div>`;
  }

  render() {
    const at = this.run.completed_at ? Date.parse(this.run.completed_at) : now();
    const nodes = group(this.tasks);
    const trouble = route.get('only') === 'trouble';
    const hideDone = route.get('done') === 'no';
    const fold = route.get('fold') !== 'no';
    this.#rows = rows(nodes, { opened: this.opened, hideDone, trouble, text: this.text, stepsOf: this.stepsOf });
    this.at = Math.max(0, Math.min(this.at, this.#rows.length - 1));
    const from = this.begun;
    const lists = this.tasks.length > 3000 ? [] : this.tasks.map((task) => this.#ofTask(task, at));
    const to = Math.max(at, from + 100);
    const axis = scale(from, to, lists, fold);
    axis.marks = ticks(from, to, axis.part, this.picked || matchMedia('(max-width: 860px)').matches ? 3 : 7);
    const shown = this.#rows.slice(Math.max(0, this.top - 6), this.top + 36);
    const first = Math.max(0, this.top - 6);
    return html`<div class="card tree"><div class="tree-tools"><label class="search">${icon('search', 'small')}<span class="hidden-text">Filter tasks</span><input type="search" placeholder="Filter tasks" @input=${(event) => { this.text = event.target.value.trim().toLowerCase(); }}></label>
        ${[['only', 'trouble', 'Only trouble', trouble], ['done', 'no', 'Hide done', hideDone], ['fold', 'no', 'Fold idle time', fold]].map(([parameter, value, title, on]) => html`<label class="row small"><input type="checkbox" .checked=${on}
          @change=${() => route.set({ [parameter]: route.get(parameter) ? null : value }, true)}>${title}</label>`)}
        <span class="end legend small soft" aria-hidden="true">${['work', 'queued', 'backoff', 'person', 'timer', 'failed'].map((kind) => html`<span class="row"><i class="seg s-${kind}"></i>${{ work: 'work', queued: 'queue', backoff: 'backoff', person: 'person', timer: 'timer', failed: 'failed' }[kind]}</span>`)}</span></div>
      <div class="tree-grid" role="treegrid" aria-label="Tasks and timeline" aria-rowcount=${this.#rows.length + 1} tabindex="0" aria-activedescendant=${this.#rows.length ? `row-${this.at}` : nothing} @keydown=${(event) => this.#key(event)}>
        <div class="tree-row tree-head" role="row" aria-rowindex="1"><span role="columnheader" class="small soft">Task</span><span role="columnheader" class="took small soft">Took</span>
          <span role="columnheader" class="line axis"><span class="hidden-text">Timeline</span>${axis.marks.map((tick) => html`<span class="tick small faint num" title=${clock(from + tick.ms)} ${place({ left: `${tick.x * 100}%` })}>${tick.ms ? `+${duration(tick.ms)}` : clock(from)}</span>`)}
            ${axis.folds.map((each) => html`<span class="fold-text small" title="Nothing worked for ${duration(each.ms)}" ${place({ left: `${each.x * 100}%` })}>⌇</span>`)}</span></div>
        <div class="tree-body" role="rowgroup" @scroll=${(event) => { const top = Math.floor(event.target.scrollTop / HEIGHT); if (Math.abs(top - this.top) > 2 || top === 0) this.top = top; }}>
          <div class="tree-all" role="presentation" ${place({ height: `${this.#rows.length * HEIGHT}px` })}>${repeat(shown, (row) => row.id, (row, i) => this.#row(row, first + i, axis, at))}</div></div></div>
      ${this.#rows.length ? nothing : html`<p class="pad soft">${this.tasks.length ? `No task is like that; ${WORDS.done} tasks may be hidden.` : 'There are no tasks yet.'}</p>`}</div>`;
  }
}
customElements.define('k-tree', Tree);
