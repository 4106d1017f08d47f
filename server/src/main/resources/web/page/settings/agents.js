import { html, nothing } from 'lit';
import { all, post, read, remove } from '../../api/client.js';
import { me } from '../../store/me.js';
import { ago, empty, name } from '../../part/bits.js';
import { edit, save } from '../../part/editor.js';
import { icon } from '../../part/icon.js';

const CAPABILITIES = ['research', 'analysis', 'writing', 'coding', 'verification', 'review', 'synthesis', 'other'];
const list = (text) => (text ?? '').split(/[\s,]+/).filter(Boolean);

const fields = (agent, tools) => [
  ...(agent
    ? []
    : [
        {
          name: 'slug',
          label: 'Slug',
          required: true,
          most: 100,
          hint: 'Small letters, digits and -; it never changes',
          half: true,
        },
      ]),
  { name: 'name', label: 'Name', most: 200, value: agent?.name, half: true },
  { name: 'model', label: 'Model', most: 200, value: agent?.model, hint: 'Empty leaves it to the worker', half: true },
  {
    name: 'runs_on',
    label: 'Takes its turns',
    kind: 'select',
    options: [
      ['', 'where its model is'],
      ['server', 'in the server'],
      ['workers', 'in workers'],
    ],
    value: agent?.runs_on,
    half: true,
  },
  {
    name: 'max_turns',
    label: 'Turns of a task at most',
    kind: 'number',
    value: agent?.limits?.max_turns,
    hint: 'Empty: as the run says',
    half: true,
  },
  { name: 'description', label: 'Description, for people', kind: 'lines', value: agent?.description },
  {
    name: 'instructions',
    label: 'Instructions, given with each turn',
    kind: 'lines',
    rows: 6,
    value: agent?.instructions,
  },
  {
    name: 'tools',
    label: 'Tools that it may call',
    kind: 'lines',
    value: agent?.tools.join('\n'),
    hint: `One per line. ${tools.length} tools are known.`,
  },
  {
    name: 'capabilities',
    label: 'Good at',
    kind: 'checks',
    value: agent?.capabilities ?? [],
    options: CAPABILITIES.map((each) => [each, each]),
  },
];

function body({ max_turns, tools, ...values }, agent) {
  const rest = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  const approvals = agent?.limits?.approvals ?? {};
  return { ...rest, tools: list(tools), limits: { ...(max_turns ? { max_turns } : {}), approvals } };
}

const create = (tools) =>
  edit({
    title: 'New agent',
    yes: 'Create',
    wide: true,
    fields: fields(null, tools),
    save: (values) => post('/agents', body(values)),
  });

async function change(agent, tools) {
  const version = await read(`/agents/${agent.slug}`);
  return edit({
    title: html`Edit ${name(agent.name, 100)}`,
    yes: 'Save',
    wide: true,
    fields: fields(version.value, tools),
    save: (values) => save('PUT', `/agents/${agent.slug}`, body(values, version.value), version),
  });
}

/** The agents of the workspace. */
export const agents = {
  title: 'Agents',
  load: async () => {
    const [roster, tools] = await Promise.all([all('/agents', { limit: 500 }, 1000), all('/tools', {}, 2000)]);
    return { items: roster.items, tools: tools.items };
  },
  view: ({ items, tools }, act) => {
    const lacks = me.lacks('admin');
    return html`<section class="card">
      <header>
        <h2>Agents</h2>
        <span class="count">${items.length}</span
        ><button
          class="btn low end"
          ?disabled=${!!lacks}
          title=${lacks ?? nothing}
          @click=${() => act(() => create(tools), 'Created')}
        >
          New agent…
        </button>
      </header>
      ${
        items.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Agents">
              <table class="list">
                <thead>
                  <tr>
                    <th>Agent</th>
                    <th>Model</th>
                    <th>Tools</th>
                    <th>Good at</th>
                    <th>Changed</th>
                    <th><span class="hidden-text">Actions</span></th>
                  </tr>
                </thead>
                <tbody>
                  ${items.map(
                    (each) =>
                      html`<tr>
                        <td>
                          <strong>${name(each.name, 100)}</strong> <code class="faint small">${each.slug}</code>
                          <div class="small soft clamp">${name(each.description ?? '', 200)}</div>
                        </td>
                        <td class="mono small">${name(each.model ?? '', 80)}</td>
                        <td class="small">
                          <span class="mono">${name(each.tools.join(', '), 200)}</span>${each.warnings.map(
                            (warning) =>
                              html`<div class="row i-backoff">
                                ${icon('alert', 'small')}<span
                                  ><span class="hidden-text">Warning: </span>${name(warning, 400)}</span
                                >
                              </div>`,
                          )}
                        </td>
                        <td class="small soft">${each.capabilities.join(', ')}</td>
                        <td class="soft">${ago(each.updated_at)} ago</td>
                        <td class="right">
                          <span class="row actions"
                            ><button
                              class="btn low"
                              ?disabled=${!!lacks}
                              title=${lacks ?? nothing}
                              @click=${() => act(() => change(each, tools), 'Saved')}
                            >
                              Edit…</button
                            ><button
                              class="btn low bare only"
                              ?disabled=${!!lacks}
                              title=${lacks ?? 'Delete'}
                              aria-label="Delete ${each.slug}"
                              @click=${() => act(() => remove(`/agents/${each.slug}`).then(() => true), 'Deleted', { title: html`Delete ${name(each.name, 100)}?`, text: 'Its tasks keep it on the terms of their time.', yes: 'Delete', danger: true })}
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
              'user',
              'No agents',
              'Agents do the tasks that plans give them, with the tools that they may call.',
              'keelson agents create writer --tools files.read',
            )
      }
    </section>`;
  },
};
