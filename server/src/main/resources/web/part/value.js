import { html, nothing } from 'lit';
import { send } from '../api/client.js';
import { bytes, label } from '../draw/format.js';
import { copy, toast } from './bits.js';
import { icon } from './icon.js';

/** A value up to so many bytes is loaded into the page; a longer one is downloaded. */
const MOST = 256 * 1024;

/** Indents JSON that is whole. */
function pretty(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
}

/** Gives a text or a blob to the browser as a file. */
export function save(content, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content]));
  link.download = label(name, 120).replaceAll('/', '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function download(path, name) {
  try {
    save(await (await send('GET', path, { accept: '*/*' })).blob(), name);
  } catch (failure) {
    toast(failure.message, true);
  }
}

/**
 * The member of a light row as text that can be folded: its beginning, and the whole of it on demand.
 * @param whole reads the whole value, {path, name, pick}: `pick` takes it out of the answer
 * @param loaded whole texts by title, kept by the caller; `draw` renders again
 */
export function value(title, row, member, whole, loaded, draw, open = false) {
  const start = row[`${member}_start`];
  const size = row[`${member}_bytes`];
  if (start === null || start === undefined) return nothing;
  const key = `${row.id} ${member}`;
  const complete = size <= new TextEncoder().encode(start).length;
  const text = loaded.get(key) ?? (complete ? pretty(start) : start);
  const load = async () => {
    try {
      const response = await send('GET', whole.path, { accept: '*/*' });
      const read = await response.text();
      loaded.set(key, whole.pick ? pretty(JSON.stringify(whole.pick(JSON.parse(read)))) : pretty(read));
      draw();
    } catch (failure) {
      toast(failure.message, true);
    }
  };
  const more = !complete && !loaded.has(key);
  return html`<details class="json" ?open=${open}>
    <summary>${title}<span class="faint small">${bytes(size)}</span></summary>
    <div class="code">
      <button class="btn bare only" title="Copy" aria-label="Copy ${title}" @click=${() => copy(text)}>
        ${icon('copy', 'small')}
      </button>
      <pre tabindex="0" aria-label=${title}>${text}${more ? '…' : ''}</pre>
    </div>
    ${
      more
        ? html`<div class="row">
            ${size <= MOST ? html`<button class="btn low" @click=${load}>Load all of it</button>` : html`<span class="small soft">The beginning of ${bytes(size)}.</span>`}
            ${whole.pick && size > MOST ? nothing : html`<button class="btn low" @click=${() => download(whole.path, `${whole.name}.${/^["{[]/.test(start) && start[0] !== '"' ? 'json' : 'txt'}`)}>${icon('download', 'small')}Download</button>`}
          </div>`
        : nothing
    }
  </details>`;
}
