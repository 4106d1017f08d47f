import { html, nothing } from 'lit';
import { get, now } from '../api/client.js';
import { prefs } from '../store/prefs.js';
import { route } from '../store/route.js';
import { credits, exact, many, short } from '../draw/format.js';
import { Part } from '../part/base.js';
import { empty, meter, name, problem, skeleton, spark, when } from '../part/bits.js';
import { icon } from '../part/icon.js';

const BY = [['agent', 'Agents'], ['model', 'Models'], ['tool', 'Tools']];
const PERIODS = [[1, 'Today'], [7, '7 days'], [30, '30 days'], [90, '90 days']];
const DAY = 86_400_000;

/** Days of a period, also those without charges. */
export function days(items, from, to) {
  const known = new Map(items.map((each) => [each.day, each]));
  const all = [];
  for (let at = Date.parse(from.slice(0, 10)); at <= Date.parse(to); at += DAY) {
    const key = new Date(at).toISOString().slice(0, 10);
    all.push(known.get(key) ?? { day: key, credits: 0, runs: 0, charges: 0 });
  }
  return all;
}

/** Balance, burn, who burns it, and the ledger. */
class Money extends Part {
  static properties = { data: { state: true }, failure: { state: true }, checked: { state: true } };

  constructor() {
    super();
    this.watch(prefs);
    this.watch(route, 'change', () => this.#load());
  }

  connectedCallback() {
    super.connectedCallback();
    this.#load();
  }

  async #load() {
    if (route.path[0] !== 'money') return;
    const period = Number(route.get('days') ?? 30);
    const from = new Date(now() - (period - 1) * DAY).toISOString().slice(0, 10) + 'T00:00:00Z';
    try {
      const [balance, byDay, ledger, ...parts] = await Promise.all([get('/credits'), get('/usage', { by: 'day', from }), get('/ledger', { limit: 30 }), ...BY.map(([by]) => get('/usage', { by, from }))]);
      this.data = { balance, byDay, ledger: ledger.items, parts };
      this.failure = null;
    } catch (failure) { this.failure = failure; }
  }

  async #verify() {
    this.checked = 'Checking…';
    const answer = await get('/ledger/verify').catch((failure) => ({ failure }));
    const wrong = answer.items ?? answer.discrepancies ?? [];
    this.checked = answer.failure ? answer.failure.message : wrong.length ? `${wrong.length} discrepancies` : 'All balances follow from the ledger.';
  }

  #part([by, title], usage) {
    const most = usage.items[0]?.credits ?? 0;
    return html`<section class="card"><header><h2>${title}</h2><span class="count end num" title=${exact(usage.total.credits)}>${credits(usage.total.credits)}</span></header>
      ${usage.items.length ? html`<ol class="ranks">${usage.items.slice(0, 10).map((each) => html`<li><span class="row"><span class="cut grow">${each[by] === null ? html`<span class="soft">${by === 'agent' ? 'default agent' : 'no ' + by}</span>` : name(each[by], 120)}</span><span class="num" title=${exact(each.credits)}>${credits(each.credits)}</span></span>
        <span class="row">${meter(most ? each.credits / most : 0, 'works', `${exact(each.credits)} credits`)}<span class="small soft num">${each.tokens ? `${short(each.tokens)} tokens` : many(each.runs, 'run')}</span></span></li>`)}</ol>` : html`<p class="pad soft">No charges.</p>`}</section>`;
  }

  render() {
    if (this.failure) return problem(this.failure, () => this.#load());
    const period = Number(route.get('days') ?? 30);
    const head = html`<div class="head"><h1>Money</h1><div class="views end" role="group" aria-label="Period">${PERIODS.map(([n, title]) => html`<button class="view" aria-pressed=${period === n} @click=${() => route.set({ days: n === 30 ? null : n })}>${title}</button>`)}</div></div>`;
    if (!this.data) return html`${head}<div class="card">${skeleton()}</div>`;
    const { balance, byDay, ledger, parts } = this.data;
    const list = days(byDay.items, byDay.from, byDay.to);
    const burn = byDay.total.credits / Math.max(1, Math.min(period, list.filter((each) => each.credits > 0).length || 1));
    const left = burn > 0 ? balance.available / burn : null;
    return html`${head}
      <dl class="figures"><div><dt>Available</dt><dd><strong class="num" title=${exact(balance.available)}>${credits(balance.available)}</strong><span class="small soft">${left === null ? 'nothing is used' : left > 365 ? 'more than a year at this pace' : `about ${Math.max(0, Math.floor(left))} days at this pace`}</span></dd></div>
        <div><dt>Set aside for open runs</dt><dd><strong class="num" title=${exact(balance.reserved)}>${credits(balance.reserved)}</strong></dd></div>
        <div><dt>Charged in this period</dt><dd><strong class="num" title=${exact(byDay.total.credits)}>${credits(byDay.total.credits)}</strong><span class="small soft">${many(byDay.total.charges, 'charge')} of ${many(byDay.total.runs, 'run')}</span></dd></div>
        <div><dt>Per day</dt><dd>${spark(list.map((each) => each.credits), `Credits per day from ${list[0]?.day} to ${list[list.length - 1]?.day}, at most ${exact(Math.max(0, ...list.map((each) => each.credits)))}`)}<span class="small soft">UTC days</span></dd></div></dl>
      <div class="thirds">${BY.map((by, i) => this.#part(by, parts[i]))}</div>
      <section class="card"><header><h2>Ledger</h2><span class="count">latest</span><span class="end row">${this.checked ? html`<span class="small soft" role="status">${this.checked}</span>` : nothing}<button class="btn low" @click=${() => this.#verify()}>${icon('check', 'small')}Verify</button></span></header>
        ${ledger.length ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Latest entries of the ledger"><table class="list"><thead><tr><th>Time</th><th>What</th><th>From, to</th><th>Run</th><th>Tool, model, agent</th><th class="right">Credits</th></tr></thead><tbody>${ledger.map((each) => html`<tr><td class="num">${when(each.created_at)}</td><td>${each.transaction_type}</td><td class="soft">${each.debit_account} → ${each.credit_account}</td>
          <td>${each.run_id ? html`<a class="mono" href="/ui/runs/${each.run_id}?view=money">#${each.run_id.slice(-6)}</a>` : nothing}</td><td class="mono small">${name([each.tool, each.model, each.agent].filter(Boolean).join(' · '), 120)}</td><td class="right num">${exact(each.amount)}</td></tr>`)}</tbody></table></div>` : empty('coins', 'No entries', 'Grants, reservations and charges appear here.')}</section>`;
  }
}
customElements.define('k-money', Money);
