// Watches the desktop of an agent, takes it over, clicks and types in it, and stays until it has ended. The test that starts
// this checks what was typed, and ends the desktop.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const job = JSON.parse(process.argv[2]);
const require = createRequire(join(job.modules, "x.js"));
const puppeteer = require("puppeteer-core");
const axe = readFileSync(join(job.modules, "axe-core", "axe.min.js"), "utf8");
if (job.pictures) mkdirSync(job.pictures, { recursive: true });
const browser = await puppeteer.launch({
  executablePath: job.executable, headless: true, protocolTimeout: 300000,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE 127.0.0.1"],
});
const page = await browser.newPage();
page.setDefaultTimeout(120000);
page.on("pageerror", (error) => console.log(`an error: ${error.message}`));
await page.setViewport({ width: 1280, height: 900 });
const press = async (selector) => { await Promise.all([page.waitForNavigation({ waitUntil: "domcontentloaded" }), page.click(selector)]); };
// A page with a stream never stops loading.
const open = (path) => page.goto(new URL(path, job.link).href, { waitUntil: "domcontentloaded" });

// The mean colour of the picture in the page; it changes with the desktop.
const colour = () => page.$eval("[data-screen]", (e) => new Promise((done) => {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    const c = canvas.getContext("2d");
    c.drawImage(image, 0, 0, 1, 1);
    image.removeAttribute("src");
    done([...c.getImageData(0, 0, 1, 1).data].join());
  };
  image.src = e.dataset.screen;
}));

const judge = async (name) => {
  for (const theme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    for (const width of [1280, 320]) {
      await page.setViewport({ width, height: 900 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) console.log(`${name} at ${width} px is ${wide} px too wide`);
      if (job.pictures) await page.screenshot({ path: join(job.pictures, `desktop-${name}-${theme}-${width}.png`), fullPage: width === 320 });
      await page.evaluate(axe);
      const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      for (const v of found.violations) console.log(`${name}: axe: ${v.id}: ${v.help}: ${v.nodes.map((n) => n.html.slice(0, 200)).join("; ")}`);
    }
  }
  await page.setViewport({ width: 1280, height: 900 });
};

await open(job.link);
await press("main form button");
await page.waitForSelector(`a[href="${job.page}"]`);
await judge("list");
await open(job.page);
await page.waitForFunction(() => document.querySelector("img[data-screen]").naturalWidth > 0);
await new Promise((done) => setTimeout(done, 1500)); // so that screenshots have the picture
await judge("watched");
const before = await colour();
await press('form[action$="/take"] button');
await page.waitForSelector('input[type="image"].fits');
await new Promise((done) => setTimeout(done, 1500));
await judge("taken");
const picture = await page.$('input[type="image"]');
await picture.click(); // into the field of the dialog, in the middle
// The driver presses only keys of a US keyboard.
for (const key of "Zoë 名前 o") await picture.evaluate((e, key) => e.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })), key);
await page.keyboard.type("ka");
await page.keyboard.press("Backspace");
if (!(await page.evaluate(() => document.activeElement.matches("[data-screen]")))) console.log("the picture has no focus");
await page.keyboard.press("Enter");
console.log("typed");
for (let tries = 0; tries < 100 && (await colour()) === before; tries++) await new Promise((done) => setTimeout(done, 50));
if ((await colour()) === before) console.log("the picture does not change");
console.log("end it");
await page.waitForFunction(() => document.body.innerText.includes("This desktop has ended"));
await judge("ended");
await browser.close();
console.log("done");
