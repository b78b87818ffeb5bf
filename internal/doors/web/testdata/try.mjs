// Presses "Try it" of a tool in a real window of a browser, and prints what the page says of
// it. The test that starts this answers the question in the gateway's own window.
import { createRequire } from "node:module";
import { join } from "node:path";

const job = JSON.parse(process.argv[2]);
const puppeteer = createRequire(join(job.modules, "x.js"))("puppeteer-core");
const browser = await puppeteer.launch({
  executablePath: job.executable, headless: false, protocolTimeout: 300000, userDataDir: job.profile,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--no-first-run", "--password-store=basic", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE 127.0.0.1"],
});
const page = (await browser.pages())[0];
page.setDefaultTimeout(240000);
page.setDefaultNavigationTimeout(240000);
page.on("pageerror", (error) => console.log(`an error: ${error.message}`));
await page.goto(job.link);
await Promise.all([page.waitForNavigation(), page.click("main form button")]);
await page.goto(new URL("/tool?app=org.test.Mail&tool=ask", job.link).href);
await page.type("form#try > .ask :is(input, textarea)", "a text");
console.log("asks");
await page.click("form#try > button");
await page.waitForSelector("section.came");
console.log(`shows ${JSON.stringify(await page.$eval("section.came", (e) => [e.className, e.innerText]))}`);
await browser.close();
console.log("done");
