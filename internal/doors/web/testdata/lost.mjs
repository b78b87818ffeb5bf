// Looks at a page whose program ends and is started again: the test that starts this does
// both when it reads so.
import { createRequire } from "node:module";
import { join } from "node:path";

const job = JSON.parse(process.argv[2]);
const puppeteer = createRequire(join(job.modules, "x.js"))("puppeteer-core");
const browser = await puppeteer.launch({
  executablePath: job.executable, headless: true, protocolTimeout: 300000,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE 127.0.0.1"],
});
const page = await browser.newPage();
page.setDefaultTimeout(240000);
page.on("pageerror", (error) => console.log(`an error: ${error.message}`));
await page.goto(job.link);
await Promise.all([page.waitForResponse((r) => r.url().includes("/live?") && r.ok()), page.click("main form button")]);
await page.waitForSelector("#lost > p", { hidden: true });
console.log("end it");
await page.waitForSelector("[role=status] > p", { visible: true });
const text = await page.$eval("#lost", (e) => e.innerText);
if (text !== "Not connected any more: this page may be out of date. Run this again: aai-gateway web") console.log(`it says: ${text}`);
console.log("start it");
await page.waitForSelector("#lost > p", { hidden: true });
// More pages than the browser has connections: each loads, and the first goes on when it is used.
const more = [];
for (let i = 0; i < 8; i++) {
  const other = await browser.newPage();
  other.setDefaultTimeout(240000);
  await other.goto(page.url());
  more.push(other);
}
await page.waitForFunction(() => document.hidden || !document.querySelector("#elsewhere > p").hidden, { polling: 200 });
const goesOn = page.waitForResponse((r) => r.url().includes("/live?") && r.ok());
await page.bringToFront();
await page.keyboard.press("Shift");
await goesOn;
await page.waitForFunction(() => document.querySelector("#elsewhere > p").hidden, { polling: 200 });
await browser.close();
console.log("done");
