// An OpenID provider (oidc-provider, which is certified) for the tests of sign-in. It listens on a free port, prints it, and obeys
// requests below /control: clients, people, times, new keys, and outages.
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import Provider from 'oidc-provider';

const state = { ttl: 3600, down: false, people: {}, inIdToken: false };
const stored = new Map();
const grants = new Map();

class Adapter {
  constructor(model) {
    this.model = model;
  }
  key(id) {
    return `${this.model}:${id}`;
  }
  async upsert(id, payload) {
    stored.set(this.key(id), payload);
    if (payload.grantId) grants.set(payload.grantId, [...(grants.get(payload.grantId) ?? []), this.key(id)]);
    if (payload.uid && this.model === 'Session') stored.set(`uid:${payload.uid}`, id);
  }
  async find(id) {
    return stored.get(this.key(id));
  }
  async findByUid(uid) {
    return stored.get(this.key(stored.get(`uid:${uid}`)));
  }
  async findByUserCode() {
    return undefined;
  }
  async destroy(id) {
    stored.delete(this.key(id));
  }
  async consume(id) {
    const found = stored.get(this.key(id));
    if (found) found.consumed = Math.floor(Date.now() / 1000);
  }
  async revokeByGrantId(grant) {
    for (const key of grants.get(grant) ?? []) stored.delete(key);
  }
}

function keys() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] };
}

let issuer;
let jwks = keys();
function create() {
  const provider = new Provider(issuer, {
    adapter: Adapter,
    jwks,
    // Without the guard against addresses of this machine.
    fetch: (url, { dispatcher: _, ...options }) => fetch(url, options),
    claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'offline_access', 'profile', 'email', 'groups'],
    conformIdTokenClaims: !state.inIdToken,
    cookies: { keys: ['a key of a test'] },
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      rpInitiatedLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_, client) => (client.clientId.startsWith('robot') ? 'urn:keelson' : undefined),
        getResourceServerInfo: () => ({
          scope: '',
          audience: 'keelson-api',
          accessTokenFormat: 'jwt',
          accessTokenTTL: state.ttl,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    ttl: {
      AccessToken: () => state.ttl,
      IdToken: () => state.ttl,
      ClientCredentials: () => state.ttl,
      RefreshToken: () => 86_400,
      Session: () => 86_400,
      Grant: () => 86_400,
      Interaction: () => 600,
    },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, groups: [], ...state.people[id] }),
    }),
  });
  provider.on('backchannel.error', (_, error) => console.error(error));
  provider.on('server_error', (_, error) => console.error(error));
  return provider.callback();
}

let handler;
const server = createServer(async (request, response) => {
  const url = new URL(request.url, issuer);
  if (url.pathname.startsWith('/control/')) {
    let text = '';
    for await (const part of request) text += part;
    const body = text ? JSON.parse(text) : {};
    if (url.pathname === '/control/client') await new Adapter('Client').upsert(body.client_id, body);
    else if (url.pathname === '/control/keys') {
      jwks = keys();
      handler = create();
    } else if (url.pathname === '/control/revoke')
      [...stored.keys()].filter((key) => key.startsWith('RefreshToken:')).forEach((key) => stored.delete(key));
    else if (url.pathname === '/control/claims') Object.assign(state.people, body.people);
    else Object.assign(state, body);
    response.end('{}');
    return;
  }
  if (state.down) {
    response.statusCode = 503;
    response.end('down');
    return;
  }
  handler(request, response);
});
server.listen(0, '127.0.0.1', () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  handler = create();
  console.log(`listening ${issuer}`);
});
process.stdin.on('end', () => process.exit(0)).resume();
