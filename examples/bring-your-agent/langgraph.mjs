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
const input = { messages: [{ role: 'user', content: await question() }] };
let state;
// streamMode 'messages' streams the model's answers. The option streaming of ChatOpenAI would fetch a tokenizer from the Internet.
for await (const [mode, part] of await agent.stream(input, { streamMode: ['messages', 'values'] })) {
  if (mode === 'values') {
    state = part;
  }
}
console.log(state.messages.at(-1).content);
