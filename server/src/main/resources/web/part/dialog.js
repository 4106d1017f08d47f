import { html, nothing, render } from 'lit';
import { icon } from './icon.js';

/** Shows a native dialog until it is closed; `view(close)` is its content. Answers with what `close` was given. */
export function show(view, classes = '') {
  return new Promise((resolve) => {
    const dialog = document.createElement('dialog');
    if (classes) dialog.className = classes;
    let answer;
    // Removed at once: until its close event, the dialog would keep the focus and swallow the next key.
    const close = (value) => {
      answer = value;
      dialog.close();
      dialog.remove();
    };
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(answer);
    });
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) close();
    });
    const draw = () => render(view(close, draw), dialog);
    draw();
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Asks before something that cannot be taken back, or for values. Answers with the values by name, or undefined.
 * @param {{title: any, text?: any, fields?: {name: string, label: string, kind?: string, required?: boolean, value?: string, hint?: string}[], yes: string, danger?: boolean}} question
 */
export function ask(question) {
  return show(
    (close) =>
      html`<form
        method="dialog"
        @submit=${(event) => {
          event.preventDefault();
          close(Object.fromEntries(new FormData(event.target)));
        }}
      >
        <h2 id="ask-title">${question.title}</h2>
        ${question.text ? html`<p class="soft">${question.text}</p>` : nothing}
        ${(question.fields ?? []).map(
          (field) =>
            html`<label class="field"
              ><span>${field.label}</span> ${
                field.kind === 'text'
                  ? html`<textarea
                      class="input"
                      name=${field.name}
                      ?required=${field.required}
                      .value=${field.value ?? ''}
                    ></textarea>`
                  : html`<input
                      class="input"
                      name=${field.name}
                      type=${field.kind ?? 'text'}
                      step="any"
                      ?required=${field.required}
                      .value=${field.value ?? ''}
                      autocomplete="off"
                    />`
              }
              ${field.hint ? html`<span class="small soft">${field.hint}</span>` : nothing}</label
            >`,
        )}
        <footer>
          <button type="button" class="btn" @click=${() => close()}>
            ${/^Cancel/.test(question.yes) ? 'Go back' : 'Cancel'}
          </button>
          <button class="btn first" ?autofocus=${!question.fields?.length}>
            ${question.danger ? icon('alert', 'small') : nothing}${question.yes}
          </button>
        </footer>
      </form>`,
  );
}
