// What the contract suite cannot see: values, shapes and processes. KEELSON_URL and KEELSON_API_KEY name the server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { expr, Keelson, KeelsonError, Mission, StepDeferral, StepFailure, Task } from "@keelson/client";
import { z } from "zod";
import { find } from "../dist/address.js";
import { exact, parse, stringify } from "../dist/json.js";
import { Gateway } from "../dist/worker/gateway.js";

describe("values", () => {
  test("money is exact text, free numbers are numbers", () => {
    const run = parse('{"total_cost":0.1000000000000000055,"hard_limit_usd":null,"credits_reserved":1E-7,"output":{"n":1e3,"f":0.5,"s":"a\\"1.5\\\\"},'
      + '"created_at":"2026-01-02T03:04:05.678+01:00","new":1.5}', "Run");
    assert.equal(run.total_cost, "0.1000000000000000055");
    assert.equal(run.hard_limit_usd, null);
    assert.equal(run.credits_reserved, "0.0000001");
    assert.deepEqual(run.output, { n: 1000, f: 0.5, s: 'a"1.5\\' });
    assert.equal(run.created_at.toISOString(), "2026-01-02T02:04:05.678Z");
    assert.equal(run.new, 1.5);
  });
  test("a decimal is written with all its digits", () => {
    assert.equal(stringify({ cost: exact("123456789012.345678901234") }), '{"cost":123456789012.345678901234}');
    for (const wrong of ["", "1,5", "NaN", "0x1", "01", "1\n"]) assert.throws(() => exact(wrong), { code: "NOT_JSON" });
  });
  test("prototypes of parsed values stay as they are", () => {
    const value = parse('{"output":{"__proto__":{"x":1.5}},"total_cost":1.5}', "Run");
    assert.equal({}.x, undefined);
    assert.equal(Object.getPrototypeOf(value.output), Object.prototype);
  });
  for (const [name, value] of Object.entries({ function: () => {}, bigint: 1n, NaN: Number.NaN, map: new Map([[1, 2]]), set: new Set(),
    symbol: Symbol("s"), promise: Promise.resolve(), bytes: new Uint8Array(3), error: new Error("e"), infinity: -Infinity })) {
    test(`${name} is not JSON`, () => assert.throws(() => stringify({ deep: [value] }), { code: "NOT_JSON", status: 0 }));
  }
  test("each place is named, with what is there and what helps", () => {
    const value = { "a/b": new Set([1]), b: [1, new Map(), { deep: 1n }], d: () => {}, at: new Date(0) };
    value.loop = value;
    assert.throws(() => stringify(value), e => {
      assert.deepEqual(e.problems.map(each => [each.pointer, each.message]), [
        ["/a~1b", "is a Set, which JSON lacks; make it an array"], ["/b/1", "is a Map, which JSON lacks; make it an object"],
        ["/b/2/deep", "is a bigint, which JSON lacks; make it a number or a text"], ["/d", "is a function, which JSON lacks; call it"],
        ["/loop", "contains itself"]]);
      assert.equal(e.detail, "/a~1b is a Set, which JSON lacks; make it an array; 4 more");
      return true;
    });
  });
  test("circles are not JSON", () => {
    const circle = {};
    circle.self = circle;
    assert.throws(() => stringify(circle), { code: "NOT_JSON" });
  });
  test("dates and classes with members are JSON", () => {
    class Point { x = 1; y = undefined; }
    assert.equal(stringify({ at: new Date(0), p: new Point(), n: null }), '{"at":"1970-01-01T00:00:00.000Z","p":{"x":1},"n":null}');
  });
});

