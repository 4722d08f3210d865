// A member on a phone: from the link in a mail to the own page, to the code that papers and changes need, and to a payment
// by card.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { playCards } from "./cards.js";
import { bursar, Desk, sitDown, WIDTHS } from "./desk.js";

const { BURSAR, BURSAR_DATABASE, BURSAR_URL, CARDS_PORT, ORGANIZATION } = process.env;

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
  await desk.has("This is not the code.");

  await payByCard(desk);
  assert.equal(await desk.press("Leave this page"), "You have left your page");
  await desk.page.goto(`${BURSAR_URL}/m/in/${ORGANIZATION}`);
  await desk.title();
  await desk.fill({ "E-mail address": "nobody@example.org" });
  assert.equal(await desk.press("Send me a code"), "Enter the code");
  await desk.close();
}

/** Pays everything that is open on the page of a provider. */
async function payByCard(desk) {
  const { page } = desk;
  // The key of no account.
  const args = ["--database", BURSAR_DATABASE, "provider", "set", "--organization", ORGANIZATION, "--key-file", "-"];
  execFileSync(BURSAR, args, { input: "rk_test_0123456789abcdef", stdio: ["pipe", "ignore", "inherit"] });
  const cards = await playCards(Number(CARDS_PORT));
  try {
    await page.goto(`${BURSAR_URL}/m/`);
    await desk.title();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    await page.getByRole("button", { name: "Pay by card" }).click();
    await page.getByRole("heading", { name: "Your card" }).waitFor();
    await page.getByRole("button", { name: "Pay" }).click();
    await page.getByRole("heading", { name: "Nothing to pay now" }).waitFor();
    await desk.title();
    await desk.said(/^Thank you\. Your payment has arrived\.$/);
    await desk.hasNo("Open charges");
    await desk.has("Payment received");
  } finally {
    cards.closeAllConnections();
    cards.close();
    bursar("provider", "remove", "--organization", ORGANIZATION);
  }
}
