// Every operation of the TypeScript client, behind a proxy that spoils responses. calls.py makes the same calls.

import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
    Bursar,
    BursarError,
    CardCreationKind,
    Conflict,
    EventsGone,
    InvalidRequest,
    InvalidToken,
    NotFound,
    PaymentStatus,
    newKey,
    type Walk,
} from "bursar";

const chapter = "org_01jbst1c01e009wdvsq5zmmz0n";
const bursar = new Bursar();

async function every<T extends { id: string; createdAt: string; updatedAt?: string }>(walk: Walk<T>): Promise<T[]> {
    const rows: T[] = [];
    for await (const row of walk) rows.push(row);
    assert(rows.length > 0);
    assert.equal(new Set(rows.map((row) => row.id)).size, rows.length, "a row came twice");
    const times = rows.map((row) => row.updatedAt ?? row.createdAt).sort();
    assert.equal(walk.watermark, times.at(-1));
    return rows;
}

function found<T>(value: T | undefined | null): T {
    assert(value !== undefined && value !== null);
    return value;
}

async function refused<E extends BursarError>(call: Promise<unknown>, kind: abstract new (...args: never[]) => E): Promise<E> {
    try {
        await call;
    } catch (error) {
        assert(error instanceof kind, inspect(error));
        return error;
    }
    assert.fail(`not refused with ${kind.name}`);
}

// Lists, two rows a page.
const limit = 2;
const members = await every(bursar.members.list({ limit }));
const groups = await every(bursar.groups.list({ limit }));
await every(bursar.payments.list({ limit }));
await every(bursar.reimbursements.list({ limit }));
const reminders = await every(bursar.reminders.list({ limit }));
const cards = await every(bursar.cards.list({ limit }));
const campaigns = await every(bursar.campaigns.list({ limit }));
const listings = await every(bursar.store.listListings({ limit }));
const orders = await every(bursar.store.listOrders({ limit }));
await every(bursar.chapters.list({ limit }));
await every(bursar.chapters.listMembers(chapter, { limit }));
assert(cards.some((card) => card.status === null));
const paid = await every(bursar.payments.list({ status: PaymentStatus.Paid }));
assert(paid.every((payment) => payment.status === "paid"));

// What changed since. The watermark includes its own moment; imported rows may have one time.
const walk = bursar.members.list();
assert.deepEqual(await walk.toArray(), members);
const again = bursar.members.list({ updatedSince: walk.watermark });
assert.deepEqual(await again.toArray(), members.filter((member) => member.updatedAt === walk.watermark));
assert.equal(again.watermark, walk.watermark);
const none = bursar.members.list({ updatedSince: new Date("2199-01-01T00:00:00Z") });
assert.deepEqual(await none.toArray(), []);
assert.equal(none.watermark, "2199-01-01T00:00:00.000Z");

// Pages, and a walk that is not finished.
const page = await bursar.members.list({ limit: 1 }).firstPage();
assert(page.hasMore);
assert.deepEqual(page.data, members.slice(0, 1));
assert.deepEqual(await bursar.members.list({ cursor: found(page.nextCursor) }).toArray(), members.slice(1));
let pages = 0;
for await (const { data } of bursar.members.list({ limit: 1 }).pages()) pages += data.length;
assert.equal(pages, members.length);
for await (const _ of walk) break;
assert.throws(() => walk.watermark, /not finished/);

// Single resources.
const member = found(members[0]);
assert.deepEqual(await bursar.members.get(member.id), member);
assert.deepEqual(await bursar.groups.get(found(groups[0]).id), groups[0]);
assert.deepEqual(await bursar.store.getListing(found(listings[0]).id), listings[0]);
assert.deepEqual(await bursar.store.getOrder(found(orders[0]).id), orders[0]);
assert.deepEqual(await bursar.campaigns.get(found(campaigns[0]).id), campaigns[0]);
const token = await bursar.getToken();
assert.equal(token.role, "admin");
assert(token.effectiveScopes.includes("cards:read"));
assert.match(String((await bursar.getOpenapi())["openapi"]), /^3\.1/);