describe("missions", () => {
  test("have the words of the file", () => {
    const mission = new Mission("m", { goal: "g" }).declareAll(z.object({ name: z.string().default("world"), n: z.number().int() }))
      .input({ name: "Ada" }).config({ autonomy: "full" }).tags("a").tags("b").externalId("x", "existing")
      .task(new Task("one", { depends_on: ["zero"] }).step("s", "echo", { t: expr(".inputs.name") }, { timeout_seconds: 3 }).approval("ok", "Go?")
        .verify({ kind: "jq", expression: ".x" }).review().output("o"));
    const body = JSON.parse(JSON.stringify(mission));
    assert.equal(body.inputs.name.default, "world");
    assert.equal(body.inputs.n.type, "integer");
    assert.deepEqual(body.tags, ["a", "b"]);
    assert.deepEqual(body.plan.tasks, [{ id: "one", depends_on: ["zero"], steps: [
      { name: "s", tool: "echo", input: { t: "${ .inputs.name }" }, timeout_seconds: 3 },
      { name: "ok", kind: "approval", input: { question: "Go?" } }], verify: [{ kind: "jq", expression: ".x" }, { kind: "human" }], output: "o" }]);
  });
  test("undo is one call or a list of several", () => {
    const one = new Task("a").undo("echo", { of: expr(".output.n") });
    assert.deepEqual(one.toJSON(), { id: "a", undo: { tool: "echo", input: { of: "${ .output.n }" } } });
    assert.deepEqual(one.undo("noop", undefined, { name: "last" }).toJSON().undo,
      [{ tool: "echo", input: { of: "${ .output.n }" } }, { tool: "noop", name: "last" }]);
  });
  test("a task of an agent has a cache", () => {
    assert.deepEqual(new Task("a").cache(".inputs.q", "7d").toJSON(), { id: "a", cache: { key: ".inputs.q", max_age: "7d" } });
    assert.throws(() => new Task("a").cache(".inputs.q", 7), /task a: the max_age of its cache is a text, not/);
  });
  test("a schema without JSON Schema is refused by name", () => {
    const schema = { "~standard": { version: 1, vendor: "acme", validate: value => ({ value }) } };
    assert.throws(() => new Mission("m").declare("x", schema), /input x of mission m: acme makes no JSON Schema/);
  });
});

describe("the server's address", () => {
  const folder = mkdtempSync(join(tmpdir(), "keelson-"));
  test("nothing known", () => assert.throws(() => find({ KEELSON_DATA_DIR: folder }), { code: "NO_SERVER_KNOWN" }));
  test("the folder's files, and the environment before them", () => {
    writeFileSync(join(folder, "url"), "http://127.0.0.1:1234\n");
    writeFileSync(join(folder, "api-key"), "kl_folder\n");
    assert.deepEqual(find({ KEELSON_DATA_DIR: folder }), { url: "http://127.0.0.1:1234", apiKey: null, localKey: "kl_folder" });
    assert.deepEqual(find({ KEELSON_DATA_DIR: folder, KEELSON_URL: "http://h", KEELSON_API_KEY: "k" }),
      { url: "http://h", apiKey: "k", localKey: null });
  });
  test("the folder's key is for this machine only", async () => {
    const { Transport } = await import("../dist/http.js");
    const key = async url => (await new Transport({ url, apiKey: null, localKey: "kl_folder", timeoutMs: 1, silenceMs: 1 }).forThread()).apiKey;
    assert.equal(await key("http://127.0.0.2:1"), "kl_folder");
    assert.equal(await key("http://[::1]:1"), "kl_folder");
    assert.equal(await key("http://192.0.2.1:1"), null);
  });
  test("another protocol is refused", () => assert.throws(() => new Keelson({ url: "ftp://x" }), TypeError));
});

