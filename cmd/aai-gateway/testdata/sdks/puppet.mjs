// Lets a test drive a client of MCP: each line on standard input is a JSON object
// that says what the client does, each line on standard output one that says what
// came of it.
//
//	{"id", "do", "with": [...], "progress"}  calls a method of the client
//	{"abort": id}                            cancels what was begun so
//	{"say": value}                           answers the oldest question of the server
//
//	{"id", "result"} | {"id", "failed"}      how it ended
//	{"id", "progress"} | {"id", "message"}   what came before the end
//	{"question", "method"}                   what the server asks of the person or the client
//	{"news"}                                 the URI of a resource that has changed
import { createInterface } from "node:readline";

const tell = (line) => process.stdout.write(JSON.stringify(line) + "\n");
const waiting = [];

// asked puts a question of the server to the test, and waits for what it says.
export const asked = (method) => (request) => {
  tell({ question: request.params ?? {}, method });
  return new Promise((say) => waiting.push(say));
};

// changed tells of a resource that is said to have changed.
export const changed = (notification) => tell({ news: notification.params.uri });

// perform does what the lines say, by functions of arguments and options, until
// they end.
export async function perform(can, opened) {
  const running = new Map();
  async function run({ id, do: name, with: args = [], progress }) {
    const abort = new AbortController();
    running.set(id, abort);
    const options = { signal: abort.signal, timeout: 300_000 };
    if (progress) options.onprogress = (p) => tell({ id, progress: p });
    try {
      let result = await can[name](args, options);
      if (result?.[Symbol.asyncIterator]) {
        for await (const message of result) tell({ id, message: { ...message, error: message.error?.message } });
        result = {};
      }
      tell({ id, result: result ?? {} });
    } catch (e) {
      tell({ id, failed: { code: Number(e.code) || 0, message: String(e.message ?? e) } });
    }
    running.delete(id);
  }
  tell({ id: 0, result: await opened });
  for await (const text of createInterface({ input: process.stdin })) {
    const line = JSON.parse(text);
    if ("abort" in line) running.get(line.abort)?.abort();
    else if ("say" in line) waiting.shift()(line.say);
    else run(line);
  }
  await can.close([]);
  process.exit(0);
}
