// A member on a phone: from the link in a mail to the own page, and to the code that papers and changes need.
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
  await desk.has("This is not the code.");

  await desk.page.goto(`${BURSAR_URL}/m/`);
  await desk.title();
  assert.equal(await desk.press("Leave this page"), "You have left your page");
  await desk.page.goto(`${BURSAR_URL}/m/in/${ORGANIZATION}`);
  await desk.title();
  await desk.fill({ "E-mail address": "nobody@example.org" });
  assert.equal(await desk.press("Send me a code"), "Enter the code");
  await desk.close();
}
