//! The one table of endpoints. Router, permission check, rate limit, OpenAPI, docs and the access matrix read it.

use bursar_app::resources::Readable;
use bursar_app::{Rule, cards, chapters, groups, members, reminders, tokens};
use bursar_domain::access::{Role, ScopeSet};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::group::Group;
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use bursar_http::limits::Bucket;
use bursar_http::metrics::Metrics;
use hyper::Method;

use super::error::Error;
use super::handlers;
use super::lists::{get, list, roster};
use super::plan::{Plan, Request};

/// A method that an endpoint has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Creates or sends.
    Post,
    /// Changes.
    Patch,
    /// Removes.
    Delete,
}

impl Verb {
    /// The method's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// What a request costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// One unit.
    One,
    /// One unit for every 25 rows asked for, rounded up; one when the query is malformed.
    PerRowsAsked,
}

/// Whether a request carries an `Idempotency-Key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRule {
    /// It must.
    Required,
    /// It may.
    Optional,
    /// It means nothing: the request changes nothing.
    Ignored,
}

/// What a request's body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyRule {
    /// There is none.
    None,
    /// An empty JSON object, or nothing.
    Empty,
    /// A JSON object.
    Object,
}

/// Reads a request and names the work.
pub type Handler = fn(&Request) -> Result<Plan, Error>;

/// What an endpoint is for.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// The API's document, for anybody.
    Document,
    /// An operation, by its rule.
    Of(&'static Rule, Handler),
}

/// An endpoint.
#[derive(Debug)]
pub struct Route {
    /// What it does.
    pub operation: Operation,
    /// The operation's name in the OpenAPI document.
    pub name: &'static str,
    /// One line for the docs.
    pub summary: &'static str,
    /// The method; `HEAD` works wherever `GET` does.
    pub method: Verb,
    /// The path, with `{name}` for a parameter.
    pub path: &'static str,
    /// What is asked of its caller, and what reads the request.
    pub work: Work,
    /// What it draws from.
    pub bucket: Bucket,
    /// How much.
    pub cost: Cost,
    /// Its idempotency key.
    pub key: KeyRule,
    /// Its body.
    pub body: BodyRule,
    /// The status of success.
    pub success: u16,
}

/// Counters with a place for every endpoint.
pub fn metrics() -> Metrics {
    Metrics::new(ROUTES.iter().map(|route| (route.path, route.method.as_str())))
}

impl Route {
    /// Its place in [`ROUTES`].
    pub fn place(&self) -> usize {
        let is_it = |other: &Self| other.operation == self.operation;
        ROUTES.iter().position(is_it).unwrap_or(ROUTES.len())
    }

    /// Whether a token is needed.
    pub fn needs_token(&self) -> bool {
        matches!(self.work, Work::Of(..))
    }

    /// The scopes it needs, all of them.
    pub fn scopes(&self) -> ScopeSet {
        match self.work {
            Work::Of(rule, _) => rule.token.unwrap_or(ScopeSet::NONE),
            Work::Document => ScopeSet::NONE,
        }
    }

    /// The least role whose ceiling has these scopes.
    pub fn role(&self) -> Role {
        let covers = |role: &Role| role.ceiling().covers(self.scopes());
        Role::ALL.iter().copied().find(covers).unwrap_or(Role::Admin)
    }

    /// A plain request of this method: what changes something may not be repeated by accident.
    const fn new(
        operation: Operation,
        name: &'static str,
        method: Verb,
        path: &'static str,
        work: Work,
        summary: &'static str,
    ) -> Self {
        let (bucket, key, body) = match method {
            Verb::Get => (Bucket::Read, KeyRule::Ignored, BodyRule::None),
            Verb::Post => (Bucket::Write, KeyRule::Required, BodyRule::Object),
            Verb::Patch => (Bucket::Write, KeyRule::Optional, BodyRule::Object),
            Verb::Delete => (Bucket::Write, KeyRule::Optional, BodyRule::Empty),
        };
        Self {
            operation,
            name,
            summary,
            method,
            path,
            work,
            bucket,
            cost: Cost::One,
            key,
            body,
            success: 200,
        }
    }
}

