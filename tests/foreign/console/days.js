// What people do in a day, with the words that are on the pages. Every story runs with JavaScript and without.
import assert from "node:assert/strict";
import { bursar, signIn, WIDTHS } from "./desk.js";

const { ORGANIZATION } = process.env;

/** Sign in, add a member, raise with a preview, undo, raise again, record a stack of money, look, sign out. */
export async function treasurer(browser, found, options, mark) {
  const desk = await signIn(browser, found, "treasurer@example.org", options);
  const page = desk.page;
  const last = `Quill-${mark}`;

  await desk.menu("Members");
  await desk.open("Add a member");
  await desk.fill({ "First name": "Ada", "Last name": last, "E-mail": `${mark}@example.org`, Phone: "no number" });
  await desk.press("Add");
  assert.equal(await page.getByLabel("Phone", { exact: true }).getAttribute("aria-invalid"), "true");
  assert.equal(await page.getByLabel("Last name", { exact: true }).inputValue(), last, "what was typed stays");
  await desk.fill({ Phone: "" });
  await desk.press("Add");
  assert.match(await desk.said(), new RegExp(`Added Ada ${last}`));

  await desk.menu("Charges");
  await desk.open("Raise a charge");
  await desk.fill({ "Or one member": `${mark}@example.org`, "Amount each": "120", "What it is for": `Boat ${mark}` });
  await desk.press("Preview");
  await desk.has(`Ada ${last}`);
  await desk.press(/^Raise 1 charge/);
  await desk.open("Undo");
  await desk.press("Undo it");
  assert.match(await desk.said(), /1 thing was taken back/);

  await desk.menu("Charges");
  await desk.open("Raise a charge");
  await desk.fill({ "Or one member": `${mark}@example.org`, "Amount each": "120", "What it is for": `Oars ${mark}` });
  await desk.press("Preview");
  await desk.press(/^Raise 1 charge/);

  await desk.menu("Money in");
  await desk.open("Record money");
  for (const amount of ["50", "70"]) {
    await desk.fill({ "Who paid": `${mark}@example.org`, Amount: amount });
    await desk.press("Save and next");
    assert.match(await desk.said(), new RegExp(`Recorded ${amount}.00 USD for 1 charge`));
  }

  await desk.menu("Members");
  await page.getByRole("searchbox").fill(last);
  await page.getByRole("searchbox").press("Enter");
  await desk.open(`Ada ${last}`);
  await desk.has(`Oars ${mark}`);
  await desk.has("0.00 USD");

  await page.getByRole("button", { name: "Sign out" }).click();
  assert.equal(await desk.title(), "Sign in");
  await page.goBack();
  assert.equal(await desk.title(), "Sign in", "the back button shows nothing after a sign-out");
  await desk.close();
}

/** On a phone: looks somebody up and corrects their number. */
export async function secretary(browser, found, options, mark) {
  bursar("role", "set", "--organization", ORGANIZATION, "--user", "secretary@example.org", "--role", "editor");
  const phone = { ...options, viewport: WIDTHS.phone, hasTouch: true };
  const desk = await signIn(browser, found, "secretary@example.org", phone);
  const page = desk.page;
  await desk.menu("Members");
  await page.getByRole("searchbox").fill(`Quill-${mark}`);
  await page.getByRole("searchbox").press("Enter");
  await desk.open(`Ada Quill-${mark}`);
  await desk.open("Edit");
  await desk.fill({ Phone: "+12025550147" });
  await desk.press("Save");
  await desk.has("+12025550147");
  await desk.close();
}

/** Sees everything but the buttons. */
export async function viewer(browser, found, options) {
  bursar("role", "set", "--organization", ORGANIZATION, "--user", "viewer@example.org", "--role", "viewer");
  const desk = await signIn(browser, found, "viewer@example.org", options);
  const entries = await desk.page.getByRole("navigation", { name: "Main" }).getByRole("link").evaluateAll((all) => all.map((a) => a.href));
  assert.ok(entries.length > 5);
  const harmless = new Set(["Sign out", "Search", "Show", "Filter"]);
  for (const entry of entries) {
    const response = await desk.page.goto(entry);
    if (response.status() === 403) {
      found.push(`viewer: the menu leads to ${entry}, which is refused`);
      continue;
    }
    const buttons = await desk.page.getByRole("button").allInnerTexts();
    const wrong = buttons.filter((name) => !harmless.has(name.trim()));
    if (wrong.length > 0) found.push(`viewer: ${entry} has ${wrong.join(", ")}`);
  }
  await desk.close();
}
