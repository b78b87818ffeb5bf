// An authorization server for the tests: oidc-provider as it is, with its own pages
// to log in at. The arguments are the folder it is installed in and what it is to be
// like, as JSON (Like in oidctest.go).
// It prints its issuer, and ends with its standard input. POST /rotate changes the keys.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

const require = createRequire(`${process.argv[2]}/`);
const { default: Provider } = await import(require.resolve('oidc-provider'));
const like = JSON.parse(process.argv[3]);

const key = (alg, type, options) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID(),
});
const publicClient = (id) => ({
  client_id: id, token_endpoint_auth_method: 'none', application_type: 'native',
  redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'], response_types: ['code'],
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
});
const service = (id) => ({
  client_id: id, client_secret: `${id}'s secret: 100%`, grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
});
// What a resource's tokens are like its address says where they are for services.
const resource = (address) => like.services ? {
  scope: 'mcp other',
  accessTokenFormat: address.includes('opaque') ? 'opaque' : 'jwt',
  accessTokenTTL: address.includes('brief') ? 1 : 600,
  jwt: { sign: { alg: new URL(address).searchParams.get('alg') ?? 'RS256' } },
} : {
  scope: 'read write admin', audience: address, accessTokenFormat: 'opaque', accessTokenTTL: like.accessTTL ?? 600,
};

const provider = (issuer) => new Provider(issuer, {
  jwks: { keys: [key('RS256', 'rsa', { modulusLength: 2048 }), key('ES256', 'ec', { namedCurve: 'P-256' }), key('EdDSA', 'ed25519')] },
  cookies: { keys: [randomBytes(16).toString('hex')] },
  clients: like.services ? [service('agent'), service('gateway')] : [
    publicClient('aai-gateway'), publicClient('chosen'),
    { ...publicClient('confidential'), token_endpoint_auth_method: 'client_secret_post', client_secret: "confidential's secret: 100%" },
    { client_id: 'api', client_secret: 'of the api', grant_types: [], redirect_uris: [], response_types: [] },
  ],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  issueRefreshToken: () => true,
  // Every use makes a new one, and a second use ends the whole login.
  rotateRefreshToken: () => true,
  scopes: ['offline_access'],
  ttl: { AccessToken: like.accessTTL ?? 600, RefreshToken: 86400, Session: 3600, Grant: 86400, Interaction: 3600, DeviceCode: 600 },
  // The documents of clients are of https sites that do not exist.
  fetch: async (url) => Response.json(like.document?.[String(url)] ?? {}, { status: like.document?.[String(url)] ? 200 : 404 }),
  features: {
    devInteractions: { enabled: !like.services },
    clientCredentials: { enabled: Boolean(like.services) },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true, allowedPolicy: () => true },
    deviceFlow: { enabled: true },
    registration: { enabled: Boolean(like.registration) },
    clientIdMetadataDocument: { enabled: Boolean(like.document), ack: 'draft-02' },
    dPoP: { enabled: Boolean(like.dpop), nonceSecret: randomBytes(32), requireNonce: () => Boolean(like.nonce) },
    pushedAuthorizationRequests: { enabled: Boolean(like.par), requirePushedAuthorizationRequests: Boolean(like.par) },
    resourceIndicators: { enabled: true, getResourceServerInfo: (_, address) => resource(address) },
  },
});

let current;
const server = createServer((request, response) => {
  if (request.method === 'POST' && request.url === '/rotate') {
    current = provider(current.issuer);
    response.end();
    return;
  }
  current.callback()(request, response);
});
server.listen(0, '127.0.0.1', () => {
  current = provider(`http://127.0.0.1:${server.address().port}`);
  console.log(current.issuer);
});
process.stdin.on('end', () => process.exit()).resume();
