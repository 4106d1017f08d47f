import { html, nothing } from 'lit';
import { all, get, now, post, read, remove } from '../api/client.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { cronWords } from '../draw/cron.js';
import { count, duration, many } from '../draw/format.js';
import { Page } from '../part/page.js';
import { empty, name, skeleton, toast, when } from '../part/bits.js';
import { act, row, table } from '../part/definitions.js';
import { edit, save } from '../part/editor.js';
import { fields as inputFields, valuesOf } from '../part/form.js';
import { icon } from '../part/icon.js';
import { zones } from '../part/zones.js';

const OVERLAPS = [
  ['skip', 'Skip the new one'],
  ['queue', 'Run it afterwards'],
  ['allow', 'Run both'],
  ['cancel_running', 'Cancel the old one'],
];
const CATCH_UPS = [
  ['latest', 'Run the latest one'],
  ['skip', 'Run none'],
  ['all', 'Run all'],
];
const NEXT_DAYS = 7;
const NEXT_MOST = 200;
/** Of each schedule. */
const NEXT_SHOWN = 3;

/** Schedules: what comes next, and their definitions. */
class Schedules extends Page {
  static properties = {
    items: { state: true },
    next: { state: true },
    failure: { state: true },
    opened: { state: true },
    made: { state: true },
  };

  constructor() {
    super();
    for (const store of [prefs, me]) this.watch(store);
    this.follows(
      'schedules',
      () => this.#load(),
      (type) => /^run_(created|started|completed|failed|cancelled)/.test(type),
      2_000,
    );
  }

