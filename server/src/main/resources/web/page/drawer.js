import { html, nothing } from 'lit';
import { all, get, post } from '../api/client.js';
import { me } from '../store/me.js';
import { route } from '../store/route.js';
import { credits, duration, exact, short } from '../draw/format.js';
import { family, isOpen, reasonFamily } from '../draw/state.js';
import { Part } from '../part/base.js';
import { badge, mark, name, problem, toast, when } from '../part/bits.js';
import { ask } from '../part/dialog.js';
import { icon } from '../part/icon.js';
import { json } from '../part/json.js';

/** All tasks that must end before this one, or wait for it; each once, however far away. */
export function reach(key, next) {
  const found = new Set();
  const open = [key];
  while (open.length) {
    for (const each of next(open.pop()) ?? []) if (!found.has(each) && found.add(each)) open.push(each);
  }
  return [...found];
}

/** One task: why it is not further, what it waits for, what waits for it, its steps and what one can do. */
class Drawer extends Part {
  static properties = { task: { attribute: false }, tasks: { attribute: false }, steps: { attribute: false }, why: { state: true }, logs: { state: true }, output: { state: true } };
  #asked = '';

  updated() {
    const asked = `${this.task.id} ${this.task.version_id} ${this.task.state}`;
    if (asked === this.#asked) return;
    if (!this.#asked.startsWith(this.task.id)) { this.why = null; this.logs = null; this.output = null; }
    this.#asked = asked;
    if (isOpen(this.task)) {
      get(`/tasks/${this.task.id}/explain`).then((explained) => { this.why = explained.reasons; }, (failure) => { this.failure = failure; });
    } else this.why = null;
  }

  firstUpdated() { this.querySelector('h2')?.focus(); }

  async #act(action, question) {
    const values = await ask(question);
    if (!values) return;
    try {
      await post(`/tasks/${this.task.id}/${action}`, values.reason ? { reason: values.reason } : {});
      toast(`${question.yes}: done`);
      this.dispatchEvent(new Event('acted', { bubbles: true }));
    } catch (failure) { toast(`${failure.message} (${failure.code})`, true); }
  }

  async #showLogs(step) {
    const logs = await all(`/steps/${step.id}/logs`, {}, 500).catch(() => ({ items: [] }));
    this.logs = { ...this.logs, [step.id]: logs.items };
  }

