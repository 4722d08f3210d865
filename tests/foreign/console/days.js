// What others do in a day, with the words that are on the pages.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { bursar, Desk, signIn, sitDown, WIDTHS } from "./desk.js";
import { kinds } from "./look.js";

const { BURSAR, BURSAR_URL, ORGANIZATION } = process.env;
/** The smallest picture there is. */
const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==", "base64");

/** On a phone: looks somebody up, corrects their number, and writes an expense down with a picture of the receipt. */
export async function secretary(browser, found, options, mark) {
  const phone = { ...options, viewport: WIDTHS.phone, hasTouch: true };
  const desk = await signIn(browser, found, "secretary@example.org", phone);
  await desk.menu("Members");
  await desk.seek("newcomer.5@example.org");
  await desk.turn(() => desk.page.getByRole("rowheader").getByRole("link").click());
  await desk.open("Edit");
  await desk.fill({ Phone: "+12025550147" });
  await desk.press("Save");
  await desk.has("+12025550147");

  await desk.menu("Reimbursements");
  await desk.open("Add an expense");
  const receipt = { name: "varnish.png", mimeType: "image/png", buffer: PIXEL };
  await desk.fill({ "Who is reimbursed": "newcomer.5@example.org", Amount: "48.20", "What it was for": `Varnish ${mark}`, Receipts: receipt });
  await desk.press("Submit for approval");
  await desk.said(/^Submitted 48\.20 USD/);
  await desk.hasNo("Approve 48.20 USD");
  await desk.close();
}

/** Sees everything but the buttons. */
export async function viewer(browser, found, options) {
  bursar("role", "set", "--organization", ORGANIZATION, "--user", "viewer@example.org", "--role", "viewer");
  const desk = await signIn(browser, found, "viewer@example.org", options);
  const entries = await desk.page.getByRole("navigation", { name: "Main" }).getByRole("link").evaluateAll((all) => all.map((a) => a.href));
  assert.ok(entries.length > 5);
  const harmless = new Set(["Sign out", "Search", "Show", "Filter"]);
  // Copying needs JavaScript, so without it there is no such button.
  if (options.javaScriptEnabled) harmless.add("Copy");
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
  // No link of any kind of page leads to what is refused.
  await desk.page.goto(`${BURSAR_URL}/console/${ORGANIZATION}`);
  await kinds(desk, (link) => found.push(`viewer: a link leads to ${link}, which is refused`), 20);
  await desk.close();
}

/** Looks at forty chapters' worth of totals, then at one roster; the chapter reads who looked. */
export async function national(browser, found, options, mark) {
  const user = `national.${mark}@example.org`;
  bursar("role", "set", "--organization", ORGANIZATION, "--user", user, "--role", "viewer");
  const desk = await signIn(browser, found, user, options);
  await desk.menu("Chapters");
  const names = await desk.page.locator("tbody").getByRole("rowheader").allInnerTexts();
  const minor = (text) => Number(text.split(" ")[0].replaceAll(/[^0-9]/g, ""));
  const sums = [0, 0, 0, 0, 0];
  for (const name of names) (await desk.row(name)).slice(0, 5).forEach((text, at) => (sums[at] += minor(text)));
  assert.deepEqual((await desk.row("Total")).slice(0, 5).map(minor), sums, "the roll-up is the sum of its chapters");
  assert.ok(sums.every((sum) => sum > 0), `${sums}`);

  const [name] = names;
  const roster = await desk.open(name);
  assert.equal(roster, `Roster of ${name}`);
  const count = await desk.page.locator("tbody").getByRole("row").count();
  const chapter = new URL(desk.page.url()).pathname.split("/").at(-1);
  // The rest of the chapter is its own.
  const response = await desk.page.request.get(`${BURSAR_URL}/console/${chapter}/members`);
  assert.equal(response.status(), 404);
  await desk.close();

  const there = await signIn(browser, found, "treasurer@example.org", options);
  await there.page.goto(`${BURSAR_URL}/console/${chapter}/activity`);
  await there.has(`Somebody of Federation of Community Rowing read ${count} members of this chapter's roster`);
  await there.close();
}

/** Comes to the doors: asks for a code and mistypes it; sets up a server that is empty. */
export async function doors(browser, found) {
  const desk = new Desk(await sitDown(browser, found, "nobody@example.org"));
  await desk.page.goto(`${BURSAR_URL}/console/sign-in?to=/console/${ORGANIZATION}/members%3Fstate%3Dall`);
  await desk.title();
  await desk.fill({ "E-mail address": "nobody@example.org" });
  assert.equal(await desk.press("Send me a code"), "Enter the code");
  await desk.fill({ Code: "00000000" });
  assert.equal(await desk.press("Sign in"), "Enter the code");
  await desk.has("The code is wrong.");
  await desk.close();

  const home = mkdtempSync(join(tmpdir(), "bursar-setup."));
  const server = spawn(BURSAR, ["--database", `sqlite:${join(home, "empty.db")}`, "serve", "--listen", "127.0.0.1:0", "--log-level", "error"], {
    cwd: home,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const link = await setupLink(server);
    const page = await sitDown(browser, [], "the first");
    await page.goto(link);
    assert.match(await new Desk(page).title(), /set up/i);
    await page.context().close();
  } finally {
    server.kill("SIGINT");
    await new Promise((ended) => (server.exitCode === null ? server.once("exit", ended) : ended()));
    rmSync(home, { recursive: true });
  }
}

async function setupLink(server) {
  for await (const line of createInterface({ input: server.stdout })) {
    const told = line.match(/set one up at (.*)/);
    if (told) return told[1].replace("127.0.0.1", "localhost");
  }
  throw new Error("the server prints no setup link");
}
