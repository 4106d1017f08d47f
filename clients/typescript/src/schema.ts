/**
 * Standard Schema (https://standardschema.dev), which Zod, Valibot, ArkType and others implement. With its JSON Schema part, as of
 * Zod 4.2, tools and missions are described by it, too.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Result<Output> | Promise<Result<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> } | undefined;
  };
}

type Result<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema, as a plain object. */
export type JsonSchema = { readonly [member: string]: unknown };

/** The type of a value after its validation. */
export type InferOutput<S> = S extends { readonly "~standard": { readonly types?: { readonly output: infer O } | undefined } } ? O
  : unknown;

/** The type of a value before its validation. */
export type InferInput<S> = S extends { readonly "~standard": { readonly types?: { readonly input: infer I } | undefined } } ? I
  : unknown;

export const isStandard = (schema: unknown): schema is StandardSchema =>
  schema !== null && (typeof schema === "object" || typeof schema === "function") && "~standard" in schema;

/** The JSON Schema of either kind of schema; null if its library makes none. */
export function jsonSchemaOf(schema: StandardSchema | JsonSchema): Record<string, unknown> | null {
  if (!isStandard(schema)) return { ...schema };
  const made = schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  if (!made) return null;
  const { $schema: _, ...members } = made;
  return members;
}

/**
 * The validated input of a tool, or the issues as text. A member that the schema does not describe is an issue where its library would
 * drop it in silence.
 */
export async function fitting(schema: StandardSchema | JsonSchema | undefined, value: unknown):
  Promise<{ readonly value: unknown } | { readonly issues: string }> {
  const result = await validated(schema, value);
  if (!isStandard(schema) || typeof value !== "object" || value === null || Array.isArray(value)) return result;
  const described = jsonSchemaOf(schema);
  const properties = described?.["properties"];
  if (typeof properties !== "object" || properties === null || described!["additionalProperties"] !== undefined) return result;
  const known = Object.keys(properties);
  const unknown = Object.keys(value).filter(name => !known.includes(name))
    .map(name => `/${name} is unknown; known: ${known.join(", ") || "none"}`);
  if (unknown.length === 0) return result;
  return { issues: [...("issues" in result ? [result.issues] : []), ...unknown].join("; ") };
}

/** The validated value, or the issues as text. A plain JSON Schema validates nothing here. */
export async function validated(schema: StandardSchema | JsonSchema | undefined, value: unknown):
  Promise<{ readonly value: unknown } | { readonly issues: string }> {
  if (!isStandard(schema)) return { value };
  const result = await schema["~standard"].validate(value);
  if (!result.issues) return { value: result.value };
  return { issues: result.issues.map(each => {
    const where = (each.path ?? []).map(part => String(typeof part === "object" ? part.key : part)).join("/");
    return where === "" ? each.message : `/${where}: ${each.message}`;
  }).join("; ") };
}
