// Loads the docs pages in a real Chromium at the width of a desk and of a phone, in the light and in the dark: axe finds
// nothing, nothing is wider than the screen, nothing is asked of another host, and every link within the pages leads
// somewhere. Then uses them: tabs, search, old links, the mark in the navigation, requests from the page, no scripts, print.
// Leaves a picture of each page.
//
// Takes from the environment: BURSAR_URL, BURSAR_TOKEN, CHROMIUM, PICTURES (a folder).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";

const { BURSAR_URL, BURSAR_TOKEN, CHROMIUM, PICTURES } = process.env;
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = { 1280: { width: 1280, height: 900 }, 390: { width: 390, height: 844, isMobile: true, hasTouch: true } };

const browser = await puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const found = [];
let rules = 0, uses = 0;
const version = await browser.version();
let pages;
try {
  pages = await readPages();
  assert.ok(pages.length >= 16, `only ${pages.length} pages`);
  const anchors = await readAnchors();
  for (const path of pages) {
    for (const [device, viewport] of Object.entries(WIDTHS)) {
      for (const scheme of ["light", "dark"]) {
        await look(`${path.split("/").at(-1)}-${device}-${scheme}`, path, viewport, scheme, anchors);
      }
    }
  }
  for (const use of [tabs, search, oldLinks, currentSection, tryReading, tryWriting, withoutScripts, onPaper]) {
    await use(await open());
    uses += 1;
  }
} finally {
  await browser.close();
}
for (const line of found) console.error(line);
assert.equal(found.length, 0, "the pages are not in order; see above");
console.log(`${version}: ${pages.length} pages at 2 widths, light and dark; axe passed ${rules} rules; ${uses} uses`);

/** The pages that the navigation leads to. */
async function readPages() {
  const page = await open();
  await page.goto(`${BURSAR_URL}/docs`);
  const paths = await page.$$eval(".nav > details > ul > li > a", (all) => all.map((each) => new URL(each.href).pathname));
  await page.close();
  return paths;
}

/** The ids of each page, to check links against. */
async function readAnchors() {
  const page = await open();
  const anchors = {};
  for (const path of pages) {
    await page.goto(BURSAR_URL + path);
    anchors[path] = await page.$$eval("[id]", (all) => all.map((each) => each.id));
  }
  await page.close();
  return anchors;
}

/** A new page that must not ask other hosts nor complain. Each has storage of its own. */
async function open(name = "a page", viewport = WIDTHS[1280], scheme = "light") {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const say = (line) => found.push(`${name}: ${line}`);
  page.on("request", (request) => {
    if (!request.url().startsWith(BURSAR_URL) && !request.url().startsWith("data:")) say(`asks for ${request.url()}`);
  });
  page.on("console", (message) => ["error", "warn"].includes(message.type()) && say(`console: ${message.text()}`));
  page.on("pageerror", (error) => say(`script: ${error.message}`));
  await page.setViewport(viewport);
  // Else a click can miss what is still scrolling.
  await page.emulateMediaFeatures([{ name: "prefers-reduced-motion", value: "reduce" }, { name: "prefers-color-scheme", value: scheme }]);
  return page;
}

async function look(name, path, viewport, scheme, anchors) {
  const say = (line) => found.push(`${name}: ${line}`);
  const page = await open(name, viewport, scheme);
  const response = await page.goto(BURSAR_URL + path, { waitUntil: "networkidle0" });
  assert.equal(response.status(), 200);

  const wide = await page.evaluate(() => {
    const limit = document.documentElement.clientWidth;
    const scrolls = (each) => each.closest("pre, .stick");
    const over = [...document.querySelectorAll("body *")].filter((each) => !scrolls(each) && each.getBoundingClientRect().right > limit + 1);
    return { limit, width: document.documentElement.scrollWidth, over: over.slice(0, 3).map((each) => each.outerHTML.slice(0, 120)) };
  });
  if (wide.width > wide.limit || wide.over.length > 0) say(`wider than the screen: ${JSON.stringify(wide)}`);

  // Where the screen is wide, the code stands beside the text.
  const beside = await page.$$eval(".row:has(.side)", (rows) => rows.map((row) =>
    row.querySelector(".side").getBoundingClientRect().left >= row.querySelector(".text").getBoundingClientRect().right));
  if (!beside.every((each) => each === !viewport.isMobile)) say("the code is not where it should be");

  for (const href of await page.$$eval("a[href]", (all) => all.map((each) => each.href))) {
    const { origin, pathname, hash } = new URL(href);
    if (origin === BURSAR_URL && hash && !anchors[pathname]?.includes(decodeURIComponent(hash.slice(1)))) say(`a link to nowhere: ${href}`);
  }
  assert.equal(await page.$eval(".nav [aria-current=page]", (each) => new URL(each.href).pathname), path);

  await page.screenshot({ path: `${PICTURES}/${name}.png` });
  const isOpen = () => page.$eval(".nav details", (each) => each.open);
  if (viewport.isMobile) {
    // The menu is folded away. Open, it is looked at too; a link that is followed folds it again.
    assert.equal(await isOpen(), false);
    await page.click(".nav summary");
    assert.equal(await isOpen(), true);
  }
  // The forms are looked at as well.
  await page.$$eval(".try", (all) => all.forEach((each) => { each.open = true; }));
  await page.evaluate(AXE);
  const result = await page.evaluate(() => axe.run(document, { resultTypes: ["violations", "incomplete"] }));
  rules += result.passes.length;
  for (const violation of result.violations) {
    say(`axe ${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`);
  }
  if (viewport.isMobile && (await page.$(".nav .sections a"))) {
    await page.click(".nav .sections a");
    assert.equal(await isOpen(), false);
  }
  await page.browserContext().close();
}

