// The errors that calls throw.

export interface ErrorDetails {
    code: string;
    /** The HTTP status. Absent if there was no response. */
    status?: number | undefined;
    param?: string | undefined;
    requestId?: string | undefined;
    docsUrl?: string | undefined;
    requiredScopes?: readonly string[] | undefined;
    retryAfter?: number | undefined;
    cause?: unknown;
}

/**
 * Base of all errors of this package. Programs read `code`, people read `message`. v1 may gain codes, so treat one that you
 * do not know by its class.
 */
export class BursarError extends Error {
    override name = this.constructor.name;
    readonly code: string;
    /** The HTTP status. Undefined if there was no response. */
    readonly status: number | undefined;
    /** The field, parameter or header at fault, when one is. */
    readonly param: string | undefined;
    /** Log it: the operator finds the request by it. */
    readonly requestId: string | undefined;
    readonly docsUrl: string | undefined;
    readonly requiredScopes: readonly string[];
    /** Seconds to wait at least, if the server said so. */
    readonly retryAfter: number | undefined;
    /** Of a write. It may have been done: call again with this key, and it has one effect. */
    idempotencyKey: string | undefined;

    constructor(message: string, details: ErrorDetails) {
        super(message, details.cause === undefined ? undefined : { cause: details.cause });
        this.code = details.code;
        this.status = details.status;
        this.param = details.param;
        this.requestId = details.requestId;
        this.docsUrl = details.docsUrl;
        this.requiredScopes = details.requiredScopes ?? [];
        this.retryAfter = details.retryAfter;
    }
}

/** 400, 405, 413 or 415: correct the request. `param` names what is wrong. */
export class InvalidRequest extends BursarError {}

/** 401: the token is missing, mistyped, expired or revoked. Get a new one. */
export class InvalidToken extends BursarError {}

/** 403: `requiredScopes` says what the operation needs, and the message who withholds it. */
export class InsufficientScope extends BursarError {}

/** 404: there is no such thing, or it belongs to another organization. */
export class NotFound extends BursarError {}

/** 409: the state does not allow it. Read the resource again, then decide. */
export class Conflict extends BursarError {}

/** 429, after all retries. */
export class RateLimited extends BursarError {}

/** 5xx, after all retries. */
export class ServerError extends BursarError {}

/** Not a response of bursar. Is the base URL right? */
export class UnexpectedResponse extends BursarError {}

/** There was no response, after all retries. */
export class ConnectionFailed extends BursarError {}

/** Events from that time on are no longer kept: read the lists once, and follow events from the time you began. */
export class EventsGone extends BursarError {}

/** A delivery that the secret did not sign, or an old one that somebody sent again. Respond with 401. */
export class InvalidSignature extends BursarError {
    constructor(message: string) {
        super(message, { code: "invalid_signature" });
    }
}

const BY_STATUS = new Map<number, typeof BursarError>([
    [401, InvalidToken],
    [403, InsufficientScope],
    [404, NotFound],
    [409, Conflict],
    [429, RateLimited],
]);

function classOf(status: number): typeof BursarError {
    if (status >= 500) return ServerError;
    return BY_STATUS.get(status) ?? (status >= 400 ? InvalidRequest : UnexpectedResponse);
}

/** The error of a response. A proxy's own response has no error object. */
export function errorOf(response: Response, body: unknown): BursarError {
    const { status, headers } = response;
    const Kind = classOf(status);
    // Proxies may send a date instead of seconds. Then the usual pause has to do.
    const after = headers.get("retry-after") ?? "";
    const retryAfter = /^\d+$/.test(after) ? Number(after) : undefined;
    const requestId = headers.get("x-request-id") ?? undefined;
    const error = (body as { error?: Record<string, unknown> } | null | undefined)?.error;
    if (typeof error !== "object") {
        const message = `status ${status}, without an error object in the body`;
        return new Kind(message, { code: "unexpected_response", status, requestId, retryAfter });
    }
    return new Kind(String(error["message"]), {
        code: String(error["code"]),
        status,
        param: error["param"] as string | undefined,
        requestId: (error["requestId"] as string | undefined) ?? requestId,
        docsUrl: error["docsUrl"] as string | undefined,
        requiredScopes: error["requiredScopes"] as string[] | undefined,
        retryAfter,
    });
}
