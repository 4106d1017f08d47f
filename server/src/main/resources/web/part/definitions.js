import { html, nothing } from 'lit';
import { name, problem, skeleton, toast } from './bits.js';
import { ask } from './dialog.js';
import { icon } from './icon.js';

/** Does it, confirms it, and reads the page again; with a question only after a yes. A result of undefined was cancelled. */
export async function act(page, work, said, question) {
  if (question && !(await ask(question))) return;
  try {
    const done = await work();
    if (done !== undefined) toast(said(done));
  } catch (failure) {
    toast(`${failure.message} (${failure.code})`, true);
  }
  page.read();
}

/** A row with a name that opens the content below it, cells, and actions. The last action deletes. */
export const row = (each, { open, toggle, cells, actions, lacks, remove, text, page, below }) =>
  html`<tr>
      <td class="wide-name">
        <button class="link row" aria-expanded=${open} @click=${toggle}>
          ${icon(open ? 'down' : 'right', 'small')}<strong>${name(each.name, 100)}</strong>
        </button>
      </td>
      ${cells}
      <td class="right">
        <span class="row actions"
          >${actions}<button
            class="btn low bare only"
            ?disabled=${!!lacks}
            title=${lacks ?? 'Delete'}
            aria-label="Delete ${each.name}"
            @click=${() =>
              act(
                page,
                () => remove().then(() => true),
                () => 'Deleted',
                { title: html`Delete ${name(each.name, 100)}?`, text, yes: 'Delete', danger: true },
              )}
          >
            ${icon('cross', 'small')}
          </button></span
        >
      </td>
    </tr>
    ${
      open
        ? html`<tr class="below">
            <td colspan="5">${below()}</td>
          </tr>`
        : nothing
    }`;

/** The table of a page's items, or its failure, or the text for none. */
export const table = (page, label, heads, rows, none, beside) => {
  if (page.failure) return problem(page.failure, () => page.read());
  if (!page.items?.length) return html`<div class="card">${page.items ? none : skeleton()}</div>`;
  const list = html`<div class="card scroll-x" tabindex="0" role="region" aria-label=${label}>
    <table class="list low-cards">
      <thead>
        <tr>
          ${heads.map((each) => (each === 'Runs' ? html`<th class="right">${each}</th>` : html`<th>${each}</th>`))}
          <th><span class="hidden-text">Actions</span></th>
        </tr>
      </thead>
      <tbody>
        ${page.items.map(rows)}
      </tbody>
    </table>
  </div>`;
  return beside ? html`<div class="beside">${list} ${beside()}</div>` : list;
};
