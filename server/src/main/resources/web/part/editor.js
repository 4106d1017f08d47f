// Dialogs with forms that stay open until they are saved, and what happens when two people edit the same thing.
import { html, nothing } from 'lit';
import { send } from '../api/client.js';
import { name, problem } from './bits.js';
import { show } from './dialog.js';
import { icon } from './icon.js';

const plain = (value) =>
  value === null || value === undefined || value === ''
    ? '–'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value, null, 1);
const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** Shows what another person has saved beside what this one wants to save. Answers with true to save it all the same. */
function both(before, mine, theirs) {
  const members = Object.keys(mine).filter((key) => !same(mine[key], theirs[key]) || !same(before[key], theirs[key]));
  return show(
    (close) =>
      html`<div class="body">
        <h2>${icon('alert')} It was changed while you edited it</h2>
        <p class="soft">Nothing of yours is saved yet. Decide which version stays.</p>
        <div class="scroll-x" tabindex="0" role="region" aria-label="Both versions">
          <table class="list both">
            <thead>
              <tr>
                <th>What</th>
                <th>As you opened it</th>
                <th>Saved by the other person</th>
                <th>Yours</th>
              </tr>
            </thead>
            <tbody>
              ${members.map(
                (key) =>
                  html`<tr class=${same(mine[key], theirs[key]) ? '' : 'differs'}>
                    <td>${key.replaceAll('_', ' ')}</td>
                    ${[before[key], theirs[key], mine[key]].map((each) => html`<td>${name(plain(each), 600)}</td>`)}
                  </tr>`,
              )}
            </tbody>
          </table>
        </div>
        <footer>
          <button class="btn" autofocus @click=${() => close(false)}>Keep theirs</button
          ><button class="btn danger" @click=${() => close(true)}>Save mine over it</button>
        </footer>
      </div>`,
    'wide',
  );
}

/**
 * Saves a change of the version that was read. If another person has changed it since, both versions are shown first.
 * Answers with the saved resource; undefined where the other person's stays.
 * @param {{value: any, tag: string}} version
 * @param {{of: (resource: any) => object, mine: object}} part the part of the resource that this changes, where it is not the body
 */
export async function save(method, path, body, version, part = { of: (resource) => resource, mine: body }) {
  let { value, tag } = version;
  for (;;) {
    try {
      return await (await send(method, path, { body, ifMatch: tag })).json();
    } catch (failure) {
      if (failure.code !== 'VERSION_CHANGED') throw failure;
      const [before, theirs] = [value, failure.current].map(part.of);
      if (!(part.mine !== body && same(before, theirs)) && !(await both(before, part.mine, theirs))) return undefined;
      value = failure.current;
      tag = failure.tag;
    }
  }
}

function control(field, wrong) {
  const id = `f-${field.name}`;
  const shared = { id, described: `${id}-hint` };
  if (field.kind === 'select') {
    return html`<select class="input" id=${id} name=${field.name} aria-describedby=${shared.described}>
      ${field.options.map(
        ([value, title]) =>
          html`<option value=${value} ?selected=${String(field.value ?? '') === String(value)}>${title}</option>`,
      )}
    </select>`;
  }
  if (field.kind === 'lines')
    return html`<textarea
      class="input"
      id=${id}
      name=${field.name}
      rows=${field.rows ?? 3}
      ?required=${field.required}
      aria-describedby=${shared.described}
      aria-invalid=${!!wrong}
      .value=${String(field.value ?? '')}
    ></textarea>`;
  return html`<input
      class="input"
      id=${id}
      name=${field.name}
      type=${field.kind ?? 'text'}
      step="any"
      ?required=${field.required}
      maxlength=${field.most ?? nothing}
      list=${field.list ? `${id}-list` : nothing}
      aria-describedby=${shared.described}
      aria-invalid=${!!wrong}
      .value=${String(field.value ?? '')}
      placeholder=${field.placeholder ?? ''}
      autocomplete="off"
      spellcheck="false"
    />
    ${field.list ? html`<datalist id="${id}-list">${field.list.map((each) => html`<option value=${each}></option>`)}</datalist>` : nothing}`;
}

