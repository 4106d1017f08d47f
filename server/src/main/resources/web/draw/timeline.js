// Geometry of the timeline. Pure: milliseconds since the beginning in, parts of the width (0 to 1) out.

/** The stretches of a row with their ends; one that lasts ends now. */
export const stretches = (row, now) =>
  row.stretches.map((each) => ({
    kind: each.kind,
    from: each.from_ms,
    to: each.to_ms ?? Math.max(now, each.from_ms + 1),
    open: each.to_ms === null,
  }));

/** Stretches of several tasks as at most `most` stretches of the kind that fills them. */
export function merged(all, most = 40) {
  const out = [];
  for (const each of all.toSorted((a, b) => a.from - b.from)) {
    const last = out[out.length - 1];
    if (last && last.kind === each.kind && each.from <= last.to + 1) last.to = Math.max(last.to, each.to);
    else out.push({ ...each });
  }
  if (out.length <= most) return out;
  const from = out[0].from;
  const width = (out.reduce((end, each) => Math.max(end, each.to), 0) - from) / most;
  const weights = Array.from({ length: most }, () => ({}));
  for (const each of out) {
    const last = Math.min(most - 1, Math.floor((each.to - from) / width));
    for (let i = Math.max(0, Math.floor((each.from - from) / width)); i <= last; i++) {
      const inside = Math.min(each.to, from + (i + 1) * width) - Math.max(each.from, from + i * width);
      weights[i][each.kind] = (weights[i][each.kind] ?? 0) + (each.kind === 'failed' ? 1e12 : inside);
    }
  }
  return weights
    .map((kinds, i) => {
      const kind = Object.keys(kinds).reduce((a, b) => (kinds[b] > (kinds[a] ?? -1) ? b : a), null);
      return kind && { kind, from: from + i * width, to: from + (i + 1) * width };
    })
    .filter(Boolean);
}

const FOLD = 0.1;
/** Width of one fold, and of all of them at most. */
const FOLDED = 0.1;
const ALL_FOLDED = 0.4;
const LEAST_MS = 60_000;

/** The scale from time to part of the width; idle stretches longer than a minute and a tenth of the whole fold away. */
export function scale(from, to, idle, fold) {
  const span = Math.max(1, to - from);
  const pieces = fold
    ? idle
        .map((each) => ({ from: Math.max(from, each.from_ms), to: Math.min(to, each.to_ms) }))
        .filter((each) => each.to - each.from > span * FOLD && each.to - each.from > LEAST_MS)
    : [];
  const folded = pieces.reduce((sum, each) => sum + each.to - each.from, 0);
  if (folded > span * 0.9995) return scale(from, to, [], false);
  const width = Math.min(FOLDED, ALL_FOLDED / pieces.length);
  const wide = (1 - pieces.length * width) / (span - folded);
  const part = (at) => {
    let x = 0;
    let last = from;
    const t = Math.max(from, Math.min(to, at));
    for (const each of pieces) {
      if (t <= each.from) break;
      x += (each.from - last) * wide;
      if (t < each.to) return x + ((t - each.from) / (each.to - each.from)) * width;
      x += width;
      last = each.to;
    }
    return x + (t - last) * wide;
  };
  return { part, folds: pieces.map((each) => ({ ...each, x: part(each.from), width, ms: each.to - each.from })) };
}

/** The time at a part of the width, the inverse of a scale. */
export function timeAt(x, from, to, { part }) {
  let [low, high] = [from, to];
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (part(middle) < x) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Shortest time that is shown. */
const LEAST_SHOWN = 20;
/** A stretch of time around the middle of another one, within the whole; null for the whole. */
export function zoomed([from, to], factor, whole) {
  const span = Math.max(LEAST_SHOWN, (to - from) * factor);
  const begin = Math.max(0, Math.min(whole - span, (from + to - span) / 2));
  return span >= whole ? null : [begin, begin + span];
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 432e5,
  864e5, 6048e5,
];

/** At most `most` marks for the axis, at round distances from the beginning, with room for their labels between them and before folds; none in what is folded. */
export function ticks(from, to, { part, folds }, most = 6) {
  const shown = to - from - folds.reduce((sum, each) => sum + each.ms, 0);
  const step = STEPS.find((each) => shown / each <= most) ?? shown / most;
  const room = 0.75 / most;
  const marks = [];
  let begin = from;
  for (const fold of [...folds, { from: to, to, x: 1.03 }]) {
    for (let at = Math.ceil(begin / step) * step; at <= fold.from; at += step) {
      const x = part(at);
      if (x < fold.x - room && (!marks.length || x - marks[marks.length - 1].x > room)) marks.push({ x, ms: at });
    }
    begin = fold.to;
  }
  return marks;
}
