// A client made with the TypeScript SDK v1, with its experimental tasks. Arguments:
// the folder where the SDK is installed, and how to reach the server, as JSON:
// {command, env} or {url, token}, in the place of a session of its own another's, and
// what more the client can do than roots and forms, as "capabilities".
import { createRequire } from "node:module";
import { asked, changed, perform } from "./puppet.mjs";

const require = createRequire(`${process.argv[2]}/`);
const sdk = (path) => require(`@modelcontextprotocol/sdk/${path}.js`);
const { Client } = sdk("client/index");
const { StdioClientTransport } = sdk("client/stdio");
const { StreamableHTTPClientTransport } = sdk("client/streamableHttp");
const { CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, ResourceUpdatedNotificationSchema } = sdk("types");

const target = JSON.parse(process.argv[3]);
const transport = target.url
  ? new StreamableHTTPClientTransport(new URL(target.url), { sessionId: target.session, requestInit: { headers: { Authorization: `Bearer ${target.token}` } } })
  : new StdioClientTransport({ command: target.command, env: target.env });
let version;
transport.setProtocolVersion = ((set) => (v) => { version = v; set?.call(transport, v); })(transport.setProtocolVersion);

const client = new Client({ name: "typescript-v1", version: "1" }, { capabilities: { elicitation: { form: {} }, roots: {}, ...target.capabilities } });
client.setRequestHandler(ElicitRequestSchema, asked("elicitation/create"));
if (target.capabilities?.sampling) client.setRequestHandler(CreateMessageRequestSchema, asked("sampling/createMessage"));
client.setRequestHandler(ListRootsRequestSchema, asked("roots/list"));
client.setNotificationHandler(ResourceUpdatedNotificationSchema, changed);

const tasks = client.experimental.tasks;
await perform({
  listTools: ([params], o) => client.listTools(params, o),
  callTool: ([params], o) => client.callTool(params, CallToolResultSchema, o),
  listResources: ([params], o) => client.listResources(params, o),
  listResourceTemplates: ([params], o) => client.listResourceTemplates(params, o),
  readResource: ([params], o) => client.readResource(params, o),
  subscribeResource: ([params], o) => client.subscribeResource(params, o),
  unsubscribeResource: ([params], o) => client.unsubscribeResource(params, o),
  listPrompts: ([params], o) => client.listPrompts(params, o),
  getPrompt: ([params], o) => client.getPrompt(params, o),
  complete: ([params], o) => client.complete(params, o),
  callAsTask: ([params, task], o) => tasks.callToolStream(params, CallToolResultSchema, { ...o, task }),
  getTask: ([id], o) => tasks.getTask(id, o),
  getTaskResult: ([id], o) => tasks.getTaskResult(id, CallToolResultSchema, o),
  listTasks: ([cursor], o) => tasks.listTasks(cursor, o),
  cancelTask: ([id], o) => tasks.cancelTask(id, o),
  close: () => client.close(),
}, client.connect(transport).then(() => ({
  version, session: transport.sessionId, server: client.getServerVersion(), capabilities: client.getServerCapabilities(), instructions: client.getInstructions(),
})));
