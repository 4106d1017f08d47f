// Makes each mistake of docs/guide/client-mistakes.md. KEELSON_URL and KEELSON_API_KEY name the server.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { test } from "node:test";
import { Keelson, Mission, StepFailure, Task } from "@keelson/client";
import { z } from "zod";
import { Turn } from "../dist/worker/turn.js";

const PAGE = new URL("../../../docs/guide/client-mistakes.md", import.meta.url);
const ROW = /^\| `([\w-]+)`: [^|]+ \| (all|both|Python|TypeScript|Java) \| [^|]+ \| `(.+)` \|$/gm;
const { KEELSON_URL: url, KEELSON_API_KEY: apiKey } = process.env;
const client = new Keelson({ url, apiKey });
const QUIET = { info() {}, warn() {}, error() {} };

/** A worker of a tool, which has not begun. */
const serving = (connection, tool = {}, options = {}) => new Keelson({ url, ...connection }).worker({ pollMs: 100, logger: QUIET, ...options })
  .tool({ name: "mistakes.effects", handler: () => 1, ...tool });

/** The first warning of a worker. */
async function logOf(make, act = () => {}) {
  let told;
  const warning = new Promise(resolve => { told = resolve; });
  const worker = make({ ...QUIET, warn: told });
  await worker.start();
  await act();
  const text = await warning;
  await worker.stop();
  return text;
}

/** The failure of the run's last step. */
async function failure(worker, task) {
  await worker.start();
  try {
    const run = await (await client.runs.create(new Mission("mistake").task(task))).wait({ timeoutMs: 20_000 });
    let last;
    for await (const step of run.steps()) last = step;
    return `${last.error_code}: ${last.error_message}`;
  } finally {
    await worker.stop();
  }
}

/** An HTTP server that is another one: 404, but a page under `/page`. */
async function withOtherServer(use) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url.startsWith("/page/") ? 200 : 404).end("<h1>Welcome</h1>");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    return await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** The failure of a step whose handler acts so. */
function failing(act) {
  const name = `mistakes.${crypto.randomUUID().slice(0, 8)}`;
  return failure(serving({ apiKey }, { name, handler: (input, ctx) => act(ctx) }), new Task("a").step("s", name, {}, { retry: { max_attempts: 1 } }));
}

const unique = name => `${name}-${crypto.randomUUID().slice(0, 8)}`;

/** A task of a new agent, which a worker has to serve. */
async function thinking(slug) {
  await client.request("POST", "/agents", { slug, name: slug, tools: ["echo"], runs_on: "workers" });
  return new Task("think", { title: "Think", suggested_agent: { agent_name: slug }, tools_needed: ["echo"] });
}

