// An authorization server for the tests: oidc-provider as it is, with its own pages
// to log in at. The arguments are the folder it is installed in and what it is to be
// like, as JSON: {dpop, nonce, par, registration, document, accessTTL}.
// It prints its issuer, and ends with its standard input.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';

const require = createRequire(`${process.argv[2]}/`);
const { default: Provider } = await import(require.resolve('oidc-provider'));
const like = JSON.parse(process.argv[3]);

const publicClient = (id) => ({
  client_id: id, token_endpoint_auth_method: 'none', application_type: 'native',
  redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'], response_types: ['code'],
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
});

const provider = (issuer) => new Provider(issuer, {
  jwks: { keys: [{ ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] },
  cookies: { keys: [randomBytes(16).toString('hex')] },
  clients: [
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
    devInteractions: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true, allowedPolicy: () => true },
    deviceFlow: { enabled: true },
    registration: { enabled: Boolean(like.registration) },
    clientIdMetadataDocument: { enabled: Boolean(like.document), ack: 'draft-02' },
    dPoP: { enabled: Boolean(like.dpop), nonceSecret: randomBytes(32), requireNonce: () => Boolean(like.nonce) },
    pushedAuthorizationRequests: { enabled: Boolean(like.par), requirePushedAuthorizationRequests: Boolean(like.par) },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'read write admin', audience: resource, accessTokenFormat: 'opaque', accessTokenTTL: like.accessTTL ?? 600,
      }),
    },
  },
});

const server = createServer((request, response) => current.callback()(request, response));
let current;
server.listen(0, '127.0.0.1', () => {
  current = provider(`http://127.0.0.1:${server.address().port}`);
  console.log(current.issuer);
});
process.stdin.on('end', () => process.exit()).resume();
