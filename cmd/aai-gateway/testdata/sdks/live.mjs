// A server over stdio, made with the TypeScript SDK v1, with the tools of a file: each answers with its arguments.
// It says when the file changes. Arguments: the folder where the SDK is installed, the file, and one in which it
// writes its process id.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync, watchFile } from "node:fs";

const [, , modules, file, id] = process.argv;
const require = createRequire(`${modules}/`);
const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { CallToolRequestSchema, ListToolsRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const server = new Server({ name: "live", version: "1" }, { capabilities: { tools: { listChanged: true } } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: JSON.parse(readFileSync(file, "utf8")) }));
server.setRequestHandler(CallToolRequestSchema, (request) => ({ content: [{ type: "text", text: `${request.params.name} ${JSON.stringify(request.params.arguments)}` }] }));
watchFile(file, { interval: 50 }, () => server.sendToolListChanged());
writeFileSync(id, String(process.pid));
await server.connect(new StdioServerTransport());
