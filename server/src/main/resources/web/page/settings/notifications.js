import { html, nothing } from 'lit';
import { get, read, remove, send } from '../../api/client.js';
import { me } from '../../store/me.js';
import { ago, empty, name } from '../../part/bits.js';
import { edit, save } from '../../part/editor.js';
import { icon } from '../../part/icon.js';

const list = (text) => (text ?? '').split(/[\s,]+/).filter(Boolean);
const fields = (receiver) => [
  {
    name: 'events',
    label: 'Events',
    kind: 'lines',
    value: receiver?.events.join('\n'),
    hint: 'Topics such as approval.needed or run.failed; empty: all topics',
  },
  { name: 'quiet_from', label: 'Quiet from', most: 5, value: receiver?.quiet_from, half: true, hint: '22:00' },
  { name: 'quiet_until', label: 'until', most: 5, value: receiver?.quiet_until, half: true, hint: '07:00' },
  {
    name: 'time_zone',
    label: 'Time zone of the quiet hours',
    most: 60,
    value: receiver?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    half: true,
  },
  {
    name: 'digest_minutes',
    label: 'Minutes gathered in one message',
    kind: 'number',
    value: receiver?.digest_minutes ?? 0,
    half: true,
  },
  ...(receiver ? [{ name: 'enabled', label: 'Sends messages', kind: 'checkbox', value: receiver.enabled }] : []),
];
/** A time zone is for quiet hours only. */
const body = ({ events, time_zone, ...values }) => ({
  ...values,
  time_zone: values.quiet_from ? time_zone : null,
  events: list(events).length ? list(events) : null,
});

const add = () =>
  edit({
    title: 'Mail to my address',
    text: 'Messages go to the address for which your sign-in vouches. Their links answer as you.',
    yes: 'Add',
    fields: fields(),
    save: async (values) => (await send('POST', '/notifications', { body: body(values) })).json(),
  });

async function change(receiver) {
  const version = await read(`/notifications/${receiver.id}`);
  return edit({
    title: 'Edit my messages',
    yes: 'Save',
    fields: fields(version.value),
    save: (values) => save('PATCH', `/notifications/${receiver.id}`, body(values), version),
  });
}

const state = (each) =>
  !each.enabled
    ? html`<span class="state f-waits">${icon('pause')}off</span>
        <span class="small soft">${each.disabled_reason === 'asked' ? nothing : each.disabled_reason}</span>`
    : each.failing_since
      ? html`<span class="state f-backoff">${icon('retry')}fails for ${ago(each.failing_since)}</span>`
      : html`<span class="state f-done">${icon('check')}sends</span>`;

/** Messages to the person who looks. */
export const notifications = {
  title: 'Notifications',
  scope: 'runs:read',
  load: () => get('/notifications'),
  view: ({ items }, act) =>
    html`<section class="card">
      <header>
        <h2>Messages to me</h2>
        <span class="count">${items.length}</span
        ><button class="btn low end" @click=${() => act(add, 'Added')}>Mail to my address…</button>
      </header>
      ${
        items.length
          ? html`<table class="list low-cards">
              <thead>
                <tr>
                  <th>Address</th>
                  <th>Events</th>
                  <th>Quiet</th>
                  <th>State</th>
                  <th><span class="hidden-text">Actions</span></th>
                </tr>
              </thead>
              <tbody>
                ${items.map(
                  (each) =>
                    html`<tr>
                      <td><strong>${name(each.url.replace(/^mailto:/iu, ''), 160)}</strong></td>
                      <td class="mono small" data-title="Events">${name(each.events.join(', '), 200)}</td>
                      <td data-title="Quiet">
                        ${each.quiet_from ? `${each.quiet_from}–${each.quiet_until} ${each.time_zone}` : 'never'}${each.digest_minutes ? `, gathered for ${each.digest_minutes} min` : nothing}
                      </td>
                      <td data-title="State">${state(each)}</td>
                      <td class="right">
                        <span class="row actions"
                          ><button class="btn low" @click=${() => act(() => change(each), 'Saved')}>Edit…</button
                          ><button
                            class="btn low"
                            ?disabled=${!each.enabled}
                            @click=${() => act(() => send('POST', `/notifications/${each.id}/ping`, { body: {} }), 'A test was sent')}
                          >
                            Test
                          </button>
                          ${
                            each.owner === me.name
                              ? html`<button
                                  class="btn low bare only"
                                  title="Delete"
                                  aria-label="Delete ${each.url}"
                                  @click=${() => act(() => remove(`/notifications/${each.id}`).then(() => true), 'Deleted', { title: 'Delete these messages?', text: 'Waiting messages are lost.', yes: 'Delete', danger: true })}
                                >
                                  ${icon('cross', 'small')}
                                </button>`
                              : nothing
                          }</span
                        >
                      </td>
                    </tr>`,
                )}
              </tbody>
            </table>`
          : empty(
              'right',
              'No messages',
              'Questions that wait for you, and runs that fail, can reach you by mail. An administrator adds receivers in Slack and Teams.',
            )
      }
    </section>`,
};
