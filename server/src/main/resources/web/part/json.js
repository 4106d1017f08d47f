import { html, nothing } from 'lit';
import { bytes } from '../draw/format.js';
import { copy } from './bits.js';
import { icon } from './icon.js';

const MOST = 20_000;

/** A value as text that can be folded and copied; long ones are cut. */
export function json(title, value, open = false) {
  if (value === undefined || value === null) return nothing;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return html`<details class="json" ?open=${open}>
    <summary>${title}<span class="faint small">${bytes(text.length)}</span></summary>
    <div class="code">
      <button class="btn bare only" title="Copy" aria-label="Copy ${title}" @click=${() => copy(text)}>
        ${icon('copy', 'small')}
      </button>
      <pre tabindex="0" aria-label=${title}>
${text.length > MOST ? `${text.slice(0, MOST)}\n… ${bytes(text.length - MOST)} more` : text}</pre>
    </div>
  </details>`;
}
