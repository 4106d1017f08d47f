import { html, nothing } from 'lit';
import { all, get, now, post, read } from '../api/client.js';
import { me } from '../store/me.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { agentName, credits, days, exact, many, short } from '../draw/format.js';
import { Page } from '../part/page.js';
import { empty, meter, money, name, problem, skeleton, spark, toast, when } from '../part/bits.js';
import { edit, save } from '../part/editor.js';
import { icon } from '../part/icon.js';
import { series } from '../part/series.js';

const BY = [
  ['agent', 'Agents'],
  ['model', 'Models'],
  ['tool', 'Tools'],
  ['run', 'Runs'],
  ['recipe', 'Recipes'],
  ['purpose', 'Purposes'],
];
const UNNAMED = { agent: 'plain steps, without an agent', model: 'no model', tool: 'no tool', recipe: 'no recipe' };
const PERIODS = [
  [1, 'Today'],
  [7, '7 days'],
  [30, '30 days'],
  [90, '90 days'],
];
const DAY = 86_400_000;
/** Lines of a ranking, and of one that is shown whole. */
const FEW = 5;
const MOST = 100;

/** Balance, burn, who burns it, and the ledger. */
class Money extends Page {
  static properties = {
    data: { state: true },
    failure: { state: true },
    checked: { state: true },
    whole: { state: true },
  };

  constructor() {
    super();
    this.whole = '';
    for (const store of [prefs, me]) this.watch(store);
    this.follows('money', () => this.#load(), undefined, 5_000);
  }

  async #load() {
    const period = Number(route.get('days') ?? 30);
    const from = new Date(now() - (period - 1) * DAY).toISOString().slice(0, 10) + 'T00:00:00Z';
    const [byRun, byModel, byPurpose, causes, plain, balance, byDay, ledger, recipes, prices, ...parts] =
      await Promise.all([
        get('/usage', { by: ['agent', 'run'], from }),
        get('/usage', { by: ['day', 'model'], from }),
        get('/usage', { by: ['agent', 'purpose'], from }),
        get('/usage', { by: ['model', 'agent'], from }),
        get('/usage', { by: ['agent', 'recipe'], from }),
        get('/credits'),
        get('/usage', { by: 'day', from }),
        get('/ledger', { limit: 30 }),
        me.lacks('runs:read') ? { items: [] } : all('/recipes', {}, 1000),
        get('/prices', { limit: 500 }),
        ...BY.map(([by]) => get('/usage', { by, from })),
      ]);
    const dearest = new Map();
    for (const each of byRun.items)
      if (each.credits > (dearest.get(each.agent)?.credits ?? 0)) dearest.set(each.agent, each);
    this.data = {
      byModel: byModel.items,
      byPurpose: byPurpose.items,
      causes: causes.items,
      plain: plain.items,
      dearest,
      balance,
      byDay,
      ledger: ledger.items,
      parts,
      prices,
      recipes: new Map(recipes.items.map((each) => [each.id, each.name])),
    };
  }

