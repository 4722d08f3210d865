// Real calls with openapi-fetch and the types that openapi-typescript made. calls.py makes the same ones.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

type Schemas = components["schemas"];

const url = process.env["BURSAR_URL"]!;
const chapterId = "org_01jbst1c01e009wdvsq5zmmz0n";
const headers = { Authorization: `Bearer ${process.env["BURSAR_TOKEN"]}` };
const api = createClient<paths>({ baseUrl: url, headers });
let calls = 0;
api.use({
    onRequest() {
        calls += 1;
    },
});

type Answer<T> = { data?: T; error?: Schemas["Error"]; response: Response };

function ok<T>(answer: Answer<T>, status = 200): T {
    assert.equal(answer.response.status, status, JSON.stringify(answer.error));
    assert(answer.data !== undefined);
    return answer.data;
}

function refused(answer: Answer<unknown>, status: number, code: string): Schemas["Error"]["error"] {
    assert.equal(answer.response.status, status);
    assert(answer.error !== undefined);
    assert.equal(answer.error.error.code, code);
    assert(answer.error.error.docsUrl.startsWith(url));
    assert.equal(answer.error.error.requestId, answer.response.headers.get("X-Request-Id"));
    return answer.error.error;
}

function found<T>(value: T | undefined): T {
    assert(value !== undefined);
    return value;
}

type Page<T> = { data: T[]; hasMore: boolean; nextCursor: string | null };
type Query = { limit: number; cursor?: string };

/** All rows of a list, two a page. */
async function walk<T extends { id: string }>(list: (query: Query) => Promise<Answer<Page<T>>>): Promise<T[]> {
    const rows: T[] = [];
    let query: Query = { limit: 2 };
    for (;;) {
        const page = ok(await list(query));
        rows.push(...page.data);
        assert.equal(page.hasMore, page.nextCursor !== null);
        if (page.nextCursor === null) break;
        query = { limit: 2, cursor: page.nextCursor };
    }
    assert(rows.length > 0);
    assert.equal(new Set(rows.map((row) => row.id)).size, rows.length, "a row came twice");
    return rows;
}

// Walks over every list.
const members = await walk((query) => api.GET("/v1/members", { params: { query } }));
const groups = await walk((query) => api.GET("/v1/groups", { params: { query } }));
await walk((query) => api.GET("/v1/payments", { params: { query } }));
await walk((query) => api.GET("/v1/reimbursements", { params: { query } }));
const reminders = await walk((query) => api.GET("/v1/reminders", { params: { query } }));
const cards = await walk((query) => api.GET("/v1/cards", { params: { query } }));
const listings = await walk((query) => api.GET("/v1/store/listings", { params: { query } }));
await walk((query) => api.GET("/v1/chapters/{chapterId}/members", { params: { path: { chapterId }, query } }));
assert(cards.some((card) => card.status === null));
const paid = await walk((query) => api.GET("/v1/payments", { params: { query: { ...query, status: "paid" } } }));
assert(paid.every((payment) => payment.status === "paid"));
// `updatedSince` is inclusive: the last change at least comes back. Imported rows may have one time.
const updatedSince = found(members.at(-1)).updatedAt;
const since = await walk((query) => api.GET("/v1/members", { params: { query: { ...query, updatedSince } } }));
assert.deepEqual(since, members.filter((member) => member.updatedAt === updatedSince));
await walk((query) => api.GET("/v1/members", { params: { query: { ...query, isActive: false } } }));

// Single resources.
const member = found(members[0]);
const byId = { params: { path: { memberId: member.id } } };
assert.deepEqual(ok(await api.GET("/v1/members/{memberId}", byId)), member);
ok(await api.GET("/v1/groups/{groupId}", { params: { path: { groupId: found(groups[0]).id } } }));
ok(await api.GET("/v1/store/listings/{listingId}", { params: { path: { listingId: found(listings[0]).id } } }));
const orderId = "ord_01jbst1c00e008000000000000";
ok(await api.GET("/v1/store/orders/{orderId}", { params: { path: { orderId } } }));
const campaignId = "cmp_01jbst1c00e008000000000000";
ok(await api.GET("/v1/campaigns/{campaignId}", { params: { path: { campaignId } } }));
const token = ok(await api.GET("/v1/token"));
assert.equal(token.role, "admin");
assert.deepEqual(token.withheld, []);

// A group is made once, however often it is asked for with one key; another body with that key is a conflict.
const withKey = (key: string) => ({ header: { "Idempotency-Key": key } });
const params = withKey(randomUUID());
const body = { name: "Made by a generated client", description: "Ünïcode ✓" };
const group = ok(await api.POST("/v1/groups", { params, body }), 201);
assert.deepEqual([group.name, group.description, group.memberCount], [body.name, body.description, 0]);
const again = await api.POST("/v1/groups", { params, body });
assert.deepEqual(ok(again, 201), group);
assert.equal(again.response.headers.get("Idempotent-Replayed"), "true");
refused(await api.POST("/v1/groups", { params, body: { name: "Another" } }), 409, "idempotency_key_reused");

// Changes.
const groupId = group.id;
const renamed = await api.PATCH("/v1/groups/{groupId}", { params: { path: { groupId } }, body: { name: "Renamed" } });
assert.equal(ok(renamed).name, "Renamed");
assert.equal(ok(await api.PATCH("/v1/members/{memberId}", { ...byId, body: { firstName: "Zoe" } })).firstName, "Zoe");
const inGroup = found(members.find((one) => one.groups.length > 0));
const membership = { groupId: found(inGroup.groups[0]), memberId: inGroup.id };
ok(await api.DELETE("/v1/groups/{groupId}/members/{memberId}", { params: { path: membership }, body: {} }));
const newCard: Schemas["NewCard"] = { name: "Fuel", spendLimit: 12.34, spendLimitFrequency: "weekly" };
const made = ok(await api.POST("/v1/cards", { params: withKey(randomUUID()), body: newCard }), 201);
assert.equal(made.kind, "card");
assert.equal(made.card?.spendLimit, "12.34");
const inState = (status: Schemas["Reminder"]["status"]) => {
    const reminderId = found(reminders.find((reminder) => reminder.status === status)).id;
    return { params: { path: { reminderId }, ...withKey(randomUUID()) }, body: {} };
};
const sent = ok(await api.POST("/v1/reminders/{reminderId}/send", inState("scheduled")));
assert(sent.outcome === "sent" || sent.outcome === "skipped");
refused(await api.POST("/v1/reminders/{reminderId}/send", inState("sent")), 409, "conflict");

// Errors.
refused(await api.GET("/v1/members/{memberId}", { params: { path: { memberId: "mem_nobody" } } }), 404, "not_found");
const tooMany = await api.GET("/v1/members", { params: { query: { limit: 101 } } });
assert.equal(refused(tooMany, 400, "invalid_request").param, "limit");
const stranger = createClient<paths>({ baseUrl: url, headers: { Authorization: "Bearer nobody" } });
refused(await stranger.GET("/v1/members"), 401, "invalid_token");

// What the types refuse is refused before there is a request.
// @ts-expect-error a key is required
api.POST satisfies (path: "/v1/groups", init: { body: { name: string } }) => unknown;
// @ts-expect-error there is no such state
const _wrong: Schemas["Payment"]["status"] = "lost";

console.log(`openapi-typescript and openapi-fetch: ${calls} calls, every answer of the declared type`);
