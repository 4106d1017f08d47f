import { openai } from '@ai-sdk/openai';
import { stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { DESCRIPTION, INSTRUCTIONS, MODELS, question, weather } from './common.mjs';

const result = streamText({
  model: openai(MODELS.responses), // a provider's module: model strings go to another address
  system: INSTRUCTIONS,
  prompt: await question(),
  tools: { weather: tool({ description: DESCRIPTION, inputSchema: z.object({ city: z.string() }), execute: weather }) },
  stopWhen: stepCountIs(5),
});
console.log(await result.text);
