// Lets the benchmarks use cua-driver in its own process, by its own library. A
// line on standard input is a JSON object: {pid, press: "name"} reads the
// window of the process and presses the button with that name in the background;
// without press it only reads. A line on standard output is the answer, with
// times in milliseconds that were measured here: no pipe is in them.
import { createInterface } from "node:readline";
import { ActionTarget, ClickInput, ClickPosition, CuaDriver, GetWindowStateInput, InputDeliveryMode, ListWindowsInput } from "@trycua/cua-driver";

const driver = CuaDriver.create(undefined);

async function timed(work) {
  const begun = performance.now();
  const result = await work();
  return [result, performance.now() - begun];
}

async function answer({ pid, press }) {
  const { windows } = await driver.listWindows(ListWindowsInput.new({ pid }));
  if (windows.length === 0) throw new Error(`process ${pid} has no window`);
  const window = { pid, windowId: windows[0].windowId };
  const [state, stateMs] = await timed(() =>
    driver.getWindowState(GetWindowStateInput.new({ ...window, includeAccessibilityTree: true, includeScreenshot: false })));
  const told = { stateMs, elements: state.elements?.length ?? 0, text: state.treeMarkdown ?? "" };
  if (!press) return told;
  const button = state.elements.find((e) => e.label === press && e.elementToken);
  if (!button) throw new Error(`there is no ${press}`);
  const [, clickMs] = await timed(() => driver.click(ClickInput.new({
    target: new ActionTarget.Window(window), position: new ClickPosition.Element({ elementToken: button.elementToken }),
    deliveryMode: InputDeliveryMode.Background,
  })));
  return { ...told, clickMs };
}

for await (const line of createInterface({ input: process.stdin })) {
  const told = await answer(JSON.parse(line)).catch((e) => ({ error: String(e?.inner?.message ?? e?.message ?? e) }));
  process.stdout.write(JSON.stringify(told) + "\n");
}
process.exit(0);
