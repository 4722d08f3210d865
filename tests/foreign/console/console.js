// The console in a real Chromium: people's days, with JavaScript and without, and a look at every page.
//
// Takes from the environment: BURSAR (the program), BURSAR_DATABASE, BURSAR_URL, ORGANIZATION, CHROMIUM, and perhaps
// LOOK (every page is looked at: in two views, or in `all` four) and PICTURES (a folder).
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { secretary, treasurer, viewer } from "./days.js";
import { lookAtEverything } from "./look.js";
import { passkey } from "./passkey.js";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const found = [];
let stories = 0;
try {
  for (const javaScriptEnabled of [true, false]) {
    const mark = javaScriptEnabled ? "script" : "plain";
    for (const story of [treasurer, secretary, viewer]) {
      await tell(() => story(browser, found, { javaScriptEnabled }, mark));
      stories += 1;
    }
  }
  await tell(() => passkey(browser, found));
  stories += 1;
  if (process.env.LOOK) await lookAtEverything(browser, found, "treasurer@example.org");
} finally {
  await browser.close();
}
/** Says what the page said when a story failed. */
async function tell(story) {
  try {
    await story();
  } catch (error) {
    for (const page of browser.contexts().flatMap((context) => context.pages())) {
      console.error(`${page.url()}\n${await page.locator("body").innerText()}\n`);
    }
    throw error;
  }
}

for (const line of found) console.error(line);
assert.equal(found.length, 0, "the console is not in order; see above");
console.log(`${browser.version()}: ${stories} stories`);
