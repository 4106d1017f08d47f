import { kind } from "./json.js";
import { type InferInput, type InferOutput, isStandard, type JsonSchema, jsonSchemaOf, type StandardSchema } from "./schema.js";

type Members = Record<string, unknown>;

/** A jq expression for use in values: `expr(".inputs.name")` is `${ .inputs.name }`. */
export const expr = (jq: string): string => `\${ ${jq} }`;

/**
 * A mission: the shape of a mission file and of the body of `POST /runs`, with its words. Values are any that JSON has; texts in
 * them may hold expressions. The server reports all problems of a plan at once.
 *
 * @typeParam Inputs of the inputs, by `declareAll`
 * @typeParam Output of the run's output, by `returns`
 */
export class Mission<Inputs = Members, Output = unknown> {
  readonly #body: Members;
  #outputSchema: StandardSchema | undefined;

  /** @param members other members of the mission, such as `goal` */
  constructor(name: string, members: Readonly<Members> = {}) {
    if (typeof name !== "string") throw new TypeError(`the name of a mission is a text, not ${kind(name)}`);
    this.#body = { name, ...members };
  }

  /** Declares an input by its JSON Schema, which may have a `default`, or by a Standard Schema. */
  declare(name: string, schema: JsonSchema | StandardSchema): this {
    this.member("inputs")[name] = declared(`input ${name} of mission ${this.#body["name"]}`, schema);
    return this;
  }

  /** Declares the members of an object's schema as inputs. */
  declareAll<S extends StandardSchema>(schema: S): Mission<InferInput<S>, Output> {
    for (const [name, each] of Object.entries((declared("inputs", schema)["properties"] ?? {}) as Record<string, JsonSchema>)) {
      this.declare(name, each);
    }
    return this;
  }

  /** Values of inputs. */
  input(values: Readonly<Members>): this {
    Object.assign(this.member("input"), values);
    return this;
  }

  /** Members of the run's configuration, such as `autonomy`. */
  config(members: Readonly<Members>): this {
    Object.assign(this.member("config"), members);
    return this;
  }

  /** For finding runs again. */
  tags(...values: readonly string[]): this {
    this.#body["tags"] = [...((this.#body["tags"] as string[] | undefined) ?? []), ...values];
    return this;
  }

  /** Your own id, unique among the workspace's runs. */
  externalId(value: string, policy?: "reject" | "existing" | "after_end"): this {
    return this.with({ external_id: value, ...(policy === undefined ? {} : { external_id_policy: policy }) });
  }

  /** Adds a task; tasks without dependencies on each other run side by side. */
  task(task: Task): this {
    if (!(task instanceof Task)) throw new TypeError(`mission ${this.#body["name"]}: task(…) takes a Task, not ${kind(task)}`);
    const plan = this.member("plan");
    plan["tasks"] = [...((plan["tasks"] as unknown[] | undefined) ?? []), task.toJSON()];
    return this;
  }

  /** The output of the completed run. */
  output(value: unknown): this {
    return this.with({ output: value });
  }

  /** Validates the output of completed runs, which has the schema's type then. */
  returns<S extends StandardSchema>(schema: S): Mission<Inputs, InferOutput<S>> {
    this.#outputSchema = schema;
    return this;
  }

