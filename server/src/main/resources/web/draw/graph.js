// Layered layout of a run's tasks. Pure: nodes and edges in, integers out; the same input gives the same output.

export const BOX = { width: 196, height: 46, gapX: 64, gapY: 16 };

/** Boxes and edges of the tree's nodes: items of one for_each are one box, an edge per pair of boxes. */
export function boxes(nodes) {
  const of = new Map();
  for (const node of nodes) {
    for (const task of node.task ? [node.task] : node.items) of.set(task.key, node.id);
    if (node.parent) of.set(node.parent.key, node.id);
  }
  const seen = new Set();
  const edges = [];
  for (const node of nodes) {
    for (const task of [node.task, node.parent, ...(node.items ?? [])].filter(Boolean)) {
      for (const up of task.depends_on) {
        const from = of.get(up.task ?? up);
        if (from && from !== node.id && !seen.has(`${from}\n${node.id}`)) { seen.add(`${from}\n${node.id}`); edges.push([from, node.id]); }
      }
    }
  }
  return { ids: nodes.map((node) => node.id), edges };
}

/** Longest-path layers; within a layer the order after four sweeps of barycentres. {id: {x, y}} and the size of all. */
export function layout({ ids, edges }) {
  const ups = new Map(ids.map((id) => [id, []]));
  const downs = new Map(ids.map((id) => [id, []]));
  for (const [from, to] of edges) { ups.get(to).push(from); downs.get(from).push(to); }
  const layer = new Map();
  const open = new Map(ids.map((id) => [id, ups.get(id).length]));
  let ready = ids.filter((id) => open.get(id) === 0);
  while (ready.length) {
    const next = [];
    for (const id of ready) {
      layer.set(id, Math.max(0, ...ups.get(id).map((up) => layer.get(up) + 1)));
      for (const down of downs.get(id)) { open.set(down, open.get(down) - 1); if (open.get(down) === 0) next.push(down); }
    }
    ready = next;
  }
  const layers = [];
  for (const id of ids) (layers[layer.get(id) ?? 0] ??= []).push(id);
  const at = new Map();
  const number = (list) => list.forEach((id, i) => at.set(id, i - (list.length - 1) / 2));
  layers.forEach(number);
  for (let sweep = 0; sweep < 4; sweep++) {
    const near = sweep % 2 ? downs : ups;
    for (const list of sweep % 2 ? layers.toReversed() : layers) {
      const mean = (id) => { const all = near.get(id); return all.length ? all.reduce((sum, each) => sum + at.get(each), 0) / all.length : at.get(id); };
      const means = new Map(list.map((id) => [id, mean(id)]));
      list.sort((a, b) => means.get(a) - means.get(b));
      number(list);
    }
  }
  const most = Math.max(1, ...layers.map((list) => list.length));
  const places = new Map();
  layers.forEach((list, x) => list.forEach((id, i) => places.set(id, {
    x: x * (BOX.width + BOX.gapX), y: Math.round((i + (most - list.length) / 2) * (BOX.height + BOX.gapY)),
  })));
  return { places, width: layers.length * (BOX.width + BOX.gapX) - BOX.gapX, height: most * (BOX.height + BOX.gapY) - BOX.gapY };
}
