// [setup]
const BASE_URL = "http://127.0.0.1:8080";
const TOKEN = process.env.BURSAR_TOKEN;

type Options = { key?: string; body?: unknown; query?: Record<string, string>; attempts?: number };

// [call]
/** Sends a request, and sends it again where that is safe and may help. */
async function call(method: string, path: string, { key, body, query, attempts = 8 }: Options = {}): Promise<any> {
  const url = `${BASE_URL}${path}?${new URLSearchParams(query)}`;
  const headers: Record<string, string> = { Authorization: `Bearer ${TOKEN}` };
  if (key) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  for (let attempt = 0; attempt < attempts; attempt++) {
    let wait = 0;
    let response: Response | undefined, answer: any;
    try {
      response = await fetch(url, { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(40_000) });
      answer = await response.json();
    } catch {
      // No response, or part of one: it may have taken effect. Repeating it with the same key is safe.
    }
    if (response?.ok && answer) return answer;
    if (response && !response.ok) {
      const error = answer?.error;
      const again = [429, 500, 502, 503, 504].includes(response.status) || error?.code === "idempotency_key_in_use";
      if (!again) throw new Error(`${error?.code}: ${error?.message} (${error?.requestId})`);
      wait = Number(response.headers.get("Retry-After") ?? 0);
    }
    // Never sooner than Retry-After; the random part spreads the retries of several workers.
    const seconds = wait + Math.random() * Math.min(30, 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
  throw new Error(`${method} ${path}: gave up after ${attempts} attempts`);
}

// [sync]
/** Every row of a list, as all of them were when the walk began. */
async function* walk(path: string, since?: string): AsyncGenerator<any> {
  const query: Record<string, string> = { limit: "100" };
  if (since) query.updatedSince = since;
  for (;;) {
    const page = await call("GET", path, { query });
    yield* page.data;
    if (!page.hasMore) return;
    query.cursor = page.nextCursor;
  }
}

/** Brings a copy up to date. Keep what it returns as the next `since`. */
async function sync(path: string, copy: Map<string, any>, since?: string): Promise<string | undefined> {
  for await (const row of walk(path, since)) {
    copy.set(row.id, row);
    since = row.updatedAt; // Rows come oldest change first: the last one's is the largest.
  }
  return since;
}

// [verify]
import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The event of a delivery. Throws unless the secret signed it in the last five minutes. */
function verify(secret: string, headers: IncomingHttpHeaders, body: Buffer): any {
  const [id, seconds, signatures] = ["id", "timestamp", "signature"].map((name) => String(headers[`webhook-${name}`]));
  const age = Math.abs(Date.now() / 1000 - Number(seconds));
  if (!(age <= 300)) throw new Error("an old delivery that somebody sent again");
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${seconds}.`).update(body).digest();
  // While a secret is rotated there are two signatures.
  const isSigned = signatures.split(" ").some((one) => {
    const code = Buffer.from(one.replace("v1,", ""), "base64");
    return code.length === expected.length && timingSafeEqual(code, expected);
  });
  if (!isSigned) throw new Error("not signed with this secret");
  return JSON.parse(body.toString());
}

// [receive]
import { createServer } from "node:http";

/** `copy` has the last event of each resource, by the resource's id. */
function receiver(secret: string, copy: Map<string, any>) {
  return createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    let event: any;
    try {
      event = verify(secret, request.headers, Buffer.concat(parts));
    } catch {
      response.writeHead(401).end();
      return;
    }
    apply(copy, event);
    response.writeHead(204).end(); // Only now that the event is safe, and within 15 seconds.
  });
}

// [apply]
/** Applies an event to a copy. Drops an event that is not newer than the stored one. */
function apply(copy: Map<string, any>, event: any) {
  if (event.type === "test") return;
  const held = copy.get(event.resourceId);
  if (!held || event.createdAt > held.createdAt) copy.set(event.resourceId, event);
}

// [catch_up]
/** Fetches the events since a time. Keep what it returns as the next `since`. */
async function catchUp(copy: Map<string, any>, since: string): Promise<string> {
  const query: Record<string, string> = { limit: "100", createdSince: since };
  for (;;) {
    const page = await call("GET", "/v1/events", { query });
    for (const event of page.data) {
      apply(copy, event);
      since = event.createdAt;
    }
    if (!page.hasMore) return since;
    query.cursor = page.nextCursor;
  }
}

// [first]
for await (const member of walk("/v1/members")) {
  console.log(member.id, member.firstName, member.lastName);
}

// [write]
const key = crypto.randomUUID(); // Make it once, and keep it with the job until the job is done.
const group = await call("POST", "/v1/groups", { key, body: { name: "Alumni" } });
