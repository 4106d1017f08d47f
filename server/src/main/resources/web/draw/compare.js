// Two runs side by side: tasks by key, items of a fan-out as one. Pure.

const took = (task) =>
  task.started_at && task.completed_at ? Date.parse(task.completed_at) - Date.parse(task.started_at) : null;
const keyOf = (task) =>
  task.item_index === null || task.item_index === undefined ? task.key : task.key.replace(/\[\d+\]$/, '');
const WORST = ['failed', 'cancelled', 'skipped', 'running', 'completed'];

/** The rows of a run's tasks by key: number of items, worst state, longest time, sum of cost and tokens. */
export function byKey(tasks) {
  const rows = new Map();
  for (const task of tasks) {
    const key = keyOf(task);
    const row = rows.get(key) ?? {
      key,
      title: task.title,
      items: 1,
      fan: 0,
      state: task.state,
      ms: null,
      cost: 0,
      tokens: 0,
      output: task.output,
    };
    const rank = (state) => {
      const at = WORST.indexOf(state);
      return at < 0 ? 3 : at;
    };
    const ms = took(task);
    rows.set(key, {
      ...row,
      fan: row.fan + (task.item_index === null || task.item_index === undefined ? 0 : 1),
      state: rank(task.state) < rank(row.state) ? task.state : row.state,
      ms: ms === null ? row.ms : Math.max(row.ms ?? 0, ms),
      cost: row.cost + Number(task.cost ?? 0),
      tokens: row.tokens + Number(task.tokens_used ?? 0),
    });
  }
  for (const row of rows.values()) row.items = row.fan || 1;
  return rows;
}

/** [{key, title, a, b, differs}], in the order of the second run's plan; a or b is null where a run has no such task. */
export function pairs(before, after) {
  const [a, b] = [byKey(before), byKey(after)];
  return [...new Set([...b.keys(), ...a.keys()])].map((key) => {
    const one = a.get(key) ?? null;
    const other = b.get(key) ?? null;
    return {
      key,
      title: (other ?? one).title,
      a: one,
      b: other,
      differs: !one || !other || one.state !== other.state || one.items !== other.items,
    };
  });
}
