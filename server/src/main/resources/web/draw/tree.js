// The tree of a run's tasks as flat rows. Pure: rows in, rows out.
import { agentName } from './format.js';
import { familyOf, tally } from './state.js';

const TROUBLE = new Set(['failed', 'backoff', 'person']);
const MOST_POPPED = 20;

/** Nodes in plan order: a task of its own, or all items of one for_each; where asked for, all tasks of one agent. */
export function group(tasks, byAgent = false) {
  /** @type {any[]} */
  const nodes = [];
  const groups = new Map();
  const parents = new Set(tasks.map((task) => task.group_id).filter(Boolean));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  for (const task of tasks) {
    if (parents.has(task.id)) continue;
    const agent = byAgent ? task.agent_name : null;
    const of = agent ? `agent:${encodeURIComponent(agent)}` : task.group_id;
    const known = of ? groups.get(of) : null;
    if (known) known.items.push(task);
    else if (agent) {
      const node = { id: of, key: agent, title: agentName(agent), items: [task], task: null };
      groups.set(of, node);
      nodes.push(node);
    } else if (task.group_id) {
      const parent = byId.get(task.group_id);
      const key = parent?.key ?? task.key.replace(/\[\d+\]$/, '');
      const node = { id: `group:${key}`, key, title: parent?.title || key, items: [task], task: null, parent };
      groups.set(task.group_id, node);
      nodes.push(node);
    } else nodes.push({ id: task.key, task, items: null });
  }
  for (const node of nodes) if (node.items) node.counts = tally(node.items);
  return nodes;
}

/**
 * Rows to show: {id, level, task, group or step, open, kids}.
 * @param stepsOf steps of an open task's id, null while they are not there
 */
export function rows(nodes, { opened, hideDone, trouble, text, stepsOf }) {
  const wanted = (task) =>
    !(hideDone && familyOf(task) === 'done') &&
    !(trouble && !TROUBLE.has(familyOf(task))) &&
    (!text ||
      `${task.key} ${task.title} ${task.agent_name ?? ''} ${task.error_code ?? ''}`.toLowerCase().includes(text));
  const all = [];
  const addTask = (task, level) => {
    const open = opened.has(task.key) && task.steps > 0;
    all.push({ id: task.key, level, task, kids: task.steps, open });
    if (open)
      (stepsOf(task) ?? []).forEach((step) => all.push({ id: `s:${step.id}`, level: level + 1, step, task, kids: 0 }));
  };
  for (const node of nodes) {
    if (node.task) {
      if (wanted(node.task)) addTask(node.task, 1);
      continue;
    }
    const items = node.items.filter(wanted);
    if (!items.length && !(node.parent && wanted(node.parent))) continue;
    const open = opened.has(node.id);
    all.push({ id: node.id, level: 1, group: node, kids: items.length, open });
    if (open) items.forEach((task) => addTask(task, 2));
    else if (!trouble)
      items
        .filter((task) => TROUBLE.has(familyOf(task)))
        .slice(0, MOST_POPPED)
        .forEach((task) => addTask(task, 2));
  }
  return all;
}
