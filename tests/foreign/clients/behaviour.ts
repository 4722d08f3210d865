// How the TypeScript client takes what the server of odd.py does. behaviour.py does the same.

import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
    Bursar,
    BursarError,
    ConnectionFailed,
    RateLimited,
    ServerError,
    UnexpectedResponse,
    type BursarOptions,
} from "bursar";

const odd = process.env["ODD_URL"] as string;

function client(behaviour: string, options: BursarOptions = {}): Bursar {
    return new Bursar({ token: "odd_token", baseUrl: `${odd}/${behaviour}/`, ...options });
}

async function requests(behaviour: string): Promise<Record<string, string>[]> {
    return (await (await fetch(`${odd}/${behaviour}/requests`)).json()) as Record<string, string>[];
}

async function refused<E extends BursarError>(call: Promise<unknown>, kind: abstract new (...args: never[]) => E): Promise<E> {
    try {
        await call;
    } catch (error) {
        assert(error instanceof kind, inspect(error));
        assert(!inspect(error, { depth: 9 }).includes("odd_token"));
        return error;
    }
    assert.fail(`not refused with ${kind.name}`);
}

async function seconds(call: Promise<unknown>): Promise<number> {
    const started = performance.now();
    await call;
    return (performance.now() - started) / 1000;
}

// A newer server: words, fields and events that nobody knew.
const group = await client("newer").groups.get("grp_1");
assert.equal(group.recurringInterval as string, "fortnightly");
assert.equal((group as unknown as Record<string, unknown>)["colour"], "blue");
const [event] = await client("newer").events.list().toArray();
assert.equal(event?.type as string, "boat.launched");

// Waits as long as the server asks, and keeps the key.
const waited = await seconds(client("limited").groups.create({ name: "Odd" }));
assert(waited >= 2 && waited < 10);
const keys = (await requests("limited")).map((request) => request["idempotency-key"]);
assert.equal(keys.length, 3);
assert.equal(new Set(keys).size, 1);
assert.equal(keys[0]?.length, 36);
await client("in_use").groups.create({ name: "Odd" }, { idempotencyKey: "mine" });
assert.deepEqual((await requests("in_use")).map((request) => request["idempotency-key"]), ["mine", "mine"]);
// Not at all if that is longer than there is time.
const busy = client("busy", { timeout: 5 });
assert((await seconds(refused(busy.groups.get("grp_1"), RateLimited))) < 1);
const error = await refused(busy.groups.create({ name: "Odd" }, { idempotencyKey: "mine" }), RateLimited);
assert.deepEqual([error.retryAfter, error.requestId, error.idempotencyKey], [60, "req_1", "mine"]);

// Gives up: after so many attempts, or when the time is over, or when it is told to.
await refused(client("down", { maxRetries: 2 }).groups.get("grp_1"), ServerError);
assert.equal((await requests("down")).length, 3);
const silent = client("silent", { attemptTimeout: 0.3 });
const given = await seconds(refused(silent.groups.get("grp_1", { timeout: 1 }), ConnectionFailed));
assert(given >= 0.3 && given < 2);
const drip = client("drip", { attemptTimeout: 0.5, maxRetries: 0 });
const dripped = await seconds(refused(drip.groups.get("grp_1"), ConnectionFailed));
assert(dripped > 0.4 && dripped < 2);
for (const [behaviour, after] of [["silent", 100], ["down", 1500]] as const) {
    const told = client(behaviour).groups.get("grp_1", { signal: AbortSignal.timeout(after) });
    await assert.rejects(told, { name: "TimeoutError" });
}
const nobody = new Bursar({ token: "odd_token", baseUrl: "http://127.0.0.1:1", maxRetries: 1 });
assert.match((await refused(nobody.getToken(), ConnectionFailed)).message, /2 times/);

// Not bursar, and not where a token should be sent.
await refused(client("page").groups.get("grp_1"), UnexpectedResponse);
await refused(client("moved").groups.get("grp_1"), UnexpectedResponse);
assert.equal((await requests("page")).length, 1);
assert.deepEqual(await requests("elsewhere"), []);

// A connection that was closed while idle is taken anew.
const closing = client("closing");
for (let i = 0; i < 3; i++) {
    await closing.groups.get("grp_1");
    await new Promise((resolve) => setTimeout(resolve, 50));
}

// TLS: only whom it trusts, and no second attempt.
const secure = `${process.env["SECURE_URL"]}/newer`;
const untrusted = new Bursar({ token: "odd_token", baseUrl: secure });
assert.match((await refused(untrusted.groups.get("grp_1"), ConnectionFailed)).message, /once.*certificate/);

for (const baseUrl of ["", "bursar.example.org", "ftp://x", "http://user:secret@x", "http://x/?y"]) {
    assert.throws(() => new Bursar({ token: "odd_token", baseUrl }), TypeError);
}
for (const token of ["", "two words", "line\nend"]) {
    assert.throws(() => new Bursar({ token, baseUrl: odd }), /a token is needed/);
}
console.log("bursar for TypeScript: behaves among odd servers");
