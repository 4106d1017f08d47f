// Uses a server with the TypeScript clients of both eras. Arguments: address of /mcp, API key, name of a recipe's tool.
import { Client as Modern, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as Legacy } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [, , url, key, tool] = process.argv;
const info = { name: 'keelson-test', version: '1.0.0' };
const request = { requestInit: { headers: { Authorization: `Bearer ${key}` } } };

async function look(client) {
  const { tools } = await client.listTools();
  const started = await client.callTool({ name: tool, arguments: { a: 1 } });
  const run = started.structuredContent.run_id;
  const status = await client.callTool({ name: 'mission_status', arguments: { run_id: run } });
  const resource = await client.readResource({ uri: `keelson://runs/${run}` });
  const refused = await client.callTool({ name: tool, arguments: {} });
  return { tools: tools.map(each => each.name), run, status: status.structuredContent.run_id,
    resource: JSON.parse(resource.contents[0].text).id, refused: refused.isError };
}

const modern = new Modern(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
await modern.connect(new ModernTransport(new URL(url), request));
const first = { ...await look(modern), server: modern.getServerVersion()?.name };
await modern.close();

const legacy = new Legacy(info, { capabilities: {} });
await legacy.connect(new LegacyTransport(new URL(url), request));
const second = { ...await look(legacy), server: legacy.getServerVersion()?.name };
const messages = [];
for await (const message of legacy.experimental.tasks.callToolStream({ name: tool, arguments: { a: 40 } }, undefined,
  { task: { ttl: 60000 } })) {
  messages.push(message);
}
second.messages = messages.map(each => each.type);
second.output = messages.at(-1).result?.structuredContent?.output;
await legacy.close();
console.log(JSON.stringify({ modern: first, legacy: second }));
