import { html, nothing } from 'lit';
import { get, read } from '../../api/client.js';
import { bytes, count } from '../../draw/format.js';
import { meter, name } from '../../part/bits.js';
import { edit, save } from '../../part/editor.js';
import { me } from '../../store/me.js';

/** @type {[string, string, (value: any) => string][]} */
const ROWS = [
  ['open_runs', 'Runs that have not ended', count],
  ['steps', 'Steps at work at a time', count],
  ['runs_per_minute', 'Runs created per minute', count],
  ['storage_bytes', 'Stored artifacts', bytes],
  ['requests_per_minute', 'Requests per minute of a key', count],
  ['steps_per_minute', 'Steps begun per minute', count],
];

async function change() {
  const version = await read('/approval-rule');
  return edit({
    title: 'Rule about approvals',
    text: 'The strictest rule of mission, workspace and server counts. A run keeps the number of people with which it was created.',
    yes: 'Save',
    fields: [
      {
        name: 'approvals',
        label: 'People who have to approve each question of new runs',
        kind: 'number',
        required: true,
        value: version.value.approvals,
        hint: '1 to 5',
      },
      {
        name: 'four_eyes',
        label: 'The submitter of a run cannot approve for it',
        kind: 'checkbox',
        value: version.value.four_eyes,
      },
    ],
    save: (values) => save('PATCH', '/approval-rule', values, version),
  });
}

/** The rule about approvals, and whether a setting of the server is stricter. */
const approvals = (rule, act) =>
  html`<section class="card">
    <header>
      <h2>Approvals</h2>
      ${me.lacks('admin') ? nothing : html`<button class="btn low end" @click=${() => act(change, 'Saved')}>Change…</button>`}
    </header>
    <p class="pad">
      ${rule.required_approvals === 1 ? 'One person decides' : `${rule.required_approvals} people approve`} each
      question of new runs; the submitter of a run
      ${rule.required_four_eyes ? 'cannot approve for it' : 'may be one of them'}.
      ${
        rule.required_approvals > rule.approvals || (rule.required_four_eyes && !rule.four_eyes)
          ? html`<span class="soft">A setting of the server requires that.</span>`
          : nothing
      }
    </p>
  </section>`;

/** Limits of the workspace, and how far it is from them. */
export const limits = {
  title: 'Limits',
  scope: 'runs:read',
  load: async () => ({ ...(await get('/limits')), rule: await get('/approval-rule') }),
  view: ({ limits: most, use, rule }, act) =>
    html`${approvals(rule, act)}
      <section class="card">
        <header>
          <h2>Limits</h2>
          <span class="soft small end">An operator of the installation sets them.</span>
        </header>
        <div class="scroll-x" tabindex="0" role="region" aria-label="Limits">
          <table class="list low-cards">
            <thead>
              <tr>
                <th>What</th>
                <th class="right">In use</th>
                <th class="right">At most</th>
                <th class="wide-cell"><span class="hidden-text">Part</span></th>
              </tr>
            </thead>
            <tbody>
              ${ROWS.map(([key, title, text]) => {
                const limit = most[key] ?? null;
                const used = use[key] ?? null;
                return html`<tr>
                  <td><strong>${title}</strong></td>
                  <td class="right num" data-title="In use">
                    ${used === null ? html`<span class="faint">–</span>` : text(used)}
                  </td>
                  <td class="right num" data-title="At most">
                    ${limit === null ? html`<span class="soft">no limit</span>` : text(limit)}
                  </td>
                  <td>
                    ${limit && used !== null ? meter(used / limit, used / limit > 0.9 ? 'failed' : 'works', `${text(used)} of ${text(limit)}`) : nothing}
                  </td>
                </tr>`;
              })}
            </tbody>
          </table>
        </div>
        ${[
          ['tools', 'Tools, at work at a time'],
          ['tools_per_minute', 'Tools, begun per minute'],
          ['models', 'Models, at work at a time'],
          ['models_per_minute', 'Models, begun per minute'],
          ['model_tokens_per_minute', 'Models, tokens per minute'],
          ['agents_per_minute', 'Agents, steps begun per minute'],
        ].map(([key, title]) =>
          Object.keys(most[key] ?? {}).length
            ? html`<h3 class="pad small soft">${title}</h3>
                <ul class="people">
                  ${Object.entries(most[key]).map(([each, limit]) => html`<li><code>${name(each, 100)}</code> <span class="num">${limit === null ? 'no limit' : count(limit)}</span></li>`)}
                </ul>`
            : nothing,
        )}
      </section>`,
};
