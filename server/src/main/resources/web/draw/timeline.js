// Geometry of the timeline. Pure: times in milliseconds in, parts of the width (0 to 1) out.

const STEP_KIND = { approval: 'person', wait: 'timer', signal: 'timer', run: 'timer' };

/** Stretches of a task from its row and its steps: {kind, from, to, try}. An open stretch ends at `now`. */
export function segments(task, steps, now) {
  const at = (text) => (text ? Date.parse(text) : null);
  const first = Math.min(...steps.filter((each) => each.started_at).map((each) => at(each.started_at)));
  const queued = at(task.queued_at) ?? at(task.created_at);
  const begun = queued === null ? null : Math.min(queued, first);
  if (begun === null || task.state === 'pending' || (task.state === 'skipped' && !task.started_at)) return [];
  const end = at(task.completed_at) ?? at(task.cancelled_at) ?? now;
  const all = [];
  const add = (kind, from, to, extra) => { if (to > from) all.push({ kind, from, to, ...extra }); };
  let last = begun;
  for (const step of steps.filter((each) => each.started_at).sort((a, b) => at(a.started_at) - at(b.started_at))) {
    const from = at(step.started_at);
    const to = at(step.completed_at) ?? Math.min(end, now);
    if (from > last) add(last === begun ? 'queued' : 'backoff', last, from);
    const ended = step.state === 'failed' ? 'failed' : null;
    if (step.state === 'awaiting_retry') {
      add('backoff', from, to, { failures: step.failures });
    } else {
      add(ended ?? STEP_KIND[step.kind] ?? (step.state === 'waiting' ? 'timer' : 'work'), from, Math.max(to, from + 1), { name: step.name });
    }
    last = Math.max(last, to);
  }
  if (end > last) {
    const kind = { queued: 'queued', assigned: 'queued', awaiting_human: 'person', awaiting_retry: 'backoff', verifying: 'work', continuing: 'work' }[task.state]
      ?? (task.started_at ? 'work' : 'queued');
    if (!task.completed_at || !steps.length) add(task.state === 'failed' && !steps.length ? 'failed' : kind, last, end);
  }
  return all;
}

/** Stretches of a task in the attempts of its run before this one; what lies between two attempts is not explained by it. */
export function earlier(steps) {
  const attempts = new Map();
  for (const step of steps.filter((each) => each.started_at)) attempts.set(step.run_attempt, [...(attempts.get(step.run_attempt) ?? []), step]);
  return [...attempts.values()].flatMap((each) => {
    const begun = each.map((step) => step.started_at).sort()[0];
    const end = each.map((step) => step.completed_at ?? step.started_at).sort().at(-1);
    return segments({ queued_at: begun, started_at: begun, completed_at: end, state: 'completed' }, each, Date.parse(end));
  });
}

/** Stretches of several tasks as at most `most` stretches of the kind that fills them. */
export function merged(lists, most = 40) {
  const all = lists.flat().sort((a, b) => a.from - b.from);
  const out = [];
  for (const each of all) {
    const last = out[out.length - 1];
    if (last && last.kind === each.kind && each.from <= last.to + 1) last.to = Math.max(last.to, each.to);
    else out.push({ ...each });
  }
  if (out.length <= most) return out;
  const from = out[0].from;
  const width = (Math.max(...out.map((each) => each.to)) - from) / most;
  return Array.from({ length: most }, (_, i) => {
    const slot = { from: from + i * width, to: from + (i + 1) * width };
    const inside = out.filter((each) => each.to > slot.from && each.from < slot.to);
    if (!inside.length) return null;
    const weight = (each) => (each.kind === 'failed' ? 1e12 : Math.min(each.to, slot.to) - Math.max(each.from, slot.from));
    return { ...slot, kind: inside.reduce((a, b) => (weight(b) > weight(a) ? b : a)).kind };
  }).filter(Boolean);
}

const QUIET = new Set(['person', 'timer', 'backoff']);
const FOLD = 0.1;
const FOLDED = 0.025;

/** The scale from time to part of the width; stretches in which nothing worked and longer than a tenth fold away. */
export function scale(from, to, lists, fold) {
  const span = Math.max(1, to - from);
  const pieces = [];
  if (fold) {
    const busy = lists.flat().filter((each) => !QUIET.has(each.kind)).sort((a, b) => a.from - b.from);
    let last = from;
    for (const each of [...busy, { from: to, to }]) {
      if (each.from - last > span * FOLD && each.from - last > 2000) pieces.push({ from: last, to: each.from });
      last = Math.max(last, each.to);
    }
  }
  const folded = pieces.reduce((sum, each) => sum + each.to - each.from, 0);
  if (folded > span * 0.98) return scale(from, to, lists, false);
  const wide = (1 - pieces.length * FOLDED) / (span - folded);
  const part = (at) => {
    let x = 0;
    let last = from;
    const t = Math.max(from, Math.min(to, at));
    for (const each of pieces) {
      if (t <= each.from) break;
      x += (each.from - last) * wide;
      if (t < each.to) return x + ((t - each.from) / (each.to - each.from)) * FOLDED;
      x += FOLDED;
      last = each.to;
    }
    return x + (t - last) * wide;
  };
  return { part, folds: pieces.map((each) => ({ ...each, x: part(each.from), ms: each.to - each.from })) };
}

const STEPS = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5, 6048e5];

/** At most `most` marks for the axis, at round distances from the beginning, with room between them. */
export function ticks(from, to, part, most = 6) {
  const span = to - from;
  const step = STEPS.find((each) => span / each <= most) ?? span / most;
  const marks = [];
  for (let at = 0; at <= span; at += step) {
    const x = part(from + at);
    if (x < 0.93 && (!marks.length || x - marks[marks.length - 1].x > 0.1)) marks.push({ x, ms: at });
  }
  return marks;
}

/** Milliseconds by kind, without counting twice what overlaps: the kind that stands first wins, and `other` is what none explains. */
export function breakdown(lists, from, to) {
  const order = ['work', 'failed', 'queued', 'backoff', 'person', 'timer'];
  const points = [...new Set([from, to, ...lists.flat().flatMap((each) => [each.from, each.to])])].filter((at) => at >= from && at <= to).sort((a, b) => a - b);
  const sums = {};
  if (points.length > 4000) return sums;
  const sorted = lists.flat().sort((a, b) => a.from - b.from);
  for (let i = 1; i < points.length; i++) {
    const kinds = new Set(sorted.filter((each) => each.from < points[i] && each.to > points[i - 1]).map((each) => each.kind));
    const kind = order.find((each) => kinds.has(each)) ?? 'other';
    sums[kind] = (sums[kind] ?? 0) + points[i] - points[i - 1];
  }
  return sums;
}
