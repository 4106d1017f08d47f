// Writes src/generated/: types of the API's records, and which of their members are decimals and times.
//   node scripts/generate.mjs OPENAPI [--compare]      OPENAPI: address or file of a server's /openapi.json
// With --compare it writes nothing and fails if a file differs.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import openapi, { astToString } from "openapi-typescript";
import ts from "typescript";

const ROOTS = ["Run", "RunStatus", "Task", "TaskRound", "Step", "Event", "Explanation", "Artifact", "LogLine", "InboxItem", "InboxDecision", "Trigger", "TriggerDelivery", "TriggerDeliveryReceipt", "TriggerDeliveryReplayed", "WorkItem", "ReportAnswer",
  "Mission", "RunActionFork", "Heartbeat", "Completion", "Failure", "Release", "AnnouncedTool", "Agent"];
// The only numbers of the API with a fraction that are no money. They stay numbers.
const FLOATS = new Set(["fraction", "progress", "bytes_per_token", "verifier_score", "body"]);
const FOLDER = new URL("../src/generated/", import.meta.url);
const BY = "// Made by scripts/generate.mjs from the server's OpenAPI document; do not edit.\n";

const [source, option] = process.argv.slice(2);
if (!source) throw new Error("the address or file of the OpenAPI document is missing");
const text = source.startsWith("http") ? await (await fetch(source)).text() : readFileSync(source, "utf8");
const schemas = JSON.parse(text).components.schemas;

const used = new Set();
function reach(name) {
  if (used.has(name)) return;
  if (!schemas[name]) throw new Error(`the document has no schema ${name}`);
  used.add(name);
  for (const match of JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/(\w+)"/g)) reach(match[1]);
}
ROOTS.forEach(reach);
const names = [...used].sort();

const types = schema => [schema.type ?? []].flat().filter(each => each !== "null");

/** The kind of a value: `time`, `decimal`, a record's name, one of these in `[]` or `{}`; empty for JSON as it is. */
function kind(schema, member = "") {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return schemas[name].properties ? name : kind(schemas[name], member);
  }
  const variants = (schema.anyOf ?? schema.oneOf ?? []).filter(each => each.type !== "null");
  if (variants.length === 1) return kind(variants[0], member);
  const all = types(schema);
  if (all.includes("number")) return FLOATS.has(member) ? "" : "decimal";
  if (schema.format === "date-time") return "time";
  if (all[0] === "array") return schema.items && kind(schema.items) ? `[${kind(schema.items)}]` : "";
  if (all[0] === "object" && typeof schema.additionalProperties === "object") {
    return kind(schema.additionalProperties) ? `{${kind(schema.additionalProperties)}}` : "";
  }
  return "";
}

const kinds = {};
for (const name of names) {
  const members = Object.entries(schemas[name].properties ?? {}).map(([member, schema]) => [member, kind(schema, member)]);
  const told = members.filter(([, each]) => each);
  if (told.length) kinds[name] = Object.fromEntries(told);
}

const named = name => ts.factory.createTypeReferenceNode(name);
const nullable = (node, schema) => [schema.type].flat().includes("null")
  ? ts.factory.createUnionTypeNode([node, ts.factory.createLiteralTypeNode(ts.factory.createNull())]) : node;
/** Adds what the generator does not know: exact decimals, times, and values of enumerations that are still to come. */
function transform(schema, { path }) {
  const member = path?.split("/").at(-1);
  if (types(schema).includes("number") && !FLOATS.has(member)) return nullable(named("Decimal"), schema);
  if (schema.format === "date-time") return nullable(named("Date"), schema);
  if (schema.enum && !schema.enum.some(each => typeof each !== "string" && each !== null)) {
    const values = schema.enum.map(each => ts.factory.createLiteralTypeNode(
      each === null ? ts.factory.createNull() : ts.factory.createStringLiteral(each)));
    return ts.factory.createUnionTypeNode([...values, named("Other")]);
  }
  return undefined;
}
const document = { openapi: "3.1.0", info: { title: "Keelson", version: "1" }, paths: {},
  components: { schemas: Object.fromEntries(names.map(name => [name, schemas[name]])) } };
const ast = await openapi(document, { transform, silent: true, defaultNonNullable: false });
const api = astToString(ast.filter(node => node.name?.text === "components"));

const files = {
  "api.ts": BY + `
/** An exact decimal number as text, such as "0.000003". */
export type Decimal = string;
/** A value of an enumeration that this version does not know. */
export type Other = string & {};

${api}`,
  "kinds.ts": BY + `
/** By record and member: \`time\`, \`decimal\`, a record, or one of these in \`[]\` or \`{}\`. */
export const KINDS: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(kinds, null, 2)};
`,
};
let differ = false;
mkdirSync(FOLDER, { recursive: true });
for (const [name, content] of Object.entries(files)) {
  const file = new URL(name, FOLDER);
  if (option !== "--compare") writeFileSync(file, content);
  else if (readFileSync(file, "utf8") !== content) {
    differ = true;
    console.error(`src/generated/${name} differs; the test TypeScriptClientTest writes it with -Dupdate.docs=true`);
  }
}
process.exit(differ ? 1 : 0);
