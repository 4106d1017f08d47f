import { html, nothing } from 'lit';
import { get, post, read, remove, send } from '../../api/client.js';
import { ago, empty, name, toast, when } from '../../part/bits.js';
import { show } from '../../part/dialog.js';
import { edit, once, save } from '../../part/editor.js';
import { icon } from '../../part/icon.js';

const list = (text) => (text ?? '').split(/[\s,]+/).filter(Boolean);
const fields = (hook) => [
  {
    name: 'url',
    label: 'Address',
    required: true,
    most: 2048,
    value: hook?.url,
    hint: 'Of a web server, or mailto:name@example.com',
  },
  ...(hook
    ? []
    : [
        {
          name: 'format',
          label: 'Sends',
          kind: 'select',
          options: [
            ['', 'signed JSON, or mail'],
            ['slack', 'messages to Slack'],
            ['teams', 'messages to Teams'],
          ],
        },
      ]),
  { name: 'description', label: 'Description', most: 500, value: hook?.description },
  {
    name: 'events',
    label: 'Events',
    kind: 'lines',
    value: hook?.events.join('\n'),
    hint: 'Topics such as run.failed, types of events such as step_failed, or *; empty: all topics',
  },
  { name: 'channel', label: 'Only runs of this channel', most: 200, value: hook?.channel, half: true },
  ...(hook?.format === 'standard'
    ? []
    : [
        {
          name: 'recipient',
          label: 'Messages: who answers by their links',
          most: 100,
          value: hook?.recipient,
          half: true,
        },
        { name: 'quiet_from', label: 'Quiet from', most: 5, value: hook?.quiet_from, half: true, hint: '22:00' },
        { name: 'quiet_until', label: 'until', most: 5, value: hook?.quiet_until, half: true, hint: '07:00' },
        {
          name: 'time_zone',
          label: 'Time zone',
          most: 60,
          value: hook?.time_zone,
          half: true,
          hint: 'Europe/Berlin',
        },
        {
          name: 'digest_minutes',
          label: 'Minutes gathered in one message',
          kind: 'number',
          value: hook?.digest_minutes ?? 0,
          half: true,
        },
      ]),
  { name: 'enabled', label: 'Sends events', kind: 'checkbox', value: hook?.enabled ?? true },
];
const body = ({ events, ...values }, changes) => ({
  ...(changes ? values : Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))),
  ...(changes || list(events).length ? { events: list(events).length ? list(events) : null } : {}),
});

async function create() {
  const made = await edit({
    title: 'New webhook',
    yes: 'Create',
    fields: fields(),
    save: async (values) => (await send('POST', '/webhooks', { body: body(values) })).json(),
  });
  if (made)
    await once(
      'The secret of the webhook',
      'The receiver checks signatures with it. It is not shown again.',
      made.secret,
    );
  return made;
}

async function change(hook) {
  const version = await read(`/webhooks/${hook.id}`);
  return edit({
    title: 'Edit the webhook',
    yes: 'Save',
    fields: fields(version.value),
    save: (values) => save('PATCH', `/webhooks/${hook.id}`, body(values, true), version),
  });
}

