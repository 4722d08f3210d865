// The TypeScript client takes our deliveries, and refuses those that were changed. deliveries.py does the same.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { InvalidSignature, verify } from "bursar";

type Headers = Record<string, string>;
type Delivery = { headers: Headers; body: string; good: string[]; bad: string[] };

function refuses(body: string, headers: Headers, secret: string, now?: Date): void {
    assert.throws(() => verify(body, headers, secret, { now }), InvalidSignature);
    refused += 1;
}

let taken = 0;
let refused = 0;
const lines = readFileSync(process.argv[2] as string, "utf8").trim().split("\n");
for (const { headers, body, good, bad } of lines.map((line) => JSON.parse(line) as Delivery)) {
    const sent = Number(headers["webhook-timestamp"]);
    const signature = headers["webhook-signature"] as string;
    for (const secret of good) {
        const event = verify(Buffer.from(body), new globalThis.Headers(headers), secret);
        assert.deepEqual(event, JSON.parse(body));
        assert.equal(event.id, headers["webhook-id"]);
        const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
        assert.deepEqual(verify(body, capitals, [...bad, secret]), event);
        verify(body, headers, secret, { now: new Date((sent + 299) * 1000) });
        taken += 1;
        refuses(body.replace('"type":"', '"type":"x'), headers, secret);
        refuses(body + " ", headers, secret);
        for (const [name, value] of [
            ["webhook-id", headers["webhook-id"] + "x"],
            ["webhook-timestamp", String(sent + 1)],
            ["webhook-timestamp", "soon"],
            ["webhook-signature", `v1,${"A".repeat(43)}=`],
            ["webhook-signature", signature.replaceAll("v1,", "v2,")],
            ["webhook-signature", signature.replaceAll("v1,", "")],
        ] as const) {
            refuses(body, { ...headers, [name]: value }, secret);
        }
        for (const left of Object.keys(headers)) {
            refuses(body, Object.fromEntries(Object.entries(headers).filter(([name]) => name !== left)), secret);
        }
        for (const now of [sent - 301, sent + 301]) refuses(body, headers, secret, new Date(now * 1000));
    }
    for (const secret of bad) refuses(body, headers, secret);
    for (const wrong of ["", "whsec_", "whsec_ü"]) assert.throws(() => verify(body, headers, wrong), TypeError);
}
assert(taken > 5 && refused > 50);
console.log(`bursar for TypeScript: ${taken} deliveries taken, ${refused} refused`);
