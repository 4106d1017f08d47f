// The dialog that sends a signal to a run: its name is filled in, and the payload is checked before it is sent.
import { html, nothing } from 'lit';
import { get, post } from '../api/client.js';
import { label } from '../draw/format.js';
import { edit } from './editor.js';
import { json } from './json.js';

const ofSignal = (reason) => reason.code === 'SIGNAL';

/** What the steps of a run wait for, by the reasons of the run: names of signals, each once. */
export const awaited = (reasons) => [...new Set(reasons.filter(ofSignal).flatMap((reason) => reason.on))];

/** An example of what a schema accepts, for people to change. */
function example(schema) {
  if (schema?.default !== undefined) return schema.default;
  if (schema?.enum) return schema.enum[0];
  const type = [schema?.type].flat()[0];
  if (type === 'object' || (!type && schema?.properties))
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, each]) => [key, example(each)]));
  return (
    { string: '', number: schema?.minimum ?? 0, integer: schema?.minimum ?? 0, boolean: false, array: [] }[type] ?? {}
  );
}

/** The schema of the payload that a waiting step accepts; null where it takes any. */
async function schemaOf(reasons, signal) {
  const { step_id: id } = reasons.find((reason) => ofSignal(reason) && reason.on.includes(signal)) ?? {};
  const step = id ? await get(`/steps/${id}`).catch(() => null) : null;
  return step?.input?.schema ?? null;
}

function parsed(text) {
  if (!text?.trim()) return null;
  try {
    return JSON.parse(text);
  } catch {
    throw { input: 'payload', message: 'This is not JSON. Put a text in double quotes: "yes".' };
  }
}

/**
 * Asks for name and payload, and sends the signal; answers with the run, or undefined when the dialog is left.
 * @param signal its name, where it is known
 */
export async function sendSignal(run, reasons, signal = awaited(reasons)[0]) {
  const schema = signal ? await schemaOf(reasons, signal) : null;
  return edit({
    title: signal ? html`Send the signal “${label(signal, 80)}”` : 'Send a signal',
    yes: 'Send',
    text: signal
      ? 'The step that waits for it ends, and gets the payload as its output.'
      : 'A step that waits for this name ends, or will not have to wait.',
    fields: [
      { name: 'signal', label: 'Name', required: true, most: 100, list: awaited(reasons), value: signal ?? '' },
      {
        name: 'payload',
        label: 'Payload',
        kind: 'lines',
        rows: 4,
        value: JSON.stringify(example(schema), null, 2),
        hint: schema
          ? 'JSON that fits the schema below'
          : 'Any JSON, such as {"paid": true}, "yes" or 12. Empty is null.',
      },
    ],
    more: () => (schema ? json('Schema of the payload', schema, true) : nothing),
    save: (values) => {
      if (!values.signal) throw { input: 'signal', message: 'A name is needed.' };
      return post(`/runs/${run}/signals/${encodeURIComponent(values.signal)}`, { payload: parsed(values.payload) });
    },
  });
}