  async #full(step) {
    const whole = await get(`/steps/${step.id}`).catch(() => null);
    if (whole) Object.assign(step, whole, { omitted: [] });
    this.requestUpdate();
  }

  #links(title, keys) {
    if (!keys.length) return nothing;
    return html`<dt>${title}</dt><dd class="row wrap">${keys.slice(0, 30).map((key) => {
      const task = this.tasks.find((each) => each.key === key);
      return html`<button class="chip" @click=${() => route.set({ task: key })}>${task ? mark(family(task.state)) : nothing}<span class="cut">${name(key, 40)}</span></button>`;
    })}${keys.length > 30 ? html`<span class="soft">and ${keys.length - 30} more</span>` : nothing}</dd>`;
  }

  #step(step) {
    return html`<li class="step"><div class="row wrap">${badge(step.state)}<strong class="cut">${name(step.name, 80)}</strong><span class="mono small soft cut">${name(step.tool ?? step.kind, 60)}</span>
        <span class="end small soft num">${step.started_at ? duration((step.completed_at ? Date.parse(step.completed_at) : Date.now()) - Date.parse(step.started_at)) : ''}${step.failures ? ` · ${step.failures} failed` : ''}</span></div>
      ${step.error_message ? html`<div class="note bad small"><span><code>${step.error_code}</code> ${name(step.error_message, 2000)}</span></div>` : nothing}
      ${step.progress_message || step.progress !== null ? html`<p class="small soft">${step.progress !== null ? `${Math.round(step.progress * 100)} % ` : ''}${name(step.progress_message, 300)}</p>` : nothing}
      ${json('Input', step.input)}${json('Output', step.output)}
      <div class="row">${step.omitted?.length ? html`<button class="btn bare low" @click=${() => this.#full(step)}>Load ${step.omitted.join(' and ')}</button>` : nothing}
        <button class="btn bare low" @click=${() => this.#showLogs(step)}>Logs</button></div>
      ${this.logs?.[step.id] ? json('Logs', this.logs[step.id].map((line) => line.message).join('\n') || 'No lines', true) : nothing}</li>`;
  }

  render() {
    const { task } = this;
    const lacks = me.lacks('runs:write');
    const ups = new Map(this.tasks.map((each) => [each.key, each.depends_on.map((one) => one.task ?? one)]));
    const downs = new Map();
    for (const [key, list] of ups) for (const up of list) downs.set(up, [...(downs.get(up) ?? []), key]);
    const blocks = reach(task.key, (key) => downs.get(key));
    const direct = ups.get(task.key) ?? [];
    return html`<aside class="drawer card" aria-label="Task ${task.key}"><header><h2 tabindex="-1" class="cut grow">${name(task.title || task.key, 200)}</h2>
        <button class="btn bare only" title="Close" aria-label="Close" @click=${() => route.set({ task: null })}>${icon('cross')}</button></header>
      <div class="pad stack gap4"><div class="row wrap">${badge(task.state)}<code class="cut">${name(task.key, 80)}</code>${task.attempt_number > 1 ? html`<span class="soft small">attempt ${task.attempt_number}</span>` : nothing}</div>
      ${this.why?.length ? html`<ul class="why stack">${this.why.map((reason) => html`<li class="row">${mark(reasonFamily(reason.code), reason.code)}<span>${name(reason.text, 1000)}${reason.until ? html` <span class="soft">until ${when(reason.until)}</span>` : nothing}</span></li>`)}</ul>` : nothing}
      ${task.error_message ? html`<div class="note bad">${icon('cross')}<span><code>${task.error_code}</code> ${name(task.error_message, 2000)}</span></div>` : nothing}
      <div class="row wrap">${isOpen(task) ? html`
        <button class="btn low" ?disabled=${lacks} title=${lacks ?? ''} @click=${() => this.#act('skip', { title: `Skip ${task.key}?`, text: 'Tasks behind it start as if it had been skipped by the plan.', yes: 'Skip', danger: true })}>Skip…</button>
        <button class="btn low danger" ?disabled=${lacks} title=${lacks ?? ''} @click=${() => this.#act('cancel', { title: `Cancel ${task.key}?`, text: 'Its step is stopped; the failure mode of its agent decides about the rest.', yes: 'Cancel the task', danger: true })}>Cancel…</button>` : nothing}
        ${task.state === 'failed' || task.state === 'awaiting_retry' ? html`<button class="btn low" ?disabled=${lacks} title=${lacks ?? ''} @click=${() => this.#act('retry', { title: `Retry ${task.key} now?`, yes: 'Retry' })}>${icon('retry', 'small')}Retry…</button>` : nothing}</div>
      <dl class="facts">${this.#links('Waits for', direct)}${this.#links('Blocks', blocks)}
        <dt>Queued</dt><dd>${when(task.queued_at)}</dd><dt>Started</dt><dd>${when(task.started_at)}</dd><dt>Ended</dt><dd>${when(task.completed_at ?? task.cancelled_at)}</dd>
        <dt>Took</dt><dd class="num">${duration(task.duration_ms)}</dd><dt>Cost</dt><dd class="num" title=${exact(task.cost)}>${credits(task.cost)}${task.tokens_used ? html` <span class="soft">· ${short(task.tokens_used)} tokens</span>` : nothing}</dd>
        ${task.agent_name ? html`<dt>Agent</dt><dd>${name(task.agent_name)}</dd>` : nothing}
        ${task.trigger_rule !== 'all_success' ? html`<dt>Starts on</dt><dd><code>${task.trigger_rule}</code></dd>` : nothing}</dl>
      ${json('Item', task.item)}${json('Output', task.output)}
      <h2>Steps <span class="soft">${this.steps.length}</span></h2><ol class="stack">${this.steps.slice(0, 60).map((step) => this.#step(step))}</ol>
      ${this.failure ? problem(this.failure) : nothing}</div></aside>`;
  }
}
customElements.define('k-drawer', Drawer);
