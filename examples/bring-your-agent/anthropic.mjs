import Anthropic from '@anthropic-ai/sdk';
import { DESCRIPTION, INSTRUCTIONS, MODELS, question, weather } from './common.mjs';

const client = new Anthropic();
const input_schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [{ name: 'weather', description: DESCRIPTION, input_schema }];
const messages = [{ role: 'user', content: await question() }];
for (;;) {
  const stream = client.messages.stream({ model: MODELS.messages, max_tokens: 1000, system: INSTRUCTIONS, messages, tools });
  const { content } = await stream.finalMessage();
  messages.push({ role: 'assistant', content });
  const calls = content.filter((block) => block.type === 'tool_use');
  if (calls.length === 0) {
    console.log(content.map((block) => block.text ?? '').join(''));
    break;
  }
  messages.push({
    role: 'user',
    content: calls.map(({ id, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: JSON.stringify(weather(input)),
    })),
  });
}
