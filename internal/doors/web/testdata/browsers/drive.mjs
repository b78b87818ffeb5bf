// Drives the page in a real browser, as a person does, and prints a line of JSON for each
// thing that is wrong. The test that starts it makes a call when it reads "live".
import { readFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const job = JSON.parse(process.argv[2]);
const require = createRequire(join(job.modules, "x.js"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(join(job.modules, "axe-core", "axe.min.js"), "utf8");
const fault = (where, what) => console.log(JSON.stringify({ where: `${job.browser} ${where}`, what }));
if (job.pictures) mkdirSync(job.pictures, { recursive: true });

const chromium = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE 127.0.0.1"];
const launch = (scripts) => puppeteer.launch({
  browser: job.browser,
  executablePath: job.executable,
  headless: true,
  protocolTimeout: 300000,
  timeout: 300000,
  args: job.browser === "chrome" ? chromium : [],
  extraPrefsFirefox: {
    "javascript.enabled": scripts,
    "layout.css.prefers-color-scheme.content-override": job.theme === "dark" ? 0 : 1,
    "network.captive-portal-service.enabled": false, "network.connectivity-service.enabled": false,
    "app.normandy.enabled": false, "browser.safebrowsing.update.enabled": false,
  },
});
let where = "at the beginning";
// A stream of news ends with its page; who has not entered is refused.
const ends = /status of 403|htmx:sse:error: Error in input stream|htmx:error: NetworkError/;

async function opened(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(240000);
  page.on("dialog", async (dialog) => { fault(where, `a dialog: ${dialog.message()}`); await dialog.dismiss(); });
  page.on("pageerror", (error) => fault(where, `an error: ${error.message}`));
  page.on("console", (m) => { if (m.type() === "error" && !ends.test(m.text())) fault(where, `the console: ${m.text()}`); });
  return page;
}

let browser = await launch(true);
let page = await opened(browser);

const press = async (selector) => { await Promise.all([page.waitForNavigation(), page.click(selector)]); };
const path = () => new URL(page.url()).pathname;

await page.goto(job.link);
const inside = await page.$("h1");
if (!inside) fault("the link", "shows no page");
if (job.browser === "chrome") await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: job.theme }]);
await judge("enter", "en");
await press("main form button");
if (path() !== job.front) fault("the link", `leads to ${path()}`);

// Words of the page's own that are short enough for any line, and are on two.
function brokenWords() {
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (node.parentElement.closest("pre, code, .theirs, textarea, script, [hidden], .skip")) continue;
    for (const { 0: word, index } of node.data.matchAll(/[^\s\p{Script=Han}，。、；：（）“”]+/gu)) {
      if (!/^\(?[\p{Script=Latin}\d_]{2,18}[.,;:)]*$/u.test(word)) continue;
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) found.add(`${word} in <${node.parentElement.localName}>`);
    }
  }
  return [...found];
}

async function judge(name, language) {
  for (const width of [1280, 640, 320]) {
    where = `${name}, ${language}, ${job.theme}, ${width} px`;
    await page.setViewport({ width, height: 900 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 0) fault(where, `is ${wide} px too wide`);
    if (job.pictures && width !== 640) await page.screenshot({ path: join(job.pictures, `${job.browser}-${name}-${language}-${job.theme}-${width}.png`), fullPage: width === 320 });
    const head = await page.evaluate(() => document.querySelector("header")?.offsetHeight ?? 0);
    if (head > (width === 320 ? 136 : 100)) fault(where, `has a head of ${head} px`);
    for (const word of await page.evaluate(brokenWords)) fault(where, `breaks the word ${word}`);
    if (width === 640) continue;
    await page.evaluate(axe);
    const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    for (const v of found.violations) fault(where, `axe: ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 200) + " " + n.failureSummary).join("; ").slice(0, 900)}`);
  }
  if (await page.evaluate(() => window.pwned !== undefined)) fault(where, "a text of strangers was run");
}

// The doctor's page is judged with what it found.
where = "the doctor";
await page.goto(new URL("/doctor", job.link).href);
await press('form[action="/doctor/run"] button');
await page.waitForSelector("#examination table");

const links = (await page.$$eval("nav a", (all) => all.map((a) => new URL(a.href).pathname))).concat(job.more);
for (const language of ["en", "zh"]) {
  await page.setViewport({ width: 1280, height: 900 });
  if ((await page.$eval("html", (e) => e.lang)) !== language) await press('button[name="language"]');
  for (const link of links) {
    await page.goto(new URL(link, job.link).href);
    if ((await page.$eval("html", (e) => e.lang)) !== language) fault(link, `is not in ${language}`);
    await judge(link.slice(1).replaceAll(/[^\w.]+/g, "-"), language);
  }
}

// What happens is shown without a word of the person.
where = "live";
await page.setViewport({ width: 1280, height: 900 });
await page.goto(new URL("/history", job.link).href);
await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
await page.focus("nav a");
console.log("live");
await page.waitForFunction(() => document.body.innerText.includes("live-agent")).catch(() => fault(where, "what happened is not shown"));
if (!(await page.evaluate(() => document.activeElement?.matches("nav a")))) fault(where, "the focus is gone");

// By the keyboard alone: the first stop skips the navigation, and what has the focus shows it.
where = "the keyboard";
await page.goto(new URL("/history", job.link).href);
await page.keyboard.press("Tab");
if (!(await page.evaluate(() => document.activeElement?.matches("a.skip")))) fault(where, "the first stop is not the link past the navigation");
await page.keyboard.press("Tab");
if ((await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)) === "none") fault(where, "the focus is not shown");

// A call's story is where its row leads.
where = "the story";
await press('td a[href^="/history/"]');
await judge("story", "zh");

// Without scripts, in a browser that has none: every page, a tool that is tried, the rest.
where = "without scripts";
const cookies = await browser.cookies();
await browser.close();
browser = await launch(false);
await browser.setCookie(...cookies.filter((c) => !c.name.startsWith("_")));
page = await opened(browser);
if (job.browser === "chrome") await page.setJavaScriptEnabled(false);
// By the keyboard: to click, the driver needs scripts of its own in the page.
const enter = async (selector) => {
  await page.$eval(selector, (e) => e.focus());
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
};
for (const link of links) {
  where = `without scripts ${link}`;
  const answer = await page.goto(new URL(link, job.link).href);
  if (answer.status() !== 200) fault(where, `status ${answer.status()}`);
  if (!(await page.$("main h1"))) fault(where, "shows nothing");
}
where = "without scripts, a tool";
await page.goto(new URL(`/tool?app=${job.app}&tool=send`, job.link).href);
await page.$eval("#p0", (e) => e.focus());
await page.keyboard.type("somebody");
await enter("form.try button:not([name])");
const tried = await page.content();
if (!tried.includes("somebody") || !tried.includes("theirs")) fault(where, "shows no result");
where = "without scripts, the history";
await page.goto(new URL("/history", job.link).href);
if (!(await page.content()).includes("live-agent")) fault(where, "a page that is loaded does not show what there is");
await enter('button[name="language"]');
if (!(await page.content()).includes('lang="en"')) fault(where, "the language is not changed");
await enter('form[action="/leave"] button');
await page.goto(new URL("/history", job.link).href);
if ((await page.content()).includes("live-agent")) fault(where, "who has left still sees the page");

await browser.close();
console.log("done");
