//! What a handler makes of a request: a piece of work for a reader or for the writer.

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

/// A request that passed authentication, charge and permission, read but not understood yet.
#[derive(Debug)]
pub struct Request {
    /// Who calls.
    pub caller: TokenCaller,
    /// The endpoint.
    pub route: &'static Route,
    /// The values of the path's parameters, decoded.
    pub params: [String; 2],
    /// The path, decoded.
    pub path: String,
    /// The query as it came.
    pub query: Option<String>,
    /// The body; empty when there was none.
    pub body: String,
    /// The time of the request.
    pub now: Timestamp,
}

impl Request {
    /// A request without its body.
    pub(super) fn open(
        call: &Call,
        route: &'static Route,
        params: Params,
        caller: TokenCaller,
    ) -> Result<Self, Error> {
        let path = call.parts.uri.path();
        // What cannot be decoded cannot be an id.
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

    /// The organization it is about.
    pub fn organization(&self) -> OrganizationId {
        self.caller.organization()
    }

    /// The id at a place of the path; one of the wrong shape or type is a plain 404.
    pub fn id<K: Kind>(&self, place: usize) -> Result<Id<K>, Error> {
        Id::parse(&self.params[place]).ok_or_else(|| Error::no_such(K::NOUN))
    }

    /// Checks that there is no query.
    pub fn no_query(&self) -> Result<(), Error> {
        query::none(self.query.as_deref())
    }

    /// Reads the body's fields; one that is not among `known` is refused by name.
    pub fn fields(&self) -> Result<Fields<'_>, Error> {
        if self.body.is_empty() {
            return Err(Error::InvalidRequest {
                param: None,
                message: "a body is required: a JSON object".into(),
            });
        }
        Ok(Fields::parse(&self.body)?)
    }

    /// Checks that the body is an empty object, or that there is none.
    pub fn empty_body(&self) -> Result<(), Error> {
        if self.body.is_empty() {
            Ok(())
        } else {
            Ok(Fields::parse(&self.body)?.finish()?)
        }
    }

    /// The hash of the request's parameters: method, path, and the body as it was understood.
    pub fn fingerprint(&self, body: &impl Serialize) -> [u8; 32] {
        let mut hasher = Sha256::new();
        for part in [self.route.method.as_str(), "\n", &self.path, "\n"] {
            hasher.update(part.as_bytes());
        }
        // What was understood is made of texts, numbers and words, which always have a JSON form.
        hasher.update(serde_json::to_vec(body).unwrap_or_default());
        hasher.finalize().into()
    }
}

/// What is answered with success.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The JSON body.
    pub body: Bytes,
}

impl Answer {
    /// 200.
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

/// A read of the caller's organization.
pub type Reading<T> = Box<dyn FnOnce(&mut View<'_, '_>) -> Result<T, Error> + Send>;

/// The work of a write: it runs in the organization's act, which looks the caller up once more.
pub type Write = Box<dyn FnMut(&mut Act<'_, '_>) -> Result<Output, Error> + Send>;

/// The work that a request asks for.
pub enum Plan {
    /// A read.
    Read(Reading<Answer>),
    /// A page of a chapter's roster, with its row count: the chapter's log is written before the answer.
    Roster(OrganizationId, Reading<(Answer, usize)>),
    /// A change, under the hash of its parameters.
    Write([u8; 32], Write),
}

impl Plan {
    /// A write whose parameters are the path and `body`; its success, and the representation that is answered.
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