// Writes: one effect for one key, also over calls. Another body with that key is a conflict.
const idempotencyKey = newKey();
const fields = { name: "Made by a client", description: "Ünïcode ✓" };
const group = await bursar.groups.create(fields, { idempotencyKey });
assert.deepEqual([group.name, group.description, group.memberCount], [fields.name, fields.description, 0]);
assert.deepEqual(await bursar.groups.create(fields, { idempotencyKey }), group);
const reused = await refused(bursar.groups.create({ name: "Another" }, { idempotencyKey }), Conflict);
assert.deepEqual([reused.code, reused.idempotencyKey], ["idempotency_key_reused", idempotencyKey]);
await bursar.groups.create({ name: "Made without a key" });
const names = (await bursar.groups.list().toArray()).map((one) => one.name);
for (const name of ["Made by a client", "Made without a key"]) {
    assert.equal(names.filter((one) => one === name).length, 1);
}
assert.equal((await bursar.groups.update(group.id, { name: "Renamed" })).description, "Ünïcode ✓");
assert.equal((await bursar.members.update(member.id, { firstName: "Zoe" })).firstName, "Zoe");
const inGroup = found(members.find((one) => one.groups.length > 0));
assert.equal((await bursar.groups.removeMember(found(inGroup.groups[0]), inGroup.id)).id, inGroup.groups[0]);
const made = await bursar.cards.create({ name: "Fuel", spendLimit: 12.34, spendLimitFrequency: "weekly" });
assert.equal(made.kind, CardCreationKind.Card);
assert.equal(made.card?.spendLimit, "12.34");
const withStatus = (status: string) => found(reminders.find((reminder) => reminder.status === status)).id;
assert(["sent", "skipped"].includes((await bursar.reminders.send(withStatus("scheduled"))).outcome));
const conflict = await refused(bursar.reminders.send(withStatus("sent")), Conflict);
assert.deepEqual([conflict.code, conflict.status], ["conflict", 409]);

// Events of these writes.
const events = await bursar.events.list().toArray();
const first = await bursar.events.get(found(events[0]).id);
assert.deepEqual(first, events[0]);
assert(first.resource === "group" && first.data.memberCount === 0 && first.resourceId === group.id);
async function caughtUp(since: string) {
    const all = [];
    for await (const event of bursar.catchUp(since)) all.push(event);
    return all;
}
assert.deepEqual(await caughtUp(first.createdAt), events.slice(1));
assert.deepEqual(await caughtUp(found(events.at(-1)).createdAt), []);
assert.equal((await refused(caughtUp("2000-01-01T00:00:00Z"), EventsGone)).code, "events_gone");

// Errors.
const missing = await refused(bursar.members.get("mem_nobody/../..?x#y"), NotFound);
assert.deepEqual([missing.name, missing.code, missing.status, missing.param], ["NotFound", "not_found", 404, undefined]);
assert.match(found(missing.docsUrl), /#not_found$/);
assert.match(found(missing.requestId), /^req_/);
const tooMany = await refused(bursar.members.list({ limit: 101 }).firstPage(), InvalidRequest);
assert.deepEqual([tooMany.code, tooMany.param], ["invalid_request", "limit"]);
const stranger = await refused(new Bursar({ token: "bursar_pat_wrong" }).getToken(), InvalidToken);
assert.equal(stranger.code, "invalid_token");
assert(!inspect(stranger, { depth: 9 }).includes("bursar_pat_wrong"));
const secret = found(process.env["BURSAR_TOKEN"]);
assert(!(inspect(bursar, { depth: 9, showHidden: true }) + JSON.stringify(bursar)).includes(secret));

console.log("bursar for TypeScript: every call as expected");
