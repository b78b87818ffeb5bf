// An authorization server for the tests: oidc-provider as it is, with two
// clients. Resources whose address has "opaque" in it get tokens that are no JWT,
// those with "brief" tokens of one second. POST /rotate changes the keys.
// It prints its issuer, and ends with its standard input.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

const require = createRequire(`${process.argv[2]}/`);
const { default: Provider } = await import(require.resolve('oidc-provider'));

const key = (alg, type, options) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID(),
});

const provider = (issuer) => new Provider(issuer, {
  jwks: { keys: [key('RS256', 'rsa', { modulusLength: 2048 }), key('ES256', 'ec', { namedCurve: 'P-256' }), key('EdDSA', 'ed25519')] },
  clients: ['agent', 'gateway'].map((name) => ({
    client_id: name, client_secret: `${name}'s secret: 100%`, grant_types: ['client_credentials'], redirect_uris: [], response_types: [],
  })),
  clientAuthMethods: ['client_secret_basic'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    revocation: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'mcp other',
        accessTokenFormat: resource.includes('opaque') ? 'opaque' : 'jwt',
        accessTokenTTL: resource.includes('brief') ? 1 : 600,
        jwt: { sign: { alg: new URL(resource).searchParams.get('alg') ?? 'RS256' } },
      }),
    },
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