  /** Any other members by their names in the mission file. */
  with(members: Readonly<Members>): this {
    Object.assign(this.#body, members);
    return this;
  }

  /** A copy of the mission built so far. */
  toJSON(): Members {
    return copyOf(this.#body) as Members;
  }

  /** The schema of `returns`. */
  get outputSchema(): StandardSchema | undefined {
    return this.#outputSchema;
  }

  private member(name: string): Members {
    return (this.#body[name] ??= {}) as Members;
  }
}

/** A task of a mission. A task without steps is agentic: its agent works in turns. */
export class Task {
  readonly #body: Members;

  /**
   * @param members of the task in the mission file, such as `depends_on` (an id or a list of ids), `when`, `for_each`, `trigger_rule`,
   *   `budget_usd`
   */
  constructor(id: string, members: Readonly<Members> = {}) {
    const given = members["depends_on"];
    const ids = typeof given === "string" ? [given] : given;
    refuse(id, [...(typeof id === "string" ? [] : [`the id of a task is a text, not ${kind(id)}`]), ...faultsOf(ids)]);
    this.#body = { id, ...members, ...(ids === undefined ? {} : { depends_on: ids }) };
  }

  /** Its id in the plan. */
  get id(): string {
    return this.#body["id"] as string;
  }

  /**
   * Adds a step that calls a tool.
   *
   * @param members of the step in the mission file, such as `timeout_seconds` and `retry`
   */
  step(name: string, tool: string, input?: unknown, members: Readonly<Members> = {}): this {
    refuse(this.id, Object.entries({ name, tool }).filter(each => typeof each[1] !== "string")
      .map(([what, value]) => `the ${what} of step ${name} is a text, not ${kind(value)}`));
    return this.add("steps", { name, tool, ...(input === undefined ? {} : { input }), ...members });
  }

  /** Adds a step that waits for a person's decision. */
  approval(name: string, question: string): this {
    return this.add("steps", { name, kind: "approval", input: { question } });
  }

  /**
   * Adds a call that undoes the task; expressions see its `.input` and `.output`. Further calls come after it, in order. A step is undone
   * on its own by the member `undo` of `step`.
   *
   * @param members of the call in the mission file, such as `name`, `timeout_seconds` and `retry`
   */
  undo(tool: string, input?: unknown, members: Readonly<Members> = {}): this {
    refuse(this.id, typeof tool === "string" ? [] : [`the tool of its undo is a text, not ${kind(tool)}`]);
    const calls = [...[this.#body["undo"] ?? []].flat(), { tool, ...(input === undefined ? {} : { input }), ...members }];
    this.#body["undo"] = calls.length > 1 ? calls : calls[0];
    return this;
  }

  /**
   * Takes over the output of an agent's task with the same key, in any run of the workspace, instead of doing the task. A step takes
   * over a result by the member `cache` of `step`.
   *
   * @param key jq; equal values have equal results
   * @param maxAge maximum age of the output: a number of `s`, `m`, `h` or `d`, such as `7d`
   */
  cache(key: string, maxAge: string): this {
    refuse(this.id, Object.entries({ key, max_age: maxAge }).filter(each => typeof each[1] !== "string")
      .map(([what, value]) => `the ${what} of its cache is a text, not ${kind(value)}`));
    this.#body["cache"] = { key, max_age: maxAge };
    return this;
  }

  /** Adds a verification of the output as the mission file writes it, such as `{kind: "jq", expression: …}`. */
  verify(verification: Readonly<Members>): this {
    return this.add("verify", verification);
  }

  /** A person has the last word on the output. */
  review(): this {
    return this.verify({ kind: "human" });
  }

  /** The task's output, instead of its last step's. */
  output(value: unknown): this {
    this.#body["output"] = value;
    return this;
  }

  /** A copy of the task built so far. */
  toJSON(): Members {
    return copyOf(this.#body) as Members;
  }

  private add(list: string, value: unknown): this {
    this.#body[list] = [...((this.#body[list] as unknown[] | undefined) ?? []), value];
    return this;
  }
}

function refuse(id: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new TypeError(`task ${id}: ${faults.join("; ")}`);
}

/** What is wrong with the ids of the tasks that a task depends on. */
function faultsOf(ids: unknown): string[] {
  if (ids === undefined || ids === null) return [];
  if (!Array.isArray(ids)) return [`depends_on is the id of a task or a list of ids, not ${kind(ids)}`];
  return ids.filter(each => typeof each !== "string").map((each: unknown) => `depends_on has ${kind(each)}`
    + (each instanceof Task ? `; write its id ${JSON.stringify(each.id)}` : ", not the id of a task"));
}

function declared(name: string, schema: JsonSchema | StandardSchema): Record<string, unknown> {
  const made = jsonSchemaOf(schema);
  if (made === null) {
    const vendor = isStandard(schema) ? schema["~standard"].vendor : "";
    throw new TypeError(`${name}: ${vendor} makes no JSON Schema of its schemas; give a JSON Schema instead`);
  }
  return made;
}

/** A copy of plain objects and arrays; other values stay as they are until they are written. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copyOf(each)]));
}
