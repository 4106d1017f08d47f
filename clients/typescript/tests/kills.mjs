// Kills workers under load: node tests/kills.mjs KILLS. KEELSON_URL and KEELSON_API_KEY name the server.
// Two worker processes execute steps while one after the other is killed and started again. At the end every run has completed, every
// step has one result with one file, that of its input, and all effects have the keys of the steps.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect, expr, Mission, Task } from "@keelson/client";

const STEPS = 5;
const OPEN_RUNS = 12;
const client = connect();

async function serve(tool, file) {
  const worker = client.worker({ leaseMs: 1000, pollMs: 500 });
  worker.tool({ name: tool, handler: async ({ n }, ctx) => {
    appendFileSync(file, `${ctx.effectKey}\n`);
    await sleep(20);
    await ctx.artifact(`square-${n}.txt`, "text/plain", String(n * n));
    return n * n;
  } });
  await worker.start();
  console.log("serving");
}

/** A worker in a process, once it serves. */
async function start(tool, file) {
  const worker = spawn(process.execPath, [fileURLToPath(import.meta.url), "--serve", tool, file], { stdio: ["ignore", "pipe", "ignore"] });
  await once(worker.stdout, "data");
  return worker;
}

async function all(items) {
  const found = [];
  for await (const each of items) found.push(each);
  return found;
}

async function main(kills) {
  const tool = `kills.${randomUUID().slice(0, 8)}`;
  const folder = mkdtempSync(join(tmpdir(), "kills-"));
  const file = join(folder, "effects");
  await client.request("POST", "/dispatch/register", { worker_id: "kills", tool_specs: [{ name: tool }] });
  const task = new Task("t");
  for (let i = 0; i < STEPS; i++) task.step(`s${i}`, tool, { n: expr(`.inputs.n + ${i}`) });
  const mission = new Mission(tool).declare("n", { type: "integer" }).task(task);
  const workers = await Promise.all([start(tool, file), start(tool, file)]);
  const runs = [];
  const check = async (run, n) => {
    const ended = await run.wait({ timeoutMs: 60_000 });
    const steps = await all(ended.steps());
    assert.ok(ended.completed, `run ${n} is ${ended.state} ${ended.error_code}`);
    assert.deepEqual(steps.map(each => each.output), Array.from({ length: STEPS }, (_, i) => (n + i) ** 2), `outputs of run ${n}`);
    assert.equal((await all(ended.artifacts())).length, STEPS, `files of run ${n}`);
  };
  let over = false;
  /** One of the runs that are open at a time, again and again. */
  const load = async () => {
    while (!over) {
      const n = runs.length;
      runs.push(n);
      await check(await client.runs.create(mission, { inputs: { n } }), n);
    }
  };
  try {
    const loads = Promise.all(Array.from({ length: OPEN_RUNS }, load));
    loads.catch(() => {});
    for (let kill = 0; kill < kills; kill++) {
      await sleep(50 + Math.random() * 350);
      workers[kill % 2].kill("SIGKILL");
      workers[kill % 2] = await start(tool, file);
    }
    over = true;
    await loads;
    const executions = readFileSync(file, "ascii").trim().split("\n");
    assert.equal(new Set(executions).size, runs.length * STEPS, "effects by key");
    console.log(`${kills} kills, ${runs.length} runs, ${runs.length * STEPS} steps, ${executions.length} executions`);
  } finally {
    for (const each of workers) each.kill("SIGKILL");
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[2] === "--serve") await serve(process.argv[3], process.argv[4]);
else await main(Number(process.argv[2]));
