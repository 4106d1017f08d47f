// Lists and forms of receivers: webhooks of the workspace, and receivers of one person.
import { html, nothing } from 'lit';
import { read, remove, send } from '../../api/client.js';
import { ago, empty, name } from '../../part/bits.js';
import { edit, save } from '../../part/editor.js';
import { icon } from '../../part/icon.js';

const list = (text) => (text ?? '').split(/[\s,]+/).filter(Boolean);

/** The names in a text of events; null for all topics. */
export const topics = (text) => (list(text).length ? list(text) : null);

export const events = (receiver, hint) => ({
  name: 'events',
  label: 'Events',
  kind: 'lines',
  value: receiver?.events.join('\n'),
  hint: `${hint}; empty: all topics`,
});

/** Quiet hours and digest of messages. */
export const hours = (receiver, zone) => [
  { name: 'quiet_from', label: 'Quiet from', most: 5, value: receiver?.quiet_from, half: true, hint: '22:00' },
  { name: 'quiet_until', label: 'until', most: 5, value: receiver?.quiet_until, half: true, hint: '07:00' },
  {
    name: 'time_zone',
    label: 'Time zone',
    most: 60,
    value: receiver?.time_zone ?? zone,
    half: true,
    hint: 'Europe/Berlin',
  },
  {
    name: 'digest_minutes',
    label: 'Minutes gathered in one message',
    kind: 'number',
    value: receiver?.digest_minutes ?? 0,
    half: true,
  },
];

const state = (each) =>
  !each.enabled
    ? html`<span class="state f-waits">${icon('pause')}off</span
        >${each.disabled_reason && each.disabled_reason !== 'asked' ? html` <span class="small soft">${each.disabled_reason}</span>` : nothing}`
    : each.failing_since
      ? html`<span class="state f-backoff">${icon('retry')}fails for ${ago(each.failing_since)}</span>
          <div class="small i-failed">${name(each.last_error ?? '', 200)}</div>`
      : html`<span class="state f-done">${icon('check')}sends</span>`;

async function change({ path, edits, fields, body }, receiver) {
  const version = await read(`${path}/${receiver.id}`);
  return edit({
    title: edits,
    yes: 'Save',
    fields: fields(version.value),
    save: (values) => save('PATCH', `${path}/${receiver.id}`, body(values, true), version),
  });
}

const actions = (kind, each, act) =>
  html`<button class="btn low" @click=${() => act(() => change(kind, each), 'Saved')}>Edit…</button
    >${kind.more?.(each, act) ?? nothing}<button
      class="btn low"
      ?disabled=${!each.enabled}
      @click=${() => act(() => send('POST', `${kind.path}/${each.id}/ping`, { body: {} }), 'A test was sent')}
    >
      Test
    </button>
    ${
      kind.keeps?.(each)
        ? nothing
        : html`<button
            class="btn low bare only"
            title="Delete"
            aria-label="Delete ${each.url}"
            @click=${() => act(() => remove(`${kind.path}/${each.id}`).then(() => true), 'Deleted', { title: `Delete ${kind.one}?`, text: 'What waits to be sent is lost.', yes: 'Delete', danger: true })}
          >
            ${icon('cross', 'small')}
          </button>`
    }`;

/**
 * The list of receivers of a kind.
 * @param {{path: string, title: string, one: string, edits: string, fields: Function, body: Function, create: Function, creates: string,
 *   address: Function, column: [string, Function], more?: Function, keeps?: Function, none: any[]}} kind
 */
export const receivers =
  (kind) =>
  ({ items, adds = true }, act) =>
    html`<section class="card">
      <header>
        <h2>${kind.title}</h2>
        <span class="count">${items.length}</span
        >${adds ? html`<button class="btn low end" @click=${() => act(kind.create, 'Added')}>${kind.creates}</button>` : nothing}
      </header>
      ${
        items.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label=${kind.title}>
              <table class="list low-cards">
                <thead>
                  <tr>
                    <th>Address</th>
                    <th>Events</th>
                    <th>State</th>
                    <th>${kind.column[0]}</th>
                    <th><span class="hidden-text">Actions</span></th>
                  </tr>
                </thead>
                <tbody>
                  ${items.map(
                    (each) =>
                      html`<tr>
                        <td class="c-address">${kind.address(each)}</td>
                        <td class="mono small" data-title="Events">${name(each.events.join(', '), 200)}</td>
                        <td data-title="State">${state(each)}</td>
                        <td data-title=${kind.column[0]}>${kind.column[1](each)}</td>
                        <td class="right"><span class="row actions">${actions(kind, each, act)}</span></td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
          : empty('inbox', ...kind.none)
      }
    </section>`;