async function deliveries(hook) {
  const { items } = await get(`/webhooks/${hook.id}/deliveries`, { limit: 50 });
  return show(
    (close, draw) =>
      html`<div class="body">
        <h2>Deliveries</h2>
        <p class="soft cut">${name(hook.url, 200)}</p>
        ${
          items.length
            ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Deliveries">
                <table class="list">
                  <thead>
                    <tr>
                      <th>Time</th>
                      <th>Event</th>
                      <th>State</th>
                      <th class="right">Attempts</th>
                      <th>Answer</th>
                      <th><span class="hidden-text">Actions</span></th>
                    </tr>
                  </thead>
                  <tbody>
                    ${items.map(
                      (each) =>
                        html`<tr>
                          <td>${when(each.created_at)}</td>
                          <td class="mono small">${name(each.type, 60)}</td>
                          <td>${each.sent ? 'sent again' : each.state}</td>
                          <td class="right num">${each.attempts}</td>
                          <td class="small">
                            ${each.last_status ?? ''} <span class="i-failed">${name(each.last_error ?? '', 200)}</span>
                          </td>
                          <td class="right">
                            <button
                              class="btn low"
                              ?disabled=${each.sent}
                              @click=${async () => {
                                await send('POST', `/webhooks/${hook.id}/redeliver`, {
                                  body: { delivery_id: each.id },
                                }).then(
                                  () => {
                                    each.sent = true;
                                  },
                                  (failure) => toast(failure.message, true),
                                );
                                draw();
                              }}
                            >
                              Send again
                            </button>
                          </td>
                        </tr>`,
                    )}
                  </tbody>
                </table>
              </div>`
            : html`<p class="soft">Nothing was sent yet.</p>`
        }
        <footer><button class="btn first" @click=${() => close()}>Close</button></footer>
      </div>`,
    'wide',
  );
}

/** Addresses that events are sent to. */
export const webhooks = {
  title: 'Webhooks',
  scope: 'admin',
  load: () => get('/webhooks'),
  view: ({ items }, act) =>
    html`<section class="card">
      <header>
        <h2>Webhooks</h2>
        <span class="count">${items.length}</span
        ><button class="btn low end" @click=${() => act(create, 'Created')}>New webhook…</button>
      </header>
      ${
        items.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Webhooks">
              <table class="list low-cards">
                <thead>
                  <tr>
                    <th>Address</th>
                    <th>Events</th>
                    <th>State</th>
                    <th class="right">Waiting</th>
                    <th><span class="hidden-text">Actions</span></th>
                  </tr>
                </thead>
                <tbody>
                  ${items.map(
                    (each) =>
                      html`<tr>
                        <td>
                          <strong>${name(each.url, 160)}</strong>
                          <div class="small soft">
                            ${name([each.format === 'standard' ? '' : each.format, each.recipient && `answered by ${each.recipient}`, each.description].filter(Boolean).join(' · '), 240)}
                          </div>
                        </td>
                        <td class="mono small" data-title="Events">${name(each.events.join(', '), 200)}</td>
                        <td data-title="State">
                          ${
                            each.enabled
                              ? each.failing_since
                                ? html`<span class="state f-backoff"
                                      >${icon('retry')}fails for ${ago(each.failing_since)}</span
                                    >
                                    <div class="small i-failed">${name(each.last_error ?? '', 200)}</div>`
                                : html`<span class="state f-done">${icon('check')}sends</span>`
                              : html`<span class="state f-waits">${icon('pause')}off</span
                                  >${each.disabled_reason && each.disabled_reason !== 'asked' ? html` <span class="small soft">${each.disabled_reason}</span>` : nothing}`
                          }
                        </td>
                        <td class="right num" data-title="Waiting">${each.pending}</td>
                        <td class="right">
                          <span class="row actions"
                            ><button class="btn low" @click=${() => act(() => change(each), 'Saved')}>Edit…</button
                            ><button class="btn low" @click=${() => act(() => deliveries(each), '')}>Deliveries</button
                            ><button
                              class="btn low"
                              ?disabled=${!each.enabled}
                              @click=${() =>
                                act(async () => {
                                  await send('POST', `/webhooks/${each.id}/ping`, { body: {} });
                                  return true;
                                }, 'A ping was sent')}
                            >
                              Ping
                            </button>
                            <button
                              class="btn low bare only"
                              title="Delete"
                              aria-label="Delete ${each.url}"
                              @click=${() => act(() => remove(`/webhooks/${each.id}`).then(() => true), 'Deleted', { title: 'Delete the webhook?', text: 'Waiting deliveries are lost.', yes: 'Delete', danger: true })}
                            >
                              ${icon('cross', 'small')}
                            </button></span
                          >
                        </td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
          : empty(
              'right',
              'No webhooks',
              'Events of runs are sent to addresses that you name, signed and repeated until they are taken.',
              'keelson webhooks create URL',
            )
      }
    </section>`,
};
