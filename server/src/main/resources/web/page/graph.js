import { html, nothing, svg } from 'lit';
import { route } from '../store/route.js';
import { BOX, boxes, layout } from '../draw/graph.js';
import { count, label } from '../draw/format.js';
import { FAMILIES, WORDS, family } from '../draw/state.js';
import { group } from '../draw/tree.js';
import { Part } from '../part/base.js';
import { mark, name, stateBar } from '../part/bits.js';
import { icon } from '../part/icon.js';
import { place } from '../part/place.js';
import { reach } from './drawer.js';

const MOST = 300;
const ZOOMS = [0.4, 0.55, 0.75, 1, 1.3];

/** A picture of the tree: what depends on what. Fan-outs are one box. */
class Graph extends Part {
  static properties = { tasks: { attribute: false }, picked: { type: String }, zoom: { state: true } };
  #shape = '';
  #layout = null;

  constructor() {
    super();
    this.zoom = 3;
  }

  #edge([from, to], lit) {
    const a = this.#layout.places.get(from);
    const b = this.#layout.places.get(to);
    const x1 = a.x + BOX.width;
    const y1 = a.y + BOX.height / 2;
    const y2 = b.y + BOX.height / 2;
    const bend = Math.max(24, (b.x - x1) / 2);
    return svg`<path class="edge ${lit ? 'lit' : ''}" d=${`M${x1} ${y1}C${x1 + bend} ${y1} ${b.x - bend} ${y2} ${b.x} ${y2}`}></path>`;
  }

  #box(node, faded) {
    const { x, y } = this.#layout.places.get(node.id);
    const of = node.task ? family(node.task.state) : FAMILIES.toReversed().find((each) => node.counts[each] && ['failed', 'person', 'backoff', 'works', 'queued'].includes(each)) ?? Object.keys(node.counts)[0];
    const title = node.task ? node.task.title || node.task.key : node.key;
    return html`<button class="box x-${of} ${faded ? 'faded' : ''}" aria-pressed=${node.task?.key === this.picked} ${place({ left: `${x}px`, top: `${y}px` })} title=${`${label(title, 300)}: ${WORDS[of]}`}
      @click=${() => (node.task ? route.set({ task: node.task.key }) : route.set({ view: null, open: node.id }))}>${mark(of)}<span class="grow stack tight"><span class="cut">${name(title, 80)}</span>
      ${node.items ? html`<span class="row"><span class="small soft num">×${count(node.items.length)}</span>${stateBar(node.counts)}</span>` : nothing}</span></button>`;
  }

  render() {
    const nodes = group(this.tasks);
    if (nodes.length > MOST) return html`<div class="card pad"><p class="soft">The graph would have ${count(nodes.length)} boxes. The timeline has the same tasks as a tree.</p></div>`;
    const shape = nodes.map((node) => node.id).join('\n');
    const { ids, edges } = boxes(nodes);
    if (shape !== this.#shape) { this.#shape = shape; this.#layout = layout({ ids, edges }); }
    const chosen = nodes.find((node) => node.task?.key === this.picked)?.id;
    const near = chosen ? new Set([chosen, ...reach(chosen, (id) => edges.filter(([from]) => from === id).map(([, to]) => to)), ...reach(chosen, (id) => edges.filter(([, to]) => to === id).map(([from]) => from))]) : null;
    const { width, height } = this.#layout;
    const scale = ZOOMS[this.zoom];
    return html`<div class="card graph-card"><div class="tree-tools"><span class="soft small grow">Left to right: what comes first. Select a task to light up what it waits for and what waits for it.</span>
        <button class="btn low only" aria-label="Zoom out" ?disabled=${this.zoom === 0} @click=${() => { this.zoom--; }}>−</button><button class="btn low only" aria-label="Zoom in" ?disabled=${this.zoom === ZOOMS.length - 1} @click=${() => { this.zoom++; }}>+</button></div>
      <div class="graph" tabindex="0" role="region" aria-label="Graph of tasks"><div class="graph-size" ${place({ width: `${width * scale + 32}px`, height: `${height * scale + 32}px` })}><div class="graph-all" ${place({ width: `${width}px`, height: `${height}px`, transform: `scale(${scale})` })}>
        <svg class="edges" width=${width} height=${height} aria-hidden="true">${edges.map((edge) => this.#edge(edge, near?.has(edge[0]) && near.has(edge[1])))}</svg>
        ${nodes.map((node) => this.#box(node, near && !near.has(node.id)))}</div></div></div>
      <p class="graph-phone pad soft">${icon('graph', 'small')} The window is too narrow for the graph; the timeline has the same tasks as a tree.</p></div>`;
  }
}
customElements.define('k-graph', Graph);
