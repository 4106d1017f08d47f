import { html, nothing } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { all, now } from '../api/client.js';
import { route } from '../store/route.js';
import { prefs } from '../store/prefs.js';
import { runs } from '../store/runs.js';
import { clock, count, duration, within } from '../draw/format.js';
import { WORDS, family, familyOf, isHeld, words } from '../draw/state.js';
import { group, rows } from '../draw/tree.js';
import { merged, scale, stretches, ticks, timeAt, zoomed } from '../draw/timeline.js';
import { Part } from '../part/base.js';
import { mark, name, stateBar } from '../part/bits.js';
import { icon } from '../part/icon.js';
import { place } from '../part/place.js';

/** A longer title may be cut before it differs from others, so the key is beside it. */
const LONG = 60;
/** Characters of a round's number with its bar, or of a branch, beside the name. */
const BESIDE = 22;
const HEIGHT = 32;
const KINDS = {
  work: 'work',
  queued: 'in the queue',
  backoff: 'backoff before a retry',
  person: 'waits for a person',
  timer: 'waits for a time, a signal or a child run',
  failed: 'failed try',
};
const LEGEND = [
  ['work', 'work'],
  ['queued', 'queue'],
  ['backoff', 'backoff before a retry'],
  ['person', 'waits for a person'],
  ['timer', 'waits for a time, a signal or a child run'],
  ['failed', 'failed'],
];
const MOST_STEPS = 500;
const STEP_KIND = { approval: 'person', wait: 'timer', signal: 'timer', run: 'timer' };

/** Tree of tasks and timeline as one treegrid; only rows in view are elements. */
class Tree extends Part {
  static properties = {
    data: { attribute: false },
    tasks: { attribute: false },
    tick: { attribute: false },
    filters: { attribute: false },
    picked: { type: String },
    top: { state: true },
    opened: { state: true },
    at: { state: true },
    text: { state: true },
    brushed: { state: true },
  };
  #rows = [];
  #nodes = [];
  #of = null;
  #steps = new Map();
  #merged = new Map();
  #kinds = new Set();
  #question = '';
  #byAgent = false;
  #asked = null;

  constructor() {
    super();
    this.top = 0;
    this.opened = new Set((route.get('open') ?? '').split(',').filter(Boolean));
    this.at = 0;
    this.watch(prefs);
  }

