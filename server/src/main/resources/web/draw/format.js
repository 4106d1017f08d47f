// Numbers and times as people read them. Every time on every page goes through `time`.
import { prefs } from '../store/prefs.js';

const formats = new Map();

function format(options) {
  const name = prefs.values.zone + JSON.stringify(options);
  if (!formats.has(name))
    formats.set(name, new Intl.DateTimeFormat('en-GB', { timeZone: prefs.values.zone, ...options }));
  return formats.get(name);
}

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
const DATE = { day: 'numeric', month: 'short' };

/** In the chosen zone: the time of today, else date and time. */
export function time(at, now = Date.now()) {
  if (at === null || at === undefined) return '–';
  const date = new Date(at);
  const sameDay = format({ dateStyle: 'short' }).format(date) === format({ dateStyle: 'short' }).format(new Date(now));
  return sameDay
    ? format(CLOCK).format(date)
    : `${format(DATE).format(date)}, ${format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(date)}`;
}

export const clock = (at) => format(CLOCK).format(new Date(at));
export const day = (at) => format({ ...DATE, year: 'numeric' }).format(new Date(at));
export const utc = (at) => (at ? new Date(at).toISOString().replace('T', ' ').replace('.000', '') : '');

/** 0.8 s, 41 s, 2 m 05 s, 12 m, 2 h 01 m, 3 d 4 h. */
export function duration(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '–';
  const s = Math.max(0, ms) / 1000;
  const two = (n) => String(Math.floor(n)).padStart(2, '0');
  if (s < 0.95) return `${Math.round(s * 1000)} ms`;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.floor(s)} s`;
  if (s < 600) return `${Math.floor(s / 60)} m ${two(s % 60)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} m`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${two((s % 3600) / 60)} m`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** An amount of credits with at most so many places as tell something, where a title has the unit; `exact` has six, or all of a small cost. */
export function amount(value) {
  const n = Number(value ?? 0);
  if (n === 0) return '0';
  if (Math.abs(n) < 0.0001) return '<0.0001';
  return n.toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: Math.abs(n) < 1 ? 4 : Math.abs(n) < 100 ? 3 : 2,
  });
}
export function exact(value) {
  const n = Number(value ?? 0);
  return Math.abs(n) < 1 ? n.toFixed(12).replace(/0{1,6}$/, '') : n.toFixed(6);
}

/** Money with its unit. */
export const credits = (value) => `${amount(value)} credits`;

/** Amounts of a run beside its charges: {what, amount, why}. */
export function besideCharges(run) {
  return [
    {
      what: 'used, not charged',
      amount: Number(run.credits_uncollected ?? 0),
      why: 'Work that was done, and that neither the limit nor the balance of the workspace covered at that time. It is not owed: it is not charged later either',
    },
    {
      what: 'reserved',
      amount: (run.credits_reserved ?? 0) - (run.credits_charged ?? 0) - (run.credits_refunded ?? 0),
      why: 'Reserved for the next steps; the unused rest goes back to the workspace',
    },
  ].filter(({ amount }) => amount >= 0.0000005);
}

export function count(value) {
  return Number(value ?? 0).toLocaleString('en-US');
}

/** 1 run, 2 runs. */
export const many = (n, noun) => `${count(n)} ${noun}${Number(n) === 1 ? '' : 's'}`;

export function short(value) {
  const n = Number(value ?? 0);
  if (n < 10_000) return count(n);
  return n < 1e6 ? `${(n / 1e3).toFixed(n < 1e5 ? 1 : 0)}k` : `${(n / 1e6).toFixed(1)}M`;
}

export function bytes(value) {
  let n = Number(value ?? 0);
  for (const unit of ['B', 'KiB', 'MiB']) {
    if (n < 1024) return `${unit === 'B' ? n : n.toFixed(1)} ${unit}`;
    n /= 1024;
  }
  return `${n.toFixed(1)} GiB`;
}

/** The part of an id that tells two apart: its last digits are random, its first are the time. */
export const shortId = (id) => `#${String(id).slice(-6)}`;

const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** A name on one line, without marks that turn the direction of what follows, and not without end. */
export function label(text, most = 300) {
  const clean = String(text ?? '')
    .replace(UNSAFE, '\ufffd')
    .replace(/(\p{M}{4})\p{M}+/gu, '$1');
  return clean.length > most ? `${clean.slice(0, most)}…` : clean;
}

/** What people call an agent; the engine's own tasks are called by what they are. */
export const agentName = (agent) => (agent === '.engine' ? 'planning and hooks' : agent);

const DAY = 86_400_000;
/** Days of a period, also those without charges. */
export function days(items, from, to) {
  const known = new Map(items.map((each) => [each.day, each]));
  const all = [];
  for (let at = Date.parse(from.slice(0, 10)); at <= Date.parse(to); at += DAY) {
    const key = new Date(at).toISOString().slice(0, 10);
    all.push(known.get(key) ?? { day: key, credits: 0, runs: 0, charges: 0 });
  }
  return all;
}

/** The innermost branch or group that contains a task, in words; empty outside of any. */
export function within(flow) {
  const place = flow?.within.at(-1);
  return place ? (place.branch === null ? place.of : `${place.of}: ${place.branch}`) : '';
}