function row(field, wrong) {
  const id = `f-${field.name}`;
  const hint = html`<span class="small soft" id="${id}-hint">${field.hint ?? nothing}</span
    >${wrong ? html`<span class="small i-failed" role="alert">${wrong}</span>` : nothing}`;
  if (field.kind === 'checkbox')
    return html`<div class="field">
      <label class="row"
        ><input
          type="checkbox"
          id=${id}
          name=${field.name}
          ?checked=${field.value}
          aria-describedby="${id}-hint"
        />${field.label}</label
      >${hint}
    </div>`;
  if (field.kind === 'checks') {
    return html`<fieldset class="field">
      <legend>${field.label}</legend>
      <div class="checks">
        ${field.options.map(([value, title, lacks]) => html`<label class="row small" title=${lacks ?? nothing}><input type="checkbox" name=${field.name} value=${value} ?checked=${field.value?.includes(value)} ?disabled=${!!lacks} />${title}</label>`)}
      </div>
      ${hint}
    </fieldset>`;
  }
  return html`<div class="field ${field.half ? 'half' : ''}">
    <label for=${id}>${field.label}${field.required ? html` <span class="soft small">required</span>` : nothing}</label
    >${control(field, wrong)}${hint}
  </div>`;
}

/** The values of a form by the kinds of its fields; empty texts and numbers are null. */
function values(fields, form) {
  return Object.fromEntries(
    fields.map((field) => {
      const element = form.querySelector(`#${CSS.escape(`f-${field.name}`)}`);
      if (field.kind === 'checkbox') return [field.name, element.checked];
      if (field.kind === 'checks')
        return [
          field.name,
          [...form.querySelectorAll(`input[name="${field.name}"]:checked`)].map((each) => each.value),
        ];
      if (element.value.trim() === '') return [field.name, null];
      return [field.name, field.kind === 'number' ? Number(element.value) : element.value];
    }),
  );
}

/**
 * A dialog with a form. It stays open, with the server's words at its fields, until `save` succeeds; answers with what that
 * gives, or undefined when it is left.
 * @param {{title: any, text?: any, fields: any[], yes: string, danger?: boolean, wide?: boolean, save: (values: any, form: HTMLFormElement) => Promise<any>,
 *   more?: (problems: object, draw: () => void) => any, changed?: (values: any, draw: () => void) => void}} question `more` are further parts of the form
 */
export function edit(question) {
  let failure = null;
  let busy = false;
  let problems = {};
  return show(
    (close, draw) => {
      const submit = async (event) => {
        event.preventDefault();
        if (busy) return;
        busy = true;
        draw();
        const form = event.target;
        try {
          const saved = await question.save(values(question.fields, form), form);
          busy = false;
          close(saved ?? null);
          return;
        } catch (refused) {
          failure = refused.input ? null : refused;
          problems = refused.input
            ? { [refused.input]: refused.message }
            : Object.fromEntries(
                (refused.problems ?? [])
                  .map((each) => {
                    const [field, ...inside] =
                      each.pointer?.split('/').filter((part) => part && part !== 'inputs') ?? [];
                    return [field, inside.length ? `${inside.join('/')}: ${each.message}` : each.message];
                  })
                  .filter(([key]) => key),
              );
        }
        busy = false;
        draw();
        form.querySelector('[aria-invalid=true]')?.focus();
      };
      const shown = new Set(question.fields.map((field) => field.name));
      return html`<form
        method="dialog"
        novalidate
        @submit=${submit}
        @input=${(event) => question.changed?.(values(question.fields, event.currentTarget), draw)}
      >
        <h2>${question.title}</h2>
        ${question.text ? html`<p class="soft">${question.text}</p>` : nothing}
        <div class="fields">${question.fields.map((field) => row(field, problems[field.name]))}</div>
        ${question.more?.(problems, draw) ?? nothing}
        ${failure && !Object.keys(problems).some((key) => shown.has(key)) ? problem(failure) : nothing}
        <footer>
          <button type="button" class="btn" @click=${() => close()}>Cancel</button>
          <button class="btn ${question.danger ? 'danger' : 'first'}" ?disabled=${busy}>
            ${busy ? 'Saving…' : question.yes}
          </button>
        </footer>
      </form>`;
    },
    question.wide ? 'wide' : '',
  );
}

/** Shows a secret that the server shows only once. It is kept nowhere in the page. */
export function once(title, text, secret) {
  let copied = false;
  return show(
    (close, draw) =>
      html`<div class="body">
        <h2>${title}</h2>
        <p class="soft">${text}</p>
        <code class="secret" tabindex="0" aria-label="The secret">${secret}</code>
        <footer>
          <button
            class="btn"
            @click=${async () => {
              await navigator.clipboard?.writeText(secret);
              copied = true;
              draw();
            }}
          >
            ${icon('copy', 'small')}${copied ? 'Copied' : 'Copy'}
          </button>
          <button class="btn first" @click=${() => close()}>Done</button>
        </footer>
      </div>`,
  );
}
