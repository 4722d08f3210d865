// Looks at every page that can be reached by links, each kind once, and at those that stories came through: axe finds
// nothing, nothing is wider than the screen, and a page is light. At two widths, light and dark.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { signIn, WAIT_MS, WIDTHS } from "./desk.js";
import { kind, passedPages } from "./passed.js";

const { BURSAR_URL } = process.env;
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const FIRST_BYTES_MAX = 60_000;
const LATER_BYTES_MAX = 20_000;
/** The page that says that there is no such page. */
const PROBLEM = "problem";

/** One address for each kind of page. Pages are only read here, not opened. `refused` is told of those that answer 403. */
export async function kinds(desk, refused = () => {}, least = 60) {
  const { page } = desk;
  const home = new URL(page.url()).pathname;
  const seen = new Map([["", page.url()]]);
  const next = [page.url()];
  const files = new Set();
  while (next.length > 0) {
    const here = next.shift();
    const response = await page.request.get(here);
    if (response.status() === 403) refused(here);
    if (!(response.headers()["content-type"] ?? "").startsWith("text/html")) continue;
    for (const [tag, href] of (await response.text()).matchAll(/<a\s[^>]*?href="([^"]*)"[^>]*>/g)) {
      const link = new URL(href.replaceAll(/&(#38|amp);/g, "&"), here).href.replace(/#.*/, "");
      const isOwn = link.startsWith(`${BURSAR_URL}${home}/`);
      const isPage = isOwn && !/\sdownload\b/.test(tag) && !/[./](csv|pdf)(\?|$)/.test(link);
      if (isOwn && !isPage && !files.has(kind(link))) {
        files.add(kind(link));
        if ((await page.request.get(link)).status() === 403) refused(link);
      }
      if (isPage && !seen.has(kind(link))) {
        seen.set(kind(link), link);
        next.push(link);
      }
    }
  }
  assert.ok(seen.size > least, `only ${seen.size} kinds of pages were found`);
  // No link leads to these.
  seen.set("search", `${BURSAR_URL}${home}/search?q=a`);
  for (const name of ["keys", "parts", "sessions", "passkeys"]) seen.set(name, `${BURSAR_URL}/console/${name}`);
  seen.set("places", `${BURSAR_URL}/console`);
  seen.set("confirm", `${BURSAR_URL}/console/confirm?to=${home}/settings/edit`);
  seen.set(PROBLEM, `${BURSAR_URL}${home}/nothing`);
  return seen;
}

export async function lookAtEverything(browser, found, user) {
  const desk = await signIn(browser, found, user);
  const pages = await kinds(desk);
  const state = await desk.page.context().storageState();
  await desk.close();
  const passed = [...passedPages()].filter(([, { path }]) => /^\/(console|m)\b/.test(path));
  assert.ok(passed.length > 20, `stories came through ${passed.length} pages only`);
  let rules = 0;
  let views = 0;
  for (const [device, viewport] of Object.entries(WIDTHS)) {
    for (const colorScheme of ["light", "dark"]) {
      if (process.env.LOOK !== "all" && (device === "desk") !== (colorScheme === "light")) continue;
      views += 1;
      // The page's own policy forbids a script of ours, which axe is.
      const context = await browser.newContext({ storageState: state, viewport, colorScheme, bypassCSP: true });
      context.setDefaultTimeout(WAIT_MS);
      const page = await context.newPage();
      const look = async (name, url, status) => {
        const response = await page.goto(url);
        const say = (line) => found.push(`${name || "overview"}, ${device}, ${colorScheme}: ${line}`);
        if (response.status() !== status) say(`status ${response.status()}`);
        await page.evaluate(AXE);
        const result = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
        rules += result.passes.length;
        for (const violation of result.violations) say(`axe: ${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        if (width > viewport.width) say(`is ${width} px wide`);
      };
      for (const [name, url] of pages) await look(name, url, name === PROBLEM ? 404 : 200);
      for (const [name, { path, html }] of passed) {
        const url = `${BURSAR_URL}${path}`;
        await page.route(url, (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body: html }));
        await look(name, url, 200);
        await page.unroute(url);
      }
      await context.close();
    }
  }
  await weigh(browser, state, pages, found);
  console.log(`${pages.size} kinds of pages, and ${passed.length} that stories came through, in ${views} views (widths and themes); axe passed ${rules} rules`);
}

/** What goes over the wire, by the browser's own count. */
async function weigh(browser, storageState, pages, found) {
  const context = await browser.newContext({ storageState });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  let bytes = 0;
  session.on("Network.loadingFinished", (event) => (bytes += event.encodedDataLength));
  let [first, heaviest, which] = [0, 0, ""];
  for (const [name, url] of pages) {
    bytes = 0;
    await page.goto(url);
    if (first === 0) first = bytes;
    else if (bytes > heaviest) [heaviest, which] = [bytes, name];
    if (name !== "" && bytes > LATER_BYTES_MAX) found.push(`${name} moves ${bytes} bytes`);
  }
  await context.close();
  assert.ok(first > 0 && first <= FIRST_BYTES_MAX, `the first view moves ${first} bytes`);
  console.log(`the first view moves ${first} bytes; of the later ones ${which} the most, ${heaviest}`);
}
