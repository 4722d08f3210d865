//! The one table of endpoints. The router, permission check, rate limit, OpenAPI document, docs and access matrix read it.

use bursar_app::resources::Readable;
use bursar_app::{Next, Rule, cards, chapters, events, groups, members, reminders, tokens};
use bursar_domain::access::{Role, ScopeSet};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::chapter::Chapter;
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
use super::lists::{chapter_list, event_list, get, list, one, roster, whole};
use super::plan::{Plan, Request};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

impl Verb {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    One,
    /// One for every 25 rows requested, rounded up; one when the query is malformed.
    PerRowsAsked,
}

/// Whether a request needs an `Idempotency-Key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRule {
    Required,
    Optional,
    /// The request changes nothing.
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyRule {
    None,
    /// An empty JSON object or no body.
    Empty,
    /// A JSON object.
    Object,
}

pub type Handler = fn(&Request) -> Result<Plan, Error>;

/// What the handler's work will read, as far as the path tells.
pub type Ahead = fn(&str) -> Option<Next>;

#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// The OpenAPI document, which needs no token.
    Document,
    /// An operation's rule, and the handler that parses the request.
    Of(&'static Rule, Handler),
}

#[derive(Debug)]
pub struct Route {
    pub operation: Operation,
    /// The `operationId` in the OpenAPI document.
    pub name: &'static str,
    pub summary: &'static str,
    /// `HEAD` works wherever `GET` does.
    pub method: Verb,
    /// With `{name}` for a parameter.
    pub path: &'static str,
    /// The length of the path up to its first parameter.
    pub literal: usize,
    pub work: Work,
    pub bucket: Bucket,
    pub cost: Cost,
    pub key: KeyRule,
    pub body: BodyRule,
    /// The status of a successful response.
    pub success: u16,
    /// Given the first parameter of the path. For a change, what it reads before it changes anything.
    pub ahead: Option<Ahead>,
}

/// Metrics with a counter for every endpoint.
pub fn metrics() -> Metrics {
    Metrics::new(ROUTES.iter().map(|route| (route.path, route.method.as_str())))
}

impl Route {
    /// Index in [`ROUTES`].
    pub fn place(&self) -> usize {
        let is_it = |other: &Self| other.operation == self.operation;
        ROUTES.iter().position(is_it).unwrap_or(ROUTES.len())
    }

    pub fn needs_token(&self) -> bool {
        matches!(self.work, Work::Of(..))
    }

    /// A token needs all of them.
    pub fn scopes(&self) -> ScopeSet {
        match self.work {
            Work::Of(rule, _) => rule.token.unwrap_or(ScopeSet::NONE),
            Work::Document => ScopeSet::NONE,
        }
    }

    /// The lowest role whose ceiling includes these scopes.
    pub fn role(&self) -> Role {
        let covers = |role: &Role| role.ceiling().covers(self.scopes());
        Role::ALL.iter().copied().find(covers).unwrap_or(Role::Admin)
    }

    /// The defaults for a method. Creation requires a key, so that a retry cannot create twice.
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
        let mut literal = 0;
        while literal < path.len() && path.as_bytes()[literal] != b'{' {
            literal += 1;
        }
        Self {
            operation,
            name,
            summary,
            method,
            path,
            literal,
            work,
            bucket,
            cost: Cost::One,
            key,
            body,
            success: 200,
            ahead: None,
        }
    }
}

