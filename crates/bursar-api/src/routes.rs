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

/// What an endpoint does. One name, one handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// `POST /v1/cards`
    CreateCard,
    /// `GET /v1/cards`
    ListCards,
    /// `POST /v1/reminders/{reminderId}/send`
    SendReminder,
    /// `GET /v1/reminders`
    ListReminders,
    /// `GET /v1/members/{memberId}`
    GetMember,
    /// `PATCH /v1/members/{memberId}`
    UpdateMember,
    /// `GET /v1/members`
    ListMembers,
    /// `POST /v1/groups`
    CreateGroup,
    /// `GET /v1/groups`
    ListGroups,
    /// `GET /v1/groups/{groupId}`
    GetGroup,
    /// `PATCH /v1/groups/{groupId}`
    UpdateGroup,
    /// `DELETE /v1/groups/{groupId}/members/{memberId}`
    RemoveGroupMember,
    /// `GET /v1/chapters/{chapterId}/members`
    ListChapterMembers,
    /// `GET /v1/reimbursements`
    ListReimbursements,
    /// `GET /v1/payments`
    ListPayments,
    /// `GET /v1/campaigns/{campaignId}`
    GetCampaign,
    /// `GET /v1/store/listings`
    ListStoreListings,
    /// `GET /v1/store/listings/{listingId}`
    GetStoreListing,
    /// `GET /v1/store/orders/{orderId}`
    GetStoreOrder,
    /// `GET /v1/token`
    GetToken,
    /// `GET /v1/openapi.json`
    GetOpenapi,
}

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
    Operation(&'static Rule, Handler),
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
        matches!(self.work, Work::Operation(..))
    }

    /// The scopes it needs, all of them.
    pub fn scopes(&self) -> ScopeSet {
        match self.work {
            Work::Operation(
                Rule {
                    token: Some(scopes), ..
                },
                _,
            ) => *scopes,
            Work::Operation(..) | Work::Document => ScopeSet::NONE,
        }
    }

    /// The least role whose ceiling has these scopes.
    pub fn role(&self) -> Role {
        let covers = |role: &Role| role.ceiling().covers(self.scopes());
        Role::ALL.iter().copied().find(covers).unwrap_or(Role::Admin)
    }
}

const fn read(
    operation: Operation,
    name: &'static str,
    path: &'static str,
    rule: &'static Rule,
    handler: Handler,
    summary: &'static str,
) -> Route {
    row(operation, name, path, Work::Operation(rule, handler), summary)
}

const fn row(
    operation: Operation,
    name: &'static str,
    path: &'static str,
    work: Work,
    summary: &'static str,
) -> Route {
    Route {
        operation,
        name,
        summary,
        method: Verb::Get,
        path,
        work,
        bucket: Bucket::Read,
        cost: Cost::One,
        key: KeyRule::Ignored,
        body: BodyRule::None,
        success: 200,
    }
}

use Operation as Op;

