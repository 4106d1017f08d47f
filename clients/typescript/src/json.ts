import { randomUUID } from "node:crypto";
import type { Decimal } from "./generated/api.js";
import { KINDS } from "./generated/kinds.js";
import { KeelsonError } from "./errors.js";

// A number with a fraction is read as a text with this mark, and written from one. No input can contain the mark.
const MARK = `decimal:${randomUUID()}:`;
const MARKED = new RegExp(`"${MARK}(-?[0-9][0-9.eE+-]*)"`, "g");
const DECIMAL = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const EXACT_DIGITS = 15;
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
      refuse(name, this[name], written);
      return written;
    });
  } catch (e) {
    if (e instanceof KeelsonError) throw e;
    throw new KeelsonError("NOT_JSON", `not writable as JSON: ${(e as Error).message.split("\n")[0]}`, { cause: e });
  }
  if (text === undefined) return "null";
  return text.includes(MARK) ? text.replace(MARKED, "$1") : text;
}

/** Refuses what `JSON.stringify` drops or writes as something else. */
function refuse(name: string, value: unknown, written: unknown): void {
  let what: string | null = null;
  if (typeof written === "function" || typeof written === "symbol" || typeof written === "bigint") what = `a ${typeof written}`;
  else if (typeof written === "number" && !Number.isFinite(written)) what = String(written);
  else if (typeof written === "object" && written !== null && !Array.isArray(written)) {
    const prototype: unknown = Object.getPrototypeOf(written);
    if (prototype !== null && prototype !== Object.prototype && written === value
      && (Object.keys(written).length === 0 || ArrayBuffer.isView(written))) {
      what = `an instance of ${written.constructor?.name ?? "a class"}`;
    }
  }
  if (what !== null) throw new KeelsonError("NOT_JSON", `${what} is not JSON${name === "" ? "" : ` (${name})`}`);
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
  const members = kind.startsWith("{") ? null : kind.startsWith("Page of ") ? { items: `[${kind.slice(8)}]` } : KINDS[kind];
  const record = value as Record<string, unknown>;
  for (const [name, each] of Object.entries(record)) {
    const inner = members === null ? kind.slice(1, -1) : Object.hasOwn(members ?? {}, name) ? members![name as "items"]! : "";
    if (inner !== "" || marked) define(record, name, convert(each, inner, marked));
  }
  return record;
}

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
