// A typed client of bursar's API.

export { Bursar, type BursarOptions } from "./client.js";
export {
    BursarError,
    Conflict,
    ConnectionFailed,
    EventsGone,
    InsufficientScope,
    InvalidRequest,
    InvalidSignature,
    InvalidToken,
    NotFound,
    RateLimited,
    ServerError,
    UnexpectedResponse,
} from "./errors.js";
export * from "./generated/models.js";
export type * from "./generated/resources.js";
export { newKey, type RequestOptions, type WriteOptions } from "./http.js";
export { Walk, type Page } from "./paging.js";
export { verify, type VerifyOptions, type WebhookHeaders } from "./webhooks.js";
