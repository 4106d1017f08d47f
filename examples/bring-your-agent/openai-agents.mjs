import { Agent, run, tool } from '@openai/agents';
import { z } from 'zod';
import { DESCRIPTION, INSTRUCTIONS, MODELS, question, weather } from './common.mjs';

const agent = new Agent({
  name: 'weather',
  model: MODELS.responses,
  instructions: INSTRUCTIONS,
  tools: [
    tool({ name: 'weather', description: DESCRIPTION, parameters: z.object({ city: z.string() }), execute: weather }),
  ],
});
const result = await run(agent, await question(), { stream: true });
await result.completed;
console.log(result.finalOutput);
