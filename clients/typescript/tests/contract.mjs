// Executes the contract suite with this client: clients/contract/README.md describes cases and expectations.
//   node tests/contract.mjs [GROUP/NAME …]      prints a JSON line for each case; KEELSON_URL and KEELSON_API_KEY name the server
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { Keelson, KeelsonError, StepFailure } from "@keelson/client";

const PROXY = fileURLToPath(new URL("../../contract/fault_proxy.py", import.meta.url));
const PYTHON = process.env.PYTHON ?? "python3";
const { KEELSON_URL: SERVER, KEELSON_API_KEY: KEY } = process.env;
const LANES = 12;
const LONG = 20_000;

/** A value that JSON lacks. */
class Unserializable {
  method() {}
}

async function http(url, body, key) {
  const answer = await fetch(url, { method: body === undefined ? "GET" : "POST", body: body === undefined ? undefined : JSON.stringify(body),
    headers: { "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}) } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** A part of a case with its placeholders replaced. */
function filled(value, names) {
  if (typeof value === "string") return value.replace(/\$(KEY|TOOL|AGENT)/g, (_, name) => names[name]);
  if (Array.isArray(value)) return value.map(each => filled(each, names));
  if (value === null || typeof value !== "object") return value;
  if ("$repeat" in value) return value.$repeat.repeat(value.times);
  if ("$unserializable" in value) return new Unserializable().method;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [filled(name, names), filled(each, names)]));
}

const shown = value => value instanceof Date ? value.toISOString() : value;
const DECIMAL = /^-?\d+(\.\d+)?$/;
const short = text => (/^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, "") : text);

/** Throws unless the value is as wanted. */
function compare(wanted, value, where) {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(value) || value.length !== wanted.length) throw new Error(`${where} is ${inspect(value)}, not ${wanted.length} elements`);
    wanted.forEach((each, i) => compare(each, value[i], `${where}[${i}]`));
  } else if (wanted !== null && typeof wanted === "object") {
    for (const [name, each] of Object.entries(wanted)) compare(each, value?.[name === "undo" ? "undoing" : name], `${where}.${name}`);
  } else if (typeof wanted === "string" && wanted.startsWith("~")) {
    if (!new RegExp(wanted.slice(1)).test(String(value))) throw new Error(`${where} is ${inspect(value)}, without ${wanted.slice(1)}`);
  } else {
    const same = typeof wanted === "string" && DECIMAL.test(wanted) && typeof value === "string"
      ? short(value) === short(wanted) : shown(value) === wanted;
    if (!same) throw new Error(`${where} is ${inspect(shown(value)).slice(0, 200)}, not ${inspect(wanted).slice(0, 200)}`);
  }
}

/** An address where nothing listens. */
async function away() {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address();
  listener.close();
  return `http://127.0.0.1:${port}`;
}

class Proxy {
  static async open() {
    const proxy = new Proxy();
    proxy.process = spawn(PYTHON, [PROXY, "--upstream", SERVER], { stdio: ["pipe", "pipe", "inherit"] });
    [proxy.url] = (await once(createInterface(proxy.process.stdout), "line")).map(line => JSON.parse(line).url);
    return proxy;
  }
  begin = faults => http(`${this.url}/-/case`, { faults });
  log = route => http(`${this.url}/-/log?route=${encodeURIComponent(route)}`);
  close = () => this.process.stdin.end();
}

/** One execution of a case. */
class Execution {
  counters = {};
  left = {};
  texts = [];
  names = { KEY: `key-${randomUUID()}`, TOOL: `tool.${randomUUID().slice(0, 8)}`, AGENT: `agent-${randomUUID().slice(0, 8)}` };

  constructor(source, missions, proxy) {
    this.used = name => JSON.stringify([source, missions]).includes(name) && JSON.stringify(source.when).match(/"mission"/)
      && JSON.stringify([source, ...source.when.map(call => missions[call.mission] ?? "")]).includes(name);
    this.case = filled(source, this.names);
    this.missions = filled(missions, this.names);
    this.proxy = proxy;
  }

  async execute() {
    const { given = {}, when, then } = this.case;
    if (this.used("$AGENT")) await http(`${SERVER}/api/v1/agents`, { slug: this.names.AGENT, name: this.names.AGENT, tools: ["echo"], runs_on: "workers" }, KEY);
    if (this.used("$TOOL")) await http(`${SERVER}/api/v1/dispatch/register`, { worker_id: "contract", tool_specs: [{ name: this.names.TOOL }] }, KEY);
    await this.proxy.begin(given.faults ?? []);
    const { timeout_ms: timeoutMs, silence_ms: silenceMs, api_key: apiKey = KEY, server } = given.client ?? {};
    this.client = new Keelson({ url: server === "away" ? await away() : this.proxy.url, apiKey,
      ...(timeoutMs ? { timeoutMs } : {}), ...(silenceMs ? { silenceMs } : {}) });
    let value, error, took;
    try {
      for (const [i, call] of when.entries()) {
        const begun = performance.now();
        try {
          value = await this.call({ ...call });
        } catch (e) {
          if (!(e instanceof KeelsonError) || i < when.length - 1) throw e;
          error = e;
        }
        took = performance.now() - begun;
        if (!error && (call.call === "create" || call.call === "fork")) this.run = value;
      }
    } finally {
      await this.worker?.stop();
    }
    await this.judge(then, value, error, took);
  }

