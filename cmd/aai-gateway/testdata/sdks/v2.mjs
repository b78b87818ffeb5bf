// A client made with the TypeScript SDK v2. Arguments: the folder where the SDK is
// installed, and how to reach the server, as JSON: {command, env} or {url, token},
// what version the client offers, as its versionNegotiation has it, and what more it
// can do than roots and forms, as "capabilities".
import { createRequire } from "node:module";
import { asked, changed, perform } from "./puppet.mjs";

const require = createRequire(`${process.argv[2]}/`);
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const target = JSON.parse(process.argv[3]);
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers: { Authorization: `Bearer ${target.token}` } } })
  : new StdioClientTransport({ command: target.command, env: target.env });

const client = new Client({ name: "typescript-v2", version: "2" }, {
  capabilities: { elicitation: { form: {} }, roots: {}, ...target.capabilities }, versionNegotiation: { mode: target.mode },
});
client.setRequestHandler("elicitation/create", asked("elicitation/create"));
if (target.capabilities?.sampling) client.setRequestHandler("sampling/createMessage", asked("sampling/createMessage"));
client.setRequestHandler("roots/list", asked("roots/list"));
client.setNotificationHandler("notifications/resources/updated", changed);

const followed = new Map();
const plain = (name) => ([params], o) => client[name](params, o);
await perform({
  ...Object.fromEntries(["listTools", "callTool", "listResources", "listResourceTemplates", "readResource",
    "listPrompts", "getPrompt", "complete"].map((name) => [name, plain(name)])),
  subscribeResource: async ([{ uri }], o) => {
    if (client.getNegotiatedProtocolVersion() < "2026-07-28") return client.subscribeResource({ uri }, o);
    followed.set(uri, await client.listen({ resourceSubscriptions: [uri] }, { timeout: o.timeout }));
  },
  unsubscribeResource: async ([{ uri }], o) => {
    if (client.getNegotiatedProtocolVersion() < "2026-07-28") return client.unsubscribeResource({ uri }, o);
    await followed.get(uri)?.close();
  },
  close: () => client.close(),
}, client.connect(transport).then(() => ({
  version: client.getNegotiatedProtocolVersion(), server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(), instructions: client.getInstructions(),
})));
