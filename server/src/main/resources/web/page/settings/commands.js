import { html, nothing } from 'lit';
import { all } from '../../api/client.js';
import { shortId } from '../../draw/format.js';
import { empty, name, when } from '../../part/bits.js';
import { json } from '../../part/json.js';

const LOOK = { completed: 'i-done', failed: 'i-failed', unknown: 'i-failed' };

/** Commands to external systems, newest first: each was sent once per key, or its outcome is unknown. */
export const commands = {
  title: 'Commands',
  scope: 'runs:read',
  load: () => all('/commands', {}, 300),
  view: ({ items, complete }) =>
    html`<section class="card">
      <header>
        <h2>Commands to external systems</h2>
        <span class="count">${items.length}${complete ? '' : '+'}</span>
      </header>
      ${
        items.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Commands">
              <table class="list">
                <thead>
                  <tr>
                    <th>Time</th>
                    <th>Type</th>
                    <th>State</th>
                    <th>By</th>
                    <th>Run</th>
                    <th>Key</th>
                    <th>Details</th>
                  </tr>
                </thead>
                <tbody>
                  ${items.map(
                    (each) =>
                      html`<tr>
                        <td class="num">${when(each.created_at)}</td>
                        <td class="mono small">${name(each.type, 80)}</td>
                        <td>
                          <strong class=${LOOK[each.state] ?? ''}>${each.state.replaceAll('_', ' ')}</strong
                          >${each.error_message ? html`<div class="small i-failed">${name(each.error_message, 300)}</div>` : nothing}${each.advice ? html`<div class="small soft">${name(each.advice, 300)}</div>` : nothing}
                        </td>
                        <td>${name(each.actor, 80)}</td>
                        <td>
                          ${each.run_id ? html`<a class="mono small" href="/ui/runs/${each.run_id}">${shortId(each.run_id)}</a>` : nothing}
                        </td>
                        <td class="mono small">${name(each.idempotency_key, 60)}</td>
                        <td>
                          ${json('Payload', each.payload)}${each.response ? json('Response', each.response) : nothing}
                        </td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
          : empty(
              'server',
              'No commands',
              'Orders, deployments and other commands of configured types appear here, each with its outcome.',
              'keelson commands list',
            )
      }
    </section>`,
};
