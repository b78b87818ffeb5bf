// A peer that the benchmarks hold the gateway against: the same server as baresdk,
// made with the TypeScript SDK v2. Arguments: the folder where the SDK is
// installed, and "http" to serve every era on an address that it prints.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { randomUUID } from "node:crypto";

const require = createRequire(`${process.argv[2]}/`);
const { Server, createMcpHandler } = require("@modelcontextprotocol/server");

const inputSchema = { type: "object", properties: { v: { type: "string" } } };
function make() {
  // The low-level server neither derives a schema nor checks against one.
  const server = new Server({ name: "typescript", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: [{ name: "echo", description: "Answers with its arguments.", inputSchema }] }));
  server.setRequestHandler("tools/call", (request) => ({ content: [{ type: "text", text: JSON.stringify(request.params.arguments) }] }));
  return server;
}

if (process.argv[3] !== "http") {
  require("@modelcontextprotocol/server/stdio").serveStdio(make);
} else {
  const { NodeStreamableHTTPServerTransport, toNodeHandler } = require("@modelcontextprotocol/node");
  const modern = toNodeHandler(createMcpHandler(make));
  const sessions = new Map();
  const opened = async () => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID, onsessioninitialized: (id) => { sessions.set(id, transport); },
    });
    await make().connect(transport);
    return transport;
  };
  const listener = createServer(async (request, response) => {
    if (request.headers["mcp-protocol-version"] >= "2026-07-28") return modern(request, response);
    const transport = sessions.get(request.headers["mcp-session-id"]) ?? await opened();
    return transport.handleRequest(request, response);
  });
  listener.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
}