macro_rules! routes {
    ($($operation:ident $name:literal $method:ident $path:literal: $work:expr, $summary:literal
        $(, $field:ident: $value:expr)*;)*) => {
        /// What an endpoint does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operation {
            $(#[doc = $summary] $operation,)*
        }

        /// Every endpoint, in the order of the API's document.
        pub static ROUTES: [Route; [$(Operation::$operation),*].len()] = [$(Route {
            $($field: $value,)*
            ..Route::new(Operation::$operation, $name, Verb::$method, $path, $work, $summary)
        }),*];
    };
}

// An operation, its name in the OpenAPI document, its method and path; the rule that it asks and what reads the request;
// one line for the docs; and where it differs from other requests of its method.
routes! {
    CreateCard "createCard" Post "/v1/cards":
        Work::Of(&cards::CREATE, handlers::cards::create), "Create a card, or apply for one", success: 201;
    ListCards "listCards" Get "/v1/cards":
        Work::Of(&Card::READ, list::<Card>), "List cards";
    SendReminder "sendReminder" Post "/v1/reminders/{reminderId}/send":
        Work::Of(&reminders::SEND_NOW, handlers::reminders::send), "Send a scheduled reminder now",
        bucket: Bucket::Messaging, body: BodyRule::Empty;
    ListReminders "listReminders" Get "/v1/reminders":
        Work::Of(&Reminder::READ, list::<Reminder>), "List reminders";
    GetMember "getMember" Get "/v1/members/{memberId}":
        Work::Of(&Member::READ, get::<Member>), "Get a member";
    UpdateMember "updateMember" Patch "/v1/members/{memberId}":
        Work::Of(&members::CHANGE, handlers::members::update), "Change, archive or restore a member";
    ListMembers "listMembers" Get "/v1/members":
        Work::Of(&Member::READ, list::<Member>), "List members";
    CreateGroup "createGroup" Post "/v1/groups":
        Work::Of(&groups::CREATE, handlers::groups::create), "Create a group", success: 201;
    ListGroups "listGroups" Get "/v1/groups":
        Work::Of(&Group::READ, list::<Group>), "List groups with their dues and member counts";
    GetGroup "getGroup" Get "/v1/groups/{groupId}":
        Work::Of(&Group::READ, get::<Group>), "Get a group";
    UpdateGroup "updateGroup" Patch "/v1/groups/{groupId}":
        Work::Of(&groups::CHANGE, handlers::groups::update), "Rename a group or change its description";
    RemoveGroupMember "removeGroupMember" Delete "/v1/groups/{groupId}/members/{memberId}":
        Work::Of(&groups::REMOVE_MEMBER, handlers::groups::remove_member), "Remove a member from a group";
    ListChapterMembers "listChapterMembers" Get "/v1/chapters/{chapterId}/members":
        Work::Of(&chapters::READ, roster), "List the members of a direct child chapter", cost: Cost::PerRowsAsked;
    ListReimbursements "listReimbursements" Get "/v1/reimbursements":
        Work::Of(&Reimbursement::READ, list::<Reimbursement>), "List reimbursements";
    ListPayments "listPayments" Get "/v1/payments":
        Work::Of(&Payment::READ, list::<Payment>), "List payments";
    GetCampaign "getCampaign" Get "/v1/campaigns/{campaignId}":
        Work::Of(&Campaign::READ, get::<Campaign>), "Get a campaign";
    ListStoreListings "listStoreListings" Get "/v1/store/listings":
        Work::Of(&Listing::READ, list::<Listing>), "List store listings";
    GetStoreListing "getStoreListing" Get "/v1/store/listings/{listingId}":
        Work::Of(&Listing::READ, get::<Listing>), "Get a store listing";
    GetStoreOrder "getStoreOrder" Get "/v1/store/orders/{orderId}":
        Work::Of(&Order::READ, get::<Order>), "Get a store order";
    GetToken "getToken" Get "/v1/token":
        Work::Of(&tokens::SELF, handlers::token::explain), "Explain the calling token to itself";
    GetOpenapi "getOpenapi" Get "/v1/openapi.json":
        Work::Document, "Get this document";
}

