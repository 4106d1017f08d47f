import { html, nothing } from 'lit';
import { get } from '../../api/client.js';
import { bytes, count } from '../../draw/format.js';
import { meter, name } from '../../part/bits.js';

/** @type {[string, string, (value: any) => string][]} */
const ROWS = [
  ['open_runs', 'Runs that have not ended', count],
  ['steps', 'Steps at work at a time', count],
  ['runs_per_minute', 'Runs created per minute', count],
  ['storage_bytes', 'Stored artifacts', bytes],
  ['requests_per_minute', 'Requests per minute of a key', count],
  ['steps_per_minute', 'Steps begun per minute', count],
];

/** Limits of the workspace, and how far it is from them. */
export const limits = {
  title: 'Limits',
  scope: 'runs:read',
  load: () => get('/limits'),
  view: ({ limits: most, use }) =>
    html`<section class="card">
      <header>
        <h2>Limits</h2>
        <span class="soft small end">An operator of the installation sets them.</span>
      </header>
      <div class="scroll-x" tabindex="0" role="region" aria-label="Limits">
        <table class="list">
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
                <td>${title}</td>
                <td class="right num">${used === null ? html`<span class="faint">–</span>` : text(used)}</td>
                <td class="right num">${limit === null ? html`<span class="soft">no limit</span>` : text(limit)}</td>
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
