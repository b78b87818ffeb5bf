// The reference server "everything" over Streamable HTTP, behind tokens of an
// authorization server: the protection is the TypeScript SDK's, as it is. Arguments:
// the folder where the servers are installed, the issuer, and what else it is to be
// like, as JSON: {"silent": true} says nothing of itself.
// It prints its address, and ends with its standard input.
import { createRequire } from "node:module";
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.argv[2]}/`);
const issuer = process.argv[3];
const like = JSON.parse(process.argv[4]) ?? {};
const express = require("express");
const { StreamableHTTPServerTransport } = require("@modelcontextprotocol/sdk/server/streamableHttp.js");
const { requireBearerAuth } = require("@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js");
const { mcpAuthMetadataRouter, getOAuthProtectedResourceMetadataUrl } = require("@modelcontextprotocol/sdk/server/auth/router.js");
const { InvalidTokenError } = require("@modelcontextprotocol/sdk/server/auth/errors.js");
const main = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
const { createServer } = await import(pathToFileURL(main.replace("index.js", "server/index.js")));

// introspect asks the authorization server about a token, as one of its clients.
async function introspect(token) {
  const answer = await fetch(`${issuer}/token/introspection`, {
    method: "POST", body: new URLSearchParams({ token }),
    headers: { authorization: `Basic ${Buffer.from("api:of%20the%20api").toString("base64")}` },
  });
  const about = await answer.json();
  if (!about.active) throw new InvalidTokenError("not active");
  return { token, clientId: about.client_id, scopes: (about.scope ?? "").split(" "), expiresAt: about.exp, resource: new URL(about.aud) };
}

const app = express();
const listening = app.listen(0, "127.0.0.1", async () => {
  const address = new URL(`http://127.0.0.1:${listening.address().port}/mcp`);
  const oauthMetadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
  if (!like.silent) app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: address, scopesSupported: ["read", "write"] }));
  const sessions = new Map();
  const guarded = requireBearerAuth({
    verifier: { verifyAccessToken: introspect }, requiredScopes: like.silent ? [] : ["read"], expectedResource: like.silent ? undefined : address,
    resourceMetadataUrl: like.silent ? undefined : getOAuthProtectedResourceMetadataUrl(address),
  });
  app.all("/mcp", guarded, async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      const { server } = createServer();
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport) });
      await server.connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  console.log(String(address));
});
process.stdin.on("end", () => process.exit()).resume();