macro_rules! routes {
    ($($operation:ident $name:literal $method:ident $path:literal: $work:expr, $summary:literal
        $(, $field:ident: $value:expr)*;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Operation {
            $(#[doc = $summary] $operation,)*
        }

        /// In the order of the OpenAPI document.
        pub static ROUTES: [Route; [$(Operation::$operation),*].len()] = [$(Route {
            $($field: $value,)*
            ..Route::new(Operation::$operation, $name, Verb::$method, $path, $work, $summary)
        }),*];
    };
}

// Operation, `operationId`, method and path; the work; one line for the docs; then the fields that differ from
// the method's defaults.
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
        Work::Of(&Member::READ, get::<Member>), "Get a member", ahead: Some(one::<Member>);
    UpdateMember "updateMember" Patch "/v1/members/{memberId}":
        Work::Of(&members::CHANGE, handlers::members::update), "Change, archive or restore a member",
        ahead: Some(whole::<Member>);
    ListMembers "listMembers" Get "/v1/members":
        Work::Of(&Member::READ, list::<Member>), "List members";
    CreateGroup "createGroup" Post "/v1/groups":
        Work::Of(&groups::CREATE, handlers::groups::create), "Create a group", success: 201,
        ahead: Some(|_| Some(Next::own()));
    ListGroups "listGroups" Get "/v1/groups":
        Work::Of(&Group::READ, list::<Group>), "List groups with their dues and member counts";
    GetGroup "getGroup" Get "/v1/groups/{groupId}":
        Work::Of(&Group::READ, get::<Group>), "Get a group", ahead: Some(one::<Group>);
    UpdateGroup "updateGroup" Patch "/v1/groups/{groupId}":
        Work::Of(&groups::CHANGE, handlers::groups::update), "Rename a group or change its description",
        ahead: Some(whole::<Group>);
    RemoveGroupMember "removeGroupMember" Delete "/v1/groups/{groupId}/members/{memberId}":
        Work::Of(&groups::REMOVE_MEMBER, handlers::groups::remove_member), "Remove a member from a group";
    ListChapters "listChapters" Get "/v1/chapters":
        Work::Of(&Chapter::READ, chapter_list), "List the chapters of a national organization";
    ListChapterMembers "listChapterMembers" Get "/v1/chapters/{chapterId}/members":
        Work::Of(&chapters::READ, roster), "List the members of a direct child chapter", cost: Cost::PerRowsAsked;
    ListReimbursements "listReimbursements" Get "/v1/reimbursements":
        Work::Of(&Reimbursement::READ, list::<Reimbursement>), "List reimbursements";
    ListPayments "listPayments" Get "/v1/payments":
        Work::Of(&Payment::READ, list::<Payment>), "List payments";
    ListCampaigns "listCampaigns" Get "/v1/campaigns":
        Work::Of(&Campaign::READ, list::<Campaign>), "List campaigns";
    GetCampaign "getCampaign" Get "/v1/campaigns/{campaignId}":
        Work::Of(&Campaign::READ, get::<Campaign>), "Get a campaign", ahead: Some(one::<Campaign>);
    ListStoreListings "listStoreListings" Get "/v1/store/listings":
        Work::Of(&Listing::READ, list::<Listing>), "List store listings";
    GetStoreListing "getStoreListing" Get "/v1/store/listings/{listingId}":
        Work::Of(&Listing::READ, get::<Listing>), "Get a store listing", ahead: Some(one::<Listing>);
    ListStoreOrders "listStoreOrders" Get "/v1/store/orders":
        Work::Of(&Order::READ, list::<Order>), "List store orders";
    GetStoreOrder "getStoreOrder" Get "/v1/store/orders/{orderId}":
        Work::Of(&Order::READ, get::<Order>), "Get a store order", ahead: Some(one::<Order>);
    ListEvents "listEvents" Get "/v1/events":
        Work::Of(&events::READ, event_list), "List events";
    GetEvent "getEvent" Get "/v1/events/{eventId}":
        Work::Of(&events::READ, handlers::events::get), "Get an event";
    GetToken "getToken" Get "/v1/token":
        Work::Of(&tokens::SELF, handlers::token::explain), "Inspect the current token";
    GetOpenapi "getOpenapi" Get "/v1/openapi.json":
        Work::Document, "Get this document";
}

#[derive(Debug)]
pub enum Match {
    /// The endpoint, and where its parameters are in the path.
    Found(&'static Route, Params),
    /// The path exists with other methods: the value of `Allow`.
    OtherMethod(Vec<&'static str>),
    NoPath,
}

/// Start and end of each parameter's value in the path. No path has more than two.
pub type Params = [(usize, usize); 2];

pub fn find(method: &Method, path: &str) -> Match {
    let wanted = if *method == Method::HEAD {
        "GET"
    } else {
        method.as_str()
    };
    let mut others = Vec::new();
    for route in &ROUTES {
        let (start, template) = route.path.split_at(route.literal);
        // Rules out most routes without splitting the path.
        let Some(rest) = path.strip_prefix(start) else {
            continue;
        };
        if let Some(params) = capture(template, rest, route.literal) {
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

/// `rest` is what the path has from `at` on.
fn capture(template: &str, rest: &str, mut at: usize) -> Option<Params> {
    let mut params = [(0, 0); 2];
    let mut next = 0;
    let mut segments = rest.split('/');
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
