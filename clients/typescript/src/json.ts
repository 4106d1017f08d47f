import { randomUUID } from "node:crypto";
import type { Decimal } from "./generated/api.js";
import { KINDS } from "./generated/kinds.js";
import { KeelsonError } from "./errors.js";

// A number with a fraction is read as a text with this mark, and written from one. No input can contain the mark.
const MARK = `decimal:${randomUUID()}:`;
const MARKED = new RegExp(`"${MARK}(-?[0-9][0-9.eE+-]*)"`, "g");
const DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const EXACT_DIGITS = 15;
const DEEPEST = 200;
const MOST_FAULTS = 20;
const REMEDIES: Readonly<Record<string, string>> = { Set: "; make it an array", Map: "; make it an object", Promise: "; await it",
  function: "; call it", bigint: "; make it a number or a text" };
const QUOTE = 34;
const BACKSLASH = 92;

/** A decimal that `stringify` writes as a number with all its digits. */
export function exact(decimal: Decimal): unknown {
  if (!DECIMAL.test(decimal)) throw new KeelsonError("NOT_JSON", `not a decimal number: ${decimal}`);
  return MARK + decimal;
}

/** Writes a value that JSON has, else throws `NOT_JSON`. Members that are undefined are left out. */
export function stringify(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, function (this: Record<string, unknown>, name: string, written: unknown) {
      if (faultOf(this[name], written) !== null) throw new TypeError("a value that JSON lacks");
      return written;
    });
  } catch (e) {
    const found = faults(value);
    if (found.length === 0) found.push(["", `is not writable as JSON: ${(e as Error).message.split("\n")[0]}`]);
    const [pointer, message] = found[0]!;
    throw new KeelsonError("NOT_JSON", `${pointer || "the value"} ${message}${found.length > 1 ? `; ${found.length - 1} more` : ""}`,
      { cause: e, document: { problems: found.map(each => ({ code: "NOT_JSON", pointer: each[0], message: each[1] })) } });
  }
  if (text === undefined) return "null";
  return text.includes(MARK) ? text.replace(MARKED, "$1") : text;
}

/** What is wrong with a value that `JSON.stringify` drops or writes as something else; null if nothing is. */
function faultOf(value: unknown, written: unknown): string | null {
  if (typeof written === "number") return Number.isFinite(written) ? null : `is ${written}, which JSON lacks`;
  if (typeof written === "function" || typeof written === "symbol" || typeof written === "bigint") {
    return `is ${kind(written)}, which JSON lacks${REMEDIES[typeof written] ?? ""}`;
  }
  if (typeof written !== "object" || written === null || Array.isArray(written)) return null;
  const prototype: unknown = Object.getPrototypeOf(written);
  const strange = prototype !== null && prototype !== Object.prototype && written === value
    && (Object.keys(written).length === 0 || ArrayBuffer.isView(written));
  return strange ? `is ${kind(written)}, which JSON lacks${REMEDIES[written.constructor?.name] ?? ""}` : null;
}

/** The places of a value that JSON has no form for, each with what is there; 20 of them at most. */
function faults(value: unknown, pointer = "", name = "", within: readonly unknown[] = []): [string, string][] {
  let written = value;
  try {
    const convert = (value as { toJSON?: unknown } | null | undefined)?.toJSON;
    if (typeof convert === "function") written = convert.call(value, name) as unknown;
  } catch (e) {
    return [[pointer, `is not writable as JSON: ${(e as Error).message}`]];
  }
  const fault = faultOf(value, written);
  if (fault !== null) return [[pointer, fault]];
  if (typeof written !== "object" || written === null) return [];
  if (within.includes(written)) return [[pointer, "contains itself"]];
  if (within.length > DEEPEST) return [[pointer, "is nested too deep"]];
  const found: [string, string][] = [];
  for (const [member, each] of Object.entries(written)) {
    found.push(...faults(each, `${pointer}/${member.replaceAll("~", "~0").replaceAll("/", "~1")}`, member, [...within, written]));
    if (found.length >= MOST_FAULTS) break;
  }
  return found.slice(0, MOST_FAULTS);
}

/** A value in a few words, for messages about it. */
export function kind(value: unknown): string {
  if (value === null || value === undefined || typeof value === "boolean") return String(value);
  if (typeof value === "number") return `the number ${value}`;
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, 60))}`;
  if (typeof value !== "object") return `a ${typeof value}`;
  if (Array.isArray(value)) return "an array";
  const name = Object.getPrototypeOf(value) === null ? "Object" : (value.constructor?.name ?? "Object");
  return name === "Object" ? "an object" : `${/^[aeiou]/i.test(name) ? "an" : "a"} ${name}`;
}

/**
 * Reads an answer.
 *
 * @param kind of the document: a record, or one in `[]` or `{}`; `Page of RECORD` for a page of a list; empty for free JSON
 */
export function parse(text: string, kind = ""): unknown {
  if (text === "") return null;
  const marked = /\d[.eE]|\d{16}/.test(text) ? markNumbers(text) : text;
  const document: unknown = JSON.parse(marked);
  return kind === "" && marked === text ? document : convert(document, kind, marked !== text);
}

/** Turns numbers that a float may not have exactly into marked texts. */
function markNumbers(text: string): string {
  let out = "";
  let from = 0;
  for (let i = 0; i < text.length;) {
    const c = text.charCodeAt(i);
    if (c === QUOTE) {
      i = endOfString(text, i);
    } else if (c === 45 || (c >= 48 && c <= 57)) {
      let end = i + 1;
      while (end < text.length && "0123456789.eE+-".includes(text.charAt(end))) end++;
      const number = text.slice(i, end);
      if (number.length > EXACT_DIGITS || /[.eE]/.test(number)) {
        out += `${text.slice(from, i)}"${MARK}${number}"`;
        from = end;
      }
      i = end;
    } else {
      i++;
    }
  }
  return from === 0 ? text : out + text.slice(from);
}

function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
}

function convert(value: unknown, kind: string, marked: boolean): unknown {
  if (kind === "decimal") return value === null ? null : plain(unmarked(value));
  if (kind === "time") return typeof value === "string" ? new Date(value) : value;
  if (kind === "" && !marked) return value;
  if (typeof value === "string") return value.startsWith(MARK) ? Number(value.slice(MARK.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const inner = kind.startsWith("[") ? kind.slice(1, -1) : "";
    return value.map(each => convert(each, inner, marked));
  }
  const members = kind.startsWith("{") ? null : kind.startsWith("Page of ") ? pageOf(kind.slice(8)) : KINDS[kind];
  const record = value as Record<string, unknown>;
  for (const [name, each] of Object.entries(record)) {
    const inner = members === null ? kind.slice(1, -1) : Object.hasOwn(members ?? {}, name) ? members![name as "items"] : "";
    if (inner !== "" || marked) define(record, name, convert(each, inner, marked));
  }
  return record;
}

/** Kinds of the members of a page. One of answers to reports has the steps that were claimed, too. */
const pageOf = (record: string): { items: string; claimed?: string } =>
  ({ items: `[${record}]`, ...(record === "ReportAnswer" ? { claimed: "[WorkItem]" } : {}) });

/** Sets a member of any name, including `__proto__`. */
function define(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  else record[name] = value;
}

const unmarked = (value: unknown): string => {
  const text = String(value);
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
};

/** The decimal without an exponent. */
function plain(decimal: string): Decimal {
  const parts = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d+)$/.exec(decimal);
  if (parts === null) return decimal;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + "0".repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
