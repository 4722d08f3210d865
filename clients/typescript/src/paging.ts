// Lists that come in pages.

import type { Http, Query, RequestOptions } from "./http.js";

const PAGE_MAX_ROWS = 100;

export interface Page<T> {
    /** The rows, oldest change first. */
    data: T[];
    hasMore: boolean;
    /** Give it back as `cursor` to get the next page. Null on the last page. */
    nextCursor: string | null;
}

/**
 * A list. Nothing is requested until you iterate; each iteration is a walk of its own.
 *
 * A walk is a snapshot: its first page fixes a moment, and all pages show rows as they were then. A row that changes
 * meanwhile is neither skipped nor repeated.
 *
 *     const walk = bursar.members.list({ updatedSince: since });
 *     for await (const member of walk) copy.set(member.id, member);
 *     since = walk.watermark; // Keep it for the next time.
 */
export class Walk<T> implements AsyncIterable<T> {
    readonly #http: Http;
    readonly #path: string;
    readonly #query: Query;
    readonly #since: string | undefined;
    readonly #time: "updatedAt" | "createdAt";
    readonly #options: RequestOptions;
    #isFinished = false;
    #watermark: string | undefined;

    constructor(
        http: Http,
        path: string,
        query: Query,
        since: string | Date | undefined,
        time: "updatedAt" | "createdAt",
        options: RequestOptions,
    ) {
        this.#http = http;
        this.#path = path;
        this.#query = query;
        this.#since = since instanceof Date ? since.toISOString() : since;
        this.#time = time;
        this.#options = options;
    }

    /** Every row, oldest change first. */
    async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
        for await (const page of this.pages()) yield* page.data;
    }

    async *pages(): AsyncGenerator<Page<T>, void, undefined> {
        this.#isFinished = false;
        const query: Query = { ...this.#query, limit: this.#query["limit"] ?? PAGE_MAX_ROWS };
        let last: string | undefined;
        for (;;) {
            const page = await this.#page(query);
            yield page;
            for (const row of page.data) {
                const time = (row as Record<string, string>)[this.#time];
                // Times have one form, so they compare as texts.
                if (time !== undefined && (last === undefined || time > last)) last = time;
            }
            if (page.nextCursor === null) break;
            query["cursor"] = page.nextCursor;
        }
        this.#watermark = last ?? this.#since;
        this.#isFinished = true;
    }

    /** One page: the first, or the one that `cursor` names. It has 50 rows unless `limit` says otherwise. */
    firstPage(): Promise<Page<T>> {
        return this.#page(this.#query);
    }

    /** All rows at once. */
    async toArray(): Promise<T[]> {
        const rows: T[] = [];
        for await (const page of this.pages()) rows.push(...page.data);
        return rows;
    }

    /**
     * The largest time of change in the last walk: a correct `updatedSince` (of events `createdSince`) for the next one.
     *
     * Nothing is missed, and no look-back is needed. It includes its own moment, so the last row comes once more: write rows by
     * `id`. A walk without rows gives back its own `updatedSince`. Throws if the walk did not reach its end: then begin
     * again from the old one.
     */
    get watermark(): string | undefined {
        if (!this.#isFinished) throw new Error("the walk is not finished: its watermark would skip rows");
        return this.#watermark;
    }

    #page(query: Query): Promise<Page<T>> {
        return this.#http.request("GET", this.#path, query, undefined, this.#options);
    }
}
