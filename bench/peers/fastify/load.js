// Fills a new database: load.js DATABASE BUNDLE TOKENS, where TOKENS is a JSON object of organizations by token.
"use strict";

const { createHash } = require("node:crypto");
const { createReadStream, readFileSync } = require("node:fs");
const { createInterface } = require("node:readline");
const Database = require("better-sqlite3");

const SCHEMA = `
  CREATE TABLE tokens (hash TEXT PRIMARY KEY, organization_id TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE groups (
    id TEXT PRIMARY KEY, organization_id TEXT NOT NULL, name TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
  CREATE TABLE members (
    id TEXT PRIMARY KEY, organization_id TEXT NOT NULL, first_name TEXT NOT NULL, last_name TEXT NOT NULL,
    email TEXT NOT NULL, is_active INTEGER NOT NULL, join_date TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
  CREATE INDEX members_by_organization ON members (organization_id, id);
  CREATE TABLE memberships (
    member_id TEXT NOT NULL, group_id TEXT NOT NULL, PRIMARY KEY (member_id, group_id)) WITHOUT ROWID;
`;

async function main([database, bundle, tokens]) {
  const db = new Database(database);
  db.pragma("journal_mode = WAL");
  db.exec(SCHEMA);
  const group = db.prepare("INSERT INTO groups VALUES (?, ?, ?, ?, ?)");
  const member = db.prepare("INSERT INTO members VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const membership = db.prepare("INSERT OR IGNORE INTO memberships VALUES (?, ?)");
  const token = db.prepare("INSERT INTO tokens VALUES (?, ?)");
  const now = new Date().toISOString();
  db.exec("BEGIN");
  for await (const line of createInterface({ input: createReadStream(bundle) })) {
    const one = JSON.parse(line);
    if (one.type === "group") {
      group.run(one.id, one.organizationId, one.name, now, now);
    } else if (one.type === "member") {
      member.run(
        one.id, one.organizationId, one.firstName, one.lastName, one.email, one.isActive ? 1 : 0, one.joinDate,
        one.createdAt, one.updatedAt,
      );
      for (const id of one.groups) membership.run(one.id, id);
    }
  }
  for (const [text, organization] of Object.entries(JSON.parse(readFileSync(tokens, "utf8")))) {
    token.run(createHash("sha256").update(text).digest("hex"), organization);
  }
  db.exec("COMMIT");
  db.close();
}

main(process.argv.slice(2));