  #open(id, open) {
    const opened = new Set(this.opened);
    if (open) opened.add(id);
    else opened.delete(id);
    this.opened = opened;
    route.set({ open: [...opened].slice(0, 30).join(',') || null }, true);
  }

  #pick(row) {
    if (row.asked) {
      if (row.open) route.go(`/ui/inbox?run=${this.data.id}`);
    } else if (row.task) route.set({ task: row.task.key });
    else this.#open(row.id, !row.open);
  }

  /** The steps of an open task, asked for once per version of its row. */
  #stepsOf(task) {
    const known = this.#steps.get(task.id);
    if (
      known?.row !== task &&
      !(
        known &&
        known.row.version_id === task.version_id &&
        known.row.steps === task.steps &&
        known.row.state === task.state
      )
    ) {
      this.#steps.set(task.id, { row: task, items: known?.items ?? null });
      all(`/tasks/${task.id}/steps`, { light: true }, MOST_STEPS).then(
        ({ items }) => {
          if (this.#steps.get(task.id)?.row === task) {
            this.#steps.set(task.id, { row: task, items });
            this.#question = '';
            this.requestUpdate();
          }
        },
        () => this.#steps.delete(task.id),
      );
    }
    return this.#steps.get(task.id).items;
  }

  #key(event) {
    const row = this.#rows[this.at];
    const last = this.#rows.length - 1;
    const page = Math.floor(this.#body().clientHeight / HEIGHT);
    const to = {
      ArrowDown: this.at + 1,
      ArrowUp: this.at - 1,
      Home: 0,
      End: last,
      PageDown: this.at + page,
      PageUp: this.at - page,
    }[event.key];
    if (to !== undefined) this.at = Math.max(0, Math.min(last, to));
    else if (event.key === 'ArrowRight' && row?.kids && !row.open) this.#open(row.id, true);
    else if (event.key === 'ArrowLeft' && row?.open) this.#open(row.id, false);
    else if (event.key === 'ArrowLeft' && row?.level > 1)
      this.at = this.#rows.slice(0, this.at).findLastIndex((each) => each.level < row.level);
    else if ((event.key === 'Enter' || event.key === ' ') && row) this.#pick(row);
    else if (event.key === '+' || event.key === '=') this.#zoom(0.5);
    else if (event.key === '-') this.#zoom(2);
    else if (event.key === '0') this.#show(null);
    else if (event.key === 'Escape') route.set({ task: null });
    else return;
    event.preventDefault();
    const body = this.#body();
    if (this.at * HEIGHT < body.scrollTop) body.scrollTop = this.at * HEIGHT;
    else if ((this.at + 1) * HEIGHT > body.scrollTop + body.clientHeight)
      body.scrollTop = (this.at + 1) * HEIGHT - body.clientHeight;
  }

  #body() {
    return this.querySelector('.tree-body');
  }

  /**
   * The stretch of time that is shown, in milliseconds since the beginning.
   * @returns {[number, number]}
   */
  #period(whole) {
    const [from, to] = (route.get('zoom') ?? '').split('-').map(Number);
    return to > from && from >= 0 && from < whole ? [from, Math.min(to, whole)] : [0, whole];
  }

  /** @param period null for the whole run */
  #show(period) {
    route.set({ zoom: period && period.map(Math.round).join('-') }, true);
  }

  #zoom(factor) {
    this.#show(zoomed(this.#period(this.whole), factor, this.whole));
  }

  /** A stretch of the axis that is drawn over with the pointer fills the width. */
  #brush(event, axis, [from, to]) {
    if (event.button || event.target.closest('button')) return;
    const line = event.currentTarget;
    const box = line.getBoundingClientRect();
    const at = ({ clientX }) => Math.max(0, Math.min(1, (clientX - box.left) / box.width));
    const begin = at(event);
    const move = (moved) => {
      this.brushed = [Math.min(begin, at(moved)), Math.max(begin, at(moved))];
    };
    line.setPointerCapture(event.pointerId);
    line.addEventListener('pointermove', move);
    line.addEventListener(
      'lostpointercapture',
      () => {
        line.removeEventListener('pointermove', move);
        const [left, right] = this.brushed ?? [0, 0];
        this.brushed = null;
        if ((right - left) * box.width > 8) this.#show([left, right].map((x) => timeAt(x, from, to, axis)));
      },
      { once: true },
    );
  }

  /** Stretches of a row; those of a group once per answer, since they are of many tasks. */
  #segments(row, at) {
    if (row.asked)
      return row.asked.map(({ from_ms: from, to_ms: to }) => ({
        kind: 'person',
        from,
        to: to ?? Math.max(at, from + 1),
      }));
    if (row.step) return this.#ofStep(row.step, at);
    if (!row.group) return merged(stretches(row.task, at));
    if (!this.#merged.has(row.id))
      this.#merged.set(row.id, merged(row.group.items.flatMap((task) => stretches(task, at))));
    return this.#merged.get(row.id);
  }

  #ofStep(step, at) {
    if (!step.started_at) return [];
    const from = Date.parse(step.started_at) - this.from;
    const to = step.completed_at ? Date.parse(step.completed_at) - this.from : at;
    const kind =
      { failed: 'failed', awaiting_retry: 'backoff', waiting: 'timer', waiting_approval: 'person' }[step.state] ??
      STEP_KIND[step.kind] ??
      'work';
    return [{ kind, from, to: Math.max(to, from + 1) }];
  }

  #line(row, axis, at) {
    return html`<span role="gridcell" class="line"
      >${axis.marks.map((each) => html`<i class="rule" ${place({ left: `${each.x * 100}%` })}></i>`)}${axis.folds.map((fold) => html`<i class="fold" ${place({ left: `${fold.x * 100}%`, width: `${fold.width * 100}%` })}></i>`)}
      ${this.#segments(row, at)
        .filter((each) => each.to > axis.from && each.from < axis.to)
        .map((each) => {
          const x = axis.part(each.from);
          const width = axis.part(each.to) - x;
          const text = `${KINDS[each.kind] ?? each.kind}, ${duration(each.to - each.from)}, from ${clock(this.from + each.from)}`;
          return html`<i
            class="seg s-${each.kind}"
            title=${text}
            ${place({ left: `${x * 100}%`, width: `max(3px, ${width * 100}%)` })}
          ></i>`;
        })}</span
    >`;
  }

  #took(row, at) {
    if (row.asked) return this.#segments(row, at).reduce((sum, each) => sum + each.to - each.from, 0);
    const parts = row.step ? this.#ofStep(row.step, at) : row.task ? stretches(row.task, at) : [];
    return parts.length ? parts[parts.length - 1].to - parts[0].from : null;
  }

  #row(row, i, axis, at) {
    const { task, step, asked } = row;
    const state = (step ?? task)?.state;
    const took = this.#took(row, at);
    const picked = !!task && !step && task.key === this.picked;
    return html`<div
      class="tree-row ${i === this.at ? 'at' : ''} ${picked ? 'picked-row' : ''}"
      role="row"
      id="row-${i}"
      aria-level=${row.level}
      aria-rowindex=${i + 2}
      title=${asked && row.open ? 'Answer in the inbox' : nothing}
      aria-expanded=${row.kids ? String(!!row.open) : nothing}
      aria-selected=${picked}
      ${place({ transform: `translateY(${i * HEIGHT}px)`, '--level': row.level })}
      @click=${() => {
        this.at = i;
        this.#pick(row);
      }}
    >
      <span role="gridcell" class="tree-name"
        >${
          row.kids
            ? html`<i
                class="twist"
                @click=${(event) => {
                  event.stopPropagation();
                  this.at = i;
                  this.#open(row.id, !row.open);
                }}
                >${icon(row.open ? 'down' : 'right', 'small')}</i
              >`
            : html`<i class="twist"></i>`
        }
        ${
          asked
            ? html`${mark('person', 'a person')}<strong class="cut">Questions about the run</strong
                >${asked.length > 1 ? html`<span class="soft num">×${count(asked.length)}</span>` : nothing}`
            : row.group
              ? html`${row.group.parent ? mark(familyOf(row.group.parent), row.group.parent.state) : nothing}<strong
                    class="cut"
                    >${name(row.group.title, 120)}</strong
                  >${row.group.parent?.max_rounds ? html`<span class="soft num nowrap">round ${row.group.items.at(-1).item_index} of ${count(row.group.parent.max_rounds)}</span>` : html`<span class="soft num">×${count(row.group.items.length)}</span>`}
                  <span class="group-bar">${stateBar(row.group.counts)}</span>`
              : html`${step ? mark(family(state), state) : isHeld(runs.get(this.data.id), task) ? mark('waits', `paused, its own state is ${words(state)}`) : mark(familyOf(task), familyOf(task) === family(state) ? state : `${state}, ${WORDS[familyOf(task)]}`)}<span
                    class="cut ${step ? 'soft' : ''}"
                    >${step ? name(step.name, 120) : name(task.title || task.key, 160)}</span
                  >
                  ${step ? html`<span class="mono faint small cut">${name(step.tool ?? step.kind, 40)}</span>` : task.item_index !== null ? html`<span class="faint small num">[${task.item_index}]</span>` : nothing}
                  ${!step && task.flow ? html`<span class="small soft nowrap flow">${task.flow.chooses ? icon('branch', 'small') : nothing}${name(within(task.flow), 60)}</span>` : nothing}
                  ${!step && task.title?.length > LONG ? html`<span class="faint small mono key cut">${name(task.key, 40)}</span>` : nothing}
                  ${!step && task.failures ? html`<span class="small i-backoff num nowrap retries" title="Failed tries">↻ ${task.failures}</span>` : nothing}`
        } </span
      ><span role="gridcell" class="took num small soft">${took === null ? '' : duration(took)}</span
      >${this.#line(row, axis, at)}
    </div>`;
  }

  /** Nodes and rows are made again only when tasks, filters or open rows are others. */
  #arrange(byAgent, options) {
    const { asked } = this.data.timeline;
    if (this.#of !== this.data.tasks || this.#byAgent !== byAgent || this.#asked !== asked) {
      this.#of = this.data.tasks;
      this.#asked = asked;
      this.#byAgent = byAgent;
      this.#nodes = group(this.data.tasks, byAgent);
      this.agents = new Set(this.data.tasks.map((task) => task.agent_name).filter(Boolean)).size;
      this.#kinds = new Set([
        ...this.data.tasks.flatMap((task) => task.stretches.map((each) => each.kind)),
        ...(asked.length ? ['person'] : []),
      ]);
      this.longest = this.data.tasks.reduce(
        (most, task) => Math.max(most, (task.title || task.key).length + (task.max_rounds || task.flow ? BESIDE : 0)),
        0,
      );
      this.#merged.clear();
      this.#question = '';
    }
    const question = JSON.stringify([options, [...this.opened]]);
    if (question === this.#question) return;
    this.#question = question;
    this.#rows = [
      ...(asked.length && !options.text
        ? [{ id: 'asked', level: 1, asked, open: asked.some((each) => each.to_ms === null), kids: 0 }]
        : []),
      ...rows(this.#nodes, { ...options, opened: this.opened, stepsOf: (task) => this.#stepsOf(task) }),
    ];
    this.at = Math.max(0, Math.min(this.at, this.#rows.length - 1));
  }

  render() {
    const { timeline } = this.data;
    this.from = Date.parse(timeline.from);
    const at = (timeline.open ? now() : Date.parse(timeline.to)) - this.from;
    const trouble = route.get('only') === 'trouble';
    const hideDone = route.get('done') === 'no';
    const fold = route.get('fold') !== 'no';
    const byAgent = route.get('by') === 'agent';
    this.#arrange(byAgent, { hideDone, trouble, text: this.text });
    const to = Math.max(at, 100);
    const idle = timeline.spent.idle.map((each, i, list) =>
      timeline.open && i === list.length - 1 && each.to_ms >= Date.parse(timeline.to) - this.from - 2000
        ? { ...each, to_ms: to }
        : each,
    );
    this.whole = to;
    const period = this.#period(to);
    const scaled = scale(...period, idle, fold);
    const marks = ticks(...period, scaled, this.picked || matchMedia('(max-width: 860px)').matches ? 3 : 7);
    const axis = { ...scaled, marks, from: period[0], to: period[1] };
    const begin = marks[0]?.ms;
    const first = Math.max(0, Math.min(this.top, this.#rows.length - 30) - 6);
    const shown = this.#rows.slice(first, Math.max(this.top, first) + 40);
    return html`<div class="card tree">
      <div class="tree-tools">
        <label class="search"
          >${icon('search', 'small')}<span class="hidden-text">Filter tasks</span
          ><input
            type="search"
            placeholder="Filter tasks"
            @input=${(event) => {
              this.text = event.target.value.trim().toLowerCase();
            }}
        /></label>
        ${[
          ['only', 'trouble', 'Only trouble', trouble],
          ['done', 'no', 'Hide done', hideDone],
          ['fold', 'no', 'Fold idle time', fold],
          ...(this.agents > 1 || byAgent ? [['by', 'agent', 'By agent', byAgent]] : []),
        ].map(
          (/** @type {any[]} */ [parameter, value, title, on]) =>
            html`<label class="row small"
              ><input
                type="checkbox"
                .checked=${on}
                @change=${() => route.set({ [parameter]: route.get(parameter) ? null : value }, true)}
              />${title}</label
            >`,
        )}
        <span class="row zoom" role="group" aria-label="Zoom of the timeline"
          ><button
            class="btn low only"
            title="Zoom in (+), or draw over the axis"
            aria-label="Zoom in"
            @click=${() => this.#zoom(0.5)}
          >
            +</button
          ><button
            class="btn low only"
            title="Zoom out (-)"
            aria-label="Zoom out"
            ?disabled=${!route.get('zoom')}
            @click=${() => this.#zoom(2)}
          >
            −</button
          >${route.get('zoom') ? html`<button class="btn low" title="The whole run (0)" @click=${() => this.#show(null)}>Whole run</button>` : nothing}</span
        >
        <span class="end legend small soft" aria-hidden="true"
          >${LEGEND.filter(([kind]) => this.#kinds.has(kind)).map(([kind, word]) => html`<span class="row"><i class="seg s-${kind}"></i>${word}</span>`)}</span
        >
      </div>
      <div
        class="tree-grid"
        role="treegrid"
        ${place({ '--names': `${Math.min(LONG, this.longest) * 7 + 110}px` })}
        aria-label="Tasks and timeline"
        aria-rowcount=${this.#rows.length + 1}
        tabindex="0"
        aria-activedescendant=${this.#rows.length ? `row-${this.at}` : nothing}
        @keydown=${(event) => this.#key(event)}
      >
        <div class="tree-row tree-head" role="row" aria-rowindex="1">
          <span role="columnheader" class="small soft">Task</span
          ><span role="columnheader" class="took small soft">Took</span>
          <span role="columnheader" class="line axis" @pointerdown=${(event) => this.#brush(event, axis, period)}
            ><span class="hidden-text">Timeline</span
            >${this.brushed ? html`<i class="brush" ${place({ left: `${this.brushed[0] * 100}%`, width: `${(this.brushed[1] - this.brushed[0]) * 100}%` })}></i>` : nothing}${axis.marks.map((tick) => html`<span class="tick small faint num" title=${clock(this.from + tick.ms)} ${place({ left: `${tick.x * 100}%` })}>${tick.ms === begin ? clock(this.from + begin) : `+${duration(tick.ms - begin).replace(/ 00? [smh]$/, '')}`}</span>`)}
            ${axis.folds.map((each) => html`<button class="fold-text small" title="Nothing worked for ${duration(each.ms)}. Unfold" aria-label="Unfold ${duration(each.ms)} of idle time" ${place({ left: `${each.x * 100}%`, width: `${each.width * 100}%` })} @click=${() => route.set({ fold: 'no' }, true)}>⌇ ${duration(each.ms).replace(/^(\d+ \w+) .*/, '$1')}</button>`)}</span
          >
        </div>
        <div
          class="tree-body"
          role="rowgroup"
          @scroll=${(event) => {
            const top = Math.floor(event.target.scrollTop / HEIGHT);
            if (Math.abs(top - this.top) > 2 || top === 0) this.top = top;
          }}
        >
          <div class="tree-all" role="presentation" ${place({ height: `${this.#rows.length * HEIGHT}px` })}>
            ${repeat(
              shown,
              (row) => row.id,
              (row, i) => this.#row(row, first + i, axis, at),
            )}
          </div>
        </div>
      </div>
      ${this.#rows.length ? nothing : html`<p class="pad soft">${this.data.tasks.length ? `No task is like that; ${WORDS.done} tasks may be hidden.` : 'There are no tasks yet.'}</p>`}
    </div>`;
  }
}
customElements.define('k-tree', Tree);
