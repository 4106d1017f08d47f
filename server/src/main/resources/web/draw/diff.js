// Differences of two plans: tasks by id, then their members. Pure.

const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const idOf = (task) => task.temp_id ?? task.id;

/**
 * [{id, title, kind: added | removed | changed | same, task, fields: [{name, before, after}]}], in the order of the new plan.
 * @param members the members of a task that are compared
 */
export function planDiff(before, after, members = (task) => task) {
  const old = new Map((before?.tasks ?? []).map((task) => [idOf(task), task]));
  const all = (after?.tasks ?? []).map((task) => {
    const known = old.get(idOf(task));
    old.delete(idOf(task));
    if (!known) return { id: idOf(task), title: task.title, kind: before ? 'added' : 'same', task, fields: [] };
    const [was, is] = [members(known), members(task)];
    const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    const fields = names
      .filter((name) => text(was[name]) !== text(is[name]))
      .map((name) => ({ name, before: was[name], after: is[name] }));
    return { id: idOf(task), title: task.title, kind: fields.length ? 'changed' : 'same', task, fields };
  });
  return [
    ...all,
    ...[...old.values()].map((task) => ({ id: idOf(task), title: task.title, kind: 'removed', task, fields: [] })),
  ];
}
