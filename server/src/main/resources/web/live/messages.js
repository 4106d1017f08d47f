// Server-sent events of a response, as they arrive.
import { open } from '../api/client.js';

/** Further streams that a browser has open at once, beside that of the events. */
const MOST = 2;

/**
 * Reads to the end.
 * @param {Response} response
 * @param {(message: {id: string | null, data: string}) => void} take
 */
export async function messages(response, take) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    const blocks = (rest + part.value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const of = (field) =>
        block
          .split('\n')
          .filter((line) => line.startsWith(field))
          .map((line) => line.slice(field.length).trim());
      const [id = null] = of('id:');
      const data = of('data:').join('');
      if (id || data) take({ id, data });
    }
  }
}

/**
 * What passes on a stream without ids, such as the text of a turn: each message as JSON. Waits while other tabs have as many of
 * these open as a browser may.
 */
export async function passing(path, signal, take) {
  const read = async () =>
    messages(await open(path, {}, signal), ({ data }) => {
      if (data) take(JSON.parse(data));
    });
  if (!navigator.locks) {
    await read();
    return;
  }
  const held = (await navigator.locks.query()).held?.map((lock) => lock.name) ?? [];
  const names = Array.from({ length: MOST }, (_, i) => `keelson.passing.${i}`);
  await navigator.locks.request(names.find((each) => !held.includes(each)) ?? names[0], { signal }, read);
}
