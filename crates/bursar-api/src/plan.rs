//! The work that a handler plans for a request: a read or a write.

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
    /// Percent-decoded values of the path's parameters.
    pub params: [String; 2],
    /// Percent-decoded.
    pub path: String,
    pub query: Option<String>,
    /// Empty when there was none.
    pub body: String,
    pub now: Timestamp,
}

impl Request {
    pub(super) fn open(
        call: &Call,
        route: &'static Route,
        params: Params,
        caller: TokenCaller,
    ) -> Result<Self, Error> {
        let path = call.parts.uri.path();
        // A value that cannot be decoded cannot be an id.
        let decoded = |text: &str| match percent_decoded(text) {
            Some(text) => Ok(text.into_owned()),
            None => Err(Error::no_such("path")),
        };
        let [first, second] = params.map(|(from, to)| decoded(&path[from..to]));
        Ok(Self {
            caller,
            route,
            params: [first?, second?],
            path: decoded(path)?,
            query: call.parts.uri.query().map(str::to_owned),
            body: String::new(),
            now: call.now,
        })
    }

    pub fn organization(&self) -> OrganizationId {
        self.caller.organization()
    }

    /// An id of the wrong form or type is a plain 404.
    pub fn id<K: Kind>(&self, place: usize) -> Result<Id<K>, Error> {
        Id::parse(&self.params[place]).ok_or_else(|| Error::no_such(K::NOUN))
    }

    pub fn no_query(&self) -> Result<(), Error> {
        query::none(self.query.as_deref())
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
        let mut hasher = Sha256::new();
        for part in [self.route.method.as_str(), "\n", &self.path, "\n"] {
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
    /// `run` returns the representation to send; the idempotency key is bound to `body`.
    pub fn write(
        request: &Request,
        body: &impl Serialize,
        mut run: impl FnMut(&mut Act<'_, '_>) -> Result<String, Error> + Send + 'static,
    ) -> Self {
        let status = request.route.success;
        let write = move |act: &mut Act<'_, '_>| {
            Ok(Output {
                status,
                body: run(act)?,
            })
        };
        Self::Write(request.fingerprint(body), Box::new(write))
    }
}
