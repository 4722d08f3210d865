// [start]
import { Bursar } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });
const token = await bursar.getToken();
console.log(token.name, token.effectiveScopes);

// [list]
import { Bursar } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });

for await (const member of bursar.members.list()) {
  console.log(member.id, member.firstName, member.lastName);
}

// [sync]
import { Bursar, type Member } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });
const copy = new Map<string, Member>();

/** Brings the copy up to date. Save what it returns for the next time. */
async function sync(since?: string) {
  const walk = bursar.members.list({ updatedSince: since });
  for await (const member of walk) copy.set(member.id, member);
  return walk.watermark; // The largest updatedAt of the finished walk.
}

let since = await sync(); // All of them.
since = await sync(since); // What changed since.
console.log(copy.size, "members up to", since);

// [write]
import { Bursar, newKey } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });

const key = newKey(); // Save it with the job until the job is done.
const group = await bursar.groups.create({ name: "Alumni" }, { idempotencyKey: key });
const same = await bursar.groups.create({ name: "Alumni" }, { idempotencyKey: key });
console.assert(same.id === group.id); // One effect, however often it is sent.

// [errors]
import { Bursar, BursarError } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });

try {
  await bursar.members.list({ limit: 0 }).firstPage();
} catch (error) {
  if (!(error instanceof BursarError)) throw error;
  console.log(error.status, error.code, error.param); // 400 invalid_request limit
  console.log(error.message, error.requestId, error.docsUrl);
}

// [limits]
import { Bursar } from "bursar";

// Retries for a call at most, and seconds for all of them together.
const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080", maxRetries: 5, timeout: 60 });
console.log((await bursar.getToken()).name);

// [receive]
import { createServer } from "node:http";
import { verify, type WebhookEvent } from "bursar";

const secret = process.env.WEBHOOK_SECRET!;
const last = new Map<string, WebhookEvent>(); // The last event of each resource.

createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  try {
    apply(verify(Buffer.concat(parts), request.headers, secret));
    response.writeHead(204).end(); // Only now that the event is safe.
  } catch {
    response.writeHead(401).end();
  }
}).listen(3000, "127.0.0.1");

function apply(event: WebhookEvent) {
  if (event.type === "test") return;
  const held = last.get(event.resourceId);
  // A repetition or an older event changes nothing.
  if (held && event.createdAt <= held.createdAt) return;
  last.set(event.resourceId, event);
  console.log(event.type, event.resourceId);
}

// [catch_up]
import { Bursar } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });

// The createdAt of the last event that you have.
let since = "2026-11-15T01:39:08.123456Z";
for await (const event of bursar.catchUp(since)) {
  console.log(event.type, event.resourceId);
  since = event.createdAt; // Save it together with the result of processing the event.
}
