import { openai } from '@ai-sdk/openai';
import { Agent } from '@mastra/core/agent';
import { createTool } from '@mastra/core/tools';
import { z } from 'zod';
import { DESCRIPTION, INSTRUCTIONS, MODELS, question, weather } from './common.mjs';

const agent = new Agent({
  id: 'weather',
  name: 'weather',
  instructions: INSTRUCTIONS,
  model: openai(MODELS.responses),
  tools: {
    weather: createTool({
      id: 'weather',
      description: DESCRIPTION,
      inputSchema: z.object({ city: z.string() }),
      execute: async (input) => weather(input),
    }),
  },
});
console.log(await (await agent.stream(await question())).text);
