// Loads the docs pages in a real Chromium at the width of a desk and of a phone, in the light and in the dark: axe finds
// nothing, nothing is wider than the screen, nothing is asked of another host, and every link within the pages leads
// somewhere. Leaves a picture of each.
//
// Takes from the environment: BURSAR_URL, CHROMIUM, PICTURES (a folder).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";

const { BURSAR_URL, CHROMIUM, PICTURES } = process.env;
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const PAGES = { docs: "/docs", guide: "/docs/guide", errors: "/docs/errors" };
const WIDTHS = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844, isMobile: true, hasTouch: true } };

const browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const found = [];
let rules = 0;
const version = await browser.version();
try {
  const anchors = await readAnchors();
  for (const [name, path] of Object.entries(PAGES)) {
    for (const [device, viewport] of Object.entries(WIDTHS)) {
      for (const scheme of ["light", "dark"]) {
        await look(`${name}-${device}-${scheme}`, path, viewport, scheme, anchors);
      }
    }
  }
} finally {
  await browser.close();
}
for (const line of found) console.error(line);
assert.equal(found.length, 0, "the pages are not in order; see above");
console.log(`${version}: ${Object.keys(PAGES).length} pages at 2 widths, light and dark; axe passed ${rules} rules`);

/** The ids of each page, to check links against. */
async function readAnchors() {
  const page = await browser.newPage();
  const anchors = {};
  for (const path of Object.values(PAGES)) {
    await page.goto(BURSAR_URL + path);
    anchors[path] = await page.$$eval("[id]", (all) => all.map((each) => each.id));
  }
  await page.close();
  return anchors;
}

async function look(name, path, viewport, scheme, anchors) {
  const say = (line) => found.push(`${name}: ${line}`);
  const page = await browser.newPage();
  page.on("request", (request) => {
    if (!request.url().startsWith(BURSAR_URL) && !request.url().startsWith("data:")) say(`asks for ${request.url()}`);
  });
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && say(`console: ${message.text()}`));
  page.on("pageerror", (error) => say(`script: ${error.message}`));
  await page.setViewport(viewport);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const response = await page.goto(BURSAR_URL + path, { waitUntil: "networkidle0" });
  assert.equal(response.status(), 200);

  const wide = await page.evaluate(() => {
    const limit = document.documentElement.clientWidth;
    const over = [...document.querySelectorAll("body *")].filter((each) => each.getBoundingClientRect().right > limit + 1);
    return { limit, width: document.documentElement.scrollWidth, over: over.slice(0, 3).map((each) => each.outerHTML.slice(0, 120)) };
  });
  if (wide.width > wide.limit || wide.over.length > 0) say(`wider than the screen: ${JSON.stringify(wide)}`);

  for (const href of await page.$$eval("a[href]", (all) => all.map((each) => each.href))) {
    const { origin, pathname, hash } = new URL(href);
    if (origin === BURSAR_URL && hash && !anchors[pathname]?.includes(hash.slice(1))) say(`a link to nowhere: ${href}`);
  }

  await page.screenshot({ path: `${PICTURES}/${name}.png` });
  if (viewport.isMobile) {
    // The links are folded away. Open, they are looked at too; one that is followed folds them again.
    const isOpen = () => page.$eval(".aside details", (each) => each.open);
    assert.equal(await isOpen(), false);
    await page.click(".aside summary");
    assert.equal(await isOpen(), true);
  }
  await page.evaluate(AXE);
  const result = await page.evaluate(() => axe.run(document, { resultTypes: ["violations", "incomplete"] }));
  rules += result.passes.length;
  for (const violation of result.violations) {
    say(`axe ${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
  }
  if (viewport.isMobile) {
    await page.click(".aside li a");
    assert.equal(await page.$eval(".aside details", (each) => each.open), false);
  }
  await page.close();
}
