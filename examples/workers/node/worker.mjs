// A tool: counts the words of a text. Run it beside a server, then `keelson run examples/workers/mission.json`.

import {Failure, Worker} from './keelson.mjs';

const spec = {
  name: 'text.words', description: 'Counts the words of a text', effects: 'read',
  input_schema: {type: 'object', required: ['text'], properties: {text: {type: 'string'}}},
};

await new Worker().tool(spec, (step) => {
  const text = step.input.text.trim();
  if (!text) {
    throw new Failure('TEXT_MISSING', 'the text is empty', 'permanent');
  }
  step.log('counting');
  return {words: text.split(/\s+/).length};
}).serve();