describe("errors and secrets", () => {
  test("no representation has the key or a token", () => {
    const client = new Keelson({ url: "http://127.0.0.1:1", apiKey: "kl_hidden" });
    const gateway = new Gateway("http://127.0.0.1:1", "kl_hidden");
    for (const each of [client, client.runs, client.worker(), gateway]) {
      assert.ok(!(inspect(each, { depth: 9, showHidden: true }) + JSON.stringify(each) + String(each)).includes("kl_hidden"));
    }
    assert.deepEqual(gateway.openai(), { baseURL: "http://127.0.0.1:1/gateway/openai/v1", apiKey: "kl_hidden" });
    assert.equal(gateway.anthropic().baseURL, "http://127.0.0.1:1/gateway/anthropic");
    assert.equal(gateway.ai("anthropic").baseURL, "http://127.0.0.1:1/gateway/anthropic/v1");
    const environment = gateway.environment();
    assert.equal(environment.KEELSON_MCP_URL, gateway.mcp());
    assert.equal(environment.KEELSON_STEP_TOKEN, "kl_hidden");
    assert.equal(environment.OPENAI_AGENTS_DISABLE_TRACING, "1");
  });
  test("a message shows all problems", () => {
    const e = KeelsonError.refused(422, { code: "INVALID", title: "t", problems: [{ code: "A", pointer: "/x", message: "m" }, null], allowed: ["y"] }, null);
    assert.equal(e.message, "INVALID: t\n  /x A: m");
    assert.deepEqual([e.status, e.problems.length, e.allowed], [422, 1, ["y"]]);
  });
  test("the only problem is shown once, and an error with its causes", async () => {
    const { told } = await import("../dist/errors.js");
    const e = KeelsonError.refused(422, { code: "C", detail: "m is low", problems: [{ code: "C", pointer: "/x", message: "m is low" }] }, null);
    assert.equal(e.message, "C: m is low (/x)");
    const refused = Object.assign(new AggregateError([], ""), { code: "ECONNREFUSED" });
    assert.equal(told(new TypeError("fetch failed", { cause: refused })), "TypeError: fetch failed; cause: AggregateError: ECONNREFUSED");
    assert.equal(told(null), "null");
  });
  test("wrong failures are refused at once", () => {
    assert.throws(() => new StepFailure(" ", "quality", "m"), RangeError);
    assert.throws(() => new StepDeferral(-1, "m"), RangeError);
    assert.throws(() => new Keelson({ url: "http://x" }).worker({ slots: 0 }), RangeError);
  });
  test("a signal ends a call, a retry and a stream with its reason", async () => {
    const server = createServer((request, response) => {
      if (request.url.includes("busy")) response.writeHead(503, { "Retry-After": "30" }).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = new Keelson({ url: `http://127.0.0.1:${server.address().port}`, apiKey: "k" });
    const reason = new Error("enough");
    for (const call of [signal => client.runs.get("held", { signal }), signal => client.runs.get("busy", { signal }),
      signal => client.runs.create({ name: "x" }, { signal }), signal => client.runs.list({ signal }).next()]) {
      const ended = new AbortController();
      const begun = performance.now();
      setTimeout(() => ended.abort(reason), 100);
      await assert.rejects(call(ended.signal), reason);
      assert.ok(performance.now() - begun < 5000);
    }
    server.closeAllConnections();
    server.close();
  });
});

describe("workers", () => {
  const client = new Keelson();
  test("schemas of a library validate input and output, and are announced", async () => {
    const name = `units.${crypto.randomUUID().slice(0, 8)}`;
    const worker = client.worker({ pollMs: 300 });
    worker.tool({ name, description: "Doubles", effects: "read", input: z.object({ n: z.number().transform(n => n * 2) }),
      output: z.object({ twice: z.number().max(10) }), handler: ({ n }) => ({ twice: n }) });
    await worker.start();
    const step = async n => {
      const run = await client.runs.create(new Mission("units").declare("n", {}).task(new Task("t").step("s", name, { n: expr(".inputs.n") })), { inputs: { n } });
      const ended = await run.wait({ timeoutMs: 20_000 });
      for await (const each of ended.steps()) return [each.state, each.error_code ?? each.output];
    };
    try {
      for (let known = false; !known;) known = JSON.stringify(await client.request("GET", "/tools")).includes(name);
      assert.deepEqual(await Promise.all([step(4), step("x"), step(6)]),
        [["completed", { twice: 8 }], ["failed", "INPUT_INVALID"], ["failed", "OUTPUT_INVALID"]]);
      const tool = (await client.request("GET", "/tools")).items.find(each => each.name === name);
      assert.equal(tool.input_schema.properties.n.type, "number");
      assert.equal(tool.effects, "read");
    } finally {
      await worker.stop();
    }
  });
  test("a member that a library would drop is a fault", async () => {
    const { fitting } = await import("../dist/schema.js");
    const given = { name: "a", more: 1 };
    assert.deepEqual(await fitting(z.object({ name: z.string() }), given), { issues: "/more is unknown; known: name" });
    assert.deepEqual(await fitting(z.looseObject({ name: z.string() }), given), { value: given });
    assert.deepEqual(await fitting({ type: "object", properties: {} }, given), { value: given });
    assert.deepEqual(await fitting(z.record(z.string(), z.unknown()), given), { value: given });
  });
  test("a server that comes up later, and refuses the key, ends the worker with its error; the log has one line until then", async () => {
    const answer = (request, response) => request.resume().on("end", () => response.writeHead(401).end('{"code": "INVALID_API_KEY", "detail": "unknown"}'));
    const reserved = createServer(answer).listen(0, "127.0.0.1");
    await once(reserved, "listening");
    const { port } = reserved.address();
    await new Promise(resolve => reserved.close(resolve));
    const lines = [];
    const keep = level => text => {
      lines.push([level, text]);
      if (level === "info") setTimeout(() => createServer(answer).listen(port, "127.0.0.1").unref(), 500);
    };
    const worker = new Keelson({ url: `http://127.0.0.1:${port}`, apiKey: "k" })
      .worker({ pollMs: 100, logger: { info: keep("info"), warn: keep("warn"), error: keep("error") } });
    worker.tool({ name: "a", handler: () => 1 });
    const served = worker.serve();
    await assert.rejects(served, { code: "INVALID_API_KEY", status: 401 });
    assert.equal(worker.error?.status, 401);
    assert.deepEqual(lines.map(each => each[0]), ["warn", "info", "error"]);
    assert.match(lines[1][1], new RegExp(`will serve a at http://127.0.0.1:${port} with 8 slots when the server answers$`));
  });
  test("a request with a report claims a step for the slot that it frees", async () => {
    const item = step_id => ({ step_id, lease_epoch: 1, tool: "t", input: step_id, attempt: 1, effect_key: "k", deadline: "2030-01-01T00:00:00Z" });
    const items = [item("first")];
    const reports = [];
    let ended;
    const done = new Promise(resolve => { ended = resolve; });
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const each of request) body += each;
      body = JSON.parse(body);
      const claim = request.url.endsWith("/claim");
      if (!claim) reports.push(body);
      const answers = claim ? items.splice(0) : body.items.map(each => ({ step_id: each.step_id, status: "ok" }));
      setTimeout(() => response.end(JSON.stringify({ items: answers, ...(reports.length === 1 && !claim ? { claimed: [item("second")] } : {}) })), claim ? 50 : 0);
      if (reports.length === 2) ended();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const worker = new Keelson({ url: `http://127.0.0.1:${server.address().port}`, apiKey: "k" })
      .worker({ slots: 1, pollMs: 50, leaseMs: 9000, logger: { info() {}, warn() {}, error() {} } });
    const deadlines = [];
    worker.tool({ name: "t", handler: (_, ctx) => { deadlines.push(ctx.deadline?.getUTCFullYear()); return 1; } });
    await worker.start();
    await done;
    await worker.stop();
    assert.deepEqual(reports.map(each => [each.items[0].step_id, each.claim]),
      ["first", "second"].map(id => [id, { tools: ["t"], lease_ms: 9000, max: 1 }]));
    assert.deepEqual(deadlines, [2030, 2030]);
    server.closeAllConnections();
    server.close();
  });
  test("a cost is text", async () => {
    const { Execution } = await import("../dist/worker/execution.js");
    const { context } = new Execution({ step_id: "s", lease_epoch: 1, tool: "t" }, { note() {} });
    assert.throws(() => context.usage({ tokens: 1, cost: 0.1 }), TypeError);
    assert.throws(() => context.gateway, { code: "NO_GATEWAY", errorClass: "permanent" });
  });
  test("a worker that stops ends an upload and hands the step back", async () => {
    let uploading, ended, released;
    const began = new Promise(resolve => { uploading = resolve; });
    const broken = new Promise(resolve => { ended = resolve; });
    let items = [{ step_id: "s", lease_epoch: 1, tool: "upload", input: null, attempt: 1, effect_key: "k" }];
    const server = createServer(async (request, response) => {
      if (request.url.includes("/artifacts")) {
        request.resume().socket.on("close", ended);
        uploading();
        return;
      }
      let body = "";
      for await (const each of request) body += each;
      if (request.url.endsWith("/release")) released = JSON.parse(body).items.map(each => each.step_id);
      const answers = request.url.endsWith("/claim") ? items.splice(0) : JSON.parse(body).items.map(each => ({ step_id: each.step_id, status: "ok" }));
      setTimeout(() => response.end(JSON.stringify({ items: answers })), 20);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const worker = new Keelson({ url: `http://127.0.0.1:${server.address().port}`, apiKey: "k" }).worker({ graceMs: 100, pollMs: 50 });
    worker.tool({ name: "upload", handler: (_, ctx) => ctx.artifact("large", "text/plain", "x".repeat(2 << 20)) });
    await worker.start();
    await began;
    await worker.stop();
    await broken;
    assert.deepEqual(released, ["s"]);
    server.closeAllConnections();
    server.close();
  });
  for (const signal of ["SIGTERM", "SIGINT"]) {
    test(`${signal} lets a handler finish, and ends the process`, async () => {
      const name = `units.${crypto.randomUUID().slice(0, 8)}`;
      await client.request("POST", "/dispatch/register", { worker_id: "units", tool_specs: [{ name }] });
      const program = `import { Keelson } from "@keelson/client";
        const worker = new Keelson().worker({ pollMs: 300 });
        worker.tool({ name: "${name}", handler: async () => { console.log("begun"); await new Promise(r => setTimeout(r, 700)); return "done"; } });
        await worker.serve();`;
      const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"], cwd: new URL("..", import.meta.url) });
      const run = await client.runs.create(new Mission("units").task(new Task("t").step("s", name)));
      await once(child.stdout, "data");
      const exit = once(child, "exit");
      child.kill(signal);
      assert.deepEqual(await exit, [0, null]);
      assert.equal((await run.refresh()).state, "completed");
    });
  }

  test("an endless loop of a handler is named while it blocks", async () => {
    const name = `units.${crypto.randomUUID().slice(0, 8)}`;
    await client.request("POST", "/dispatch/register", { worker_id: "units", tool_specs: [{ name }] });
    const program = `import { Keelson } from "@keelson/client";
      const worker = new Keelson().worker({ pollMs: 300, blockedMs: 300 });
      worker.tool({ name: "${name}", handler: () => { for (;;); } });
      await worker.serve();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "inherit", "pipe"], cwd: new URL("..", import.meta.url) });
    await client.runs.create(new Mission("units").task(new Task("t").step("s", name)));
    let text = "";
    for await (const line of child.stderr.setEncoding("utf8")) {
      text += line;
      if (text.includes("has not returned")) break;
    }
    child.kill("SIGKILL");
    assert.match(text, new RegExp(`the handler of ${name} has blocked the event loop for [\\d.]+ s and has not returned`));
  });
});
