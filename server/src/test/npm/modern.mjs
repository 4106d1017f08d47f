// A server of the stateless era, made with the TypeScript SDK; it asks for a name before it greets.
import { McpServer, acceptedContent, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

serveStdio(() => {
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
}, { legacy: "reject" });
