//! The work that a handler plans for a request: a read or a write.

use std::borrow::Cow;
use std::sync::Arc;

use bursar_app::{Act, Output, TokenCaller, View};
use bursar_domain::Timestamp;
use bursar_domain::fields::Fields;
use bursar_domain::ids::{Id, Kind, OrganizationId};
use bursar_domain::text::percent_decoded;
use hyper::body::Bytes;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::call::Call;
use super::error::Error;
use super::query;
use super::routes::{Params, Route};

/// A request that passed authentication, rate limit and permission. Query and body are not parsed yet.
#[derive(Debug)]
pub struct Request {
    pub caller: TokenCaller,
    pub route: &'static Route,
    /// Empty when there was none.
    pub body: String,
    params: Params,
    call: Arc<Call>,
}

impl Request {
    pub(super) fn new(call: &Arc<Call>, route: &'static Route, params: Params, caller: TokenCaller) -> Self {
        Self {
            caller,
            route,
            body: String::new(),
            params,
            call: Arc::clone(call),
        }
    }

    pub fn organization(&self) -> OrganizationId {
        self.caller.organization()
    }

    pub fn now(&self) -> Timestamp {
        self.call.now
    }

    pub fn query(&self) -> Option<&str> {
        self.call.parts.uri.query()
    }

    /// An id of the wrong form or type is a plain 404.
    pub fn id<K: Kind>(&self, place: usize) -> Result<Id<K>, Error> {
        let (from, to) = self.params[place];
        let text = &self.call.parts.uri.path()[from..to];
        // Few clients encode what need not be encoded.
        let decoded = || Id::parse(&percent_decoded(text)?);
        Id::parse(text)
            .or_else(decoded)
            .ok_or_else(|| Error::no_such(K::NOUN))
    }

    pub fn no_query(&self) -> Result<(), Error> {
        query::none(self.query())
    }

    pub fn fields(&self) -> Result<Fields<'_>, Error> {
        if self.body.is_empty() {
            return Err(Error::InvalidRequest {
                param: None,
                message: "a body is required: a JSON object".into(),
            });
        }
        Ok(Fields::parse(&self.body)?)
    }

    /// Allows an empty object or no body.
    pub fn empty_body(&self) -> Result<(), Error> {
        if self.body.is_empty() {
            Ok(())
        } else {
            Ok(Fields::parse(&self.body)?.finish()?)
        }
    }

    /// The hash that an idempotency key is bound to: method, path, and the body as parsed.
    pub fn fingerprint(&self, body: &impl Serialize) -> [u8; 32] {
        let path = self.call.parts.uri.path();
        // Only ids may be encoded, and those were decoded before.
        let path = percent_decoded(path).unwrap_or(Cow::Borrowed(path));
        let mut hasher = Sha256::new();
        for part in [self.route.method.as_str(), "\n", &path, "\n"] {
            hasher.update(part.as_bytes());
        }
        // Parsed bodies hold only strings and numbers, which always serialize.
        hasher.update(serde_json::to_vec(body).unwrap_or_default());
        hasher.finalize().into()
    }
}

/// A successful response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// JSON.
    pub body: Bytes,
}

impl Answer {
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self {
            status: 200,
            body: body.into(),
        }
    }
}

impl From<Output> for Answer {
    fn from(Output { status, body }: Output) -> Self {
        Self {
            status,
            body: body.into(),
        }
    }
}

pub type Reading<T> = Box<dyn FnOnce(&mut View<'_, '_>) -> Result<T, Error> + Send>;

/// Runs in the organization's act, which looks up the caller again. `FnMut`, because the act may run again.
pub type Write = Box<dyn FnMut(&mut Act<'_, '_>) -> Result<Output, Error> + Send>;

pub enum Plan {
    Read(Reading<Answer>),
    /// A page of a chapter's roster and its row count. The read is logged for the chapter before the response is sent.
    Roster(OrganizationId, Reading<(Answer, usize)>),
    /// A change, with the fingerprint of its parameters.
    Write([u8; 32], Write),
}

impl Plan {
    /// `run` returns the representation to send; the idempotency key is bound to the fingerprint.
    pub fn write(
        request: &Request,
        fingerprint: [u8; 32],
        mut run: impl FnMut(&mut Act<'_, '_>) -> Result<String, Error> + Send + 'static,
    ) -> Self {
        let status = request.route.success;
        let write = move |act: &mut Act<'_, '_>| {
            Ok(Output {
                status,
                body: run(act)?,
            })
        };
        Self::Write(fingerprint, Box::new(write))
    }
}
