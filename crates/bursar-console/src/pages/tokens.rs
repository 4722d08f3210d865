//! Tokens: what each may do, when it was last used, when it ends.

use askama::Template;
use bursar_app::View;
use bursar_app::tokens::{self, CREATE, Explanation, REVOKE_SERVICE, ROTATE, Record, State};
use bursar_domain::access::Withheld;
use bursar_domain::ids::kind;
use bursar_domain::token::TokenKind;

use super::cut;
use super::policy::in_words;
use super::tabbed::{Tabs, by_state, if_any};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words::{self, Moment};

struct Row {
    id: String,
    name: String,
    whose: String,
    used: Moment,
    ends: Moment,
    status: &'static str,
    state: String,
}

#[derive(Template)]
#[template(path = "tokens.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_create: bool,
    is_all: bool,
    tabs: Tabs,
    rows: Vec<Row>,
    older: String,
    csv: String,
}

pub(super) fn whose(record: &Record) -> String {
    match (record.kind, record.role) {
        (TokenKind::Personal, _) => record
            .email
            .clone()
            .unwrap_or_else(|| "A former officer".to_owned()),
        (TokenKind::Service, Some(role)) => format!("A service, as {role}"),
        (TokenKind::Service, None) => "A service".to_owned(),
    }
}

pub(super) fn used(record: &Record, frame: &Frame) -> Moment {
    Moment::or(record.last_used_at, &frame.place.organization.time_zone, "Never")
}

const fn is_live(state: State) -> bool {
    match state {
        State::Active | State::Replaced => true,
        State::Revoked | State::Expired | State::RotatedOut => false,
    }
}

/// Those that the address asks for.
pub(super) fn found(view: &mut View<'_, '_>, asking: &Asking) -> Result<Vec<Record>, Failure> {
    let mut found = tokens::list(view)?;
    match asking.query("show") {
        "live" => found.retain(|record| is_live(record.state)),
        "ended" => found.retain(|record| !is_live(record.state)),
        _ => {}
    }
    found.sort_by_key(|record| (!is_live(record.state), std::cmp::Reverse(record.created_at)));
    Ok(found)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let mut found = found(view, asking)?;
    let states = [("live", "In use"), ("ended", "Ended")].map(|(word, name)| (word, name.to_owned()));
    let tabs = by_state(asking, "tokens", ("show", "after"), states);
    let tabs = if_any(tabs, &found);
    let older = cut::page(asking, ("tokens", "after"), &mut found, |record| {
        record.id.to_string()
    });
    let row = |record: &Record| Row {
        id: record.id.to_string(),
        name: record.name.clone(),
        whose: whose(record),
        used: used(record, frame),
        ends: Moment::there(record.expires_at, &frame.place.organization.time_zone),
        status: record.state.as_str(),
        state: words::label(record.state.as_str()),
    };
    let page = Page {
        frame,
        may_create: frame.may(&CREATE),
        is_all: frame.may(&tokens::LIST_ALL),
        tabs,
        rows: found.iter().map(row).collect(),
        older,
        csv: asking.with("tokens/csv", &[]),
    };
    Ok(page.render()?)
}

struct ScopeRow {
    words: String,
    scope: &'static str,
    /// What withholds it; empty if nothing does.
    by: &'static str,
}

#[derive(Template)]
#[template(path = "token.html")]
struct One<'a> {
    frame: &'a Frame,
    id: String,
    name: String,
    status: &'static str,
    state: String,
    may_rotate: bool,
    may_revoke: bool,
    whose: String,
    made: Moment,
    used: Moment,
    ends: Moment,
    left: String,
    successor: String,
    scopes: Vec<ScopeRow>,
    curl: String,
}

pub(crate) fn show_one(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id = asking.id::<kind::Token>(0)?;
    let record = tokens::get(view, id)?;
    let (explanation, state) = tokens::explain_by_id(view, id)?;
    let is_live = is_live(state);
    let is_own = record.email.as_deref() == Some(frame.email.as_str());
    let page = One {
        frame,
        id: id.to_string(),
        status: state.as_str(),
        state: words::label(state.as_str()),
        may_rotate: state == State::Active && record.kind == TokenKind::Service && frame.may(&ROTATE),
        may_revoke: is_live
            && match record.kind {
                TokenKind::Service => frame.may(&REVOKE_SERVICE),
                TokenKind::Personal => is_own,
            },
        whose: whose(&record),
        made: Moment::there(record.created_at, &frame.place.organization.time_zone),
        used: used(&record, frame),
        ends: Moment::there(record.expires_at, &frame.place.organization.time_zone),
        left: match is_live {
            true => left(record.expires_at.micros() - view.now().micros()),
            false => String::new(),
        },
        successor: record.successor_id.map(|id| id.to_string()).unwrap_or_default(),
        scopes: scopes(&explanation, is_live),
        curl: curl(&frame.origin),
        name: record.name,
    };
    Ok(page.render()?)
}

fn left(micros: i64) -> String {
    let hours = micros / 3_600_000_000;
    let text = match hours {
        48.. => words::count(usize::try_from(hours / 24).unwrap_or(0), "day", "days"),
        _ => words::count(usize::try_from(hours).unwrap_or(0), "hour", "hours"),
    };
    format!("in {text}")
}

fn scopes(explanation: &Explanation, is_live: bool) -> Vec<ScopeRow> {
    let by = |scope| {
        let found = explanation
            .withheld
            .iter()
            .find(|withheld| withheld.scope == scope);
        match found.map(|withheld| withheld.by) {
            _ if !is_live => "the token has expired",
            Some(Withheld::Role) => "the role",
            Some(Withheld::Policy) => "the policy",
            Some(Withheld::Token) => "the token",
            None => "",
        }
    };
    let row = |scope: bursar_domain::access::Scope| ScopeRow {
        words: in_words(scope),
        scope: scope.as_str(),
        by: by(scope),
    };
    explanation.scopes.iter().map(row).collect()
}

/// A line to try it with.
pub(super) fn curl(origin: &str) -> String {
    format!("curl -H \"Authorization: Bearer $BURSAR_TOKEN\" {origin}/v1/token")
}
