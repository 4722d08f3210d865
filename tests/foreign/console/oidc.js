// Signing in with a login at a real OpenID Connect provider, `oidc-provider` from npm: the first time with a mailed code, then
// without; an answer that is a no, and an answer that is sent twice.
//
// The provider and a server that knows it run for this story alone, the server on the database of the others.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import Provider from "oidc-provider";
import { Desk, WIDTHS } from "./desk.js";

const { BURSAR, BURSAR_DATABASE } = process.env;
const SECRET = "a secret of the club & its server";
const TREASURER = "treasurer@example.org";

export async function oidc(browser, found) {
  const home = mkdtempSync(join(tmpdir(), "bursar-oidc."));
  // Mail is written beside the file of SQLite, else where the server runs.
  const file = BURSAR_DATABASE.match(/^sqlite:(.*)/)?.[1];
  const outbox = join(file ? dirname(file) : home, "outbox");
  // The provider must know where the server listens, which is known after its start.
  let begin;
  const ready = new Promise((set) => { begin = set; });
  const web = createServer(async (request, response) => (await ready)(request, response));
  await new Promise((listens) => web.listen(0, "127.0.0.1", listens));
  const issuer = `http://127.0.0.1:${web.address().port}`;
  const server = spawn(
    BURSAR,
    ["--database", BURSAR_DATABASE, "serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--rate-limit-messaging", "1000",
      "--oidc-issuer", issuer, "--oidc-client-id", "bursar", "--oidc-name", "Club login"],
    { cwd: home, env: { ...process.env, BURSAR_OIDC_CLIENT_SECRET: SECRET }, stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    const url = await address(server);
    begin(provider(issuer, url).callback());
    await story(browser, found, { url, issuer, outbox });
  } finally {
    server.kill("SIGINT");
    web.close();
    web.closeAllConnections();
    await new Promise((ended) => (server.exitCode === null ? server.once("exit", ended) : ended()));
    rmSync(home, { recursive: true });
  }
}

async function story(browser, found, { url, issuer, outbox }) {
  const context = await browser.newContext({ viewport: WIDTHS.desk });
  const page = await context.newPage();
  const desk = new Desk(page);
  const answers = [];
  page.on("request", (request) => {
    const asked = request.url();
    if (asked.startsWith(`${url}/console/sign-in/oidc/callback`)) answers.push(asked);
    if (asked.startsWith(url) && asked.includes(issuer)) found.push(`oidc: ${asked} names the provider`);
  });
  page.on("pageerror", (error) => found.push(`oidc: ${page.url()}: script: ${error.message}`));

  // The provider knows the person by another address, which is only proposed.
  await page.goto(`${url}/console/sessions`);
  await leave(page, "Sign in with Club login", issuer);
  await prove(page);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${url}/console/sign-in/oidc/link**`);
  assert.equal(await desk.title(), "One more step");
  assert.equal(await page.getByLabel("E-mail address").inputValue(), "ada@club.example");
  await desk.fill({ "E-mail address": TREASURER });
  assert.equal(await desk.press("Send me a code"), "Enter the code");
  await desk.fill({ Code: await code(outbox) });
  assert.equal(await desk.press("Sign in"), "Your sessions");
  assert.equal(await desk.open("Your logins"), "Your logins");
  await desk.has("ada@club.example");

  // The second time it is a button.
  await signOut(page, url);
  await page.goto(`${url}/console/sign-in?to=/console/logins`);
  assert.equal(await desk.press("Sign in with Club login"), "Your logins");

  // The same answer once more, in the same browser, and in another one.
  const answer = answers.at(-1);
  await signOut(page, url);
  await page.goto(answer);
  assert.equal(await desk.title(), "This sign-in has ended");
  const other = await browser.newContext();
  const elsewhere = await other.newPage();
  await elsewhere.goto(answer);
  assert.equal(await new Desk(elsewhere).title(), "This sign-in has ended");
  await other.close();
  assert.equal((await page.goto(`${url}/console/logins`)).url(), `${url}/console/sign-in?to=/console/logins`, "nobody is signed in");

  // A no at the provider: somebody whom it does not remember cancels.
  await context.clearCookies({ domain: "127.0.0.1" });
  await leave(page, "Sign in with Club login", issuer);
  await page.getByRole("link", { name: "[ Cancel ]" }).click();
  await page.waitForURL(`${url}/console/sign-in/oidc/callback**`);
  assert.equal(await desk.title(), "You were not signed in");
  await desk.has("You cancelled, or Club login did not let you in");

  // Before a guarded act the provider asks again, and the login can be removed.
  await page.goto(`${url}/console/sign-in?to=/console/logins`);
  await leave(page, "Sign in with Club login", issuer);
  await prove(page);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${url}/console/logins`);
  await page.goto(`${url}/console/confirm?to=/console/logins`);
  await leave(page, "Confirm with Club login", issuer);
  await prove(page);
  await page.waitForURL(`${url}/console/logins`);
  await desk.press(/^Remove/);
  await desk.has("You have none yet");
  await context.close();
}

/** Goes to the provider, which asks who it is. */
async function leave(page, button, issuer) {
  await page.getByRole("button", { name: button, exact: true }).click();
  await page.waitForURL(`${issuer}/interaction/**`);
}

/** Who somebody is, on the provider's page. */
async function prove(page) {
  await page.locator("[name=login]").fill("ada");
  await page.locator("[name=password]").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
}

async function signOut(page, url) {
  await page.goto(`${url}/console/sessions`);
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.waitForURL(`${url}/console/sign-in`);
}

/** A provider with one client, where everybody may sign in with any password. */
function provider(issuer, url) {
  return new Provider(issuer, {
    clients: [{ client_id: "bursar", client_secret: SECRET, redirect_uris: [`${url}/console/sign-in/oidc/callback`] }],
    cookies: { keys: ["for this story"] },
    claims: { openid: ["sub"], email: ["email"] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@club.example` }) }),
    pkce: { required: () => true },
  });
}

/** Where the server listens, by the name that the console has on this machine. */
async function address(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const told = line.match(/^listening on (.*)/);
    if (told) return told[1].replace("127.0.0.1", "localhost");
  }
  throw new Error("the server did not start");
}

/** The code in the mail that the server wrote to a file. */
async function code(outbox) {
  for (let tries = 0; tries < 300; tries += 1) {
    const mails = readable(outbox).map((name) => readFileSync(join(outbox, name), "utf8"));
    const mail = mails.find((text) => text.includes("sign-in-code") && text.includes(TREASURER));
    if (mail) return mail.match(/^Subject: (\d{4} \d{4})/m)[1];
    await new Promise((later) => setTimeout(later, 100));
  }
  throw new Error("no code was mailed");
}

function readable(folder) {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(".eml"));
  } catch {
    return [];
  }
}
