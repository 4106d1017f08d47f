// Reads the events of a run over restarts of its server: node tests/stream.mjs STEPS. KEELSON_URL and KEELSON_API_KEY name the server.
// Prints `restart` three times and waits for a line of input each time. Two streams read the same run.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Keelson, Mission, Task } from "@keelson/client";

const RESTARTS = 3;
const WIDTH = 100;
const steps = Number(process.argv[2]);
const input = createInterface({ input: process.stdin });
const client = new Keelson();

const mission = new Mission("stream");
for (let i = 0; i < steps / WIDTH; i++) {
  const task = new Task(`t${i}`, { chain: false });
  for (let j = 0; j < WIDTH; j++) task.step(`s${j}`, "noop");
  mission.task(task);
}
const run = await client.runs.create(mission);

async function read(restarting) {
  const seen = [];
  for await (const event of run.events()) {
    seen.push(event.seq);
    if (restarting && seen.length % (steps / 2) === 0 && seen.length / (steps / 2) <= RESTARTS) {
      console.log("restart");
      await once(input, "line");
    }
  }
  return seen;
}

const [first, second] = await Promise.all([read(true), read(false)]);
const wanted = Array.from(first, (_, i) => i + 1);
assert.deepEqual(first, wanted);
assert.deepEqual(second, wanted);
assert.ok((await run.wait({ timeoutMs: 60_000 })).completed);
console.log(`${first.length} events`);
input.close();
