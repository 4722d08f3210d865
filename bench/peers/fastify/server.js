// A Fastify service in two processes: server.js DATABASE PORT.
"use strict";

const cluster = require("node:cluster");
const { createHash, randomUUID } = require("node:crypto");
const Database = require("better-sqlite3");
const fastify = require("fastify");

const PROCESSES = 2;
const [database, port] = process.argv.slice(2);

const MEMBER = {
  type: "object",
  properties: {
    id: { type: "string" },
    firstName: { type: "string" },
    lastName: { type: "string" },
    email: { type: "string" },
    isActive: { type: "boolean" },
    joinDate: { type: "string" },
    groups: { type: "array", items: { type: "string" } },
    createdAt: { type: "string" },
    updatedAt: { type: "string" },
  },
};
const GROUP = {
  type: "object",
  properties: {
    id: { type: "string" },
    name: { type: "string" },
    createdAt: { type: "string" },
    updatedAt: { type: "string" },
  },
};
const PAGE = {
  type: "object",
  properties: {
    data: { type: "array", items: MEMBER },
    nextCursor: { type: "string", nullable: true },
  },
};
const PAGE_QUERY = {
  type: "object",
  properties: {
    limit: { type: "integer", minimum: 1, maximum: 200, default: 50 },
    cursor: { type: "string", default: "" },
  },
};
const CHANGES = {
  type: "object",
  additionalProperties: false,
  minProperties: 1,
  properties: {
    firstName: { type: "string", minLength: 1, maxLength: 100 },
    lastName: { type: "string", minLength: 1, maxLength: 100 },
  },
};
const NEW_GROUP = {
  type: "object",
  additionalProperties: false,
  required: ["name"],
  properties: { name: { type: "string", minLength: 1, maxLength: 200 } },
};
const COLUMNS = `
  id, first_name AS firstName, last_name AS lastName, email, is_active AS isActive, join_date AS joinDate,
  (SELECT json_group_array(group_id) FROM memberships WHERE member_id = members.id) AS groups,
  created_at AS createdAt, updated_at AS updatedAt`;

function open() {
  const db = new Database(database, { timeout: 20_000 });
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  return {
    token: db.prepare("SELECT organization_id FROM tokens WHERE hash = ?").pluck(),
    get: db.prepare(`SELECT ${COLUMNS} FROM members WHERE organization_id = ? AND id = ?`),
    list: db.prepare(
      `SELECT ${COLUMNS} FROM members WHERE organization_id = ? AND id > ? ORDER BY id LIMIT ?`),
    patch: db.prepare(
      `UPDATE members SET first_name = coalesce(?, first_name), last_name = coalesce(?, last_name), updated_at = ?
       WHERE organization_id = ? AND id = ? RETURNING ${COLUMNS}`),
    create: db.prepare("INSERT INTO groups VALUES (?, ?, ?, ?, ?)"),
  };
}

function member(row) {
  row.groups = JSON.parse(row.groups);
  return row;
}

function serve() {
  const statements = open();
  // Fastify writes two lines a request of its own accord; the others write one.
  const app = fastify({ logger: true, disableRequestLogging: true });

  app.addHook("onResponse", async (request, reply) => {
    const { method, url } = request;
    request.log.info({ method, url, status: reply.statusCode, took: reply.elapsedTime });
  });
  app.decorateRequest("organization", "");
  app.addHook("onRequest", async (request, reply) => {
    const [scheme, text] = (request.headers.authorization ?? "").split(" ");
    const hash = createHash("sha256").update(text ?? "").digest("hex");
    const organization = scheme === "Bearer" ? statements.token.get(hash) : undefined;
    if (organization === undefined) return reply.code(401).send({ message: "unknown token" });
    request.organization = organization;
  });

  app.get("/v1/members", { schema: { querystring: PAGE_QUERY, response: { 200: PAGE } } }, async (request) => {
    const { limit, cursor } = request.query;
    const rows = statements.list.all(request.organization, cursor, limit + 1);
    const hasMore = rows.length > limit;
    const data = rows.slice(0, limit).map(member);
    return { data, nextCursor: hasMore ? data[limit - 1].id : null };
  });
  app.get("/v1/members/:id", { schema: { response: { 200: MEMBER } } }, async (request, reply) => {
    const row = statements.get.get(request.organization, request.params.id);
    return row === undefined ? reply.code(404).send({ message: "no such member" }) : member(row);
  });
  app.patch("/v1/members/:id", { schema: { body: CHANGES, response: { 200: MEMBER } } }, async (request, reply) => {
    const { firstName = null, lastName = null } = request.body;
    const now = new Date().toISOString();
    const row = statements.patch.get(firstName, lastName, now, request.organization, request.params.id);
    return row === undefined ? reply.code(404).send({ message: "no such member" }) : member(row);
  });
  app.post("/v1/groups", { schema: { body: NEW_GROUP, response: { 201: GROUP } } }, async (request, reply) => {
    const id = `grp_${randomUUID()}`;
    const now = new Date().toISOString();
    statements.create.run(id, request.organization, request.body.name, now, now);
    return reply.code(201).send({ id, name: request.body.name, createdAt: now, updatedAt: now });
  });

  app.listen({ host: "127.0.0.1", port: Number(port) });
}

if (cluster.isPrimary) {
  process.on("SIGTERM", () => {
    for (const worker of Object.values(cluster.workers)) worker.kill();
    process.exit(0);
  });
  // A worker that ends did not start, or failed: what is left would be measured as half of the service.
  cluster.on("exit", () => process.exit(1));
  for (let n = 0; n < PROCESSES; n++) cluster.fork();
} else {
  serve();
}
