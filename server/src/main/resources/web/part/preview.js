// Previews of artifacts: images as images, HTML and SVG in a frame without scripts and origin, all else as the first part of its text.
import { html, nothing } from 'lit';
import { address, send } from '../api/client.js';
import { bytes, label } from '../draw/format.js';
import { name, problem } from './bits.js';
import { show } from './dialog.js';
import { icon } from './icon.js';

const FIRST = 64 * 1024;
const LARGEST_SHOWN = 8 * 1024 * 1024;
const IMAGE = /^image\/(png|jpeg|gif|webp|avif|bmp)\b/;
const FRAME = /^(text\/html|application\/xhtml\+xml|image\/svg\+xml)\b/;
const BINARY = /^(audio|video|font)\/|zip|gzip|octet-stream|pdf/;

/** @param path of its content @param artifact with name, content_type and size_bytes */
export function preview(path, artifact) {
  const type = artifact.content_type ?? '';
  const shown = artifact.size_bytes <= LARGEST_SHOWN;
  const rendered = shown && FRAME.test(type);
  let source = !rendered;
  let text = null;
  let failure = null;
  const href = address(path, { inline: true });
  return show((close, draw) => {
    const load = async () => {
      try {
        const response = await send('GET', path, { accept: '*/*', range: `bytes=0-${FIRST - 1}` });
        text = new TextDecoder().decode(await response.arrayBuffer());
      } catch (refused) {
        if (refused.code === 'RANGE_NOT_SATISFIABLE') text = '';
        else failure = refused;
      }
      draw();
    };
    const image = shown && IMAGE.test(type);
    if (source && !image && text === null && !failure) {
      text = undefined;
      load();
    }
    return html`<div class="body">
      <h2 class="cut">${name(artifact.name, 200)}</h2>
      <p class="small soft row wrap">
        <span
          >${name(type, 80)} ·
          ${bytes(artifact.size_bytes)}${source && !image && artifact.size_bytes > FIRST ? ', the first 64 KiB' : ''}</span
        >
        ${
          rendered
            ? html`<span class="views end" role="group" aria-label="Show as"
                ><button
                  class="view"
                  aria-pressed=${!source}
                  @click=${() => {
                    source = false;
                    draw();
                  }}
                >
                  Rendered</button
                ><button
                  class="view"
                  aria-pressed=${source}
                  @click=${() => {
                    source = true;
                    draw();
                  }}
                >
                  Source
                </button></span
              >`
            : nothing
        }
      </p>
      ${
        failure
          ? problem(failure)
          : image
            ? html`<img class="shown" src=${href} alt=${label(artifact.name, 200)} />`
            : !source
              ? html`<iframe
                  class="frame"
                  title=${label(artifact.name, 200)}
                  sandbox=""
                  referrerpolicy="no-referrer"
                  src=${href}
                ></iframe>`
              : BINARY.test(type) && text?.includes('\ufffd')
                ? html`<p class="note">This content is no text. Download it to see it.</p>`
                : html`<pre class="code preview" tabindex="0" aria-label="Content">${text ?? 'Loading…'}</pre>`
      }
      <footer><button class="btn first" @click=${() => close()}>Close</button></footer>
    </div>`;
  }, 'wide');
}

/** Buttons to look at an artifact of a run and to download it. */
export function links(run, artifact) {
  const path = `/runs/${run}/artifacts/${artifact.id}/content`;
  if (artifact.deleted_at) return 'deleted';
  return html`<button class="btn low" @click=${() => preview(path, artifact)}>Preview</button>
    <a
      class="btn low"
      download=${label(artifact.name, 120).replaceAll('/', '_')}
      href=${address(path)}
      aria-label="Download ${label(artifact.name, 60)}"
      >${icon('download', 'small')}</a
    >`;
}
