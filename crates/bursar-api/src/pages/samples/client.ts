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
      // No answer, or half of one: the work may be done. The same key makes it safe to send again.
    }
    if (response?.ok && answer) return answer;
    if (response && !response.ok) {
      const error = answer?.error;
      const again = [429, 500, 502, 503, 504].includes(response.status) || error?.code === "idempotency_key_in_use";
      if (!again) throw new Error(`${error?.code}: ${error?.message} (${error?.requestId})`);
      wait = Number(response.headers.get("Retry-After") ?? 0);
    }
    // Never sooner than Retry-After; the random part keeps workers from coming back all at once.
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

// [first]
for await (const member of walk("/v1/members")) {
  console.log(member.id, member.firstName, member.lastName);
}

// [write]
const key = crypto.randomUUID(); // Make it once, and keep it with the job until the job is done.
const group = await call("POST", "/v1/groups", { key, body: { name: "Alumni" } });
