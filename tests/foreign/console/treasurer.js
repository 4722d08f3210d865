// The treasurer's day, from the sign-in to the sign-out: one story for the mouse, for a browser without JavaScript and
// for the keyboard alone.
import assert from "node:assert/strict";

const DAY_MS = 86_400_000;
const day = (after = 0) => new Date(Date.now() + after * DAY_MS).toISOString().slice(0, 10);
const sheet = (name, lines) => ({ name, mimeType: "text/csv", buffer: Buffer.from(`${lines.join("\n")}\n`) });

/** Four people of one crew get charged 120 each: Ada pays in two parts, Ben and Cleo by transfer, Dov is reminded. */
export async function treasurer(desk, mark) {
  const its = { mark, crew: `Crew ${mark}`, last: `Quill-${mark}`, what: `Oars ${mark}` };
  await bringIn(desk, its);
  await addOne(desk, its);
  await raise(desk, its);
  await recordStack(desk, its);
  await match(desk, its);
  await remind(desk, its);
  await approve(desk, its);
  await report(desk, its);
  await leave(desk);
}

/** A spreadsheet whose columns have names of their own; undone, and brought in again. */
async function bringIn(desk, { mark, crew, last }) {
  const people = ["Ada", "Ben", "Cleo", "Dov"].map((first) => `${first};${last};${first.toLowerCase()}.${mark}@example.org;${crew}`);
  const file = sheet("crew.csv", ["Called;Surname;E-mail;Boat crew", ...people]);
  for (const isUndone of [true, false]) {
    await desk.menu("Members");
    await desk.open("Import a spreadsheet");
    await desk.fill({ Spreadsheet: file });
    await desk.press("Upload");
    await desk.fill({ Called: "First name", "Boat crew": "Groups" });
    await desk.check("Create groups that do not exist");
    // An import that was undone leaves people behind who are archived.
    if (!isUndone) await desk.check("Restore archived members who are in the file");
    await desk.press("Check again");
    await desk.has(`Ada ${last}`, `Dov ${last}`, crew);
    await desk.press(isUndone ? "Add 4 members" : "Change 4 members");
    await desk.said(/^(Added|Changed) 4 members\./);
    if (!isUndone) break;
    await desk.open("Undo");
    await desk.press("Undo it");
    await desk.said(/^Undid 4 changes/);
  }
}

/** What was typed stays when a field is wrong. */
async function addOne(desk, { mark, last }) {
  await desk.menu("Members");
  await desk.open("Add a member");
  await desk.fill({ "First name": "Eve", "Last name": last, "E-mail": `eve.${mark}@example.org`, Phone: "no number" });
  await desk.press("Add");
  assert.equal(await desk.page.getByLabel("Phone", { exact: true }).getAttribute("aria-invalid"), "true");
  assert.equal(await desk.page.getByLabel("Last name", { exact: true }).inputValue(), last, "what was typed stays");
  await desk.fill({ Phone: "" });
  await desk.press("Add");
  await desk.said(new RegExp(`^Added Eve ${last}`));
}

async function raise(desk, { crew, last, what }) {
  for (const isUndone of [true, false]) {
    await desk.menu("Charges");
    await desk.open("Raise a charge");
    await desk.fill({ "Everybody in a group": crew, "Amount each": "120", "What it is for": what, Due: day() });
    assert.equal(await desk.press("Preview"), "Charge 4 members, 480.00 USD in all");
    await desk.has(`Ada ${last}`, `Ben ${last}`, `Cleo ${last}`, `Dov ${last}`);
    await desk.hasNo(`Eve ${last}`);
    await desk.press("Raise 4 charges, 480.00 USD in all");
    await desk.said(/^Raised 4 charges, 480\.00 USD in all\./);
    if (!isUndone) break;
    await desk.open("Undo");
    await desk.press("Undo it");
    await desk.said(/^Undid 4 changes/);
  }
}

