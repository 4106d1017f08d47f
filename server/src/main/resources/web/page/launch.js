import { html, nothing } from 'lit';
import { all, get, post, remove } from '../api/client.js';
import { me } from '../store/me.js';
import { route } from '../store/route.js';
import { many } from '../draw/format.js';
import { planDiff } from '../draw/diff.js';
import { Part } from '../part/base.js';
import { ago, empty, name, problem, skeleton, toast } from '../part/bits.js';
import { fields, valuesOf } from '../part/form.js';
import { icon } from '../part/icon.js';
import { ask } from '../part/dialog.js';
import { planTasks } from '../part/plan.js';
import { accepted } from './mission.js';

/** Starts runs of recipes; the fields follow the schemas of the recipe's inputs. */
class Launch extends Part {
  static properties = {
    recipes: { state: true },
    recipe: { state: true },
    failure: { state: true },
    problems: { state: true },
    refused: { state: true },
    busy: { state: true },
    checked: { state: true },
    versions: { state: true },
  };
  #asked = '';
  #key = crypto.randomUUID();

  constructor() {
    super();
    this.problems = {};
    this.watch(route, 'change', () => this.#load());
  }

  connectedCallback() {
    super.connectedCallback();
    this.#load();
  }

  async #load() {
    if (route.path[0] !== 'launch') return;
    try {
      const id = route.get('recipe');
      if (!this.recipes || !id) this.recipes = (await all('/recipes', {}, 1000)).items;
      const asked = `${id} ${route.get('version')}`;
      if (id && this.#asked !== asked) {
        Object.assign(this, { recipe: null, versions: null, problems: {}, refused: null, checked: null });
        this.#asked = asked;
        this.#key = crypto.randomUUID();
        const [recipe, versions] = await Promise.all([
          get(`/recipes/${id}`, { version: route.get('version') }),
          all(`/recipes/${id}/versions`, {}, 200),
        ]);
        if (this.#asked === asked) Object.assign(this, { recipe, versions: versions.items });
      }
      if (!id) {
        this.recipe = null;
        this.#asked = '';
      }
      this.failure = null;
    } catch (failure) {
      this.failure = failure;
    }
  }

  /** The inputs in the form; undefined where one is no JSON, which is said at its field. */
  #inputs(form) {
    this.problems = {};
    this.refused = null;
    this.checked = null;
    try {
      return valuesOf(this.recipe.inputs ?? {}, form);
    } catch (wrong) {
      if (!wrong.input) throw wrong;
      this.problems = { [wrong.input]: wrong.message };
      return undefined;
    }
  }

