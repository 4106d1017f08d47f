import { html, nothing } from 'lit';
import { all, post, put, read, remove } from '../../api/client.js';
import { me } from '../../store/me.js';
import { ago, empty, name } from '../../part/bits.js';
import { edit } from '../../part/editor.js';
import { icon } from '../../part/icon.js';
import { json } from '../../part/json.js';

const lines = (text) => (text ?? '').split(/[\s,]+/).filter(Boolean);
const STATES = {
  allowed: ['f-done', 'check'],
  off: ['f-waits', 'circle'],
  changed: ['f-person', 'alert'],
  gone: ['f-ended', 'ban'],
};

const fields = (server) => [
  ...(server
    ? []
    : [{ name: 'name', label: 'Name', required: true, most: 64, hint: 'Its tools are mcp.NAME.TOOL', half: true }]),
  { name: 'url', label: 'Address', most: 2048, value: server?.url, hint: 'Of a server behind HTTP', half: !server },
  {
    name: 'command',
    label: 'Or a command',
    most: 64,
    value: server?.command,
    hint: 'Of the operator’s file; needs the scope operator',
    half: true,
  },
  {
    name: 'timeout_seconds',
    label: 'Seconds of a call at most',
    kind: 'number',
    value: server?.timeout_seconds ?? 30,
    half: true,
  },
  {
    name: 'bearer',
    label: 'Bearer token',
    most: 8192,
    value: server?.bearer,
    placeholder: '${ secret("NAME") }',
    hint: 'Best a secret of the workspace',
  },
  {
    name: 'tools',
    label: 'Tools that may be used',
    kind: 'lines',
    rows: 4,
    value: server?.allowed.join('\n') ?? '*',
    hint: 'One per line; * for all',
  },
  { name: 'trusted', label: 'Its annotations of effects count', kind: 'checkbox', value: server?.trusted },
];

/** Members that the form does not have stay as they are. */
function body({ name: _, tools, ...values }, server) {
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
  return {
    ...given,
    tools: lines(tools),
    ...(server
      ? { headers: server.headers, effects: server.effects, ...(server.auth ? { auth: server.auth } : {}) }
      : {}),
  };
}

const create = () =>
  edit({
    title: 'New MCP server',
    text: 'The server is asked for its tools at once.',
    yes: 'Add',
    wide: true,
    fields: fields(null),
    save: (values) => put(`/mcp-servers/${encodeURIComponent(values.name ?? '')}`, body(values)),
  });

async function change(each) {
  const { value } = await read(`/mcp-servers/${encodeURIComponent(each.name)}`);
  return edit({
    title: html`Edit ${name(each.name, 100)}`,
    text: 'The server is asked for its tools at once.',
    yes: 'Save',
    wide: true,
    fields: fields(value),
    save: (values) => put(`/mcp-servers/${encodeURIComponent(each.name)}`, body(values, value)),
  });
}

function tool(server, each, act, lacks) {
  const [look, symbol] = STATES[each.state] ?? STATES.off;
  return html`<li class="row wrap">
    <span class="state ${look}">${icon(symbol)}${each.state}</span><code class="small">${name(each.name, 128)}</code
    ><span class="tag small">${each.effects}</span>
    ${each.state === 'changed' ? html`<button class="btn low" ?disabled=${!!lacks} title=${lacks ?? 'Use it as the server describes it now'} @click=${() => act(() => post(`/mcp-servers/${encodeURIComponent(server.name)}/tools/${encodeURIComponent(each.name)}/accept`), 'Accepted')}>Accept</button>` : nothing}
  </li>`;
}

function card(each, act, lacks) {
  const path = `/mcp-servers/${encodeURIComponent(each.name)}`;
  const allowed = each.tools.filter((one) => one.state === 'allowed').length;
  return html`<section class="card">
    <header>
      <h2 class="cut">${name(each.name, 100)}</h2>
      <span class="count cut">${name(each.url ?? `command ${each.command}`, 200)}</span>
      <span class="end row"
        ><button
          class="btn low"
          ?disabled=${!!lacks}
          title=${lacks ?? nothing}
          @click=${() => act(() => post(`${path}/check`), 'Checked')}
        >
          Check</button
        ><button
          class="btn low"
          ?disabled=${!!lacks}
          title=${lacks ?? nothing}
          @click=${() => act(() => change(each), 'Saved')}
        >
          Edit…
        </button>
        <button
          class="btn low bare only"
          ?disabled=${!!lacks}
          title=${lacks ?? 'Delete'}
          aria-label="Delete ${each.name}"
          @click=${() => act(() => remove(path).then(() => true), 'Deleted', { title: html`Delete ${name(each.name, 100)}?`, text: 'Steps with its tools then fail.', yes: 'Delete', danger: true })}
        >
          ${icon('cross', 'small')}
        </button></span
      >
    </header>
    <div class="pad stack">
      ${each.error ? html`<div class="note bad">${icon('alert')}<span>It cannot be used: ${name(each.error, 1000)}</span></div>` : html`<p class="row small">${icon(each.checked_at ? 'check' : 'circle', each.checked_at ? 'small i-done' : 'small')}${each.checked_at ? html`It answered ${ago(each.checked_at)} ago, protocol ${each.protocol ?? '–'}` : 'It was not asked yet'}; ${allowed} of ${each.tools.length} tools may be used.</p>`}
      ${each.warnings.map((warning) => html`<p class="row small i-backoff">${icon('alert', 'small')}${name(warning, 400)}</p>`)}
      ${
        each.tools.length
          ? html`<ul class="stack tight">
              ${each.tools.slice(0, 100).map((one) => tool(each, one, act, lacks))}
            </ul>`
          : nothing
      }${each.log?.length ? json('Last lines of its standard error', each.log.join('\n')) : nothing}
    </div>
  </section>`;
}

/** The MCP servers of the workspace, with their tools. */
export const mcp = {
  title: 'MCP servers',
  scope: 'admin',
  load: () => all('/mcp-servers', {}, 500),
  view: ({ items }, act) => {
    const lacks = me.lacks('admin');
    return html`<div class="row">
        <span class="soft">${items.length ? 'Their tools are tools of the workspace.' : ''}</span
        ><button
          class="btn first end"
          ?disabled=${!!lacks}
          title=${lacks ?? nothing}
          @click=${() => act(create, 'Added')}
        >
          New MCP server…
        </button>
      </div>
      ${items.length ? items.map((each) => card(each, act, lacks)) : html`<div class="card">${empty('server', 'No MCP servers', 'The tools of an MCP server can be used by steps and agents.', 'keelson mcp add files --url URL')}</div>`}`;
  },
};