/** The languages of the samples that can be seen. */
function languages(page) {
  return page.$$eval(".langs", (all) => [...new Set(all.map((each) =>
    [...each.querySelectorAll(".code")].filter((block) => block.checkVisibility()).map((block) => block.dataset.lang).join("+")))]);
}

async function tabs(page) {
  await page.goto(`${BURSAR_URL}/docs/members`);
  assert.deepEqual(await languages(page), ["curl"]);
  await page.click("#listMembers-python-tab");
  assert.deepEqual(await languages(page), ["python"], "one choice switches all");
  await page.keyboard.press("ArrowRight");
  assert.deepEqual(await languages(page), ["typescript"], "the arrow keys choose too");
  assert.equal(await page.evaluate(() => document.activeElement.id), "listMembers-typescript-tab");
  await page.goto(`${BURSAR_URL}/docs/guide`);
  assert.deepEqual(await languages(page), ["typescript"], "the next page remembers");
  assert.equal(await page.$$eval("[role=tab][aria-selected=true]", (all) => all.every((each) => each.textContent === "TypeScript")), true);
}

async function search(page) {
  await page.goto(`${BURSAR_URL}/docs`, { waitUntil: "networkidle0" });
  await page.keyboard.press("/");
  await page.keyboard.type("send remind");
  await page.waitForSelector("#found [role=option]");
  assert.match(await page.$eval("#found [aria-selected=true]", (each) => each.textContent), /Send a scheduled reminder now/);
  await page.screenshot({ path: `${PICTURES}/search-1280-light.png` });
  await page.evaluate(AXE);
  const result = await page.evaluate(() => axe.run(document));
  for (const violation of result.violations) found.push(`search: axe ${violation.id}: ${violation.nodes[0].html.slice(0, 200)}`);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  assert.equal(page.url(), `${BURSAR_URL}/docs/reminders#sendReminder`);
  // Errors, the guide and fields are found too, and the arrows choose.
  for (const [words, target] of [["rate_limited", "/docs/errors#rate_limited"], ["secret scanners", "/docs/guide#scanners"], ["member.joindate", "/docs/members#Member.joinDate"]]) {
    await page.focus("#search");
    await page.$eval("#search", (each) => { each.value = ""; });
    await page.keyboard.type(words);
    await page.waitForFunction((target) => [...document.querySelectorAll("#found [role=option]")].some((each) => each.href.endsWith(target)), {}, target);
  }
  const chosen = () => page.$eval("#found [aria-selected=true]", (each) => each.id);
  await page.$eval("#search", (each) => { each.value = ""; });
  await page.keyboard.type("member");
  await page.waitForSelector("#found-3");
  await page.keyboard.press("ArrowDown");
  assert.equal(await chosen(), "found-1");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.notEqual(await chosen(), "found-0");
  await page.keyboard.press("Escape");
  assert.equal(await page.$eval("#found", (each) => each.hidden), true);
}

async function oldLinks(page) {
  for (const [from, to] of [["listMembers", "/docs/members#listMembers"], ["schema-Payment", "/docs/payments#schema-Payment"], ["delivery", "/docs/webhooks#delivery"], ["tag-store", "/docs/store"]]) {
    await page.goto("about:blank");
    await page.goto(`${BURSAR_URL}/docs#${from}`);
    await page.waitForFunction((to) => location.href.endsWith(to), {}, to);
  }
}

async function currentSection(page) {
  await page.goto(`${BURSAR_URL}/docs/members`);
  for (const id of ["getMember", "schema-Member", "updateMember"]) {
    await page.$eval(`#${id}`, (each) => each.scrollIntoView({ behavior: "instant" }));
    await page.waitForFunction((id) => document.querySelector(".nav .sections [aria-current]")?.hash === `#${id}`, { timeout: 5000 }, id);
  }
  assert.equal(await page.$$eval(".nav .sections [aria-current]", (all) => all.length), 1);
}

