import { html } from 'lit';
import { all } from '../../api/client.js';
import { empty, name, when } from '../../part/bits.js';
import { json } from '../../part/json.js';

/** What operators and administrators did, newest first. */
export const audit = {
  title: 'Audit log',
  scope: 'operator',
  load: () => all('/audit', {}, 300),
  view: ({ items, complete }) =>
    html`<section class="card">
      <header>
        <h2>Audit log</h2>
        <span class="count">${items.length}${complete ? '' : '+'}</span>
      </header>
      ${
        items.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Audit log">
              <table class="list">
                <thead>
                  <tr>
                    <th>Time</th>
                    <th>Who</th>
                    <th>What</th>
                    <th>Of</th>
                    <th>From</th>
                    <th>Details</th>
                  </tr>
                </thead>
                <tbody>
                  ${items.map(
                    (each) =>
                      html`<tr>
                        <td class="num">${when(each.created_at)}</td>
                        <td><strong>${name(each.actor_id, 80)}</strong></td>
                        <td>${each.action.replaceAll('_', ' ')}</td>
                        <td class="mono small">${name(each.subject ?? '', 80)}</td>
                        <td class="mono small">${name(each.from_address ?? '', 60)}</td>
                        <td>${Object.keys(each.detail).length ? json('Detail', each.detail) : ''}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
          : empty(
              'list',
              'Nothing was recorded',
              'Keys, workspaces, prices and grants appear here when they are changed.',
              'keelson audit',
            )
      }
    </section>`,
};