async function recordStack(desk, { mark }) {
  await desk.menu("Money in");
  await desk.open("Record money");
  for (const amount of ["50", "70"]) {
    await desk.fill({ "Who paid": `ada.${mark}@example.org`, Amount: amount, How: "Check" });
    await desk.press("Save and next");
    await desk.said(new RegExp(`^Recorded ${amount}\\.00 USD from .+ for 1 charge`));
  }
}

/** Two lines are confirmed together, one is said to be Ada's, one is kept out of the books, taken back, and kept out. */
async function match(desk, { mark, last, what }) {
  const [family, kiosk] = [`Quill family ${mark}`, `Quayside kiosk ${mark}`];
  const lines = [`120.00;Ben ${last};${what}`, `120.00;Cleo ${last};${what}`, `25.00;${family};For Ada, ${what}`, `-14.50;${kiosk};Card, ${mark}`];
  await desk.menu("Bank");
  await desk.open("Import a statement");
  const file = sheet("statement.csv", ["Booking date;Amount;Name;Purpose", ...lines.map((line) => `${day()};${line}`)]);
  await desk.fill({ "File from the bank": file });
  await desk.press("Import");
  await desk.said(/^Imported 4 lines.* 2 of them have a proposal/);
  await desk.press("Confirm the selected lines");
  await desk.said(/^Confirmed 2 lines, 240\.00 USD in all\./);
  await desk.open(family);
  await desk.fill({ Member: `ada.${mark}@example.org` });
  await desk.press("Find");
  await desk.press(`Book 25.00 USD for Ada ${last}`);
  await desk.said(/^Booked 25\.00 USD/);
  await desk.check(new RegExp(kiosk));
  await desk.press("Exclude the selected lines");
  await desk.said(/^Excluded 1 line from the books/);
  await desk.open("Undo");
  await desk.press("Undo");
  await desk.said(/^Undone: 1 line to match again/);
  await desk.open(kiosk);
  await desk.press("Exclude it");
  await desk.said(/^Excluded .* from the books/);
}

/** Planned with a preview, then sent now. Only Dov still owes. */
async function remind(desk, { mark, crew, last }) {
  await desk.menu("Reminders");
  await desk.open("Write a reminder");
  await desk.fill({ To: crew, Subject: `The oars ${mark}`, Text: "Dear {firstName},\nthe oars are here.", Day: day(2) });
  await desk.press("Preview");
  await desk.has(`Dov ${last}`, "Dear Dov,", "120.00 USD");
  await desk.hasNo(`ben.${mark}@example.org`);
  await desk.press(/^Plan it for/);
  await desk.said(/^Planned for/);
  await desk.press("Send now to 1 person");
  await desk.said(/on its way/);
}

/** The secretary wrote it down this morning. */
async function approve(desk, { mark }) {
  await desk.menu("Reimbursements");
  await desk.open(`Varnish ${mark}`);
  await desk.has("varnish.png");
  await desk.press("Approve 48.20 USD");
  await desk.said(/^Approved\./);
}

/** What was done today is in the report, and the spreadsheet says the same. */
async function report(desk, { crew }) {
  await desk.menu("Reports");
  await desk.open("Dues");
  // Charges, expected, discounts, collected, owed, overdue.
  const figures = ["4", "480.00", "0.00", "360.00", "120.00", "0.00"];
  const shown = (await desk.row(crew)).slice(1).map((figure) => figure.replace("\u2013", "0.00"));
  assert.deepEqual(shown, figures);
  const saved = await desk.save("Spreadsheet (CSV)");
  const line = saved.split(/\r?\n/).find((line) => line.startsWith(crew));
  assert.equal(line, [crew, day(), ...figures].join(","));
}

async function leave(desk) {
  assert.equal(await desk.press("Sign out"), "Sign in");
  await desk.page.goBack();
  assert.equal(await desk.title(), "Sign in", "the back button shows nothing after a sign-out");
}
