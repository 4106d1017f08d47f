// What all examples share: the step's input and one tool. The tool's result depends on its arguments only, so that a second
// execution sends the same requests and gets the recorded answers.
import { text } from 'node:stream/consumers';

// One model for each API: over its own wire, the gateway passes requests on as they are.
export const MODELS = { chat: 'small-chat', responses: 'small-responses', messages: 'small-messages' };
export const INSTRUCTIONS = 'Answer in one sentence. Look the weather up.';
export const DESCRIPTION = 'The weather in a city.';

export async function question() {
  return JSON.parse(await text(process.stdin)).question;
}

export function weather({ city }) {
  console.error(`looking up ${city}`); // a line of the step's log
  return { city, sky: 'clear', celsius: city.length };
}