  async #load() {
    const [{ items }, next] = await Promise.all([
      all('/schedules', { limit: 500 }, 2000),
      get('/schedules/next', { to: new Date(now() + NEXT_DAYS * 86_400_000).toISOString(), limit: NEXT_MOST }),
    ]);
    this.items = items;
    this.next = next;
  }

  #act(path, said, question) {
    act(
      this,
      () => post(path).then(() => true),
      () => said,
      question,
    );
  }

  #trigger(schedule) {
    this.#act(`/schedules/${schedule.id}/trigger`, 'A run was asked for', {
      title: html`Run ${name(schedule.name, 100)} now?`,
      text: 'The run starts at once. The times of the schedule stay as they are.',
      yes: 'Run now',
    });
  }

  async #edit(schedule) {
    let recipes;
    let version = null;
    try {
      [{ items: recipes }, version] = await Promise.all([
        all('/recipes', {}, 2000),
        schedule ? read(`/schedules/${schedule.id}`) : null,
      ]);
    } catch (failure) {
      toast(failure.message, true);
      return;
    }
    const known = version?.value;
    const preview = { times: null, wrong: null, words: null };
    let recipe = null;
    let asked = 0;
    const choose = async (id, draw) => {
      if ((recipe?.id ?? '') === (id ?? '')) return;
      recipe = id ? await get(`/recipes/${id}`).catch(() => null) : null;
      draw?.();
    };
    let timer = null;
    const look = async (values, draw) => {
      const turn = ++asked;
      if (!values.cron) return;
      preview.words = cronWords(values.cron);
      try {
        const { items } = await post('/schedules:preview', {
          cron: values.cron,
          time_zone: values.time_zone ?? 'UTC',
          ...(values.end_at ? { end_at: new Date(values.end_at).toISOString() } : {}),
        });
        if (turn === asked) {
          preview.times = items;
          preview.wrong = null;
        }
      } catch (failure) {
        if (turn === asked) {
          preview.times = null;
          preview.wrong = failure.problems?.[0]?.message ?? failure.message;
        }
      }
      draw();
    };
    const begin = { cron: known?.cron ?? '0 2 * * *', time_zone: known?.time_zone ?? prefs.values.zone };
    await Promise.all([choose(known?.recipe_id ?? (known ? '' : recipes[0]?.id)), look(begin, () => {})]);
    const saved = await edit({
      title: schedule ? html`Edit ${name(known.name, 100)}` : 'New schedule',
      yes: schedule ? 'Save' : 'Create',
      wide: true,
      fields: [
        { name: 'name', label: 'Name', required: true, most: 200, value: known?.name, half: true },
        ...(known?.mission
          ? []
          : [
              {
                name: 'recipe',
                label: 'Recipe',
                kind: 'select',
                options: recipes.length
                  ? recipes.map((each) => [each.id, each.name])
                  : [['', 'There is no recipe yet']],
                value: known?.recipe_id,
                half: true,
              },
            ]),
        {
          name: 'cron',
          label: 'When',
          required: true,
          value: begin.cron,
          hint: 'Minute, hour, day, month, weekday; or @hourly, @daily, @weekly, @monthly',
          half: true,
        },
        { name: 'time_zone', label: 'Time zone', list: zones(), value: begin.time_zone, half: true },
        {
          name: 'overlap',
          label: 'If the run before is not done',
          kind: 'select',
          options: OVERLAPS,
          value: known?.overlap ?? 'skip',
          half: true,
        },
        {
          name: 'catch_up',
          label: 'Times missed while no server ran',
          kind: 'select',
          options: CATCH_UPS,
          value: known?.catch_up ?? 'latest',
          half: true,
        },
        {
          name: 'jitter_seconds',
          label: 'Spread the start over seconds',
          kind: 'number',
          value: known?.jitter_seconds ?? 0,
          half: true,
        },
        {
          name: 'max_runs',
          label: 'Runs at most',
          kind: 'number',
          value: known?.max_runs,
          hint: 'Empty: without end',
          half: true,
        },
      ],
      changed: (values, draw) => {
        choose(values.recipe, draw);
        clearTimeout(timer);
        timer = setTimeout(() => look(values, draw), 250);
      },
      more: (problems) =>
        html`<div class="note ${preview.wrong ? 'bad' : ''}" role="status">
            ${icon('clock')}
            <div class="stack grow tight">
              <strong>${preview.wrong ?? preview.words ?? 'Next times'}</strong>
              ${
                preview.times?.length
                  ? html`<ol class="times">
                      ${preview.times.map((at) => html`<li class="num">${when(at)} <span class="soft small">in ${duration(Date.parse(at) - now())}</span></li>`)}
                    </ol>`
                  : preview.wrong
                    ? nothing
                    : html`<span>There is none.</span>`
              }
              <span class="small soft">Shown in ${prefs.values.zone}</span>
            </div>
          </div>
          ${
            recipe && Object.keys(recipe.inputs ?? {}).length
              ? html`<h3>Inputs of ${name(recipe.name, 100)}</h3>
                  ${inputFields(recipe.inputs, problems, known?.recipe_id === recipe.id ? known.inputs : {})}`
              : nothing
          }
          ${known?.mission ? html`<p class="small soft">This schedule has a mission of its own, which the command line and the API change.</p>` : nothing}`,
      save: async (values, form) => {
        const body = {
          ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)),
          inputs: recipe ? valuesOf(recipe.inputs ?? {}, form) : (known?.inputs ?? {}),
          ...(known?.mission ? { mission: known.mission } : {}),
          ...(known?.end_at ? { end_at: known.end_at } : {}),
          ...(known ? { catch_up_window_seconds: known.catch_up_window_seconds } : {}),
        };
        return schedule
          ? save('PUT', `/schedules/${schedule.id}`, body, { ...version, value: { ...known, recipe: known.recipe_id } })
          : post('/schedules', body);
      },
    });
    clearTimeout(timer);
    if (saved) toast(schedule ? 'Saved' : 'Created');
    if (saved !== undefined) this.read();
  }

  async #open(schedule) {
    this.opened = this.opened === schedule.id ? null : schedule.id;
    this.made = null;
    if (this.opened)
      this.made = (
        await get(`/schedules/${schedule.id}/runs`, { limit: 12 }).catch((failure) => {
          toast(failure.message, true);
          return { items: [] };
        })
      ).items;
  }

  #runs() {
    if (!this.made) return skeleton(2);
    return this.made.length
      ? html`<ul class="runs-made">
          ${this.made.map(
            (each) =>
              html`<li class="row small">
                <span class="num">${when(each.scheduled_for)}</span><span class="soft">${each.kind}</span>
                <span class=${each.error_code ? 'i-failed' : 'soft'}
                  >${each.error_code ?? each.state.replaceAll('_', ' ')}</span
                >${each.state === 'made' || (each.run_id && !each.error_code) ? html`<a href="/ui/runs/${each.run_id}">run</a>` : nothing}<span
                  class="cut soft"
                  >${name(each.error_message ?? '', 200)}</span
                >
              </li>`,
          )}
        </ul>`
      : html`<p class="soft small">It has made no run yet.</p>`;
  }

  #row(each) {
    const lacks = me.lacks('runs:write');
    const next = each.next_run_at && !each.paused;
    return row(each, {
      open: this.opened === each.id,
      toggle: () => this.#open(each),
      cells: html`<td data-title="When">
          ${
            cronWords(each.cron)
              ? html`<span title=${each.cron}>${cronWords(each.cron)}</span>
                  <div class="soft small"><code>${each.cron}</code> · ${each.time_zone}</div>`
              : html`<code>${each.cron}</code>
                  <div class="soft small">${each.time_zone}</div>`
          }
        </td>
        <td data-title="Next run">
          ${each.paused ? html`<span class="state f-waits">${icon('pause')}paused</span>` : next ? html`${when(each.next_run_at)} <span class="soft small">in ${duration(Date.parse(each.next_run_at) - now())}</span>` : html`<span class="soft">is over</span>`}
        </td>
        <td class="right num" data-title="Runs">
          ${count(each.runs_made)}${each.max_runs ? ` of ${count(each.max_runs)}` : ''}${each.times_missed ? html`<div class="small i-failed">${count(each.times_missed)} missed</div>` : nothing}
        </td>`,
      actions: html`<button
          class="btn low"
          ?disabled=${!!lacks}
          title=${lacks ?? nothing}
          @click=${() => this.#act(`/schedules/${each.id}/${each.paused ? 'resume' : 'pause'}`, each.paused ? 'Resumed' : 'Paused')}
        >
          ${each.paused ? 'Resume' : 'Pause'}
        </button>
        <button class="btn low" ?disabled=${!!lacks} title=${lacks ?? nothing} @click=${() => this.#trigger(each)}>
          Run now…
        </button>
        <button class="btn low" ?disabled=${!!lacks} title=${lacks ?? nothing} @click=${() => this.#edit(each)}>
          Edit…
        </button> `,
      lacks,
      remove: () => remove(`/schedules/${each.id}`),
      text: 'It starts no more runs. Its runs stay.',
      page: this,
      below: () => this.#runs(),
    });
  }

  #coming() {
    const bySchedule = [...Map.groupBy(this.next.items, (each) => each.name)];
    const more = this.next.complete ? '' : '+';
    return html`<section class="card">
      <header>
        <h2>Next ${NEXT_DAYS} days</h2>
        <span class="count end">${prefs.values.zone}</span>
      </header>
      ${
        this.next.items.length
          ? html`<ol class="coming">
              ${bySchedule.map(
                ([of, items]) =>
                  html`<li>
                    <h3 class="row">
                      <span class="cut grow">${name(of, 100)}</span
                      ><span class="soft small num nowrap"
                        >${more ? `${items.length}+ times` : many(items.length, 'time')}</span
                      >
                    </h3>
                    <ul>
                      ${items.slice(0, NEXT_SHOWN).map((each) => html`<li class="row small"><span class="num">${when(each.at)}</span><span class="soft end num">in ${duration(Date.parse(each.at) - now())}</span></li>`)}
                    </ul>
                  </li>`,
              )}
            </ol>`
          : html`<p class="pad soft">No schedule starts a run.</p>`
      }
    </section>`;
  }

  render() {
    const lacks = me.lacks('runs:write');
    return html`<div class="head">
        <h1>Schedules</h1>
        <span class="soft num">${this.items ? count(this.items.length) : ''}</span
        ><span class="end"
          ><button class="btn first" ?disabled=${!!lacks} title=${lacks ?? nothing} @click=${() => this.#edit(null)}>
            New schedule
          </button></span
        >
      </div>
      ${table(
        this,
        'Schedules',
        ['Name', 'When', 'Next run', 'Runs'],
        (each) => this.#row(each),
        empty(
          'clock',
          'No schedules',
          'A schedule starts runs of a recipe by the clock. Create one here, or:',
          'keelson schedules create nightly --cron "30 2 * * *" --zone Europe/Berlin --recipe nightly-report',
        ),
        () => this.#coming(),
      )}`;
  }
}
customElements.define('k-schedules', Schedules);
