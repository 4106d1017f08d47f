import { html, nothing } from 'lit';
import { get, remove } from '../../api/client.js';
import { ago, name, when } from '../../part/bits.js';

/** Browsers that are signed in. */
export const sessions = {
  title: 'Sessions',
  load: () => get('/sessions'),
  view: ({ items }, act) =>
    html`<section class="card">
      <header>
        <h2>Signed-in browsers</h2>
        <span class="count">${items.length}</span>
      </header>
      <div class="scroll-x" tabindex="0" role="region" aria-label="Sessions">
        <table class="list">
          <thead>
            <tr>
              <th>Who</th>
              <th>From</th>
              <th>Signed in</th>
              <th>Last used</th>
              <th>Ends</th>
              <th><span class="hidden-text">Actions</span></th>
            </tr>
          </thead>
          <tbody>
            ${items.map(
              (each) =>
                html`<tr>
                  <td>
                    <strong>${name(each.principal, 100)}</strong
                    >${each.current ? html` <span class="tag">this browser</span>` : nothing}
                  </td>
                  <td class="mono small">${name(each.from_address ?? '', 60)}</td>
                  <td>${when(each.created_at)}</td>
                  <td>${ago(each.last_used_at)} ago</td>
                  <td>${when(each.ends_at)}</td>
                  <td class="right">
                    <button
                      class="btn low"
                      @click=${() => act(() => remove(`/sessions/${each.id}`).then(() => true), 'The session has ended', each.current ? { title: 'End this session?', text: 'This browser is signed out.', yes: 'Sign out' } : null)}
                    >
                      ${each.current ? 'Sign out…' : 'End'}
                    </button>
                  </td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>`,
};
