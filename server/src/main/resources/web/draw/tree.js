// The tree of a run's tasks as flat rows. Pure: rows in, rows out.
import { family, tally } from './state.js';

const TROUBLE = new Set(['failed', 'backoff', 'person']);

/** Tasks by the name of their group, in plan order: a task of its own, or all items of one for_each. */
export function group(tasks) {
  const nodes = [];
  const groups = new Map();
  const parents = new Set(tasks.map((task) => task.group_id).filter(Boolean));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const task of tasks) {
    if (parents.has(task.id)) continue;
    const isItem = task.item_index !== null && task.item_index !== undefined;
    const known = isItem ? groups.get(task.group_id ?? task.key) : null;
    if (known) known.items.push(task);
    else {
      const node = isItem ? { id: `g:${task.group_id ?? task.key}`, items: [task], task: null } : { id: task.key, task, items: null };
      if (isItem) groups.set(task.group_id ?? task.key, node);
      nodes.push(node);
    }
  }
  for (const node of nodes) {
    if (!node.items) continue;
    const parent = byId.get(node.items[0].group_id);
    node.key = parent?.title || parent?.key || node.items[0].key.replace(/\[\d+\]$/, '');
    node.parent = parent ?? null;
    node.counts = tally(node.items);
  }
  return nodes;
}

/**
 * Rows to show: {id, level, task or group, open, kids}.
 * @param stepsOf steps of a task's id
 */
export function rows(nodes, { opened, hideDone, trouble, text, stepsOf }) {
  const wanted = (task) => !(hideDone && family(task.state) === 'done') && !(trouble && !TROUBLE.has(family(task.state)))
    && (!text || `${task.key} ${task.title} ${task.agent_name ?? ''} ${task.error_code ?? ''}`.toLowerCase().includes(text));
  const all = [];
  const addTask = (task, level) => {
    const steps = stepsOf(task.id);
    const kids = steps.length;
    const open = opened.has(task.key) && kids > 0;
    all.push({ id: task.key, level, task, kids, open });
    if (open) steps.forEach((step) => all.push({ id: `s:${step.id}`, level: level + 1, step, task, kids: 0 }));
  };
  for (const node of nodes) {
    if (node.task) {
      if (wanted(node.task)) addTask(node.task, 1);
      continue;
    }
    const items = node.items.filter(wanted);
    if (!items.length) continue;
    const open = opened.has(node.id);
    all.push({ id: node.id, level: 1, group: node, kids: items.length, open });
    if (open) items.forEach((task) => addTask(task, 2));
    else if (!trouble) items.filter((task) => TROUBLE.has(family(task.state))).slice(0, 20).forEach((task) => addTask(task, 2));
  }
  return all;
}