  async call({ call, id, mission, idempotency_key: idempotencyKey, ...call_ }) {
    const { runs } = this.client;
    const run = id ? { get: () => runs.get(id), events: options => this.foreign(id).events(options) } : this.run;
    switch (call) {
      case "create": return runs.create(this.missions[mission], { ...call_, idempotencyKey });
      case "get": return runs.get(id ?? this.run.id);
      case "list": return { items: await Array.fromAsync_(runs.list({ name: call_.name, archived: call_.archived, page: call_.limit })) };
      case "request": return this.client.request(call_.method, call_.path, call_.body);
      case "trigger": return (this.trigger = await this.client.triggers.create(this.missions[mission]));
      case "trigger_off": return this.client.triggers.disable(this.trigger.id);
      case "deliveries": return { items: await Array.fromAsync_(this.client.triggers.deliveries(this.trigger.id)) };
      case "send_event": return { items: await this.client.sendEvent(call_.name, call_.event_id, call_.data) };
      case "start_worker": return this.startWorker();
      case "stop_worker": return this.worker.stop();
      case "await_tool": return this.until(() => Object.entries(call_).every(([what, n]) => this.count(this.names.TOOL)[what] >= n), call_);
      case "await_run": case "await_undo": return this.until(async () => {
        const now = await runs.get(this.run.id);
        const seen = call === "await_undo" ? now.undoing : now;
        return seen && Object.entries(call_).every(([name, each]) => seen[name] === each) && now;
      }, call_);
      case "inbox": case "step": {
        const items = call === "inbox" ? this.client.inbox.list({ run_id: this.run.id }) : this.run.steps();
        const { value: { id: found } } = await items.next();
        return this.client[call === "inbox" ? "inbox" : "steps"][call_.answer](found, { reason: call_.reason });
      }
      case "wait": return run.wait({ timeoutMs: call_.timeout_ms ?? 30_000 });
      case "events": return this.events(run.events({ after: call_.after }), call_);
      case "steps": case "artifacts": case "logs": return { items: await Array.fromAsync_(run[call]()) };
      case "signal": return run.signal(call_.name, call_.payload);
      case "fork": return run.fork(call_.task, { inputs: call_.inputs });
      default: return run[call](call_); // start, explain, approve, cancel, retry, undo, restore
    }
  }

  /** Calls about a run that was not read. */
  foreign(id) {
    const made = Object.create(Object.getPrototypeOf(this.run ?? {}));
    return made.events ? made : { events: () => this.client.runs.get(id).then(each => each.events()) };
  }

  async events(stream, { after = 0, take }) {
    const seen = [];
    for await (const event of await stream) {
      seen.push(event);
      if (seen.length === take) break;
    }
    return { count: seen.length, gapless: seen.every((each, i) => each.seq === after + 1 + i), first_seq: seen[0]?.seq,
      first: seen[0]?.event_type, last: seen.at(-1)?.event_type };
  }

  async until(condition, wanted) {
    for (const end = performance.now() + LONG; performance.now() < end; await sleep(20)) {
      const found = await condition();
      if (found) return found;
    }
    throw new Error(`${inspect(wanted)} has not come; the counters are ${inspect(this.counters)}`);
  }

  count(name) {
    return (this.counters[name] ??= { begun: 0, returned: 0, cancelled: 0 });
  }

  async startWorker() {
    const { lease_ms: leaseMs = 30_000, grace_ms: graceMs = 5000, slots = 8, chain_ms: chainMs = 20, effects = {}, tools = {}, agents = {} } = this.case.given.worker;
    const keep = text => this.texts.push(text);
    this.worker = this.client.worker({ leaseMs, graceMs, slots, chainMs, pollMs: 500, logger: { info: keep, warn: keep, error: keep } });
    for (const [name, scripts] of Object.entries(tools)) {
      this.left[name] ??= [...scripts];
      this.worker.tool({ name, effects: effects[name], handler: (input, ctx) => this.act(name, input, ctx) });
    }
    for (const [slug, scripts] of Object.entries(agents)) {
      this.left[slug] ??= [...scripts];
      this.worker.agent(slug, turn => this.act(slug, turn.input, turn.ctx, turn));
    }
    await this.worker.start();
  }

