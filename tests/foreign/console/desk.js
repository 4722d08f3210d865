// A browser at a desk: somebody who is signed in, and what they do in the words of the page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

const { BURSAR, BURSAR_DATABASE, BURSAR_URL, ORGANIZATION } = process.env;

export const WIDTHS = { desk: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

/** Runs the program on the same database. */
export function bursar(...args) {
  return JSON.parse(execFileSync(BURSAR, ["--database", BURSAR_DATABASE, "--json", ...args], { encoding: "utf8" }));
}

/** A page of somebody who has signed in by a link. What a page must never do is noted in `found`. */
export async function signIn(browser, found, user, options = {}) {
  const context = await browser.newContext({ viewport: WIDTHS.desk, ...options });
  const page = await context.newPage();
  const say = (line) => found.push(`${user}: ${new URL(page.url()).pathname}: ${line}`);
  page.on("request", (request) => {
    if (!request.url().startsWith(BURSAR_URL) && !request.url().startsWith("data:")) say(`asks for ${request.url()}`);
  });
  page.on("console", (message) => {
    // Chromium notes every form that is shown again.
    const isShownAgain = message.text().includes("status of 422");
    if (["error", "warning"].includes(message.type()) && !isShownAgain) say(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => say(`script: ${error.message}`));
  const { link } = bursar("sign-in-link", "--user", user, "--base-url", BURSAR_URL);
  await page.goto(link);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/console(\/org_|$)/);
  await page.goto(`${BURSAR_URL}/console/${ORGANIZATION}`);
  return new Desk(page);
}

export class Desk {
  constructor(page) {
    this.page = page;
  }

  /** Opens a page of the menu. On a phone the menu is folded; without JavaScript it is too. */
  async menu(name) {
    const link = this.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true });
    if (!(await link.isVisible())) await this.page.getByText("Menu", { exact: true }).click();
    await link.click();
    await this.title();
  }

  /** The heading of the page. Every page has one. */
  async title() {
    await this.page.waitForLoadState();
    const headings = await this.page.getByRole("heading", { level: 1 }).allInnerTexts();
    assert.equal(headings.length, 1, `${this.page.url()} has ${headings.length} first headings`);
    return headings[0];
  }

  async open(name) {
    await this.page.getByRole("link", { name, exact: true }).first().click();
    return this.title();
  }

  async fill(fields) {
    for (const [label, value] of Object.entries(fields)) {
      const field = this.page.getByLabel(label, { exact: true });
      const tag = await field.evaluate((element) => element.tagName);
      if (tag === "SELECT") await field.selectOption({ label: value });
      else await field.fill(value);
    }
  }

  async press(name) {
    await this.page.getByRole("button", { name, exact: typeof name === "string" }).click();
    return this.title();
  }

  /** What the page says was done. */
  async said() {
    return this.page.getByRole("status").innerText();
  }

  async has(text) {
    const body = await this.page.locator("main").innerText();
    assert.ok(body.includes(text), `${this.page.url()} does not say "${text}":\n${body.slice(0, 2000)}`);
  }

  async hasNo(text) {
    const body = await this.page.locator("main").innerText();
    assert.ok(!body.includes(text), `${this.page.url()} says "${text}"`);
  }

  async close() {
    await this.page.context().close();
  }
}