async function fill(page, selector, text) {
  await page.$eval(selector, (each) => { each.value = ""; });
  await page.type(selector, text);
}

function responses(page, form) {
  return page.waitForFunction((form) => document.querySelector(`${form} .try-result .code`), {}, form);
}

async function tryReading(page) {
  await page.goto(`${BURSAR_URL}/docs/members#listMembers`);
  const form = ".row[aria-labelledby=listMembers] .try";
  await page.click(`${form} > summary`);
  await fill(page, "#try-listMembers-token", BURSAR_TOKEN);
  await fill(page, "#try-listMembers-limit", "2");
  await page.select("#try-listMembers-isActive", "true");
  await page.click(`${form} button[type=submit]`);
  await responses(page, form);
  assert.match(await page.$eval(`${form} .try-result`, (each) => each.textContent), /^200 .* ms · \d+ bytes/);
  const shown = JSON.parse(await page.$eval(`${form} .try-result pre`, (each) => each.textContent));
  assert.equal(shown.data.length, 2);
  assert.match(await page.$eval(`${form} .try-result table`, (each) => each.textContent), /ratelimit-remaining/);
  await page.screenshot({ path: `${PICTURES}/try-1280-light.png` });
  // For other forms of this tab, and nowhere else.
  await page.goto(`${BURSAR_URL}/docs/groups`);
  await page.click(".row[aria-labelledby=listGroups] .try > summary");
  await page.waitForFunction((token) => document.querySelector("#try-listGroups-token").value === token, {}, BURSAR_TOKEN);
  assert.equal(await page.evaluate((token) => Object.values(localStorage).includes(token) || document.cookie.includes(token), BURSAR_TOKEN), false);
}

async function tryWriting(page) {
  await page.goto(`${BURSAR_URL}/docs/groups#createGroup`);
  const form = ".row[aria-labelledby=createGroup] .try";
  await page.click(`${form} > summary`);
  await fill(page, "#try-createGroup-token", BURSAR_TOKEN);
  await fill(page, "#try-createGroup-body", '{"name": "Made on the docs page"}');
  const key = await page.$eval("#try-createGroup-key", (each) => each.value);
  assert.match(key, /^[0-9a-f]{32}$/);
  const groups = async () => (await (await fetch(`${BURSAR_URL}/v1/groups?limit=100`, { headers: { Authorization: `Bearer ${BURSAR_TOKEN}` } })).json()).data.filter((each) => each.name === "Made on the docs page");
  const made = [];
  for (let i = 0; i < 2; i++) {
    await page.$eval(`${form} .try-result`, (each) => each.replaceChildren());
    await page.click(`${form} button[type=submit]`);
    await page.waitForSelector(`${form} .try-confirm`);
    const said = await page.$eval(`${form} .try-confirm`, (each) => each.textContent);
    assert.ok(said.includes("real request") && said.includes(key) && said.includes("POST /v1/groups"), said);
    assert.equal((await groups()).length, i, "nothing is sent before it is confirmed");
    if (i === 0) {
      await page.screenshot({ path: `${PICTURES}/confirm-1280-light.png` });
      await page.click(`${form} .try-confirm button:not(.really)`);
      assert.equal((await groups()).length, 0);
      await page.click(`${form} button[type=submit]`);
    }
    await page.click(`${form} .really`);
    await responses(page, form);
    assert.match(await page.$eval(`${form} .try-result`, (each) => each.textContent), /^201 /);
    made.push(await page.$eval(`${form} .try-result pre`, (each) => each.textContent));
  }
  assert.equal(made[0], made[1], "the same key has one effect");
  assert.equal((await groups()).length, 1);
}

async function withoutScripts(page) {
  await page.setJavaScriptEnabled(false);
  await page.goto(`${BURSAR_URL}/docs/members`);
  assert.deepEqual(await languages(page), ["curl+python+typescript"]);
  for (const part of [".search", ".try"]) assert.equal(await page.$eval(part, (each) => each.checkVisibility()), false, part);
  assert.equal(await page.$eval(".nav .sections a", (each) => each.checkVisibility()), true);
}

async function onPaper(page) {
  await page.goto(`${BURSAR_URL}/docs/groups`);
  await page.emulateMediaType("print");
  for (const part of [".top", ".nav", ".tabs", ".try"]) assert.equal(await page.$eval(part, (each) => each.checkVisibility()), false, part);
  assert.deepEqual(await languages(page), ["curl+python+typescript"]);
}
