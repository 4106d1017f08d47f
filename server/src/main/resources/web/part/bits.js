// Small templates that every page uses.
import { html, nothing } from 'lit';
import { now } from '../api/client.js';
import { amount, duration, exact, label, shortId, time, utc } from '../draw/format.js';
import { FAMILIES, ICONS, WORDS, awaits, family, reasonFamily, words } from '../draw/state.js';
import { icon } from './icon.js';
import { place } from './place.js';

/** @param reason why it is not further, where that is known: a state such as running does not tell that it only waits */
export function badge(state, reason = null) {
  const wait = awaits(state, reason);
  const of = wait?.of ?? family(state);
  return html`<span class="state f-${of}">${icon(state === 'paused' ? 'pause' : ICONS[of])}${words(state)}</span
    >${wait ? html` <span class="awaits small soft">${wait.text}</span>` : nothing}`;
}

export function mark(of, title) {
  return html`<span class="row mark" title=${title ?? WORDS[of]}
    >${icon(ICONS[of], `i-${of}`)}<span class="hidden-text">${title ?? WORDS[of]}</span></span
  >`;
}

/** A bar of counts by family. @param of the family of what the counts are of: one that failed is never shown as a full bar of done parts */
export function stateBar(counts, total, of = 'works') {
  const broken = of === 'failed' && !counts.failed;
  const all = total ?? Object.values(counts).reduce((a, b) => a + b, 0);
  const shown = FAMILIES.filter((each) => counts[each]);
  const text = shown.map((each) => `${counts[each]} ${WORDS[each]}`).join(', ') || 'none';
  return html`<span
    class="bar ${['failed', 'ended'].includes(of) ? 'broken' : ''}"
    role="img"
    aria-label=${text}
    title=${text}
    >${shown.map(
      (each) => html`<i class="b-${each}" ${place({ width: `${(counts[each] / Math.max(1, all)) * 100}%` })}></i>`,
    )}${broken ? html`<i class="b-failed end-mark"></i>` : nothing}</span
  >`;
}

export function meter(part, of = 'works', text = '') {
  const width = Math.max(0, Math.min(1, part || 0)) * 100;
  return html`<span class="bar" role="img" aria-label=${text || `${Math.round(width)} %`} title=${text}
    ><i class="b-${of}" ${place({ width: `${width}%` })}></i
  ></span>`;
}

export function when(at) {
  return at
    ? html`<time datetime=${at} title=${utc(at)}>${time(at, now())}</time>`
    : html`<span class="faint">–</span>`;
}

/** When a reason ends by itself: the next try of a backoff begins then, and a person is reminded. */
export function until({ code, until: at }) {
  return at
    ? html` <span class="soft"
        >${/BACKOFF/.test(code) ? 'next at' : reasonFamily(code) === 'person' ? 'due' : 'until'} ${when(at)}</span
      >`
    : nothing;
}

const OTHERS = { CONCURRENCY_KEY: 'The run ahead', CHILD_RUN: 'The child run', RESULT_COMPUTING: 'The other run' };
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Links to the runs that a reason waits for. */
export function others({ code, on }) {
  return OTHERS[code]
    ? (code === 'RESULT_COMPUTING' ? on.slice(0, 1) : on)
        .filter((each) => ID.test(each))
        .map(
          (id) =>
            html`<a class="btn low" href="/ui/runs/${id}"
              >${icon('right', 'small')}${OTHERS[code]} <span class="mono small">${shortId(id)}</span></a
            >`,
        )
    : nothing;
}

/** The run that has computed a result. */
export const fromRun = (id) =>
  html`<a href="/ui/runs/${id}">Result of run <span class="mono">${shortId(id)}</span></a>`;

/** Money with its unit, and all of its places in the title. */
export function money(value) {
  return html`<span class="num nowrap" title="${exact(value)} credits"
    >${amount(value)}<span class="unit"> credits</span></span
  >`;
}

export function ago(at) {
  return at
    ? html`<time class="num" datetime=${at} title=${utc(at)}>${duration(now() - Date.parse(at))}</time>`
    : nothing;
}

export function name(text, most) {
  return html`<bdi title=${label(text, 2000)}>${label(text, most)}</bdi>`;
}

const SUBJECT = /^(?:step|task) '([^']+)'(?: \(([^)]*)\))?: (.+)$/su;
/** A reason without the task or step of which it tells: many steps may wait for the same. */
export const withoutSubject = ({ code, text }) => `${code} ${SUBJECT.exec(text ?? '')?.[3] ?? text}`;

/** The sentence of a reason, and behind it the task or step of which it tells: a narrow column cuts that off first. */
export function sentence(text, most) {
  const [, key, item, what] = SUBJECT.exec(text ?? '') ?? [];
  return what
    ? html`${name(what, most)} <span class="faint mono small">${name(item ? `${key} (${item})` : key, 120)}</span>`
    : name(text, most);
}

export function empty(symbol, title, text, command) {
  return html`<div class="empty">
    ${icon(symbol)}
    <h2>${title}</h2>
    <p>${text}</p>
    ${command ? html`<code>${command}</code>` : nothing}
  </div>`;
}

export function skeleton(rows = 6) {
  return html`<div class="stack pad" role="status" aria-label="Loading">
    ${Array.from(
      { length: rows },
      (_, i) => html`<div class="skeleton" ${place({ width: `${90 - ((i * 17) % 45)}%` })}></div>`,
    )}
  </div>`;
}

const MEANT = {
  0: 'The server does not answer. The page continues when it is back.',
  403: 'This is not allowed.',
  SCOPE_MISSING: 'Your key may not see this.',
  404: 'There is nothing here, or it belongs to another workspace.',
  503: 'The server is up, but cannot reach its database. Nothing was changed.',
};

/** A failure instead of the part that could not be loaded. */
export function problem(failure, again) {
  const text = failure.status === 404 ? '' : failure.message;
  return html`<div class="note ${failure.status === 403 || failure.status === 404 ? '' : 'bad'}" role="alert">
    ${icon('alert')}
    <div class="stack grow">
      <strong>${MEANT[failure.code] ?? MEANT[failure.status] ?? 'That did not work.'}</strong>
      <span>${text} <code>${failure.code ?? 'PAGE_ERROR'}</code></span>
      ${again ? html`<div><button class="btn low" @click=${again}>${icon('retry', 'small')}Try again</button></div>` : nothing}
    </div>
  </div>`;
}

/** Moves a row of tabs that is wider than the window so far that the chosen one is seen. */
export function revealTab(part) {
  const tab = part.querySelector('[role=tab][aria-selected=true]');
  const list = tab?.parentElement;
  if (!list || list.scrollWidth <= list.clientWidth) return;
  const [from, to] = [list.getBoundingClientRect(), tab.getBoundingClientRect()];
  if (to.left < from.left || to.right > from.right)
    list.scrollLeft += to.left - from.left - (from.width - to.width) / 2;
}

/** Copies text, and says so. */
export async function copy(text) {
  await navigator.clipboard?.writeText(text);
  toast('Copied');
}

export function toast(text, bad = false) {
  document.dispatchEvent(new CustomEvent('keelson-toast', { detail: { text, bad } }));
}

export function spark(values, text) {
  const most = Math.max(1e-9, ...values);
  return html`<span class="spark" role="img" aria-label=${text} title=${text}
    >${values.map(
      (each) => html`<i ${place({ height: `${Math.max(each > 0 ? 8 : 2, (each / most) * 100)}%` })}></i>`,
    )}</span
  >`;
}
