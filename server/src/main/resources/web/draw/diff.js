// Differences of two plans: tasks by id, then their members. Pure.

const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const idOf = (task) => task.temp_id ?? task.id;

/** [{id, title, kind: added | removed | changed | same, fields: [{name, before, after}]}], in the order of the new plan. */
export function planDiff(before, after) {
  const old = new Map((before?.tasks ?? []).map((task) => [idOf(task), task]));
  const all = (after?.tasks ?? []).map((task) => {
    const known = old.get(idOf(task));
    old.delete(idOf(task));
    if (!known) return { id: idOf(task), title: task.title, kind: before ? 'added' : 'same', task, fields: [] };
    const names = [...new Set([...Object.keys(known), ...Object.keys(task)])];
    const fields = names.filter((name) => text(known[name]) !== text(task[name])).map((name) => ({ name, before: known[name], after: task[name] }));
    return { id: idOf(task), title: task.title, kind: fields.length ? 'changed' : 'same', task, fields };
  });
  return [...all, ...[...old.values()].map((task) => ({ id: idOf(task), title: task.title, kind: 'removed', task, fields: [] }))];
}