/// Every endpoint, in the order of the API's document.
pub static ROUTES: [Route; 21] = [
    Route {
        method: Verb::Post,
        bucket: Bucket::Write,
        key: KeyRule::Required,
        body: BodyRule::Object,
        success: 201,
        ..read(
            Op::CreateCard,
            "createCard",
            "/v1/cards",
            &cards::CREATE,
            handlers::cards::create,
            "Create a card, or apply for one",
        )
    },
    read(
        Op::ListCards,
        "listCards",
        "/v1/cards",
        &Card::READ,
        list::<Card>,
        "List cards",
    ),
    Route {
        method: Verb::Post,
        bucket: Bucket::Messaging,
        key: KeyRule::Required,
        body: BodyRule::Empty,
        ..read(
            Op::SendReminder,
            "sendReminder",
            "/v1/reminders/{reminderId}/send",
            &reminders::SEND_NOW,
            handlers::reminders::send,
            "Send a scheduled reminder now",
        )
    },
    read(
        Op::ListReminders,
        "listReminders",
        "/v1/reminders",
        &Reminder::READ,
        list::<Reminder>,
        "List reminders",
    ),
    read(
        Op::GetMember,
        "getMember",
        "/v1/members/{memberId}",
        &Member::READ,
        get::<Member>,
        "Get a member",
    ),
    Route {
        method: Verb::Patch,
        bucket: Bucket::Write,
        key: KeyRule::Optional,
        body: BodyRule::Object,
        ..read(
            Op::UpdateMember,
            "updateMember",
            "/v1/members/{memberId}",
            &members::CHANGE,
            handlers::members::update,
            "Change, archive or restore a member",
        )
    },
    read(
        Op::ListMembers,
        "listMembers",
        "/v1/members",
        &Member::READ,
        list::<Member>,
        "List members",
    ),
    Route {
        method: Verb::Post,
        bucket: Bucket::Write,
        key: KeyRule::Required,
        body: BodyRule::Object,
        success: 201,
        ..read(
            Op::CreateGroup,
            "createGroup",
            "/v1/groups",
            &groups::CREATE,
            handlers::groups::create,
            "Create a group",
        )
    },
    read(
        Op::ListGroups,
        "listGroups",
        "/v1/groups",
        &Group::READ,
        list::<Group>,
        "List groups with their dues and member counts",
    ),
    read(
        Op::GetGroup,
        "getGroup",
        "/v1/groups/{groupId}",
        &Group::READ,
        get::<Group>,
        "Get a group",
    ),
    Route {
        method: Verb::Patch,
        bucket: Bucket::Write,
        key: KeyRule::Optional,
        body: BodyRule::Object,
        ..read(
            Op::UpdateGroup,
            "updateGroup",
            "/v1/groups/{groupId}",
            &groups::CHANGE,
            handlers::groups::update,
            "Rename a group or change its description",
        )
    },
    Route {
        method: Verb::Delete,
        bucket: Bucket::Write,
        key: KeyRule::Optional,
        body: BodyRule::Empty,
        ..read(
            Op::RemoveGroupMember,
            "removeGroupMember",
            "/v1/groups/{groupId}/members/{memberId}",
            &groups::REMOVE_MEMBER,
            handlers::groups::remove_member,
            "Remove a member from a group",
        )
    },
    Route {
        cost: Cost::PerRowsAsked,
        ..read(
            Op::ListChapterMembers,
            "listChapterMembers",
            "/v1/chapters/{chapterId}/members",
            &chapters::READ,
            roster,
            "List the members of a direct child chapter",
        )
    },
    read(
        Op::ListReimbursements,
        "listReimbursements",
        "/v1/reimbursements",
        &Reimbursement::READ,
        list::<Reimbursement>,
        "List reimbursements",
    ),
    read(
        Op::ListPayments,
        "listPayments",
        "/v1/payments",
        &Payment::READ,
        list::<Payment>,
        "List payments",
    ),
    read(
        Op::GetCampaign,
        "getCampaign",
        "/v1/campaigns/{campaignId}",
        &Campaign::READ,
        get::<Campaign>,
        "Get a campaign",
    ),
    read(
        Op::ListStoreListings,
        "listStoreListings",
        "/v1/store/listings",
        &Listing::READ,
        list::<Listing>,
        "List store listings",
    ),
    read(
        Op::GetStoreListing,
        "getStoreListing",
        "/v1/store/listings/{listingId}",
        &Listing::READ,
        get::<Listing>,
        "Get a store listing",
    ),
    read(
        Op::GetStoreOrder,
        "getStoreOrder",
        "/v1/store/orders/{orderId}",
        &Order::READ,
        get::<Order>,
        "Get a store order",
    ),
    read(
        Op::GetToken,
        "getToken",
        "/v1/token",
        &tokens::SELF,
        handlers::token::explain,
        "Explain the calling token to itself",
    ),
    row(
        Op::GetOpenapi,
        "getOpenapi",
        "/v1/openapi.json",
        Work::Document,
        "Get this document",
    ),
];

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
    fn a_person_needs_the_role_whose_ceiling_has_the_scopes() {
        for route in &ROUTES {
            if let Work::Operation(
                Rule {
                    person: Some(least), ..
                },
                _,
            ) = route.work
            {
                assert_eq!(*least, route.role(), "{}", route.name);
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
