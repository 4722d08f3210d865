// A browser at a desk: somebody who is signed in, and what they do in the words of the page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { pass } from "./passed.js";

const { BURSAR, BURSAR_DATABASE, BURSAR_URL, ORGANIZATION } = process.env;

export const WIDTHS = { desk: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
/** A slow machine must not fail a story. */
export const WAIT_MS = 120_000;

/** Runs the program on the same database. */
export function bursar(...args) {
  return JSON.parse(execFileSync(BURSAR, ["--database", BURSAR_DATABASE, "--json", ...args], { encoding: "utf8" }));
}

/** A page, and the promise that what a page must never do is noted in `found`. */
export async function sitDown(browser, found, user, options = {}) {
  const context = await browser.newContext({ viewport: WIDTHS.desk, ...options });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const say = (line) => found.push(`${user}: ${new URL(page.url()).pathname}: ${line}`);
  page.on("request", (request) => {
    const isOwn = [BURSAR_URL, "data:"].some((start) => request.url().startsWith(start));
    if (!isOwn) say(`asks for ${request.url()}`);
  });
  page.on("console", (message) => {
    // Chromium notes every form that is shown again. htmx notes a preview that a newer one replaces, in two lines; the
    // first of them comes before the word of a real failure too.
    const isExpected = ["status of 422", "htmx:afterRequest", "htmx:sendAbort"].some((part) => message.text().includes(part));
    if (["error", "warning"].includes(message.type()) && !isExpected) say(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => say(`script: ${error.message}`));
  return page;
}

/** Somebody who has signed in by a link. `Hands` is [`Desk`] or a kind of it. */
export async function signIn(browser, found, user, options = {}, Hands = Desk) {
  const desk = new Hands(await sitDown(browser, found, user, options));
  const { link } = bursar("sign-in-link", "--user", user, "--base-url", BURSAR_URL);
  await desk.page.goto(link);
  await desk.title();
  const welcome = await desk.press("Sign in");
  const home = `${BURSAR_URL}/console/${ORGANIZATION}`;
  await desk.page.goto(home);
  assert.equal(desk.page.url(), home, `${user} could not sign in: ${welcome}`);
  return desk;
}

export class Desk {
  constructor(page) {
    this.page = page;
  }

  // How it is done: with a mouse or a finger here, otherwise in another kind of desk.
  async hit(locator) {
    await locator.click();
  }
  async write(field, text) {
    await field.fill(text);
  }
  async choose(field, label) {
    await field.selectOption({ label });
  }
  async tick(box) {
    await box.click();
  }
  async attach(field, file) {
    await field.setInputFiles(file);
  }

  /** Does what leads to another page, and waits for that page. */
  async turn(act) {
    await this.page.locator("main").evaluate((main) => main.setAttribute("data-left", ""));
    await act();
    await this.page.locator("main:not([data-left])").waitFor();
    return this.title();
  }

  /** The heading of the page. Every page has one. */
  async title() {
    await this.page.waitForLoadState();
    const headings = await this.page.getByRole("heading", { level: 1 }).allInnerTexts();
    assert.equal(headings.length, 1, `${this.page.url()} has ${headings.length} first headings`);
    await pass(this.page, headings[0]);
    return headings[0];
  }

  /** Opens a page of the menu. On a phone the menu is folded. */
  async menu(name) {
    const link = this.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });
    if (!(await link.isVisible())) await this.hit(this.page.locator("summary", { hasText: /^Menu$/ }));
    return this.turn(() => this.hit(link));
  }

  async open(name) {
    return this.turn(() => this.hit(this.page.getByRole("main").getByRole("link", { name, exact: typeof name === "string" }).first()));
  }

  async press(name) {
    return this.turn(() => this.hit(this.page.getByRole("button", { name, exact: typeof name === "string" })));
  }

  /** Fills fields by their labels: text, a choice, a day as 2026-01-31, or a file. */
  async fill(fields) {
    for (const [label, value] of Object.entries(fields)) {
      const field = this.page.getByLabel(label, { exact: true });
      const tag = await field.evaluate((element) => element.tagName);
      if (tag === "SELECT") await this.choose(field, value);
      else if (typeof value === "object") await this.attach(field, value);
      else await this.write(field, value);
    }
  }

  /** Checks or unchecks boxes. */
  async check(...names) {
    for (const name of names) await this.tick(this.page.getByRole("checkbox", { name }));
  }

  /** Searches in the list of this page. */
  async seek(text) {
    const box = this.page.getByRole("main").getByRole("searchbox");
    await this.write(box, text);
    await this.turn(() => box.press("Enter"));
  }

  /** Saves what a link offers, and gives its text. */
  async save(name) {
    const saving = this.page.waitForEvent("download");
    await this.hit(this.page.getByRole("link", { name, exact: true }));
    const file = await (await saving).createReadStream();
    return Buffer.concat(await file.toArray()).toString("utf8");
  }

  /** The cells of the row that is about something. */
  async row(about) {
    const row = this.page.locator("table.rows").getByRole("row").filter({ has: this.page.getByRole("rowheader", { name: about, exact: true }) });
    return (await row.getByRole("cell").allInnerTexts()).map((text) => text.trim());
  }

  /** What the page says was done. */
  async said(expected) {
    const text = (await this.page.getByRole("status").innerText()).trim();
    assert.match(text, expected);
  }

  async has(...texts) {
    const body = await this.page.locator("main").innerText();
    for (const text of texts) assert.ok(body.includes(text), `${this.page.url()} does not say "${text}":\n${body.slice(0, 2000)}`);
  }

  async hasNo(...texts) {
    const body = await this.page.locator("main").innerText();
    for (const text of texts) assert.ok(!body.includes(text), `${this.page.url()} says "${text}"`);
  }

  async close() {
    await this.page.context().close();
  }
}
