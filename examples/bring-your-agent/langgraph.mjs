import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { DESCRIPTION, INSTRUCTIONS, MODELS, question, weather } from './common.mjs';

const agent = createReactAgent({
  llm: new ChatOpenAI({ model: MODELS.chat }),
  prompt: INSTRUCTIONS,
  tools: [
    tool(async (input) => JSON.stringify(weather(input)), {
      name: 'weather',
      description: DESCRIPTION,
      schema: z.object({ city: z.string() }),
    }),
  ],
});
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: await question() }] });
console.log(messages.at(-1).content);
