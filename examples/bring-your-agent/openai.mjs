import OpenAI from 'openai';
import { DESCRIPTION, INSTRUCTIONS, MODELS, question, weather } from './common.mjs';

const client = new OpenAI();
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [{ type: 'function', function: { name: 'weather', description: DESCRIPTION, parameters } }];
const messages = [
  { role: 'system', content: INSTRUCTIONS },
  { role: 'user', content: await question() },
];
for (;;) {
  const stream = client.chat.completions.stream({ model: MODELS.chat, messages, tools });
  const { message } = (await stream.finalChatCompletion()).choices[0];
  messages.push(message);
  if (!message.tool_calls?.length) {
    console.log(message.content);
    break;
  }
  for (const { id, function: call } of message.tool_calls) {
    messages.push({
      role: 'tool',
      tool_call_id: id,
      content: JSON.stringify(weather(JSON.parse(call.arguments))),
    });
  }
}
