// A worker of the TypeScript client for measure.py: node worker.mjs TOOL SLOTS. The client is compiled in clients/typescript/dist.
import { Keelson } from "../typescript/dist/index.js";

const [tool, slots] = process.argv.slice(2);
const worker = new Keelson().worker({ slots: Number(slots) });
worker.tool({ name: tool, handler: ({ n }) => n });
await worker.start();
console.log("serving");
process.stdin.once("data", async () => {
  await worker.stop();
  process.exit(0);
});
