// The only way to data: the public HTTP API. A pasted key lives in this module's memory and nowhere else.
const BASE = '/api/v1';
let key = null;
let workspace = null;
let offset = 0;
let bestTook = Infinity;
let abandoned = new AbortController();

/** A refusal of the API, or a failure to reach it (status 0). */
export class Problem extends Error {
  /** @param tag of the present version, for a refusal that shows it */
  constructor(status, body, tag = null) {
    super(body.detail ?? body.title ?? 'The server did not answer.');
    this.status = status;
    this.code = body.code ?? (status ? `HTTP_${status}` : 'UNREACHABLE');
    this.problems = body.problems ?? [];
    this.scope = body.scope;
    this.current = body.current;
    this.tag = tag;
  }
}

export const events = new EventTarget();
export function useKey(text) {
  key = text;
}
/** The workspace whose session is used, for a browser that is signed in to several; null where there is one session at most. */
export function useWorkspace(id) {
  workspace = id;
}
/** Whether people sign in at an identity provider. */
export const signsIn = () =>
  fetch('/auth/methods')
    .then((response) => response.json())
    .then((methods) => !!methods.oidc)
    .catch(() => false);
/** Ends the session of this browser, and the one at the identity provider. */
export function signOut(id) {
  fetch('/auth/logout', { method: 'POST', body: new URLSearchParams({ workspace: id }), keepalive: true })
    .then((response) => response.json())
    .then(({ location: to }) => to && location.assign(to))
    .catch(() => null);
}
/** Aborts the requests in flight when the user signs out. Their promises stay pending. */
export function abandon() {
  abandoned.abort();
  abandoned = new AbortController();
}
/** Now by the server's clock, in milliseconds. */
export function now() {
  return Date.now() + offset;
}

/** Takes the server's time from an answer to a request that began then by this clock. */
export function setTime(time, begun) {
  const took = Date.now() - begun;
  if (took > bestTook) return;
  bestTook = took;
  offset = time - (begun + took / 2);
}

function url(path, query) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const each of [value].flat()) {
      if (each !== null && each !== undefined && each !== '') parameters.append(name, each);
    }
  }
  const text = parameters.toString();
  return (path.startsWith('/api/') || path === '/readyz' ? path : BASE + path) + (text ? `?${text}` : '');
}

/** The address of a GET that a frame, an image or a new tab sends: with a session, but without headers. */
export const address = (path, query) => url(path, { ...query, workspace });

function headers(extra) {
  return { ...(key ? { Authorization: `Bearer ${key}` } : workspace ? { 'X-Workspace-ID': workspace } : {}), ...extra };
}

/**
 * Sends one request and answers with the response; throws a Problem for a refusal.
 * @param {string} method
 * @param {string} path
 * @param {{query?: object, body?: any, idempotencyKey?: string, signal?: AbortSignal, accept?: string, ifMatch?: string, ifNoneMatch?: string, range?: string, quiet?: boolean, yaml?: string}} [options]
 */
export async function send(
  method,
  path,
  { query, body, yaml, idempotencyKey, signal, accept, ifNoneMatch, ifMatch, range, quiet } = {},
) {
  const { signal: signedOut } = abandoned;
  let response;
  try {
    response = await fetch(url(path, query), {
      method,
      signal: signal ? AbortSignal.any([signal, signedOut]) : signedOut,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: headers({
        Accept: accept ?? 'application/json',
        ...(yaml !== undefined
          ? { 'Content-Type': 'application/yaml' }
          : body === undefined
            ? {}
            : { 'Content-Type': 'application/json' }),
        ...(ifMatch ? { 'If-Match': ifMatch } : {}),
        ...(range ? { Range: range } : {}),
        ...(ifNoneMatch ? { 'If-None-Match': ifNoneMatch } : {}),
        ...(idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}),
      }),
      body: yaml ?? (body === undefined ? undefined : JSON.stringify(body)),
    });
  } catch (failure) {
    if (signedOut.aborted) return new Promise(() => {});
    if (failure.name === 'AbortError') throw failure;
    if (!quiet) events.dispatchEvent(new CustomEvent('reach', { detail: false }));
    throw new Problem(0, {});
  }
  events.dispatchEvent(new CustomEvent('reach', { detail: response.status !== 503 }));
  if (response.ok || response.status === 304) return response;
  let problem = {};
  try {
    problem = await response.json();
  } catch {
    /* a proxy's page has no code */
  }
  if (response.status === 401 && path !== '/sessions') events.dispatchEvent(new Event('signed-out'));
  throw new Problem(response.status, problem, response.headers.get('ETag'));
}

/** The body of a response; stays pending if a sign-out aborts it. */
function parse(response) {
  const { signal } = abandoned;
  return response.json().catch((failure) => (signal.aborted ? new Promise(() => {}) : Promise.reject(failure)));
}

async function json(method, path, options) {
  const response = await send(method, path, options);
  return response.status === 204 ? null : parse(response);
}

/** Sends text in YAML, of which JSON is a part; answers with the body. */
export const sendYaml = (method, path, yaml, options = {}) => json(method, path, { ...options, yaml });

/** A resource with the tag of its version. */
export async function read(path) {
  const response = await send('GET', path);
  return { value: await parse(response), tag: response.headers.get('ETag') };
}

const tags = new Map();

/** The answer if it is another one than the last time, else null. */
export async function known(path) {
  const response = await send('GET', path, { ifNoneMatch: tags.get(path) });
  if (response.status === 304) return null;
  tags.set(path, response.headers.get('ETag'));
  return parse(response);
}

export const get = (path, query, signal) => json('GET', path, { query, signal });
export const put = (path, body) => json('PUT', path, { body });
export const remove = (path) => json('DELETE', path, {});

/** One click is one key: the same request again after a lost answer is executed once. */
export function post(path, body = {}, idempotencyKey = crypto.randomUUID()) {
  return json('POST', path, { body, idempotencyKey });
}

/** All pages of a list, at most so many rows; `complete` tells whether that was all. `seen` gets the rows so far after each page. */
export async function all(path, query, most = 2000, seen = null) {
  const items = [];
  let cursor;
  do {
    const page = await get(path, { ...query, cursor });
    items.push(...page.items);
    cursor = page.next_cursor;
    if (cursor) seen?.(items);
  } while (cursor && items.length < most);
  return { items, complete: !cursor };
}

/** A response whose body is read as it comes. That it fails does not mean that the server is out of reach: proxies cut streams. */
export function open(path, query, signal) {
  return send('GET', path, { query, signal, accept: 'text/event-stream', quiet: true });
}
