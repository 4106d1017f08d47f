import { html, nothing } from 'lit';
import { get, post, read, sendYaml } from '../api/client.js';
import { me } from '../store/me.js';
import { route } from '../store/route.js';
import { credits, many } from '../draw/format.js';
import { planDiff } from '../draw/diff.js';
import { Part } from '../part/base.js';
import { name, problem, skeleton, toast } from '../part/bits.js';
import { icon } from '../part/icon.js';
import { planTasks } from '../part/plan.js';

const EXAMPLE = `# A mission in YAML or JSON, as in a mission file.
name: first-mission
goal: Say hello
inputs:
  to: {type: string, default: world}
plan:
  tasks:
    - id: greet
      title: Greet
      steps:
        - {tool: echo, input: {text: "hello \${ .inputs.to }"}}
output: "\${ .tasks.greet.output.text }"
`;

const APPROVAL = {
  person: 'A person approves the plan first.',
  above_threshold: 'A person approves the plan if its estimate is above the threshold.',
  none: 'The plan needs no approval.',
};

/** What the server says of a mission that it would take. */
export function accepted({ tasks, plan, estimated_cost: estimate, hard_limit_usd: limit, autonomy }) {
  return html`<div class="note" role="status">
    ${icon('check', 'i-done')}
    <div class="stack grow tight">
      <strong>This run can start. Nothing was created.</strong>
      <span
        >${plan === 'planner' ? 'A planner makes its plan when it starts' : many(tasks, 'task')}${Number(estimate) ? html`, about ${credits(estimate)}` : ', without an estimate of its cost'}${limit === null ? ', without a limit' : html`, at most ${credits(limit)}`}.
        ${APPROVAL[autonomy.plan_approval]}</span
      >
    </div>
  </div>`;
}

/** A mission as text: checked, run once, or kept as a recipe or as the next version of one. */
class Mission extends Part {
  static properties = {
    recipe: { type: String },
    of: { state: true },
    refused: { state: true },
    checked: { state: true },
    busy: { state: true },
    failure: { state: true },
  };
  #asked = null;
  #key = crypto.randomUUID();

  willUpdate() {
    if (this.#asked === this.recipe) return;
    this.#asked = this.recipe;
    Object.assign(this, { of: null, refused: null, checked: null });
    if (this.recipe) this.#load();
  }

  async #load() {
    const { recipe } = this;
    const version = await read(`/recipes/${recipe}`).catch((failure) => {
      this.failure = failure;
    });
    if (version && recipe === this.recipe) Object.assign(this, { of: version, failure: null });
  }

  get #text() {
    return /** @type {HTMLTextAreaElement} */ (this.querySelector('textarea')).value;
  }

  async #do(work) {
    if (this.busy) return;
    Object.assign(this, { busy: true, refused: null, checked: null });
    try {
      await work(this.#text);
    } catch (failure) {
      if (failure.status) this.#key = crypto.randomUUID();
      this.refused = failure;
    }
    this.busy = false;
    await this.updateComplete;
    this.querySelector('.note[role]')?.scrollIntoView({ block: 'nearest' });
  }

  #check() {
    return this.#do(async (text) => {
      this.checked = await sendYaml('POST', '/missions/validate', text);
    });
  }

  #run() {
    return this.#do(async (text) => {
      const run = await sendYaml('POST', '/runs', text, { idempotencyKey: this.#key });
      if (run.state === 'created' || run.state === 'pending')
        await post(`/runs/${run.id}/start`).catch((failure) => {
          if (failure.code !== 'INVALID_STATE_TRANSITION') throw failure;
        });
      toast('Started');
      route.go(`/ui/runs/${run.id}`);
    });
  }

  #keep() {
    return this.#do(async (text) => {
      const kept = this.of
        ? await sendYaml('PUT', `/recipes/${this.recipe}`, text, { ifMatch: this.of.tag })
        : await sendYaml('POST', '/recipes', text);
      toast(this.of ? `Version ${kept.version} is kept` : 'Kept as a recipe');
      route.go(`/ui/launch?recipe=${kept.id}`);
    });
  }

  #problems() {
    const { refused } = this;
    if (!refused) return nothing;
    if (!refused.problems?.length) return problem(refused);
    return html`<div class="note bad" role="alert">
      ${icon('alert')}
      <div class="stack grow">
        <strong>${many(refused.problems.length, 'problem')}. Nothing was created.</strong>
        <ul class="stack">
          ${refused.problems.slice(0, 50).map((each) => html`<li>${each.pointer ? html`<code>${name(each.pointer, 200)}</code> ` : nothing}${name(each.message, 600)}</li>`)}
        </ul>
      </div>
    </div>`;
  }

  render() {
    const lacks = me.lacks('runs:write');
    if (this.failure) return problem(this.failure, () => this.#load());
    if (this.recipe && !this.of) return html`<div class="card">${skeleton()}</div>`;
    const recipe = this.of?.value;
    const button = (title, symbol, act, kind = '') =>
      html`<button class="btn ${kind}" ?disabled=${!!lacks || this.busy} title=${lacks ?? nothing} @click=${act}>
        ${icon(symbol, 'small')}${title}
      </button>`;
    return html`<div class="panes even">
      <section class="card">
        <header>
          <h2 class="grow cut">${recipe ? html`Edit ${name(recipe.name, 120)}` : 'New mission'}</h2>
          ${recipe ? html`<span class="soft small">version ${recipe.version}</span>` : nothing}
        </header>
        <div class="pad stack gap4">
          <label class="field"
            ><span>Mission, in YAML or JSON</span
            ><textarea
              class="input mission"
              rows="24"
              spellcheck="false"
              autocomplete="off"
              .defaultValue=${recipe ? JSON.stringify(recipe.mission, null, 2) : EXAMPLE}
            ></textarea>
          </label>
          ${this.#problems()}${this.checked ? accepted(this.checked) : nothing}
          <div class="row wrap">
            ${button('Check', 'check', () => this.#check(), 'first')}${button('Run it once', 'play', () => this.#run())}${button(recipe ? `Save as version ${recipe.version + 1}` : 'Save as a recipe', 'file', () => this.#keep())}<a
              class="btn bare"
              href="/ui/launch${recipe ? `?recipe=${recipe.id}` : ''}"
              >Cancel</a
            >
          </div>
        </div>
      </section>
      <div class="card">
        <header><h2>What it does</h2></header>
        <div class="pad">
          ${this.checked?.plan_document?.tasks?.length ? planTasks(planDiff(null, this.checked.plan_document)) : html`<p class="soft">“Check” shows the plan as the server reads it.</p>`}
        </div>
      </div>
    </div>`;
  }
}
customElements.define('k-mission', Mission);
