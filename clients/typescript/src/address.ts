import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CHECK_URL, KeelsonError } from "./errors.js";

/** The URL of a server and the key for it. */
export interface Address {
  readonly url: string;
  readonly apiKey: string | null;
  /** A key that is only for a server on this machine. It is sent once the address is known to be one. */
  readonly localKey: string | null;
}

/** From the environment, else from the files of the data folder. */
export function find(environment: Readonly<Record<string, string | undefined>> = process.env, home = homedir()): Address {
  const folder = environment["KEELSON_DATA_DIR"] || join(home, ".keelson");
  const url = environment["KEELSON_URL"] || read(join(folder, "url"));
  if (!url) {
    throw new KeelsonError("NO_SERVER_KNOWN",
      `no server known: set KEELSON_URL, or start one, which writes ${join(folder, "url")}`);
  }
  const apiKey = environment["KEELSON_API_KEY"] || null;
  return { url, apiKey, localKey: apiKey === null ? read(join(folder, "api-key")) : null };
}

/** The address without a slash at its end. Throws a `TypeError` with the address and its fault. */
export function checked(url: string): string {
  const address = url.trim().replace(/\/+$/, "");
  const fault = faultOf(address);
  if (fault !== null) throw new TypeError(`${JSON.stringify(url)} is not the address of a server: ${fault}; ${CHECK_URL}`);
  return address;
}

function faultOf(address: string): string | null {
  const [scheme, rest] = address.split("://", 2);
  if (rest === undefined) return `it has no scheme; write http://${address}`;
  if (!/^https?$/i.test(scheme!)) return `it begins with ${scheme}://, not with http:// or https://`;
  if (rest.endsWith("/api/v1")) return `it ends with a path that the client adds; write ${address.slice(0, -"/api/v1".length)}`;
  if (!URL.canParse(address) || rest.startsWith(":")) return "it names no host";
  const { search, hash } = new URL(address);
  return search || hash ? "it has a query or a fragment" : null;
}

/** Whether an address is one of this machine's loopback. */
export async function isLocal(url: string): Promise<boolean> {
  try {
    const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
    const found = await lookup(host, { all: true });
    return found.length > 0 && found.every(each => each.address.startsWith("127.") || each.address === "::1");
  } catch {
    return false;
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new KeelsonError("NO_SERVER_KNOWN", `cannot read ${file}: ${(e as Error).message}`, { cause: e });
  }
}
