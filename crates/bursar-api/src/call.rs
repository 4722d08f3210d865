//! A request as received, and what is known of it so far.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bursar_app::{Identity, Next, TokenCaller, Visit};
use bursar_domain::Timestamp;
use bursar_domain::ids::{OrganizationId, RequestId, TokenId};
use bursar_domain::token::{self, TokenHash};
use bursar_http::limits::{Bucket, Quota};
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName};
use hyper::http::request::Parts;

use super::error::Error;
use super::handlers;
use super::query;
use super::routes::{self, Cost, KeyRule, Match, Route, Verb, Work};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A request, shared by its connection and the reader that looks up its caller.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) parts: Parts,
    pub(super) peer: SocketAddr,
    pub(super) found: Match,
    /// Set only for a well-formed token on a route that needs one; nothing else is looked up.
    pub(super) hash: Option<TokenHash>,
    pub(super) now: Timestamp,
    pub(super) id: RequestId,
    trace: Mutex<Trace>,
}

/// What is known of a request when it is answered, even if it failed early.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) route: Option<&'static Route>,
    pub(super) organization: Option<OrganizationId>,
    pub(super) token: Option<TokenId>,
    pub(super) quota: Option<Quota>,
}

impl Trace {
    pub(super) fn set_caller(&mut self, caller: &TokenCaller) {
        self.organization = Some(caller.organization());
        self.token = Some(caller.id());
    }
}

impl Call {
    pub(super) fn new(parts: Parts, peer: SocketAddr, now: Timestamp, id: RequestId) -> Self {
        let found = routes::find(&parts.method, parts.uri.path());
        let hash = match &found {
            Match::Found(
                Route {
                    work: Work::Document, ..
                },
                _,
            ) => None,
            _ => bearer(&parts.headers)
                .filter(|text| token::recognise(text).is_some())
                .map(token::hash),
        };
        Self {
            parts,
            peer,
            found,
            hash,
            now,
            id,
            trace: Mutex::default(),
        }
    }

    pub(super) fn trace(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn visit(&self) -> Visit {
        Visit {
            who: self.hash.map_or(Identity::Visitor, Identity::Token),
            request: Some(self.id),
        }
    }

    pub(super) fn price(&self) -> (Bucket, u32) {
        match &self.found {
            Match::Found(route, _) => (route.bucket, cost(route, self.parts.uri.query())),
            Match::OtherMethod(_) | Match::NoPath => (default_bucket(&self.parts.method), 1),
        }
    }

    /// What the request's look-up will read once its token is known: a read's row, or a change's key.
    pub(super) fn next(&self, key_seconds: i64) -> Option<Next> {
        match &self.found {
            Match::Found(route, _) if route.method == Verb::Get => self.next_of_work(),
            Match::Found(route, _) => {
                let key = self.key(route.key).ok()??;
                Some(Next::key(key, self.now.plus_seconds(-key_seconds)))
            }
            Match::OtherMethod(_) | Match::NoPath => None,
        }
    }

    /// What its work will read first.
    pub(super) fn next_of_work(&self) -> Option<Next> {
        match &self.found {
            Match::Found(route, [(from, to), _]) => (route.ahead?)(&self.parts.uri.path()[*from..*to]),
            Match::OtherMethod(_) | Match::NoPath => None,
        }
    }

    pub(super) fn key(&self, rule: KeyRule) -> Result<Option<String>, Error> {
        if rule == KeyRule::Ignored {
            return Ok(None);
        }
        let mut values = self.parts.headers.get_all(IDEMPOTENCY_KEY).iter();
        match (values.next(), values.next()) {
            (None, _) if rule == KeyRule::Required => Err(Error::KeyRequired),
            (None, _) => Ok(None),
            (Some(value), None) if value.is_empty() => Err(Error::KeyRequired),
            (Some(value), None)
                if value.len() <= 255 && value.as_bytes().iter().all(|b| (0x21..=0x7e).contains(b)) =>
            {
                Ok(value.to_str().ok().map(str::to_owned))
            }
            (Some(_), _) => Err(Error::KeyInvalid),
        }
    }
}

/// The token is read from the `Authorization` header only.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (first, second) = (values.next()?, values.next());
    let (scheme, token) = first.to_str().ok()?.split_at_checked("bearer ".len())?;
    (second.is_none() && scheme.eq_ignore_ascii_case("bearer ")).then(|| token.trim_start_matches(' '))
}

fn cost(route: &Route, query: Option<&str>) -> u32 {
    match route.cost {
        Cost::One => 1,
        Cost::PerRowsAsked => {
            let rules = handlers::list_rules(route.operation).unwrap_or_default();
            query::list(query, &rules).map_or(1, |query| {
                u32::try_from(query.limit.rows().div_ceil(25)).unwrap_or(1)
            })
        }
    }
}

pub(super) fn default_bucket(method: &Method) -> Bucket {
    if *method == Method::GET || *method == Method::HEAD {
        Bucket::Read
    } else {
        Bucket::Write
    }
}
