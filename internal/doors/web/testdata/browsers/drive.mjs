// Drives the page in a real browser, as a person does, and prints a line of JSON for each
// thing that is wrong. The test that starts it makes a call when it reads "live", and when it
// reads "again" it waits until all that ran was stopped, and starts it again. When it reads "allowed" it allows something.
import { readFileSync, readdirSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

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
  downloadBehavior: { policy: "allow", downloadPath: job.downloads },
  args: job.browser === "chrome" ? chromium : [],
  extraPrefsFirefox: {
    "javascript.enabled": scripts,
    "layout.css.prefers-color-scheme.content-override": job.theme === "dark" ? 0 : 1,
    "network.captive-portal-service.enabled": false, "network.connectivity-service.enabled": false,
    "browser.download.folderList": 2, "browser.download.dir": job.downloads, "browser.download.alwaysOpenPanel": false,
    "app.normandy.enabled": false, "browser.safebrowsing.update.enabled": false,
  },
});
let where = "at the beginning";
// A stream of news ends with its page; who has not entered is refused, and one page is not there.
const ends = /status of 40[34]|htmx:sse:error: Error in input stream|htmx:error: NetworkError/;

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

// The browser is given a file that leads to the link. Firefox ends no navigation that is asked for while the page is
// on its way by itself.
const arrived = async (link) => { for (const end = Date.now() + 240000; page.url() !== link && Date.now() < end;) await new Promise((later) => setTimeout(later, 50)); };
await Promise.all([arrived(job.link), page.goto(pathToFileURL(job.file).href).catch(() => {})]);
if (page.url() !== job.link) { fault("the file", `leads to ${page.url()}`); await page.goto(job.link); }
await page.waitForSelector("h1").catch(() => {});
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
    if (width === 1280) await page.evaluate(axe);
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

// What a page shows of an act is judged as it comes.
async function acts(language) {
  await page.setViewport({ width: 1280, height: 900 });
  where = "a tool that is tried";
  await page.goto(new URL(`/tool?app=${job.app}&tool=send`, job.link).href);
  await page.type("#p0", "somebody");
  await press("form.try button:not([name])");
  if (!(await page.$("section.came.notice pre, section.came.notice details"))) fault(where, "shows no result");
  await judge("tried", language);
  await page.goto(new URL(`/tool?app=${job.app}&tool=ask`, job.link).href);
  await press("form.try button:not([name])");
  if (!(await page.$("section.came.fault"))) fault(where, "does not show that it failed");
  await judge("tried-in-vain", language);
  where = "a setting that is refused";
  await page.goto(new URL("/settings/defaultTimeout", job.link).href);
  await page.$eval("#value", (e) => { e.value = "soon"; });
  await press('form[action$="/set"] button');
  if (!(await page.$("main div.fault"))) fault(where, "is not");
  await judge("refused", language);
}

const links = (await page.$$eval("nav a", (all) => all.map((a) => new URL(a.href).pathname))).concat(job.more);
for (const language of ["en", "zh"]) {
  await page.setViewport({ width: 1280, height: 900 });
  if ((await page.$eval("html", (e) => e.lang)) !== language) await press('button[name="language"]');
  for (const link of links) {
    await page.goto(new URL(link, job.link).href);
    if ((await page.$eval("html", (e) => e.lang)) !== language) fault(link, `is not in ${language}`);
    await judge(link.slice(1).replaceAll(/[^\w.]+/g, "-"), language);
  }
  await acts(language);
}

// What happens is shown without a word of the person.
where = "live";
await page.setViewport({ width: 1280, height: 900 });
await page.goto(new URL("/history", job.link).href);
await page.evaluate(() => new Promise((done) => setTimeout(done, 500)));
await page.focus("nav a");
console.log("live");
await page.waitForFunction((agent) => document.body.innerText.includes(agent), {}, job.agent).catch(() => fault(where, "what happened is not shown"));
if (!(await page.evaluate(() => document.activeElement?.matches("nav a")))) fault(where, "the focus is gone");

// What is shown anew is still what was looked for, though the address does not say so.
where = "a filter";
await page.goto(new URL("/consent", job.link).href);
await page.type("#q", "agent1");
await page.waitForFunction(() => !document.body.innerText.includes("agent2")).catch(() => fault(where, "does not filter"));
console.log("allowed");
await page.waitForFunction((agent) => document.body.innerText.includes(`agent1/${agent}`), {}, job.agent).catch(() => fault(where, "what was allowed meanwhile is not shown"));
if (await page.evaluate(() => document.body.innerText.includes("agent2") || document.querySelector("#q").value !== "agent1")) fault(where, "is undone by what came");

