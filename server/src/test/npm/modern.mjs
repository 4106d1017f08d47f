// A server of the stateless era, made with the TypeScript SDK; it asks for a name before it greets. With the argument `http` it
// listens on a free port, which it prints.
import { createServer } from "node:http";
import { McpServer, acceptedContent, createMcpHandler, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

function build() {
  const server = new McpServer({ name: "modern", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.registerTool("greet", { description: "Greets a person", inputSchema: z.object({}) }, (_, context) => {
    const answer = acceptedContent(context.mcpReq.inputResponses, "who");
    if (answer) {
      return { content: [{ type: "text", text: `Hello ${answer.name}` }] };
    }
    return inputRequired({
      inputRequests: {
        who: inputRequired.elicit({
          message: "Whom?",
          requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        }),
      },
    });
  });
  return server;
}

async function listen() {
  const handler = createMcpHandler(build, { legacy: "reject" });
  const http = createServer(async (incoming, outgoing) => {
    const parts = [];
    for await (const part of incoming) {
      parts.push(part);
    }
    const answer = await handler.fetch(new Request(`http://${incoming.headers.host}${incoming.url}`,
      { method: incoming.method, headers: incoming.headers, body: parts.length > 0 ? Buffer.concat(parts) : undefined }));
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    outgoing.end(Buffer.from(await answer.arrayBuffer()));
  });
  http.listen(0, "127.0.0.1", () => console.log(http.address().port));
}

if (process.argv[2] === "http") {
  await listen();
} else {
  serveStdio(build, { legacy: "reject" });
}
