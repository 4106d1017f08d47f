// Executes the TypeScript blocks of pages as written: node tests/snippets.mjs PAGE …
// A block that begins with `// NAME.ts` is a file: those with `worker.serve()` serve while the others are executed. All other blocks of a
// page are one program. All are compiled with strict types first. KEELSON_URL and KEELSON_API_KEY name the server.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const HOME = fileURLToPath(new URL("..", import.meta.url));
const LONG = 60_000;

function blocks(page) {
  const files = {};
  for (const [, block] of readFileSync(page, "utf8").matchAll(/^```ts\n(.*?)^```/gms)) {
    const name = /^\/\/ (\w+\.ts)\n/.exec(block)?.[1] ?? "page.ts";
    files[name] = (files[name] ?? "") + block;
  }
  return files;
}

// Tells when a program listens to SIGTERM, which a worker does once it has started.
const TELL = `data:text/javascript,process.on("newListener", name => {
  if (name === "SIGTERM") process.send("serving", () => process.disconnect());
});`;

/** Waits until the server knows the tools of all workers. */
async function known(text) {
  const names = [...text.matchAll(/^ {2}name: "([\w.]+)"/gm)].map(match => match[1]);
  const { KEELSON_URL, KEELSON_API_KEY } = process.env;
  for (const end = performance.now() + LONG; performance.now() < end; await sleep(100)) {
    const tools = await (await fetch(`${KEELSON_URL}/api/v1/tools`, { headers: { Authorization: `Bearer ${KEELSON_API_KEY}` } })).text();
    if (names.every(name => tools.includes(`"${name}"`))) return;
  }
  throw new Error(`no worker of ${names} has come`);
}

for (const page of process.argv.slice(2)) {
  const folder = join(HOME, "build", "snippets", basename(page, ".md"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = blocks(page);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  execFileSync(process.execPath, [join(HOME, "node_modules/typescript/bin/tsc"), "--strict", "--target", "ES2022", "--module", "NodeNext",
    "--types", "node", "--skipLibCheck", ...Object.keys(files).map(name => join(folder, name))], { stdio: ["ignore", "inherit", "inherit"], cwd: HOME });
  const programs = Object.entries(files).map(([name, text]) => ({ name, text, file: join(folder, name.replace(/ts$/, "js")) }));
  const isWorker = each => each.text.includes("worker.serve()");
  const workers = programs.filter(isWorker).map(each => spawn(process.execPath, ["--import", TELL, each.file],
    { stdio: ["ignore", "inherit", "inherit", "ipc"] }));
  try {
    await Promise.all(workers.map(each => once(each, "message")));
    await known(programs.filter(isWorker).map(each => each.text).join("\n"));
    for (const each of programs.filter(each => !isWorker(each))) {
      console.log(`== ${basename(page)} ${each.name}`);
      execFileSync(process.execPath, [each.file], { stdio: "inherit", timeout: LONG });
    }
  } finally {
    for (const each of workers) each.kill("SIGTERM");
  }
  for (const each of workers) {
    const [code] = each.exitCode === null ? await once(each, "exit") : [each.exitCode];
    if (code !== 0) throw new Error(`a worker of ${page} has ended with ${code}`);
  }
}
