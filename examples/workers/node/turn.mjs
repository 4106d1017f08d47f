// An agent in turns: the server makes its calls of tools and keeps the transcript; nothing is kept here between turns.
// Plain rules stand for the model that would decide.

import {Worker} from './keelson.mjs';

await new Worker().tool({name: 'agent.turn'}, (step) => {
  const past = step.input.transcript;
  if (past.length === 0) {
    return {tool_calls: [{name: 'echo', input: {asked: step.input.goal}}]};
  }
  const [result] = past.at(-1).results;
  return {output: {turns: past.length + 1, heard: result.output ?? result.error}};
}).serve();
