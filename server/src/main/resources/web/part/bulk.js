import { html, nothing } from 'lit';
import { get, post } from '../api/client.js';
import { count, many } from '../draw/format.js';
import { meter, problem } from './bits.js';
import { show } from './dialog.js';

const LOST = {
  cancel: 'Steps at work are stopped. Their results so far stay.',
  pause: 'Steps at work end, no new ones begin.',
  retry: 'Each run begins its next attempt.',
  resume: 'Paused runs go on.',
  delete: 'Runs that have ended disappear from all lists, with their artifacts. Their ledger entries stay.',
};

/** Does it to all runs of a filter, or to chosen ones (`ids`): how many first, then the job with its bar. */
export function bulk(action, filter) {
  let counted = null;
  let job = null;
  let failure = null;
  let timer = null;
  let left = false;
  const key = crypto.randomUUID();
  return show((close, draw) => {
    const step = async (work) => {
      try {
        await work();
      } catch (problemOfStep) {
        failure = problemOfStep;
      }
      draw();
    };
    const watch = () =>
      step(async () => {
        job = await get(`/bulk/${job.id}`);
        if (job.state === 'running' && !left) timer = setTimeout(watch, 500);
      });
    if (!counted && !failure)
      step(async () => {
        counted = await post(`/runs:${action}`, { filter, dry_run: true });
      });
    return html`<div class="body">
      <h2>
        ${action[0].toUpperCase() + action.slice(1)}
        ${filter.ids ? many(filter.ids.length, 'selected run') : 'all runs that match'}
      </h2>
      <p class="soft">
        ${filter.ids ? nothing : Object.entries(filter).map(([name, value]) => html`<code>${name}: ${[value].flat().join(', ')}</code> `)}
        ${LOST[action]}
      </p>
      ${failure ? problem(failure) : nothing}
      ${
        job
          ? html`${meter((job.changed + job.unchanged + Object.values(job.refused).reduce((a, b) => a + b, 0)) / Math.max(1, job.matches), 'done')}
              <table class="list">
                <tbody>
                  <tr>
                    <td>Changed</td>
                    <td class="right num">${count(job.changed)}</td>
                  </tr>
                  <tr>
                    <td>Unchanged</td>
                    <td class="right num">${count(job.unchanged)}</td>
                  </tr>
                  ${Object.entries(job.refused).map(
                    ([code, n]) =>
                      html`<tr>
                        <td>Refused: <code>${code}</code></td>
                        <td class="right num">${count(n)}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
              <p role="status">The job is ${job.state}.</p>`
          : html`<p role="status">
              ${counted ? html`<strong>${counted.matches_at_least ? 'At least ' : ''}${many(counted.matches, 'run')}</strong> can do this now.` : 'Counting…'}
            </p>`
      }
      <footer>
        ${
          job?.state === 'running'
            ? html`<button
                class="btn danger"
                @click=${() =>
                  step(async () => {
                    job = await post(`/bulk/${job.id}/stop`);
                  })}
              >
                Stop
              </button>`
            : nothing
        }
        <button class="btn" @click=${() => close()}>Close</button>
        ${
          job
            ? nothing
            : html`<button
                class="btn first"
                ?disabled=${!counted?.matches}
                @click=${() =>
                  step(async () => {
                    job = await post(`/runs:${action}`, { filter }, key);
                    watch();
                  })}
              >
                ${action[0].toUpperCase() + action.slice(1)} ${counted ? many(counted.matches, 'run') : ''}
              </button>`
        }
      </footer>
    </div>`;
  }).finally(() => {
    left = true;
    clearTimeout(timer);
  });
}
