// The console in a real Chromium: people's days, with JavaScript and without, with the keyboard alone, and a look at
// every page.
//
// Takes from the environment: BURSAR (the program), BURSAR_DATABASE, BURSAR_URL, ORGANIZATION, CHROMIUM, and perhaps
// KEYS (the keyboard's day too), LOOK (every page is looked at: in two views, or in `all` four), PICTURES (a folder for
// pictures of ten screens) and ONLY_PICTURES.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { cards } from "./cards.js";
import { doors, national, secretary, viewer } from "./days.js";
import { Desk, signIn } from "./desk.js";
import { Keys } from "./keys.js";
import { lookAtEverything } from "./look.js";
import { member } from "./member.js";
import { oidc } from "./oidc.js";
import { passkey } from "./passkey.js";
import { takePictures } from "./pictures.js";
import { treasurer } from "./treasurer.js";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
const found = [];
let stories = 0;

/** Tells a story, and what the page said when it failed. */
async function tell(name, story) {
  const started = performance.now();
  try {
    await story();
  } catch (error) {
    for (const page of browser.contexts().flatMap((context) => context.pages())) {
      console.error(`${page.url()}\n${await page.locator("body").innerText()}\n`);
    }
    throw error;
  }
  stories += 1;
  console.log(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
}

async function treasurersDay(mark, options, hands) {
  const desk = await signIn(browser, found, "treasurer@example.org", options, hands);
  await treasurer(desk, mark);
  await desk.close();
}

async function everything() {
  for (const javaScriptEnabled of [true, false]) {
    const mark = javaScriptEnabled ? "script" : "plain";
    const options = { javaScriptEnabled };
    await tell(`secretary, ${mark}`, () => secretary(browser, found, options, mark));
    await tell(`treasurer, ${mark}`, () => treasurersDay(mark, options, Desk));
    await tell(`member, ${mark}`, () => member(browser, found, options));
    await tell(`card payments, ${mark}`, () => cards(browser, found, options, mark));
    await tell(`viewer, ${mark}`, () => viewer(browser, found, options));
    await tell(`national officer, ${mark}`, () => national(browser, found, options, mark));
  }
  await tell("passkey", () => passkey(browser, found));
  await tell("the doors", () => doors(browser, found));
  if (process.env.KEYS) {
    await tell("secretary for the keyboard", () => secretary(browser, found, {}, "keys"));
    await tell("treasurer with the keyboard alone", () => treasurersDay("keys", {}, Keys));
  }
  if (process.env.LOOK) await lookAtEverything(browser, found, "treasurer@example.org");
  // Last, because its server has a worker, which changes what is looked at.
  await tell("a login at a provider", () => oidc(browser, found));
}

try {
  // First, because stories leave their traces.
  if (process.env.PICTURES) await takePictures(browser, found, process.env.PICTURES);
  if (!process.env.ONLY_PICTURES) await everything();
} finally {
  await browser.close();
}

for (const line of found) console.error(line);
assert.equal(found.length, 0, "the console is not in order; see above");
console.log(`${browser.version()}: ${stories} stories`);