  async #verify() {
    this.checked = 'Checking…';
    const answer = await get('/ledger/verify').catch((failure) => ({ failure }));
    this.checked = answer.failure?.message ?? answer.discrepancy?.message ?? 'All balances follow from the ledger.';
  }

  /** What a line of a report is about, as people call it. */
  #called(by, each) {
    if (each[by] === null) return html`<span class="soft">${UNNAMED[by] ?? 'none'}</span>`;
    if (by === 'agent') return name(agentName(each.agent), 120);
    if (by === 'run')
      return html`<a href="/ui/runs/${each.run}?view=money">${name(each.run_name ?? each.run, 120)}</a>`;
    if (by === 'recipe')
      return html`<a href="/ui/runs?recipe_id=${each.recipe}"
        >${name(this.data.recipes.get(each.recipe) ?? each.recipe, 120)}</a
      >`;
    return name(each[by], 120);
  }

  /** The run in which an agent cost most. */
  #most({ agent }) {
    const run = this.data.dearest.get(agent);
    return run
      ? html`<span class="small soft cut"
          >most in <a href="/ui/runs/${run.run}?view=money">${name(run.run_name ?? run.run, 120)}</a>,
          ${money(run.credits)}</span
        >`
      : nothing;
  }

  /** What the charges of an agent were for, the recipes behind plain steps, and the agents that a model worked for. */
  #behind(by, each) {
    const list = (items, text, few = 1) =>
      items.length > few
        ? html`<span class="small soft"
            >${items
              .toSorted((a, b) => b.credits - a.credits)
              .slice(0, FEW)
              .map((part, i) => html`${i ? ' · ' : ''}${text(part)} ${credits(part.credits)}`)}</span
          >`
        : nothing;
    if (by === 'model')
      return list(
        this.data.causes.filter((cause) => cause.model === each.model),
        (part) => html`for ${part.agent === null ? 'plain steps' : name(agentName(part.agent), 60)}`,
        each.model === null ? 1 : 0,
      );
    if (by !== 'agent') return nothing;
    const { recipes, plain, byPurpose } = this.data;
    if (each.agent === null)
      return list(
        plain.filter((part) => part.agent === null),
        (part) =>
          part.recipe === null
            ? 'without a recipe'
            : html`recipe
                <a href="/ui/runs?recipe_id=${part.recipe}">${name(recipes.get(part.recipe) ?? part.recipe, 60)}</a>`,
      );
    return list(
      byPurpose.filter((part) => part.agent === each.agent),
      (part) => part.purpose,
    );
  }

  /** @param {string[]} by */
  #part([by, title], usage) {
    const most = usage.items[0]?.credits ?? 0;
    const shown = this.whole === by ? MOST : FEW;
    return html`<section class="card">
      <header>
        <h2>${title}</h2>
        <span class="count end">${money(usage.total.credits)}</span>
      </header>
      ${
        usage.items.length
          ? html`<ol class="ranks">
                ${usage.items.slice(0, shown).map(
                  (each) =>
                    html`<li>
                      <span class="row"
                        ><span class="cut grow">${this.#called(by, each)}</span>${money(each.credits)}</span
                      >
                      <span class="row"
                        >${meter(most ? each.credits / most : 0, 'works', `${exact(each.credits)} credits`)}<span
                          class="small soft num"
                          >${each.tokens ? `${short(each.tokens)} tokens` : many(by === 'run' ? each.charges : each.runs, by === 'run' ? 'charge' : 'run')}</span
                        ></span
                      >${this.#behind(by, each)}${by === 'agent' ? this.#most(each) : nothing}
                    </li>`,
                )}
              </ol>
              ${
                usage.items.length > FEW
                  ? html`<p class="pad">
                      <button
                        class="btn bare low"
                        aria-expanded=${shown === MOST}
                        @click=${() => {
                          this.whole = shown === MOST ? '' : by;
                        }}
                      >
                        ${shown === MOST ? 'Fewer' : `and ${usage.items.length - FEW}${usage.complete ? '' : '+'} more`}
                      </button>
                    </p>`
                  : nothing
              }`
          : html`<p class="pad soft">No charges.</p>`
      }
    </section>`;
  }

  async #grant() {
    const done = await edit({
      title: 'Grant credits',
      text: 'The workspace may use them at once. The grant is in the ledger and in the audit log.',
      yes: 'Grant',
      fields: [
        { name: 'amount', label: 'Credits', kind: 'number', required: true },
        { name: 'reason', label: 'Reason', most: 2000 },
      ],
      save: ({ amount, reason }) => post('/credits/grants', { amount, ...(reason ? { reason } : {}) }),
    });
    if (done) {
      toast('Granted');
      this.read();
    }
  }

  async #price(price) {
    const version = await read('/prices').catch((failure) => {
      toast(failure.message, true);
    });
    if (!version) return;
    const tokens = price?.usd_per_million_tokens;
    const find = (list, kind, own) => list.items.find((each) => each.kind === kind && each.name === own);
    const amounts = (each) =>
      each ? { usd_per_call: each.usd_per_call, ...each.usd_per_million_tokens } : { price: 'none' };
    const saved = await edit({
      title: price ? html`Price of ${name(price.name, 100)}` : 'New price',
      text: 'Steps that end from now on are charged by it. Prices are of this whole installation.',
      yes: 'Save',
      fields: [
        ...(price
          ? []
          : [
              {
                name: 'kind',
                label: 'Of a',
                kind: 'select',
                options: [
                  ['tool', 'tool'],
                  ['model', 'model'],
                ],
                half: true,
              },
              { name: 'name', label: 'Name', required: true, half: true },
            ]),
        ...(price?.kind === 'model'
          ? []
          : [
              {
                name: 'usd_per_call',
                label: 'Credits per call',
                kind: 'number',
                value: price?.usd_per_call,
                hint: price ? null : 'Of a tool',
              },
            ]),
        ...(price?.kind === 'tool'
          ? []
          : [
              ['input', 'input'],
              ['cache_read', 'cached input'],
              ['cache_write', 'input into the cache'],
              ['output', 'output'],
            ].map(([key, title]) => ({
              name: key,
              label: `Credits per million tokens of ${title}`,
              kind: 'number',
              value: tokens?.[key],
              half: true,
            }))),
      ],
      save: (values) => {
        const kind = price?.kind ?? values.kind;
        const own = price?.name ?? values.name ?? '';
        const mine =
          kind === 'tool'
            ? { usd_per_call: values.usd_per_call }
            : {
                input: values.input,
                output: values.output,
                ...(values.cache_read === null ? {} : { cache_read: values.cache_read }),
                ...(values.cache_write === null ? {} : { cache_write: values.cache_write }),
              };
        return save(
          'PUT',
          '/prices',
          { items: [{ kind, name: own, ...(kind === 'tool' ? mine : { usd_per_million_tokens: mine }) }] },
          version,
          { of: (list) => amounts(find(list, kind, own)), mine },
        );
      },
    });
    if (saved) toast('Saved');
    this.read();
  }

  #prices({ items, version }) {
    const lacks = me.lacks('operator');
    return html`<section class="card">
      <header>
        <h2>Prices</h2>
        <span class="count">version ${version}</span
        ><button class="btn low end" ?disabled=${!!lacks} title=${lacks ?? nothing} @click=${() => this.#price(null)}>
          New price…
        </button>
      </header>
      ${
        items.length
          ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Prices">
              <table class="list">
                <thead>
                  <tr>
                    <th>Of</th>
                    <th>Name</th>
                    <th class="right">Credits per call</th>
                    <th class="right">Credits per million tokens: input, cached, output</th>
                    <th>Since</th>
                    <th><span class="hidden-text">Actions</span></th>
                  </tr>
                </thead>
                <tbody>
                  ${items.map(
                    (each) =>
                      html`<tr>
                        <td>${each.kind}</td>
                        <td class="mono small">${name(each.name, 120)}</td>
                        <td class="right num">${each.usd_per_call ?? ''}</td>
                        <td class="right num">
                          ${each.usd_per_million_tokens ? html`${each.usd_per_million_tokens.input} · ${each.usd_per_million_tokens.cache_read ?? '–'} · ${each.usd_per_million_tokens.output}` : nothing}
                        </td>
                        <td>${when(each.created_at)}</td>
                        <td class="right">
                          <button
                            class="btn low"
                            ?disabled=${!!lacks}
                            title=${lacks ?? nothing}
                            @click=${() => this.#price(each)}
                          >
                            Change…
                          </button>
                        </td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`
          : html`<p class="pad soft">No tool and no model has a price. Steps then cost what their tools report.</p>`
      }
    </section>`;
  }

  render() {
    if (this.failure) return problem(this.failure, () => this.read());
    const period = Number(route.get('days') ?? 30);
    const head = html`<div class="head">
      <h1>Money</h1>
      <div class="views end" role="group" aria-label="Period">
        ${PERIODS.map(([n, title]) => html`<button class="view" aria-pressed=${period === n} @click=${() => route.set({ days: n === 30 ? null : n })}>${title}</button>`)}
      </div>
      <button
        class="btn"
        ?disabled=${!!me.lacks('credits:grant')}
        title=${me.lacks('credits:grant') ?? nothing}
        @click=${() => this.#grant()}
      >
        Grant credits…
      </button>
    </div>`;
    if (!this.data)
      return html`${head}
        <div class="card">${skeleton()}</div>`;
    const { balance, byDay, byModel, ledger, parts, prices } = this.data;
    const list = days(byDay.items, byDay.from, byDay.to);
    const begun = list.findIndex((each) => each.credits > 0);
    const burn = begun < 0 ? 0 : byDay.total.credits / (list.length - begun);
    const left = burn > 0 ? balance.available / burn : null;
    return html`${head}
      <dl class="figures">
        <div>
          <dt>Available</dt>
          <dd>
            <strong>${money(balance.available)}</strong
            ><span class="small soft"
              >${left === null ? 'nothing is used' : left > 365 ? 'more than a year at this pace' : `about ${Math.max(0, Math.floor(left))} days at this pace`}</span
            >
          </dd>
        </div>
        <div>
          <dt>Reserved for open runs</dt>
          <dd><strong>${money(balance.reserved)}</strong></dd>
        </div>
        <div>
          <dt>Charged in this period</dt>
          <dd>
            <strong>${money(byDay.total.credits)}</strong
            ><span class="small soft">${many(byDay.total.charges, 'charge')} of ${many(byDay.total.runs, 'run')}</span>
          </dd>
        </div>
        <div>
          <dt>Per day</dt>
          <dd>
            ${spark(
              list.map((each) => each.credits),
              `Credits per day from ${list[0]?.day} to ${list[list.length - 1]?.day}, at most ${exact(Math.max(0, ...list.map((each) => each.credits)))}`,
            )}<span class="small soft">UTC days</span>
          </dd>
        </div>
      </dl>
      <section class="card">
        <header>
          <h2>Models by day</h2>
          <span class="count">UTC days</span>
        </header>
        <div class="pad">
          ${series(
            list.map((each) => each.day),
            byModel.map((each) => ({ day: each.day, key: each.model ?? 'no model', credits: Number(each.credits) })),
          )}
        </div>
      </section>
      <div class="thirds">${BY.map((by, i) => this.#part(by, parts[i]))}</div>
      <section class="card">
        <header>
          <h2>Ledger</h2>
          <span class="count">latest</span
          ><span class="end row"
            >${this.checked ? html`<span class="small soft" role="status">${this.checked}</span>` : nothing}<button
              class="btn low"
              @click=${() => this.#verify()}
            >
              ${icon('check', 'small')}Verify
            </button></span
          >
        </header>
        ${
          ledger.length
            ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Latest entries of the ledger">
                <table class="list">
                  <thead>
                    <tr>
                      <th>Time</th>
                      <th>What</th>
                      <th>From, to</th>
                      <th>Run</th>
                      <th>Tool, model, agent</th>
                      <th class="right">Credits</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${ledger.map(
                      (each) =>
                        html`<tr>
                          <td class="num">${when(each.created_at)}</td>
                          <td>${each.transaction_type}</td>
                          <td class="soft">${each.debit_account} → ${each.credit_account}</td>
                          <td>
                            ${each.run_id ? html`<a class="mono" href="/ui/runs/${each.run_id}?view=money">#${each.run_id.slice(-6)}</a>` : nothing}
                          </td>
                          <td class="mono small">
                            ${name([each.tool, each.model, each.agent].filter(Boolean).join(' · '), 120)}
                          </td>
                          <td class="right num">${exact(each.amount)}</td>
                        </tr>`,
                    )}
                  </tbody>
                </table>
              </div>`
            : empty('coins', 'No entries', 'Grants, reservations and charges appear here.')
        }
      </section>
      ${this.#prices(prices)}`;
  }
}
customElements.define('k-money', Money);
