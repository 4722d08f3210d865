//! The rate-limit headers of a response. Values that are constant per bucket are rendered once.

use std::ops::Range;

use hyper::HeaderMap;
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue, RETRY_AFTER};

use super::{Bucket, Limits, Quota};

static LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
static REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
static RESET: HeaderName = HeaderName::from_static("ratelimit-reset");
static POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
static RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// `RateLimit-Limit` and `RateLimit-Policy` of each bucket.
#[derive(Debug)]
pub(super) struct HeaderFields {
    constant: [(HeaderValue, HeaderValue); 3],
}

impl HeaderFields {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            constant: Bucket::ALL.map(|bucket| {
                let limit = limits.of(bucket);
                let policy = format!("\"{}\";q={limit};w=60", bucket.name());
                (HeaderValue::from(limit), value(Bytes::from(policy)))
            }),
        }
    }

    pub(super) fn write(&self, quota: &Quota, headers: &mut HeaderMap) {
        let (limit, policy) = &self.constant[quota.bucket as usize];
        // Both numbers also appear in the `RateLimit` field, so all three values are slices of one allocation.
        let mut text = Vec::with_capacity(40);
        text.push(b'"');
        text.extend_from_slice(quota.bucket.name().as_bytes());
        text.extend_from_slice(b"\";r=");
        let remaining = push_number(&mut text, quota.remaining);
        text.extend_from_slice(b";t=");
        let reset = push_number(&mut text, quota.reset_seconds);
        let text = Bytes::from(text);
        let reset = value(text.slice(reset));

        headers.insert(&LIMIT, limit.clone());
        headers.insert(&POLICY, policy.clone());
        headers.insert(&REMAINING, value(text.slice(remaining)));
        if !quota.allowed {
            headers.insert(RETRY_AFTER, reset.clone());
        }
        headers.insert(&RESET, reset);
        headers.insert(&RATELIMIT, value(text));
    }
}

fn push_number(text: &mut Vec<u8>, number: u32) -> Range<usize> {
    let start = text.len();
    text.extend_from_slice(number.to_string().as_bytes());
    start..text.len()
}

fn value(text: Bytes) -> HeaderValue {
    // Bucket names, digits and punctuation are always valid; a refusal would be a bug.
    HeaderValue::from_maybe_shared(text).unwrap_or(HeaderValue::from_static(""))
}