/** Each makes the mistake of its name, and throws or returns what its author reads. */
const mistakes = {
  "wrong-key": () => serving({ apiKey: "kl_wrong" }).start(),
  "no-key": () => serving({}).start(),
  "key-of-readers": async () => {
    const { key } = await client.request("POST", "/api-keys", { name: unique("reader"), scopes: ["runs:read"] });
    return serving({ apiKey: key }).start();
  },
  "server-away": async () => {
    const away = await withOtherServer(other => other);
    return logOf(logger => serving({ url: away }, {}, { logger }));
  },
  "http-to-https": async () => {
    const server = createTcpServer(socket => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    return logOf(logger => serving({ url: `http://127.0.0.1:${server.address().port}` }, {}, { logger })).finally(() => server.close());
  },
  "inputs-not-by-name": () => client.runs.create(new Mission("m"), { inputs: ["Ada"] }),
  "wrong-key-of-a-client": () => new Keelson({ url, apiKey: "kl_wrong" }).runs.get("r"),
  "no-server": async () => new Keelson({ url: await withOtherServer(other => other), apiKey: "k" }).runs.get("r"),
  "no-scheme": () => new Keelson({ url: "localhost:7331" }),
  "api-path": () => new Keelson({ url: "http://localhost:7331/api/v1" }),
  "https-to-http": () => new Keelson({ url: url.replace("http:", "https:"), apiKey: "k" }).runs.get("r"),
  "other-server": () => withOtherServer(other => serving({ url: other }).start()),
  "page-of-another-server": () => withOtherServer(other => serving({ url: `${other}/page` }).start()),
  "refused-tool": () => serving({ apiKey }, { effects: "maybe" }).start(),
  "three-faults": () => client.runs.create({ name: "faults", plan: { tasks: [
    { id: "a", depends_on: 5, steps: [{ tool: "no.such.tool" }] }, { id: "b", steps: [{ tool: "echo", colour: "red" }] }] } }),
  "depends-on-number": () => new Task("b", { depends_on: 5 }),
  "depends-on-task": () => new Task("b", { depends_on: [new Task("a")] }),
  "not-json-in-plan": () => client.runs.create(new Mission("faults").task(new Task("a").step("s", "echo", { tags: new Set(["new"]), share: Number.NaN }))),
  "input-does-not-fit": () => failure(serving({ apiKey }, { name: "mistakes.greet", input: z.object({ name: z.string(), polite: z.boolean().default(false) }) }),
    new Task("a").step("s", "mistakes.greet", { name: 5, nam: "Ada" })),
  "output-not-json": () => failure(serving({ apiKey }, { name: "mistakes.output", handler: () => ({ tags: new Set(["new"]) }) }),
    new Task("a").step("s", "mistakes.output")),
  "agent-without-answer": async () => {
    const slug = unique("mistakes");
    return failure(client.worker({ pollMs: 100, logger: QUIET }).agent(slug, () => "done"), await thinking(slug));
  },
  "agent-not-served": async () => {
    const run = await client.runs.create(new Mission("mistake").task(await thinking(unique("mistakes"))));
    return logOf(logger => client.worker({ pollMs: 100, logger }).agent("mistakes-unknown", turn => turn.done("done")))
      .finally(() => run.cancel());
  },
  "tool-twice": () => [1, 2].reduce((worker, n) => worker.tool({ name: "mistakes.twice", handler: () => n }), client.worker()),
  "use-negative": () => failing(ctx => ctx.usage({ tokens: 1, cost: "-1" })),
  "use-not-whole": () => failing(ctx => ctx.usage({ tokens: 1.5, cost: "1" })),
  "use-not-a-number": () => failing(ctx => ctx.usage({ tokens: 1, cost: "abc" })),
  "progress-not-a-number": () => failing(ctx => ctx.progress("half")),
  "call-of-no-object": () => new Turn({}, null).call("noop", "x"),
  "handler-error": () => failing(() => {
    throw new Error("broken", { cause: new TypeError("disk full") });
  }),
  "failure-class": () => new StepFailure("FAULTY", "fatal", "m"),
  "no-handler": () => client.worker().tool({ name: "mistakes.none" }),
  "wait-too-short": async () => {
    const run = await client.runs.create(new Mission("mistake").task(new Task("a").approval("sign-off", "Go on?")));
    return run.wait({ timeoutMs: 50 }).finally(() => run.cancel());
  },
  // The last one, for it stops all others.
  "blocking-handler": () => logOf(logger => serving({ apiKey }, { name: "mistakes.block", handler: () => {
    for (const end = performance.now() + 1700; performance.now() < end;);
  } }, { logger }), () => client.runs.create(new Mission("mistake").task(new Task("a").step("s", "mistakes.block")))),
};

async function read(name) {
  try {
    return String(await mistakes[name]());
  } catch (e) {
    return e.message;
  }
}

test("the page says what people read", async () => {
  const rows = new Map([...readFileSync(PAGE, "utf8").matchAll(ROW)].filter(row => row[2] !== "Python" && row[2] !== "Java").map(row => [row[1], row[3]]));
  assert.deepEqual(Object.keys(mistakes).sort(), [...rows.keys()].sort());
  const told = new Map(await Promise.all(Object.keys(mistakes).slice(0, -1).map(async name => [name, await read(name)])));
  told.set("blocking-handler", await read("blocking-handler"));
  for (const [name, text] of rows) {
    const wanted = text.split("…").map(each => each.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*");
    assert.match(told.get(name).replace(/\s+/g, " "), new RegExp(`^${wanted}$`), name);
  }
});
