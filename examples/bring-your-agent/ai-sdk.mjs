import { openai } from '@ai-sdk/openai';
import { generateText, stepCountIs, tool } from 'ai';
import { z } from 'zod';
import { DESCRIPTION, INSTRUCTIONS, MODELS, question, weather } from './common.mjs';

const { text } = await generateText({
  model: openai(MODELS.responses), // a provider's module: model strings go to another address
  system: INSTRUCTIONS,
  prompt: await question(),
  tools: { weather: tool({ description: DESCRIPTION, inputSchema: z.object({ city: z.string() }), execute: weather }) },
  stopWhen: stepCountIs(5),
});
console.log(text);
