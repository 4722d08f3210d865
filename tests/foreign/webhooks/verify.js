// The official JavaScript library of Standard Webhooks: takes our deliveries, and refuses those that were changed.
//
// `verify.js FILE`: deliveries, one JSON a line: headers, body, the secrets that signed it (`good`) and others (`bad`).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

let taken = 0;
let refused = 0;

function refuse(secret, body, headers) {
  assert.throws(() => new Webhook(secret).verify(body, headers), WebhookVerificationError);
  refused += 1;
}

for (const line of readFileSync(process.argv[2], "utf8").trim().split("\n")) {
  const { headers, body, good, bad } = JSON.parse(line);
  for (const secret of good) {
    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body));
    taken += 1;
    const at = Number(headers["webhook-timestamp"]);
    refuse(secret, body.replace('"type":"', '"type":"x'), headers);
    refuse(secret, `${body} `, headers);
    refuse(secret, body, { ...headers, "webhook-id": `${headers["webhook-id"]}x` });
    refuse(secret, body, { ...headers, "webhook-timestamp": String(at + 1) });
    refuse(secret, body, { ...headers, "webhook-timestamp": String(at - 600) });
    refuse(secret, body, { ...headers, "webhook-signature": `v1,${"A".repeat(43)}=` });
    const { "webhook-signature": _, ...unsigned } = headers;
    refuse(secret, body, unsigned);
  }
  for (const secret of bad) refuse(secret, body, headers);
}
assert.ok(taken > 0 && refused > 0);
console.log(`standardwebhooks for JavaScript: ${taken} taken, ${refused} refused`);
