import { html, nothing, svg } from 'lit';
import { get, now } from '../api/client.js';
import { route } from '../store/route.js';
import { count, credits, duration, label, many } from '../draw/format.js';
import { FAMILIES, WORDS, family, familyOf } from '../draw/state.js';
import { stretches } from '../draw/timeline.js';
import { Part } from '../part/base.js';
import { mark, name, problem, skeleton, stateBar } from '../part/bits.js';
import { icon } from '../part/icon.js';
import { place } from '../part/place.js';
import './minimap.js';

const ZOOMS = [0.25, 0.4, 0.55, 0.75, 1, 1.3];
const AGAIN_MS = 1000;
/** Boxes out of view are not elements. */
const MARGIN = 400;
const LOUD = ['failed', 'person', 'backoff', 'works', 'queued'];

/** A line through the bends of an edge, which leaves and enters boxes level. */
function path(points) {
  let d = `M${points[0]} ${points[1]}`;
  for (let i = 2; i < points.length; i += 2) {
    const [x1, y1, x2, y2] = points.slice(i - 2, i + 2);
    const bend = Math.max(16, (x2 - x1) / 2);
    d += y1 === y2 ? `H${x2}` : `C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  }
  return d;
}

/** The head of the arrow at the end of an edge. */
function arrow(points) {
  const [x, y] = points.slice(-2);
  return `M${x - 8} ${y - 4.5}L${x} ${y}L${x - 8} ${y + 4.5}Z`;
}

/** All boxes before or behind a box. */
function reach(from, next) {
  const found = new Set();
  const open = [from];
  while (open.length)
    for (const each of next.get(open.pop()) ?? []) if (!found.has(each) && found.add(each)) open.push(each);
  return found;
}

/** A picture of the tree: what depends on what, with the places that the server gives. */
class Graph extends Part {
  static properties = {
    data: { attribute: false },
    tasks: { attribute: false },
    expanded: { attribute: false },
    picked: { type: String },
    zoom: { state: true },
    graph: { state: true },
    costs: { state: true },
    failure: { state: true },
    view: { state: true },
  };
  #asked = null;
  #expanded = '';

  constructor() {
    super();
    this.zoom = 4;
    this.watch(window, 'resize', () => this.#look());
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.coming);
  }

  /** States change often, places seldom: one read a second is enough. */
  willUpdate() {
    const expanded = route.get('expand') ?? '';
    if (this.#asked === this.data.tasks && expanded === this.#expanded) return;
    const other = !this.#asked || expanded !== this.#expanded;
    this.#asked = this.data.tasks;
    this.#expanded = expanded;
    if (other) {
      clearTimeout(this.coming);
      this.coming = null;
    }
    this.coming ??= setTimeout(
      () => {
        this.coming = null;
        this.#load(this.#expanded);
      },
      other ? 0 : AGAIN_MS,
    );
  }

  async #load(expanded) {
    try {
      const graph = await get(`/runs/${this.data.id}/graph`, { expand: expanded.split(',').filter(Boolean) });
      if (expanded !== this.#expanded) return;
      const first = !this.graph;
      this.graph = graph;
      this.failure = null;
      get(`/runs/${this.data.id}/usage`, { by: 'task' }).then(
        ({ items }) => {
          this.costs = new Map(items.map((each) => [each.task, Number(each.credits)]));
        },
        () => null,
      );
      await this.updateComplete;
      if (first) this.#begin();
      this.#look();
    } catch (failure) {
      this.failure = failure;
    }
  }

  /** The zoom at which the whole is seen, but no smaller than can be read. */
  #fit() {
    const body = this.querySelector('.graph');
    if (!body) return;
    const fits = (zoom) =>
      this.graph.width * ZOOMS[zoom] + 32 <= body.clientWidth &&
      this.graph.height * ZOOMS[zoom] + 32 <= Math.max(body.clientHeight, 420);
    this.zoom = [4, 3, 2].find(fits) ?? 3;
  }

  /** The whole, or else the chosen box, a box in trouble, or the first one. */
  async #begin() {
    this.#fit();
    await this.updateComplete;
    const { boxes, box_width: width, box_height: height } = this.graph;
    const loud = (of) => boxes.id.findIndex((_, i) => this.#family(i).of === of);
    const at = [boxes.id.indexOf(this.picked), loud('failed'), loud('person'), loud('works'), 0].find(
      (i) => i >= 0 && i < boxes.id.length,
    );
    if (at !== undefined) this.#show(boxes.x[at] + width / 2, boxes.y[at] + height / 2);
  }

  /** Scrolls so that this place of the graph is in the middle. */
  #show(x, y) {
    const body = this.querySelector('.graph');
    const scale = ZOOMS[this.zoom];
    body?.scrollTo(x * scale - body.clientWidth / 2, y * scale - body.clientHeight / 2);
    this.#look();
  }

  #look() {
    const body = this.querySelector('.graph');
    if (!body) return;
    const scale = ZOOMS[this.zoom];
    this.shown = {
      left: body.scrollLeft / scale,
      top: body.scrollTop / scale,
      right: (body.scrollLeft + body.clientWidth) / scale,
      bottom: (body.scrollTop + body.clientHeight) / scale,
    };
    this.view = {
      left: (body.scrollLeft - MARGIN) / scale,
      top: (body.scrollTop - MARGIN) / scale,
      right: (body.scrollLeft + body.clientWidth + MARGIN) / scale,
      bottom: (body.scrollTop + body.clientHeight + MARGIN) / scale,
    };
  }

  #expand(id, open) {
    const ids = new Set((route.get('expand') ?? '').split(',').filter(Boolean));
    if (open) ids.add(id);
    else ids.delete(id);
    route.set({ expand: [...ids].join(',') || null });
  }

  #points(i) {
    const { boxes, edges, box_width: width, box_height: height } = this.graph;
    const [from, to] = [edges.from[i], edges.to[i]];
    return [
      boxes.x[from] + width,
      boxes.y[from] + height / 2,
      ...edges.bends[i],
      boxes.x[to],
      boxes.y[to] + height / 2,
    ];
  }

  /** The tasks of a box by family, and the family that it shows. */
  #family(i) {
    const { boxes } = this.graph;
    const counts = {};
    for (const [state, n] of Object.entries(boxes.states[i])) counts[family(state)] = (counts[family(state)] ?? 0) + n;
    const single = boxes.kind[i] === 'task';
    if (single) {
      const row = this.data.byKey?.get(boxes.id[i]);
      if (row) {
        for (const each of Object.keys(counts)) delete counts[each];
        counts[familyOf(row)] = 1;
      }
    }
    const whole = single ? null : this.data.byKey?.get(boxes.id[i].replace(/^group:/, ''));
    return {
      counts,
      single,
      of:
        (whole?.state === 'failed' ? 'failed' : null) ??
        FAMILIES.toReversed().find((each) => counts[each] && LOUD.includes(each)) ??
        FAMILIES.find((each) => counts[each]) ??
        'waits',
    };
  }

  /** How long the tasks of a box took, from the first beginning to the last end, and what they cost; empty where that is not known. */
  #figures(i) {
    const { boxes } = this.graph;
    const task = this.data.byKey?.get(boxes.id[i].replace(/^group:/, ''));
    if (!task) return '';
    const rows = boxes.kind[i] === 'task' ? [task] : this.data.tasks.filter((each) => each.group_id === task.id);
    const open = now() - Date.parse(this.data.timeline.from);
    const parts = rows.flatMap((row) => stretches(row, open));
    const cost = rows.reduce((sum, row) => sum + (this.costs?.get(row.key) ?? 0), 0);
    const took = parts.length
      ? duration(
          parts.reduce((end, each) => Math.max(end, each.to), 0) -
            parts.reduce((from, each) => Math.min(from, each.from), Infinity),
        )
      : '';
    return [took, cost ? credits(cost) : ''].filter(Boolean).join(' · ');
  }

  /** The number of tasks of a box, or its round. */
  #times(i) {
    const { boxes } = this.graph;
    const task = this.data.byKey?.get(boxes.id[i].replace(/^group:/, ''));
    if (!task?.max_rounds) return `×${count(boxes.tasks[i])}`;
    const last = this.data.tasks.findLast((each) => each.group_id === task.id);
    return `round ${count(last?.item_index ?? 0)} of ${count(task.max_rounds)}`;
  }

  #box(i, faded) {
    const { boxes } = this.graph;
    const { counts, single, of } = this.#family(i);
    const figures = this.#figures(i);
    return html`<button
      class="box x-${of} ${boxes.mark[i]} ${faded ? 'faded' : ''}"
      aria-pressed=${boxes.id[i] === this.picked}
      ?disabled=${!single && !boxes.expandable[i]}
      ${place({ left: `${boxes.x[i]}px`, top: `${boxes.y[i]}px` })}
      title=${`${label(boxes.title[i], 300)}: ${
        single
          ? WORDS[of]
          : `${many(boxes.tasks[i], 'task')}, ${Object.entries(counts)
              .map(([each, n]) => `${n} ${WORDS[each]}`)
              .join(', ')}`
      }`}
      @click=${() => (single ? route.set({ task: boxes.id[i] }) : this.#expand(boxes.id[i], true))}
    >
      ${mark(of)}<span class="grow stack tight"
        ><span class="cut"
          >${boxes.mark[i] === 'choice' ? icon('branch', 'small') : nothing} ${name(boxes.title[i], 80)}</span
        >
        ${single ? (figures ? html`<span class="small soft num cut">${figures}</span>` : nothing) : html`<span class="row"><span class="small soft num nowrap">${this.#times(i)}${figures ? ` · ${figures}` : ''}</span>${stateBar(counts, boxes.tasks[i])}</span>`}</span
      >
    </button>`;
  }

  #zoomBy(step) {
    this.zoom = Math.max(0, Math.min(ZOOMS.length - 1, this.zoom + step));
    this.updateComplete.then(() => this.#look());
  }

  render() {
    if (this.failure) return problem(this.failure, () => this.#load(this.#expanded));
    if (!this.graph) return html`<div class="card">${skeleton(8)}</div>`;
    const { boxes, edges, width, height } = this.graph;
    const ups = Map.groupBy(edges.from.keys(), (i) => edges.to[i]);
    const downs = Map.groupBy(edges.from.keys(), (i) => edges.from[i]);
    const row = this.data.byKey?.get(this.picked);
    const chosen = Math.max(
      boxes.id.indexOf(this.picked),
      row?.group_id ? boxes.id.indexOf(`group:${this.data.tasks.find((each) => each.id === row.group_id)?.key}`) : -1,
    );
    const next = (lists, end) => new Map([...lists].map(([box, list]) => [box, list.map((i) => end[i])]));
    const near =
      chosen >= 0
        ? new Set([chosen, ...reach(chosen, next(ups, edges.from)), ...reach(chosen, next(downs, edges.to))])
        : null;
    const scale = ZOOMS[this.zoom];
    const seen = (i) =>
      !this.view ||
      boxes.id.length <= 150 ||
      (boxes.x[i] < this.view.right &&
        boxes.x[i] + this.graph.box_width > this.view.left &&
        boxes.y[i] < this.view.bottom &&
        boxes.y[i] + this.graph.box_height > this.view.top);
    const lit = (i) => near?.has(edges.from[i]) && near.has(edges.to[i]);
    // A switch without a chosen branch: it is drawn where there is no branch at all.
    const bare = (i) =>
      boxes.mark[edges.from[i]] === 'choice' &&
      boxes.mark[edges.to[i]] === 'end' &&
      downs.get(edges.from[i]).length > 1;
    const lines = edges.from
      .map((_, i) => i)
      .filter((i) => !bare(i) && (seen(edges.from[i]) || seen(edges.to[i]) || edges.bends[i].length));
    const open = (route.get('expand') ?? '').split(',').filter(Boolean);
    const whole =
      !this.shown || (width <= this.shown.right - this.shown.left && height <= this.shown.bottom - this.shown.top);
    return html`<div class="card graph-card">
      <div class="tree-tools">
        <span class="soft small grow"
          >Left to right: what comes first. Select a task to light up what it waits for and what waits for it.</span
        >
        ${open.map((id) => html`<button class="chip" title="Fold" @click=${() => this.#expand(id, false)}><span class="cut">${name(id.replace(/^\w+:/, ''), 40)}</span>${icon('cross', 'small')}<span class="hidden-text">fold</span></button>`)}
        <span class="row"
          ><button
            class="btn low only"
            aria-label="Zoom out"
            ?disabled=${this.zoom === 0}
            @click=${() => this.#zoomBy(-1)}
          >
            −</button
          ><button
            class="btn low only"
            aria-label="Zoom in"
            ?disabled=${this.zoom === ZOOMS.length - 1}
            @click=${() => this.#zoomBy(1)}
          >
            +
          </button>
          <button
            class="btn low"
            @click=${() => {
              this.#fit();
              this.updateComplete.then(() => this.#look());
            }}
          >
            Fit
          </button></span
        >
      </div>
      ${
        boxes.id.length
          ? html`<div
                class="graph"
                tabindex="0"
                role="region"
                aria-label="Graph of tasks"
                @scroll=${() => {
                  this.looking ??= requestAnimationFrame(() => {
                    this.looking = null;
                    this.#look();
                  });
                }}
              >
                <div
                  class="graph-size"
                  ${place({ width: `${width * scale + 32}px`, height: `${height * scale + 32}px` })}
                >
                  <div
                    class="graph-all"
                    ${place({ width: `${width}px`, height: `${height}px`, transform: `scale(${scale})` })}
                  >
                    <svg class="edges" width=${width} height=${height} aria-hidden="true">
                      <path
                        class="edge"
                        d=${lines
                          .filter((i) => !lit(i))
                          .map((i) => path(this.#points(i)))
                          .join('')}
                      ></path>
                      <path
                        class="head-of"
                        d=${lines
                          .filter((i) => !lit(i))
                          .map((i) => arrow(this.#points(i)))
                          .join('')}
                      ></path>
                      ${lines.filter(lit).map((i) => svg`<path class="edge lit" d=${path(this.#points(i))}></path><path class="head-of lit" d=${arrow(this.#points(i))}></path>`)}
                    </svg>
                    ${lines.map((i) => (edges.branch[i] ? html`<span class="branch-of cut" title=${`Branch ${edges.branch[i]}`} ${place({ right: `${width - boxes.x[edges.to[i]] + 10}px`, top: `${boxes.y[edges.to[i]] + this.graph.box_height / 2 - 20}px` })}>${name(edges.branch[i], 40)}</span>` : nothing))}
                    ${boxes.id.map((_, i) => (seen(i) ? this.#box(i, near && !near.has(i)) : nothing))}
                  </div>
                </div>
              </div>
              ${whole ? nothing : html`<k-minimap .graph=${this.graph} .families=${boxes.id.map((_, i) => this.#family(i).of)} .view=${this.shown} @move=${(event) => this.#show(event.detail.x, event.detail.y)}></k-minimap>`}`
          : html`<p class="pad soft">There are no tasks yet.</p>`
      }
      <p class="graph-phone pad soft">
        ${icon('graph', 'small')} The window is too narrow for the graph; the timeline has the same tasks as a tree.
      </p>
    </div>`;
  }
}
customElements.define('k-graph', Graph);
