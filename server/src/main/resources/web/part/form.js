// A form from the JSON Schemas of inputs. What it has no field for is a field for JSON.
import { html, nothing } from 'lit';
import { label } from '../draw/format.js';
import { name } from './bits.js';

const typeOf = (schema) => [schema.type].flat().find((each) => each !== 'null') ?? (schema.enum ? 'string' : 'json');
const DATES = { date: 'date', 'date-time': 'datetime-local' };

/** The kind of field of a schema: text, lines, number, integer, boolean, enum, list, date, date-time or json. */
export function kindOf(schema) {
  if (schema.enum) return 'enum';
  const type = typeOf(schema);
  if (type === 'string')
    return DATES[schema.format]
      ? schema.format
      : schema.maxLength > 300 || String(schema.default ?? '').includes('\n')
        ? 'lines'
        : 'text';
  if (type === 'array') return ['string', 'number', 'integer'].includes(schema.items?.type) ? 'list' : 'json';
  return ['number', 'integer', 'boolean'].includes(type) ? type : 'json';
}

/** The value of a field; undefined where it is empty. Throws a SyntaxError for text that is no JSON. */
export function valueOf(schema, field) {
  const kind = kindOf(schema);
  if (kind === 'boolean') return field.checked;
  const text = field.value;
  if (text === '') return undefined;
  if (kind === 'number' || kind === 'integer') return Number(text);
  if (kind === 'enum') return schema.enum[Number(text)];
  if (kind === 'list')
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (schema.items.type === 'string' ? line : Number(line)));
  if (kind === 'date-time') return new Date(`${text}Z`).toISOString();
  return kind === 'json' ? JSON.parse(text) : text;
}

function initial(schema, kind) {
  const value = schema.default;
  if (value === undefined || value === null) return '';
  if (kind === 'list') return value.join('\n');
  return kind === 'json' ? JSON.stringify(value, null, 2) : String(value);
}

function control(input, schema, kind, invalid) {
  const described = `${input}-hint`;
  const value = initial(schema, kind);
  if (kind === 'boolean')
    return html`<input
      type="checkbox"
      data-input=${input}
      id=${input}
      name=${input}
      ?checked=${schema.default === true}
      aria-describedby=${described}
    />`;
  if (kind === 'enum') {
    return html`<select
      class="input"
      data-input=${input}
      id=${input}
      name=${input}
      aria-describedby=${described}
      aria-invalid=${invalid}
    >
      <option value="">–</option>
      ${schema.enum.map(
        (each, i) => html`<option value=${i} ?selected=${each === schema.default}>${label(each, 100)}</option>`,
      )}
    </select>`;
  }
  if (['lines', 'list', 'json'].includes(kind))
    return html`<textarea
      class="input"
      data-input=${input}
      id=${input}
      name=${input}
      rows="3"
      aria-describedby=${described}
      aria-invalid=${invalid}
      .value=${value}
    ></textarea>`;
  const type =
    DATES[kind] ?? (kind === 'number' || kind === 'integer' ? 'number' : schema.format === 'uri' ? 'url' : 'text');
  return html`<input
    class="input ${schema.format === 'path' ? 'mono' : ''}"
    data-input=${input}
    id=${input}
    name=${input}
    type=${type}
    step=${kind === 'integer' ? 1 : 'any'}
    min=${schema.minimum ?? nothing}
    max=${schema.maximum ?? nothing}
    aria-describedby=${described}
    aria-invalid=${invalid}
    .value=${value}
    autocomplete="off"
  />`;
}

const HINTS = { list: 'One per line', json: 'JSON', path: 'A path of the server', uri: 'A URL' };

/**
 * Fields for all inputs.
 * @param problems of the server by name of the input
 * @param values instead of the defaults, by name
 */
export function fields(schemas, problems, values = {}) {
  return Object.entries(schemas).map(([input, given]) => {
    const declared = given.schema ?? given;
    const schema = input in values ? { ...declared, default: values[input] } : declared;
    const kind = kindOf(schema);
    const wrong = problems[input];
    return html`<div class="field">
      <label for=${input}
        >${name(input, 100)}${schema.default === undefined && !given.optional && kind !== 'boolean' ? html` <span class="soft small">required</span>` : nothing}</label
      >${control(input, schema, kind, wrong ? 'true' : 'false')}
      <span class="small soft" id="${input}-hint"
        >${schema.description ? html`${name(schema.description, 500)}${(HINTS[kind] ?? HINTS[schema.format]) ? ' · ' : ''}` : nothing}${HINTS[kind] ?? HINTS[schema.format] ?? nothing}</span
      >
      ${wrong ? html`<span class="small i-failed" role="alert">${wrong}</span>` : nothing}
    </div>`;
  });
}

/** The values of all inputs in a form; what is empty is left out. Throws {input, message} for text that is no JSON. */
export function valuesOf(schemas, form) {
  const values = {};
  for (const [input, given] of Object.entries(schemas)) {
    try {
      // Not by form.elements: an input may be called length, item or as another field.
      const value = valueOf(given.schema ?? given, form.querySelector(`[data-input="${CSS.escape(input)}"]`));
      if (value !== undefined) values[input] = value;
    } catch {
      throw { input, message: 'This is not JSON.' };
    }
  }
  return values;
}
