// A passkey in a virtual authenticator: added by somebody who is signed in, then used to sign in, and removed.
import assert from "node:assert/strict";
import { signIn } from "./desk.js";

const { BURSAR_URL } = process.env;

export async function passkey(browser, found) {
  const desk = await signIn(browser, found, "treasurer@example.org");
  const { page } = desk;
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  await page.goto(`${BURSAR_URL}/console/passkeys`);
  await desk.fill({ "Name of the new passkey": "my <b>phone</b>" });
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("button", { name: "Remove my <b>phone</b>" }).waitFor();
  const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
  assert.equal(credentials.length, 1);

  // Twice, because its counter is kept.
  for (let time = 0; time < 2; time += 1) {
    await page.goto(`${BURSAR_URL}/console/sessions`);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    assert.equal(await desk.title(), "Sign in");
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.waitForURL(/\/console(\/org_|$)/);
  }

  // A key that was removed lets nobody in.
  await page.goto(`${BURSAR_URL}/console/passkeys`);
  await page.getByRole("button", { name: /^Remove/ }).click();
  await page.getByText("You have none yet.").waitFor();
  await page.goto(`${BURSAR_URL}/console/sessions`);
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.getByText("This passkey is not known here").waitFor();
  await desk.close();
}