  /** At their fields, in the words of the server. @param {RegExp} place of an input in a pointer */
  #refuse(failure, place) {
    this.problems = Object.fromEntries(
      failure.problems.map((each) => [each.pointer?.match(place)?.[1], each.message]).filter(([input]) => input),
    );
    this.refused = failure;
  }

  /** What the server says of a run that is not created. */
  async #check() {
    if (this.busy) return;
    const form = this.querySelector('form');
    const inputs = this.#inputs(form);
    if (inputs) {
      this.busy = true;
      await post('/missions/validate', { recipe: this.recipe.id, ...this.#version, input: inputs }).then(
        (checked) => {
          this.checked = checked;
        },
        (failure) => this.#refuse(failure, /^\/inputs?\/([^/]+)/),
      );
      this.busy = false;
    }
    await this.updateComplete;
    this.querySelector('[aria-invalid=true]')?.focus();
  }

  async #start(event) {
    event.preventDefault();
    if (this.busy) return;
    const inputs = this.#inputs(event.target);
    const own = event.target.elements['run-name'].value.trim();
    if (inputs) {
      this.busy = true;
      try {
        const run = await post(
          `/recipes/${this.recipe.id}/run`,
          { inputs, ...this.#version, ...(own ? { name: own } : {}) },
          this.#key,
        );
        toast('Started');
        route.go(`/ui/runs/${run.id}`);
      } catch (failure) {
        if (failure.status) this.#key = crypto.randomUUID();
        this.#refuse(failure, /^\/inputs\/([^/]+)/);
      }
      this.busy = false;
    }
    await this.updateComplete;
    this.querySelector('[aria-invalid=true]')?.focus();
  }

  /** The member that asks for another version than the current one. */
  get #version() {
    return route.get('version') ? { version: Number(route.get('version')) } : {};
  }

  async #delete() {
    const { recipe } = this;
    if (
      !(await ask({
        title: html`Delete ${name(recipe.name, 100)}?`,
        text: 'All of its versions are deleted. Its runs stay.',
        yes: 'Delete',
        danger: true,
      }))
    )
      return;
    await remove(`/recipes/${recipe.id}`).then(
      () => {
        toast('Deleted');
        route.go('/ui/launch');
      },
      (failure) => toast(`${failure.message} (${failure.code})`, true),
    );
  }

  #versions() {
    const { recipe, versions } = this;
    if (!versions || versions.length < 2) return html`<span class="soft small">version ${recipe.version}</span>`;
    return html`<label class="small"
      ><span class="hidden-text">Version</span
      ><select
        class="input"
        @change=${(event) => route.set({ version: event.target.value === String(versions[0].version) ? null : event.target.value })}
      >
        ${versions.map(
          (each) =>
            html`<option value=${each.version} ?selected=${each.version === recipe.version}>
              version ${each.version}, ${each.created_by}
            </option>`,
        )}
      </select></label
    >`;
  }

  #form() {
    const { recipe } = this;
    const lacks = me.lacks('runs:write');
    const needs = (input) => (input.schema ?? input).default === undefined;
    const inputs = Object.fromEntries(
      Object.entries(recipe.inputs ?? {}).toSorted(([, a], [, b]) => Number(needs(b)) - Number(needs(a))),
    );
    const plan = recipe.mission?.plan;
    return html`<div class="panes even">
      <form class="card" @submit=${(event) => this.#start(event)} novalidate>
        <header>
          <h2 class="grow cut">${name(recipe.name, 120)}</h2>
          ${this.#versions()}<a class="btn low" href="/ui/launch?mission=${recipe.id}" title="Saved as the next version"
            >Edit…</a
          ><button
            type="button"
            class="btn low bare only"
            ?disabled=${!!lacks}
            title=${lacks ?? 'Delete'}
            aria-label="Delete ${recipe.name}"
            @click=${() => this.#delete()}
          >
            ${icon('cross', 'small')}
          </button>
        </header>
        <div class="pad stack gap4">
          ${recipe.description || recipe.mission?.goal ? html`<p class="soft">${name(recipe.mission?.goal ?? recipe.description, 1000)}</p>` : nothing}
          ${Object.keys(inputs).length ? fields(inputs, this.problems) : html`<p class="soft">This recipe has no inputs.</p>`}
          <label class="field"
            ><span>Name of the run</span
            ><input class="input" name="run-name" placeholder=${recipe.name} autocomplete="off"
          /></label>
          ${this.refused ? problem(this.refused) : this.checked ? accepted(this.checked) : nothing}
          <div class="row wrap">
            <button class="btn first" ?disabled=${lacks || this.busy} title=${lacks ?? ''}>
              ${icon('play', 'small')}${this.busy ? 'Starting…' : 'Start the run'}</button
            ><button
              type="button"
              class="btn"
              ?disabled=${!!lacks || this.busy}
              title=${lacks ?? 'Says what the run would do and cost'}
              @click=${() => this.#check()}
            >
              Check</button
            ><a class="btn bare" href="/ui/launch">Another recipe</a>
          </div>
        </div>
      </form>
      <div class="card">
        <header><h2>What it does</h2></header>
        <div class="pad">
          ${plan?.tasks ? planTasks(planDiff(null, plan)) : html`<p class="soft">A planner makes its plan from the goal when the run starts.</p>`}
        </div>
      </div>
    </div>`;
  }

  render() {
    const mission = route.get('mission');
    return html`<div class="head">
        <h1>Launch</h1>
        ${mission ? nothing : html`<span class="end"><a class="btn" href="/ui/launch?mission=new">${icon('file', 'small')}New mission…</a></span>`}
      </div>
      ${
        mission
          ? html`<k-mission .recipe=${mission === 'new' ? '' : mission}></k-mission>`
          : this.failure
            ? problem(this.failure, () => this.#load())
            : route.get('recipe')
              ? this.recipe
                ? this.#form()
                : html`<div class="card">${skeleton()}</div>`
              : !this.recipes
                ? html`<div class="card">${skeleton()}</div>`
                : this.recipes.length
                  ? html`<ul class="cards">
                      ${this.recipes.map(
                        (recipe) =>
                          html`<li>
                            <a class="card recipe" href="/ui/launch?recipe=${recipe.id}"
                              ><strong class="cut">${name(recipe.name, 120)}</strong>
                              <span class="soft clamp">${name(recipe.description ?? '', 300)}</span
                              ><span class="small faint"
                                >${many(Object.keys(recipe.inputs ?? {}).length, 'input')} · version ${recipe.version} ·
                                changed ${ago(recipe.updated_at)} ago</span
                              ></a
                            >
                          </li>`,
                      )}
                    </ul>`
                  : html`<div class="card">
                      ${empty('play', 'No recipes yet', 'A recipe is a mission that is kept, with inputs to fill in. Write one with “New mission…”, or keep a file with:', 'keelson recipes create examples/nightly-report.yaml')}
                    </div>`
      }`;
  }
}
customElements.define('k-launch', Launch);
