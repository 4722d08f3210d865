// An officer follows what members paid by card: a dispute, the payouts, a refund through the provider, and a test of its key.
import { signIn } from "./desk.js";

export async function cards(browser, found, options, mark) {
  const desk = await signIn(browser, found, "treasurer@example.org", options);
  await desk.open(/^1 dispute of a card payment to respond to/);
  await desk.has("Money withdrawn", "Respond at Stripe");
  await desk.open("Payouts");
  await desk.has("Paid out");

  await desk.menu("Card payments");
  const paid = desk.page.getByRole("row").filter({ hasText: "Succeeded" }).first();
  await desk.turn(() => desk.hit(paid.getByRole("link")));
  await desk.open("Refund");
  await desk.fill({ Amount: "1.00", Reason: `Too much, ${mark}` });
  await desk.press("Refund through Stripe");
  await desk.said(/^Asked Stripe to refund 1\.00 USD\.$/);
  await desk.has("Partly refunded", `Too much, ${mark}`, "Paid back");
  await desk.press("Check with Stripe now");
  await desk.said(/^Checked with Stripe just now/);
  // The receipt leads back to the card payment.
  await desk.open("Open the receipt");
  await desk.open("Open the card payment");

  await desk.menu("Settings");
  await desk.open("Card payments");
  await desk.press("Test the key");
  await desk.said(/^The key works, in test mode/);
  await desk.open("Change the connection");
  await desk.fill({ "Restricted key": "sk_live_nothing" });
  await desk.press("Save");
  await desk.has("“Restricted key” must be a restricted key");
  await desk.close();
}
