// A server over stdio, made with the TypeScript SDK v1: "echo" answers with its text.
// Argument: the folder where the SDK is installed.
import { createRequire } from "node:module";

const require = createRequire(`${process.argv[2]}/`);
const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const { CallToolRequestSchema, ListToolsRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const server = new Server({ name: "child", version: "1" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }));
server.setRequestHandler(CallToolRequestSchema, (request) => ({ content: [{ type: "text", text: request.params.arguments.text }] }));
await server.connect(new StdioServerTransport());
