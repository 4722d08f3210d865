// Verifies deliveries of webhooks, signed as Standard Webhooks describes.

import { createHmac, timingSafeEqual } from "node:crypto";
import { InvalidSignature } from "./errors.js";
import type { WebhookEvent } from "./generated/models.js";

/** The headers of a request: those of fetch, or an object as Node's http, Express and others have it. */
export type WebhookHeaders =
    { get(name: string): string | null } | { readonly [name: string]: string | readonly string[] | undefined };

export interface VerifyOptions {
    /** How far the delivery's time may be off, in seconds. 300 unless given. */
    toleranceSeconds?: number | undefined;
    /** Instead of the clock, for tests. */
    now?: Date | undefined;
}

/**
 * The event of a delivery. Throws InvalidSignature unless the secret signed it within the last five minutes.
 *
 * `body`: The bytes as they came. A JSON parser that writes them anew breaks the signature.
 *
 * `secret`: As it was shown, `whsec_…`. While it is rotated, deliveries are signed with both the old and the new one, and
 * either is enough. You may also give several.
 */
export function verify(
    body: string | Uint8Array,
    headers: WebhookHeaders,
    secret: string | readonly string[],
    options: VerifyOptions = {},
): WebhookEvent {
    const [id, seconds, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
        header(headers, name),
    );
    if (!id || !signatures || !seconds || !/^\d+$/.test(seconds)) {
        throw new InvalidSignature(
            "the headers webhook-id, webhook-timestamp and webhook-signature are not those of a delivery",
        );
    }
    const age = Math.abs((options.now ?? new Date()).getTime() / 1000 - Number(seconds));
    if (!(age <= (options.toleranceSeconds ?? 300)))
        throw new InvalidSignature("the delivery is old, or the clocks differ");
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const expected = (typeof secret === "string" ? [secret] : secret).map((one) =>
        createHmac("sha256", keyOf(one)).update(`${id}.${seconds}.`).update(bytes).digest(),
    );
    const given = signatures.split(" ").map((one) => Buffer.from(one.startsWith("v1,") ? one.slice(3) : "", "base64"));
    // Every pair is compared, each in constant time: how long it takes says nothing about a signature.
    const matches = expected.flatMap((ours) =>
        given.map((theirs) => ours.length === theirs.length && timingSafeEqual(ours, theirs)),
    );
    if (!matches.includes(true)) throw new InvalidSignature("the delivery is not signed with this secret");
    return JSON.parse(Buffer.from(bytes).toString()) as WebhookEvent;
}

function header(headers: WebhookHeaders, name: string): string | undefined {
    if (typeof headers["get"] === "function") return headers.get(name) ?? undefined;
    for (const [key, value] of Object.entries(headers as Record<string, string | readonly string[] | undefined>)) {
        if (key.toLowerCase() === name) return typeof value === "string" ? value : value?.join(" ");
    }
    return undefined;
}

function keyOf(secret: string): Buffer {
    const text = secret.startsWith("whsec_") ? secret.slice(6) : secret;
    if (!/^[0-9A-Za-z+/]+={0,2}$/.test(text))
        throw new TypeError("the secret must be as it was shown: whsec_ and base64");
    return Buffer.from(text, "base64");
}
