// The client.

import { EventsGone, InvalidRequest } from "./errors.js";
import type { Event } from "./generated/models.js";
import { Operations } from "./generated/resources.js";
import { Http, type RequestOptions } from "./http.js";
import { verify } from "./webhooks.js";

export interface BursarOptions {
    /** Else the environment's BURSAR_TOKEN. It appears in no log, error or inspection of the client. */
    token?: string | undefined;
    /** Else the environment's BURSAR_URL. */
    baseUrl?: string | undefined;
    /** Seconds for a call with all its retries: 120 unless given. A list makes a call for each page. */
    timeout?: number | undefined;
    /** Seconds for one attempt: 30 unless given. */
    attemptTimeout?: number | undefined;
    /**
     * After 429, 500, 502, 503, 504 and lost connections, with growing pauses and never sooner than the server asks: 8 unless
     * given. Writes keep their idempotency key, so that they have one effect.
     */
    maxRetries?: number | undefined;
    /** Instead of the global fetch: for a proxy or a certificate authority of your own. */
    fetch?: typeof globalThis.fetch | undefined;
}

/** A client of a bursar server. One is enough for a program. */
export class Bursar extends Operations {
    /** Also exported as `verify`, for receivers that call nothing. */
    readonly webhooks = { verify };
    readonly baseUrl: string;

    constructor(options: BursarOptions = {}) {
        const environment = globalThis.process?.env ?? {};
        const token = options.token ?? environment["BURSAR_TOKEN"];
        const baseUrl = options.baseUrl ?? environment["BURSAR_URL"];
        if (!token || !/^[!-~]+$/.test(token)) {
            throw new TypeError("a token is needed, as the option `token` or in BURSAR_TOKEN");
        }
        if (!baseUrl) throw new TypeError("the server's address is needed, as the option `baseUrl` or in BURSAR_URL");
        const url = new URL(baseUrl);
        if (!/^https?:$/.test(url.protocol) || url.username || url.search || url.hash) {
            throw new TypeError("baseUrl must be like https://bursar.example.org");
        }
        const address = baseUrl.replace(/\/+$/, "");
        super(
            new Http({
                token,
                baseUrl: address,
                timeout: options.timeout ?? 120,
                attemptTimeout: options.attemptTimeout ?? 30,
                maxRetries: options.maxRetries ?? 8,
                fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
            }),
        );
        this.baseUrl = address;
    }

    /**
     * What happened after `since`, oldest first: call it after an outage, or instead of webhooks.
     *
     * `since`: The `createdAt` of the last event that you have processed. That one is left out; times of events are unique in an
     * organization. Keep the `createdAt` of each event with what you make of it, and pass the last one the next time.
     *
     * Throws EventsGone if events from that time on are no longer kept (30 days unless the operator chose otherwise).
     */
    async *catchUp(since: string, options: RequestOptions = {}): AsyncGenerator<Event, void, undefined> {
        try {
            for await (const event of this.events.list({ createdSince: since }, options)) {
                if (event.createdAt !== since) yield event;
            }
        } catch (error) {
            if (!(error instanceof InvalidRequest) || error.param !== "createdSince") throw error;
            const { status, requestId, docsUrl } = error;
            throw new EventsGone(error.message, { code: "events_gone", status, requestId, docsUrl, cause: error });
        }
    }
}
