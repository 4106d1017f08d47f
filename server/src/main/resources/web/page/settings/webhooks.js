import { html } from 'lit';
import { get, send } from '../../api/client.js';
import { name, toast, when } from '../../part/bits.js';
import { show } from '../../part/dialog.js';
import { edit, once } from '../../part/editor.js';
import { events, hours, receivers, topics } from './receivers.js';

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
  events(hook, 'Topics such as run.failed, types of events such as step_failed, or *'),
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
        ...hours(hook),
      ]),
  { name: 'enabled', label: 'Sends events', kind: 'checkbox', value: hook?.enabled ?? true },
];
const body = ({ events: named, ...values }, changes) => ({
  ...(changes ? values : Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))),
  ...(changes || topics(named) ? { events: topics(named) } : {}),
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
  view: receivers({
    path: '/webhooks',
    title: 'Webhooks',
    one: 'the webhook',
    edits: 'Edit the webhook',
    fields,
    body,
    create,
    creates: 'New webhook…',
    address: (each) =>
      html`<strong>${name(each.url, 160)}</strong>
        <div class="small soft">
          ${name([each.format === 'standard' ? '' : each.format, each.recipient && `answered by ${each.recipient}`, each.description].filter(Boolean).join(' · '), 240)}
        </div>`,
    column: ['Waiting', (each) => each.pending],
    more: (each, act) =>
      html`<button class="btn low" @click=${() => act(() => deliveries(each), '')}>Deliveries</button>`,
    none: [
      'No webhooks',
      'Events of runs are sent to addresses that you name, signed and repeated until they are taken.',
      'keelson webhooks create URL',
    ],
  }),
};
