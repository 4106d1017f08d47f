// What a person gives with an answer to an inbox item: a form by the item's kind and data, and the body of the request.
import { html, nothing } from 'lit';
import { name } from './bits.js';
import { fields as schemaFields, valuesOf } from './form.js';

const REASON = { name: 'reason', label: 'Comment', kind: 'lines', most: 2000, hint: 'Stored with the answer' };
const asInput = (schema) => ({ ...schema, default: schema.default });

/** The properties of an object's schema as inputs, each under a prefix; those that are not required may stay empty. */
function inputsOf(schema, prefix = '') {
  const required = new Set(schema?.required ?? []);
  return Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([key, each]) => [
      prefix + key,
      { schema: asInput(each), optional: !required.has(key) },
    ]),
  );
}

/** Questions of an MCP server: {inputs, read(form) → content, urls}. */
function elicitation(questions = {}) {
  const forms = Object.entries(questions).filter(([, each]) => each.schema);
  const single = Object.keys(questions).length === 1;
  const inputs = Object.assign({}, ...forms.map(([key, each]) => inputsOf(each.schema, single ? '' : `${key}.`)));
  const read = (form) => {
    const values = valuesOf(inputs, form);
    if (single) return values;
    return Object.fromEntries(
      forms.map(([key]) => [
        key,
        Object.fromEntries(
          Object.entries(values)
            .filter(([each]) => each.startsWith(`${key}.`))
            .map(([each, value]) => [each.slice(key.length + 1), value]),
        ),
      ]),
    );
  };
  return {
    inputs,
    read: forms.length ? read : null,
    urls: Object.values(questions)
      .filter((each) => each.url)
      .map((each) => each.url),
  };
}

/**
 * The form of an answer: its fields, further inputs by JSON Schemas, and the body of the request.
 * @param action of the item, as the server describes it
 * @param models that another one may be chosen from
 */
export function formOf(item, action, models) {
  /** @type {any[]} */
  const fields = [REASON];
  let inputs = {};
  /** @type {(form: any) => object} */
  let more = () => ({});
  const note = [];
  if (action.name === 'downgrade')
    fields.unshift({ name: 'downgrade', label: 'Model for all further turns', list: models, required: true });
  if (action.name === 'reject' && item.kind === 'task_review')
    fields.unshift({
      name: 'retry',
      label: 'Do it again, with the comment as feedback',
      kind: 'checkbox',
      value: true,
    });
  if (action.name === 'accept' && item.kind === 'call_approval') {
    inputs = {
      input: {
        schema: {
          type: 'object',
          default: item.data?.input ?? {},
          description: 'The input with which the call is made.',
        },
      },
    };
    more = (form) => valuesOf(inputs, form);
  }
  if (action.name === 'accept' && item.kind === 'question') {
    const schema = item.data?.schema ?? { type: 'string', maxLength: 4000 };
    const members = schema.type === 'object' && schema.properties;
    inputs = members
      ? inputsOf(schema)
      : { answer: { schema: { ...schema, description: schema.description ?? 'The agent gets it as it is.' } } };
    more = (form) => {
      const values = valuesOf(inputs, form);
      return { answer: members ? values : (values.answer ?? '') };
    };
  }
  if (action.name === 'accept' && item.kind === 'elicitation') {
    const form = elicitation(item.data?.questions);
    inputs = form.inputs;
    if (form.read) more = (element) => ({ content: form.read(element) });
    note.push(...form.urls);
  }
  const known = new Set([
    ...fields.map((field) => field.name),
    ...Object.keys(inputs),
    'gate',
    'input',
    'answer',
    'content',
    'retry',
  ]);
  for (const field of action.fields ?? []) {
    if (!known.has(field))
      fields.unshift({
        name: field,
        label: field.replaceAll('_', ' '),
        kind: /usd|seconds|count/.test(field) ? 'number' : 'text',
        value: item.data?.[field] ?? null,
      });
  }
  const body = (values, form) => {
    const all = { ...(action.body ?? {}), ...more(form) };
    for (const [key, value] of Object.entries(values)) if (value !== null) all[key] = value;
    if (item.gate && (action.fields ?? []).includes('gate')) all.gate = item.gate;
    return all;
  };
  return {
    fields,
    body,
    more: (problems) =>
      html`${note.map((url) => html`<p class="note">The server asks you to open <a href=${/^https?:/.test(url) ? url : nothing} target="_blank" rel="noopener noreferrer">${name(url, 300)}</a>. It is another host; check that you know it.</p>`)}
      ${Object.keys(inputs).length ? schemaFields(inputs, problems) : nothing}`,
  };
}