  /** One execution of a handler by its script. */
  async act(name, input, ctx, turn) {
    const counter = this.count(name);
    counter.begun++;
    const ended = value => (counter.returned++, value);
    for (const action of this.left[name].length > 1 ? this.left[name].shift() : this.left[name][0]) {
      const [[what, value]] = Object.entries(action);
      switch (what) {
        case "return": return ended(value);
        case "echo": return ended(input[value]);
        case "return_details": return ended(ctx.previousDetails);
        case "fail": throw new StepFailure(value.code, value.error_class, value.message);
        case "raise": throw new Error(value);
        case "busy_ms": for (const end = performance.now() + value; performance.now() < end;); break;
        case "wait_ms": await sleep(value, undefined, { signal: ctx.signal }); break;
        case "hold":
          if (!ctx.signal.aborted) await once(ctx.signal, "abort");
          counter.cancelled++;
          break;
        case "details": case "log": case "usage": ctx[what](value); break;
        case "progress": ctx.progress(...value); break;
        case "artifact": await ctx.artifact(value.name, value.content_type, value.text); break;
        case "call_tool": return ended(turn.call(value.tool, value.input));
        case "done_with_error": return ended(turn.done(turn.results[0].error));
        case "done_with_result": return ended(turn.done(turn.results[0].output));
        default: throw new Error(`no action ${what}`);
      }
    }
  }

  async judge({ result, error: wanted, types = {}, run, requests = {}, same_header = {}, tools = {}, took_ms = {}, hidden = [] }, value, error, took) {
    if (Boolean(error) !== Boolean(wanted)) throw error ?? new Error(`the last call gave ${inspect(value)}, not ${inspect(wanted)}`);
    const { retry_after: retryAfter, ...other } = wanted ?? {};
    if (wanted) compare({ ...other, ...(retryAfter === undefined ? {} : { retryAfter }) }, error, "error");
    compare(result ?? {}, value, "result");
    for (const [name, kind] of Object.entries(types)) {
      const typed = value[name];
      if (kind === "decimal" ? typeof typed !== "string" || !DECIMAL.test(typed) : !(typed instanceof Date)) throw new Error(`${name} is ${inspect(typed)}, not a ${kind}`);
    }
    if (took < (took_ms.at_least ?? 0) || took > (took_ms.at_most ?? Infinity)) throw new Error(`the call took ${took} ms, not ${inspect(took_ms)}`);
    for (const end = performance.now() + 10_000; run;) {
      try {
        compare(run, await http(`${SERVER}/api/v1/runs/${this.run.id}`, undefined, KEY), "run");
        break;
      } catch (e) {
        if (performance.now() > end) throw e;
        await sleep(50);
      }
    }
    for (const [route, each] of Object.entries(requests)) {
      const log = await this.proxy.log(route);
      compare(each, { sent: log.length, reached: log.filter(entry => entry.reached).length }, route);
    }
    for (const [route, header] of Object.entries(same_header)) {
      const values = new Set((await this.proxy.log(route)).map(entry => entry.headers[header]));
      if (values.size !== 1 || values.has(undefined)) throw new Error(`${route} has ${header} ${inspect(values)}`);
    }
    for (const [name, each] of Object.entries(tools)) compare(each, this.count(name), name);
    const texts = [this.client, this.worker, value, error].flatMap(each => [inspect(each, { depth: 9, showHidden: true }), String(each), JSON.stringify(each) ?? ""]);
    for (const secret of [KEY, ...hidden]) {
      if ([...texts, ...this.texts, error?.stack ?? ""].some(text => text.includes(secret))) throw new Error("a secret is shown");
    }
  }
}

Array.fromAsync_ = async items => {
  const all = [];
  for await (const each of items) all.push(each);
  return all;
};

const suite = JSON.parse(execFileSync(PYTHON, [PROXY, "--cases"], { maxBuffer: 1 << 26 }));
const exceptions = JSON.parse(readFileSync(new URL("exceptions.json", import.meta.url)));
const patterns = process.argv.slice(2);
const nameOf = each => `${each.group}/${each.name}`;
const chosen = suite.cases.filter(each => patterns.length === 0 || patterns.some(pattern => nameOf(each).includes(pattern)));
// A busy handler stops all other cases of this process: these come last, one after the other.
const isBusy = each => JSON.stringify(each).includes("busy_ms");
const queue = chosen.filter(each => !isBusy(each)).sort((a, b) => (b.group === "worker") - (a.group === "worker"));
let good = true;

async function lane(cases) {
  const proxy = await Proxy.open();
  for (let each = cases.shift(); each; each = cases.shift()) {
    const begun = performance.now();
    let failure = null;
    try {
      await new Execution(each, suite.missions, proxy).execute();
    } catch (e) {
      failure = e instanceof Error ? (e.stack ?? e.message) : String(e);
    }
    const exception = exceptions[nameOf(each)] ?? null;
    good &&= (failure === null) === (exception === null);
    console.log(JSON.stringify({ case: nameOf(each), seconds: Math.round(performance.now() - begun) / 1000, failure, exception }));
  }
  proxy.close();
}
await Promise.all(Array.from({ length: Math.min(LANES, queue.length) }, () => lane(queue)));
await lane(chosen.filter(isBusy));
process.exit(good ? 0 : 1);
