// Requests with retries: the same request, with the same key, until there is a response that counts.

import { BursarError, ConnectionFailed, UnexpectedResponse, errorOf } from "./errors.js";
import { VERSION } from "./version.js";

const PAUSE_MAX_SECONDS = 30;
const RETRIED = new Set([429, 500, 502, 503, 504]);

// Codes of Node's errors for a certificate that is not trusted. Trying again would not help.
const UNTRUSTED = /CERT|UNABLE_TO_(GET|VERIFY)/;

export interface RequestOptions {
    /** Cancels the call. */
    signal?: AbortSignal | undefined;
    /** Seconds for the call with all its retries, instead of the client's. */
    timeout?: number | undefined;
}

export interface WriteOptions extends RequestOptions {
    /** Calls with one key have one effect. Made for you if you give none; all retries of the call use the same. */
    idempotencyKey?: string | undefined;
}

export interface Settings {
    token: string;
    baseUrl: string;
    timeout: number;
    attemptTimeout: number;
    maxRetries: number;
    fetch: typeof globalThis.fetch;
}

/** A new idempotency key. Make it before the first attempt and keep it with the job: calls with one key have one effect. */
export function newKey(): string {
    return globalThis.crypto.randomUUID();
}

/** An id, so that it cannot lead elsewhere. */
export function pathPart(text: string): string {
    if (typeof text !== "string" || ["", ".", ".."].includes(text)) {
        throw new TypeError(`an id cannot be ${JSON.stringify(text)}`);
    }
    return encodeURIComponent(text);
}

export type Query = Record<string, string | number | boolean | Date | undefined>;

export class Http {
    // Private, so that neither console.log nor JSON.stringify of a client shows the token.
    readonly #settings: Settings;

    constructor(settings: Settings) {
        this.#settings = settings;
    }

    async request<T>(
        method: string,
        path: string,
        query: Query,
        body: Record<string, unknown> | undefined,
        options: WriteOptions,
    ): Promise<T> {
        const { token, baseUrl } = this.#settings;
        const headers: Record<string, string> = {
            Authorization: `Bearer ${token}`,
            Accept: "application/json",
            "User-Agent": `bursar-typescript/${VERSION}`,
        };
        const idempotencyKey = body && (options.idempotencyKey ?? newKey());
        if (body) {
            headers["Content-Type"] = "application/json";
            // Made here and not for each attempt: all of them are one operation.
            headers["Idempotency-Key"] = idempotencyKey as string;
        }
        const init: RequestInit = { method, headers, redirect: "manual" };
        if (body) init.body = JSON.stringify(body);
        try {
            return (await this.#send(baseUrl + path + queryText(query), init, options)) as T;
        } catch (error) {
            if (error instanceof BursarError) error.idempotencyKey = idempotencyKey;
            throw error;
        }
    }

    async #send(url: string, init: RequestInit, { signal, timeout }: RequestOptions): Promise<unknown> {
        const { attemptTimeout, maxRetries } = this.#settings;
        const deadline = performance.now() + (timeout ?? this.#settings.timeout) * 1000;
        for (let attempt = 0; ; attempt++) {
            const limit = Math.min(attemptTimeout * 1000, deadline - performance.now());
            let error: BursarError;
            try {
                const { response, value } = await this.#attempt(url, init, limit, signal);
                if (response.ok) return value;
                error = errorOf(response, value);
                if (!RETRIED.has(response.status) && error.code !== "idempotency_key_in_use") throw error;
            } catch (thrown) {
                signal?.throwIfAborted();
                if (thrown instanceof BursarError) throw thrown;
                const isUntrusted = thrown instanceof Error && UNTRUSTED.test(codeOf(thrown.cause));
                // No response, or part of one: it may have taken effect. The same key makes a repeated write safe.
                const tried = attempt === 0 ? "once" : `${attempt + 1} times`;
                const message = `${init.method} ${new URL(url).pathname} was tried ${tried}, last: ${reason(thrown)}`;
                error = new ConnectionFailed(message, { code: "connection_failed", cause: thrown });
                if (isUntrusted) throw error;
            }
            // Never sooner than Retry-After. The random part spreads the retries of several workers.
            const pause = (error.retryAfter ?? 0) + Math.random() * Math.min(PAUSE_MAX_SECONDS, 0.5 * 2 ** attempt);
            if (attempt >= maxRetries || performance.now() + pause * 1000 >= deadline) throw error;
            await sleep(pause * 1000, signal);
        }
    }

    /** The body is read inside the time limit too. */
    async #attempt(url: string, init: RequestInit, limit: number, signal: AbortSignal | undefined) {
        const ours = new AbortController();
        const stop = () => ours.abort(signal?.reason);
        const timer = setTimeout(() => ours.abort(new Error("no response in time")), Math.max(limit, 0));
        signal?.addEventListener("abort", stop);
        try {
            signal?.throwIfAborted();
            const response = await this.#settings.fetch(url, { ...init, signal: ours.signal });
            const text = await response.text();
            const isJson = (response.headers.get("content-type") ?? "").startsWith("application/json");
            if (response.ok && !isJson) {
                const message = "the response is not JSON: is the base URL that of a bursar server?";
                throw new UnexpectedResponse(message, { code: "unexpected_response", status: response.status });
            }
            return { response, value: response.ok ? JSON.parse(text) : parsedOr(text) };
        } finally {
            clearTimeout(timer);
            signal?.removeEventListener("abort", stop);
        }
    }
}

/** A proxy's own response may be anything. */
function parsedOr(text: string): unknown {
    try {
        return JSON.parse(text);
    } catch {
        return undefined;
    }
}

function queryText(query: Query): string {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
        if (value !== undefined) given.set(name, value instanceof Date ? value.toISOString() : String(value));
    }
    return given.size > 0 ? `?${given}` : "";
}

function codeOf(cause: unknown): string {
    return String((cause as { code?: unknown } | undefined)?.code ?? "");
}

/** fetch hides what happened in the cause. */
function reason(thrown: unknown): string {
    if (!(thrown instanceof Error)) return String(thrown);
    return thrown.cause instanceof Error ? `${thrown.message} (${thrown.cause.message})` : thrown.message;
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener("abort", stop);
            resolve();
        }, milliseconds);
        signal?.addEventListener("abort", stop, { once: true });
    });
}