/// Where a request goes.
#[derive(Debug)]
pub enum Match {
    /// To an endpoint, with the values of its path's parameters as they came.
    Found(&'static Route, Params),
    /// To a path that has other methods: these, for the `Allow` header.
    OtherMethod(Vec<&'static str>),
    /// Nowhere.
    NoPath,
}

/// Where the values of a path's parameters begin and end in it: no path has more than two.
pub type Params = [(usize, usize); 2];

/// Looks a request's endpoint up.
pub fn find(method: &Method, path: &str) -> Match {
    let wanted = if *method == Method::HEAD {
        "GET"
    } else {
        method.as_str()
    };
    let mut others = Vec::new();
    for (route, literal) in ROUTES.iter().zip(LITERALS) {
        // Most are out by their start already, without taking the path apart.
        if !path.as_bytes().starts_with(&route.path.as_bytes()[..literal]) {
            continue;
        }
        if let Some(params) = capture(route.path, path) {
            if route.method.as_str() == wanted {
                return Match::Found(route, params);
            }
            others.push(route.method.as_str());
        }
    }
    if others.is_empty() {
        return Match::NoPath;
    }
    if others.contains(&"GET") {
        others.push("HEAD");
    }
    Match::OtherMethod(others)
}

/// How long each route's path is up to its first parameter.
const LITERALS: [usize; ROUTES.len()] = {
    let mut lengths = [0; ROUTES.len()];
    let mut route = 0;
    while route < lengths.len() {
        let path = ROUTES[route].path.as_bytes();
        while lengths[route] < path.len() && path[lengths[route]] != b'{' {
            lengths[route] += 1;
        }
        route += 1;
    }
    lengths
};

fn capture(template: &str, path: &str) -> Option<Params> {
    let mut params = [(0, 0); 2];
    let (mut next, mut at) = (0, 0);
    let mut segments = path.split('/');
    for part in template.split('/') {
        let segment = segments.next()?;
        if part.starts_with('{') {
            *params.get_mut(next)? = (at, at + segment.len());
            next += 1;
        } else if part != segment {
            return None;
        }
        at += segment.len() + 1;
    }
    segments.next().is_none().then_some(params)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_may_and_people_need_the_role_whose_ceiling_has_the_scopes() {
        for route in &ROUTES {
            if let Work::Of(rule, _) = route.work {
                assert!(rule.token.is_some(), "{}", route.name);
                assert!(
                    rule.person.is_none_or(|least| least == route.role()),
                    "{}",
                    route.name
                );
            }
        }
    }

    #[test]
    fn paths() {
        let found = |method: Method, path: &str| match find(&method, path) {
            Match::Found(route, _) => route.name.to_owned(),
            Match::OtherMethod(others) => others.join(","),
            Match::NoPath => "-".to_owned(),
        };
        for (method, path, expected) in [
            (Method::GET, "/v1/members", "listMembers"),
            (Method::HEAD, "/v1/members/x", "getMember"),
            (Method::DELETE, "/v1/groups/a/members/b", "removeGroupMember"),
            (Method::PUT, "/v1/members/x", "GET,PATCH,HEAD"),
            (Method::GET, "/v1/reminders/x/send", "POST"),
            (Method::GET, "/v1/members/", "getMember"),
            (Method::GET, "/v1//members", "-"),
            (Method::GET, "/v1", "-"),
            (Method::GET, "/v1/members/x/y", "-"),
            (Method::GET, "/v1/store", "-"),
        ] {
            assert_eq!(found(method.clone(), path), expected, "{method} {path}");
        }
    }
}
