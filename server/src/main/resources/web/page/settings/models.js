import { html, nothing } from 'lit';
import { all, post } from '../../api/client.js';
import { me } from '../../store/me.js';
import { duration, short } from '../../draw/format.js';
import { empty, name } from '../../part/bits.js';
import { icon } from '../../part/icon.js';

/** Prices of a million tokens; a model without them can be used by no plan. */
const prices = ({ usd_per_million_tokens: usd }) =>
  usd
    ? html`${usd.input} · ${usd.cache_read ?? '–'} · ${usd.output}`
    : html`<span class="i-failed row">${icon('alert', 'small')}no price</span>`;

/** What came of the latest checks, by name of the model. */
const found = new Map();

async function check(model) {
  found.set(model.name, await post(`/models/${encodeURIComponent(model.name)}/check`));
  return true;
}

function reached(model) {
  const known = found.get(model.name);
  if (!known) return html`<span class="soft">not checked</span>`;
  return html`<span class="state ${known.answers ? 'f-done' : 'f-failed'}"
      >${icon(known.answers ? 'check' : 'cross')}${known.answers ? `answers, ${duration(known.duration_ms)}` : 'no answer'}</span
    >
    <div class="small soft">${name(known.detail, 300)}</div>`;
}

/** The models that the server calls. */
export const models = {
  title: 'Models',
  scope: 'runs:read',
  load: () => all('/models', {}, 1000),
  view: ({ items }, act) =>
    html`<section class="card">
      <header>
        <h2>Models</h2>
        <span class="count">${items.length}</span><span class="soft small">from the file of KEELSON_MODELS</span
        ><a class="end small" href="/ui/money">Prices</a>
      </header>
      ${
        items.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Models">
              <table class="list low-cards">
                <thead>
                  <tr>
                    <th>Model</th>
                    <th>Provider</th>
                    <th class="right">Context, output at most</th>
                    <th class="right">Credits per million tokens: input, cached, output</th>
                    <th>Instead, when busy</th>
                    <th>Reachable?</th>
                    <th><span class="hidden-text">Actions</span></th>
                  </tr>
                </thead>
                <tbody>
                  ${items.map(
                    (each) =>
                      html`<tr>
                        <td>
                          <strong>${name(each.name, 100)}</strong
                          >${each.allowed ? nothing : html` <span class="state f-ended">not allowed here</span>`}
                          <div class="small soft">
                            ${name(each.model, 100)}${each.family ? html` · family ${name(each.family, 60)}` : nothing}
                          </div>
                        </td>
                        <td data-title="Provider">
                          <code class="small">${each.wire}</code
                          >${each.base_url ? html`<div class="small soft">${name(each.base_url, 200)}</div>` : nothing}
                        </td>
                        <td class="right num" data-title="Context, output">
                          ${short(each.context_tokens)} · ${short(each.max_output_tokens)}
                        </td>
                        <td class="right num" data-title="Credits per million tokens">${prices(each)}</td>
                        <td class="small soft" data-title="Instead">${name(each.fallback.join(', ') || '–', 200)}</td>
                        <td data-title="Reachable?">${reached(each)}</td>
                        <td class="right">
                          <button
                            class="btn low"
                            ?disabled=${!!me.lacks('operator')}
                            title=${me.lacks('operator') ?? 'Asks it for one word, which the provider bills'}
                            aria-label="Check ${each.name}"
                            @click=${() => act(() => check(each), 'Checked')}
                          >
                            Check
                          </button>
                        </td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
          : empty(
              'server',
              'No models',
              'The server calls the models of the file that KEELSON_MODELS names. Workers bring their own.',
              'keelson models check NAME --url URL --wire openai-chat',
            )
      }
    </section>`,
};
