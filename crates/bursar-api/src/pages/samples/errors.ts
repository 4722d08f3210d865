// [read]
import { Bursar, BursarError } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });

try {
  await bursar.members.get("mem_00000000000000000000000000");
} catch (error) {
  if (!(error instanceof BursarError)) throw error;
  console.log(error.status, error.code, error.message);
  console.log("param", error.param, "request", error.requestId);
}

// [walk]
import { Bursar, BursarError } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });
const since = undefined; // The largest updatedAt of your last finished walk.

let page;
try {
  page = await bursar.members.list({ cursor: "old" }).firstPage();
} catch (error) {
  if (!(error instanceof BursarError && error.code === "invalid_cursor")) throw error;
  page = await bursar.members.list({ updatedSince: since }).firstPage();
}
console.log(page.data.length);

// [key]
import { Bursar, newKey } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });

// A new key for a new operation; the same one for each of its retries.
const key = newKey();
const group = await bursar.groups.create({ name: "Alumni" }, { idempotencyKey: key });
console.log(group.id);

// [token]
import { Bursar } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });

const token = await bursar.getToken();
console.log("works now:", token.effectiveScopes);
for (const { scope, by } of token.withheld) {
  console.log(scope, "is withheld by the", by);
}

// [retry]
import { Bursar, BursarError, newKey } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });
const key = newKey();

try {
  // Retried by itself, after Retry-After, with the same key.
  const group = await bursar.groups.create({ name: "Alumni" }, { idempotencyKey: key });
  console.log(group.id);
} catch (error) {
  if (!(error instanceof BursarError)) throw error;
  console.log("try again later, with the same key:", key, error.code);
}

// [in use]
import { Bursar, BursarError, newKey } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });
const key = newKey();

try {
  // While the first request with this key is running, the client waits and sends it again.
  const group = await bursar.groups.create({ name: "Alumni" }, { idempotencyKey: key });
  console.log(group.id);
} catch (error) {
  if (!(error instanceof BursarError)) throw error;
  console.log("try again later, with the same key:", key, error.code);
}

// [conflict]
import { Bursar } from "bursar";

const bursar = new Bursar({ baseUrl: "http://127.0.0.1:8080" });

// Read the resource again and look at its status.
for await (const reminder of bursar.reminders.list({ status: "scheduled" })) {
  console.log(reminder.id, reminder.status);
}
