// An agent that exists already, as one step: it works in its own loop, the server bounds its cost and keeps what it has done.
// `write` is in place of your agent: a generator that yields after each call of its model.

import {Worker} from './keelson.mjs';

const PRICE = 0.01; // of one call of the model, in credits

async function* write(topic, done) {
  for (const part of ['introduction', 'body', 'end'].slice(done.length)) {
    yield `The ${part} of a text about ${topic}.`;
  }
}

const spec = {name: 'agent.write', description: 'Writes a short text about a topic', effects: 'idempotent'};

await new Worker().tool(spec, async (step) => {
  const done = [...(step.details ?? [])]; // parts that a lost execution had finished: they are not bought again
  let bought = 0;
  for await (const part of write(step.input.topic, done)) {
    done.push(part);
    bought += 1;
    step.keep(done);
    step.usage({cost: Number((bought * PRICE).toFixed(6))}); // charged at once, so that limits hold meanwhile
    step.progress(done.length / 3, part);
    step.signal.throwIfAborted(); // before the next purchase: the budget, a person or the time stops the step
  }
  return {text: done.join(' ')};
}).serve();
