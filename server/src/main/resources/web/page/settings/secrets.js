import { html } from 'lit';
import { get, put, remove } from '../../api/client.js';
import { ago, empty, name } from '../../part/bits.js';
import { edit } from '../../part/editor.js';
import { icon } from '../../part/icon.js';

const set = (known) =>
  edit({
    title: known ? html`New value of ${name(known, 100)}` : 'New secret',
    text: 'Steps that start from now on get the value. It is never shown again.',
    yes: 'Save',
    fields: [
      ...(known
        ? []
        : [{ name: 'name', label: 'Name', required: true, most: 100, hint: 'Letters, digits, . _ and -' }]),
      { name: 'value', label: 'Value', kind: 'password', required: true },
    ],
    save: (values) => put(`/secrets/${encodeURIComponent(known ?? values.name ?? '')}`, { value: values.value ?? '' }),
  });

/** Values that plans use by name. */
export const secrets = {
  title: 'Secrets',
  scope: 'admin',
  load: () => get('/secrets'),
  view: ({ items }, act) =>
    html`<section class="card">
      <header>
        <h2>Secrets</h2>
        <span class="count">${items.length}</span
        ><button class="btn low end" @click=${() => act(() => set(null), 'Saved')}>New secret…</button>
      </header>
      ${
        items.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Secrets">
              <table class="list">
                <thead>
                  <tr>
                    <th>Name</th>
                    <th class="right">Version</th>
                    <th>Changed</th>
                    <th>By</th>
                    <th><span class="hidden-text">Actions</span></th>
                  </tr>
                </thead>
                <tbody>
                  ${items.map(
                    (each) =>
                      html`<tr>
                        <td class="mono"><strong>${name(each.name, 100)}</strong></td>
                        <td class="right num">${each.version}</td>
                        <td>${ago(each.updated_at)} ago</td>
                        <td class="soft">${name(each.updated_by ?? '', 80)}</td>
                        <td class="right">
                          <span class="row actions"
                            ><button class="btn low" @click=${() => act(() => set(each.name), 'Saved')}>Replace…</button
                            ><button
                              class="btn low bare only"
                              title="Delete"
                              aria-label="Delete ${each.name}"
                              @click=${() => act(() => remove(`/secrets/${encodeURIComponent(each.name)}`).then(() => true), 'Deleted', { title: html`Delete ${name(each.name, 100)}?`, text: 'Steps that use it then fail.', yes: 'Delete', danger: true })}
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
              'keyboard',
              'No secrets',
              'Plans name a secret, and steps get its value. It is in no event, log or output.',
              'keelson secrets set SHOP_TOKEN',
            )
      }
    </section>`,
};
