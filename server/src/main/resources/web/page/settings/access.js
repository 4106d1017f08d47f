import { html, nothing } from 'lit';
import { all, get, send } from '../../api/client.js';
import { me } from '../../store/me.js';
import { ago, name, when } from '../../part/bits.js';
import { edit, once } from '../../part/editor.js';

const SCOPES = [
  ['runs:read', 'see runs and reports'],
  ['runs:write', 'start and change runs'],
  ['approve', 'decide for people'],
  ['work', 'work as a worker'],
  ['credits:read', 'see money'],
  ['credits:grant', 'grant credits'],
  ['admin', 'keys, webhooks, secrets'],
  ['operator', 'all workspaces'],
];
const DAY = 86_400;

async function create() {
  const people = (await get('/principals').catch(() => ({ items: [] }))).items;
  const made = await edit({
    title: 'New API key',
    text: 'The key is shown once, after it was created.',
    yes: 'Create',
    fields: [
      { name: 'name', label: 'What is it for?', required: true, most: 200 },
      {
        name: 'principal',
        label: 'Acts as',
        list: people.map((each) => each.name),
        value: me.name,
        hint: 'Name of a person or service',
        half: true,
      },
      {
        name: 'principal_kind',
        label: 'Kind',
        kind: 'select',
        options: [
          ['', 'as it is, or service'],
          ['person', 'person'],
          ['service', 'service'],
        ],
        half: true,
      },
      {
        name: 'scopes',
        label: 'Scopes',
        kind: 'checks',
        value: ['runs:read'],
        options: SCOPES.map(([scope, text]) => [
          scope,
          html`<code>${scope}</code> <span class="soft">${text}</span>`,
          me.lacks(scope),
        ]),
      },
      { name: 'days', label: 'Ends after days', kind: 'number', hint: 'Empty: it does not end', half: true },
    ],
    save: async ({ days, ...values }) =>
      (
        await send('POST', '/api-keys', {
          body: {
            ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)),
            ...(days ? { expires_in_seconds: Math.round(days * DAY) } : {}),
          },
        })
      ).json(),
  });
  if (made) await once('Your new API key', 'It is not shown again. It permits what its scopes say.', made.key);
  return made;
}

const revoke = (key) => ({
  title: html`Revoke ${name(key.name, 100)}?`,
  text: 'All servers refuse it within 5 seconds. Its sessions end.',
  yes: 'Revoke',
  danger: true,
});

/** API keys, and the people and services that they belong to. */
export const access = {
  title: 'Keys and people',
  scope: 'admin',
  load: async () => {
    const [keys, people] = await Promise.all([all('/api-keys', { limit: 500 }, 1000), get('/principals')]);
    return { keys: keys.items, people: people.items };
  },
  view: ({ keys, people }, act) =>
    html`<section class="card">
        <header>
          <h2>API keys</h2>
          <span class="count">${keys.length}</span
          ><button class="btn low end" @click=${() => act(create, 'Created')}>New key…</button>
        </header>
        <div class="scroll-x" tabindex="0" role="region" aria-label="API keys">
          <table class="list">
            <thead>
              <tr>
                <th>Name</th>
                <th>Acts as</th>
                <th>Scopes</th>
                <th>State</th>
                <th>Last used</th>
                <th>Created</th>
                <th><span class="hidden-text">Actions</span></th>
              </tr>
            </thead>
            <tbody>
              ${keys.map(
                (each) =>
                  html`<tr>
                    <td><strong>${name(each.name, 100)}</strong> <code class="faint small">${each.prefix}…</code></td>
                    <td>${name(each.principal, 100)} <span class="soft small">${each.principal_kind}</span></td>
                    <td class="small">${each.scopes.map((scope) => html`<code class="tag">${scope}</code> `)}</td>
                    <td class="nowrap">
                      ${each.state}${each.state === 'active' && each.expires_at ? html`<div class="small soft">until ${when(each.expires_at)}</div>` : nothing}
                    </td>
                    <td class="soft">${each.last_used_at ? html`${ago(each.last_used_at)} ago` : 'never'}</td>
                    <td class="soft">${when(each.created_at)}</td>
                    <td class="right">
                      ${
                        each.state === 'active'
                          ? html`<button
                              class="btn low"
                              @click=${() =>
                                act(
                                  async () => {
                                    await send('POST', `/api-keys/${each.id}/revoke`, { body: {} });
                                    return true;
                                  },
                                  'Revoked',
                                  revoke(each),
                                )}
                            >
                              Revoke…
                            </button>`
                          : nothing
                      }
                    </td>
                  </tr>`,
              )}
            </tbody>
          </table>
        </div>
      </section>
      <section class="card">
        <header>
          <h2>People and services</h2>
          <span class="count">${people.length}</span>
        </header>
        <ul class="people">
          ${people.map((each) => html`<li class=${each.active ? '' : 'soft'}><strong>${name(each.name, 100)}</strong> <span class="soft small">${each.kind}${each.active ? '' : ', without a key'}</span></li>`)}
        </ul>
      </section>`,
};
