// A member on a phone: from the link in a mail to the own page, to the code that papers and changes need, and to a payment
// by card.
import assert from "node:assert/strict";
import { bursar, Desk, sitDown, WIDTHS } from "./desk.js";

const { BURSAR_URL, ORGANIZATION } = process.env;

export async function member(browser, found, options) {
  const [owing] = bursar("member", "list", "--organization", ORGANIZATION, "--owing");
  const { link } = bursar("member", "link", owing.id);
  const phone = { ...options, viewport: WIDTHS.phone, hasTouch: true };
  const desk = new Desk(await sitDown(browser, found, "a member", phone));
  await desk.page.goto(link);
  assert.equal(await desk.title(), `${owing.firstName} ${owing.lastName}`);
  assert.equal(desk.page.url(), `${BURSAR_URL}/m/`, "the link is gone from the address");
  await desk.has("Open charges", "USD", "Statements and receipts");
  // A link may have been passed on.
  await desk.hasNo(owing.email);

  assert.equal(await desk.open("Change it"), "Confirm that it is you");
  assert.equal(await desk.press("Send me a code"), "Enter the code");
  await desk.fill({ Code: "00000000" });
  assert.equal(await desk.press("Continue"), "Enter the code");
  await desk.has("The code is wrong.");

  await payByCard(desk);
  assert.equal(await desk.press("Sign out"), "You have signed out");
  await desk.page.goto(`${BURSAR_URL}/m/in/${ORGANIZATION}`);
  await desk.title();
  await desk.fill({ "E-mail address": "nobody@example.org" });
  assert.equal(await desk.press("Send me a code"), "Enter the code");
  await desk.close();
}

/** Pays everything that is open on the page of the demo's provider: with a card that is declined, then with another. */
async function payByCard(desk) {
  const { page } = desk;
  await page.goto(`${BURSAR_URL}/m/`);
  await desk.title();
  for (const box of await page.getByRole("checkbox").all()) await box.check();
  await page.getByRole("button", { name: "Pay by card" }).click();
  await page.getByRole("group", { name: "Choose a test card" }).waitFor();
  const title = await desk.title();
  await desk.has("no real card, no money moves");
  await page.getByRole("radio", { name: /0002/ }).check();
  assert.equal(await desk.press(title), title);
  await desk.has("Your card was declined.");
  await page.getByRole("radio", { name: /4242/ }).check();
  await page.getByRole("button", { name: title }).click();
  await page.getByRole("heading", { name: "Nothing to pay now" }).waitFor();
  await desk.title();
  await desk.said(/^Thank you\. Your payment has arrived\.$/);
  await desk.hasNo("Open charges");
  await desk.has("Payment received");
}