// By the keyboard alone: the first stop skips the navigation, and what has the focus shows it.
where = "the keyboard";
await page.goto(new URL("/history", job.link).href);
await page.keyboard.press("Tab");
if (!(await page.evaluate(() => document.activeElement?.matches("a.skip")))) fault(where, "the first stop is not the link past the navigation");
await page.keyboard.press("Tab");
if ((await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle)) === "none") fault(where, "the focus is not shown");

// Now shows what runs. Stopped, it is gone by itself, and every page says so.
where = "stop";
await page.goto(new URL("/now", job.link).href);
if (!(await page.$("progress"))) fault(where, "nothing runs that could be stopped");
await press("header button.stop");
await page.waitForFunction(() => !document.querySelector("progress")).catch(() => fault(where, "what was stopped still runs"));
await judge("now-stopped", "zh");
await page.goto(new URL("/history", job.link).href);
if (!(await page.$("main section.halted"))) fault(where, "a page does not say that everything is stopped");
await judge("history-stopped", "zh");
await page.goto(new URL("/now", job.link).href);
console.log("again");
await page.waitForFunction(() => document.querySelector("progress")).catch(() => fault(where, "what runs again is not shown"));

// A call's story is where its row leads.
where = "the story";
await page.goto(new URL("/history", job.link).href);
await press('td a[href^="/history/"]');
if (!(await page.$("ol.steps"))) fault(where, "is not told");

// Without scripts, in a browser that has none: every page, a tool that is tried, the rest.
where = "without scripts";
const cookies = await browser.cookies();
await browser.close();
browser = await launch(false);
await browser.setCookie(...cookies.filter((c) => !c.name.startsWith("_")));
const scriptless = async () => {
  page = await opened(browser);
  if (job.browser === "chrome") await page.setJavaScriptEnabled(false);
};
await scriptless();
// By the keyboard: to click, the driver needs scripts of its own in the page.
const enter = async (selector) => {
  await page.$eval(selector, (e) => e.focus());
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
};
for (const link of links) {
  where = `without scripts ${link}`;
  const answer = await page.goto(new URL(link, job.link).href);
  if (answer.status() !== (link === "/none" ? 404 : 200)) fault(where, `status ${answer.status()}`);
  if (!(await page.$("main h1"))) fault(where, "shows nothing");
}
where = "without scripts, a tool";
await page.goto(new URL(`/tool?app=${job.app}&tool=send`, job.link).href);
await page.$eval("#p0", (e) => e.focus());
await page.keyboard.type("somebody");
await enter("form.try button:not([name])");
const tried = await page.content();
if (!tried.includes("somebody") || !tried.includes("theirs")) fault(where, "shows no result");
const shows = async (link, selector, what) => {
  for (let tries = 0; tries < 600; tries++) {
    await page.goto(new URL(link, job.link).href);
    if (await page.$(selector)) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  fault(where, what);
};
where = "without scripts, stop";
await page.goto(new URL("/now", job.link).href);
await enter("header button.stop");
if (!(await page.$("section.halted"))) fault(where, "does not stop");
console.log("again");
await shows("/now", "progress", "what runs again is not shown");
where = "without scripts, what was allowed";
await page.goto(new URL("/consent", job.link).href);
const rows = async () => (await page.content()).split('action="/consent/revoke').length; // $$ needs scripts
const before = await rows();
await enter('form[action^="/consent/revoke"] button');
if ((await rows()) !== before - 1) fault(where, "is not taken back");
if (!(await page.$("p.notice"))) fault(where, "is taken back without a word");
where = "without scripts, a setting";
await page.goto(new URL("/settings/logLevel", job.link).href);
await enter('form[action$="/set"] button');
if (!(await page.$("p.notice"))) fault(where, "is not saved");
where = "without scripts, the record";
await page.goto(new URL("/history", job.link).href);
await enter("#verify button");
if (!(await page.$("p.notice .mark.good"))) fault(where, "is not said to be whole");
await page.$eval('#export button[value="csv"]', (e) => e.focus());
await page.keyboard.press("Enter");
const kept = () => readdirSync(job.downloads).filter((name) => name.endsWith(".csv")).map((name) => readFileSync(join(job.downloads, name), "utf8"));
for (let tries = 0; tries < 1200 && !kept().some((text) => text.includes(job.agent)); tries++) await new Promise((done) => setTimeout(done, 50));
if (!kept().some((text) => text.includes(job.agent))) fault(where, "is not exported");
await scriptless(); // Firefox has the driver wait for ever for the next page of one that became a file
where = "without scripts, the history";
await page.goto(new URL("/history", job.link).href);
if (!(await page.content()).includes(job.agent)) fault(where, "a page that is loaded does not show what there is");
await enter('button[name="language"]');
if (!(await page.content()).includes('lang="en"')) fault(where, "the language is not changed");
await enter('form[action="/leave"] button');
await page.goto(new URL("/history", job.link).href);
if ((await page.content()).includes(job.agent)) fault(where, "who has left still sees the page");

await browser.close();
console.log("done");
