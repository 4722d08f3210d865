//! What no token may do here, and how long tokens may last.

use askama::Template;
use bursar_app::View;
use bursar_app::policy::{self, Cap, PolicyChange, SET};
use bursar_domain::access::{Policy, Scope, ScopeSet};

use super::ask::{Ask, Field, Shape};
use super::seen::Seen;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;

/// The hidden field with what was blocked when the form was opened.
const WAS: &str = "was";

#[derive(Template)]
#[template(path = "policy.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_set: bool,
    days: String,
    /// The scope, what it lets a token do, and whether it is blocked.
    scopes: Vec<(&'static str, String, bool)>,
}

pub(super) fn in_words(scope: Scope) -> String {
    crate::words::label(scope.in_words())
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let policy = policy::show(view)?;
    let page = Page {
        frame,
        may_set: frame.may(&SET),
        days: policy
            .max_token_days
            .map_or_else(|| "One year".to_owned(), |days| format!("{days} days")),
        scopes: Scope::ALL
            .iter()
            .map(|scope| {
                (
                    scope.as_str(),
                    in_words(*scope),
                    policy.blocked_scopes.has(*scope),
                )
            })
            .collect(),
    };
    Ok(page.render()?)
}

/// What is blocked is not compared: a form says what it changes of it.
fn fields(policy: &Policy) -> Vec<Field> {
    let options = Scope::ALL.iter().map(|scope| {
        (
            scope.as_str().to_owned(),
            format!("{} ({scope})", in_words(*scope)),
        )
    });
    let blocked = policy.blocked_scopes.iter().map(|scope| scope.to_string());
    vec![
        Field::boxes("block", "No token may", options.collect(), blocked.collect()).changes_with(""),
        Field::new(
            "max-token-days",
            "Maximum lifetime of a new token, in days",
            Shape::Line("number"),
        )
        .hint("Leave it empty for the maximum, a year.")
        .value(
            policy
                .max_token_days
                .map_or_else(String::new, |days| days.to_string()),
        ),
    ]
}

pub(crate) fn show_edit(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let policy = policy::show(view)?;
    let blocked: Vec<String> = policy
        .blocked_scopes
        .iter()
        .map(|scope| scope.to_string())
        .collect();
    let blocked = blocked.join(" ");
    let back = (asking.frame.at("policy"), "Policy for tokens".to_owned());
    Ask::new(&asking.frame, form, "Edit the policy", back)
        .lead("A change takes effect immediately, for existing tokens too.")
        .fields(fields(&policy))
        .fields([Field::hidden(WAS, form.or(WAS, &blocked))])
        .editing(view.now())
        .button("Save the policy")
        .page()
}

fn scopes<'t>(texts: impl Iterator<Item = &'t str>) -> Result<ScopeSet, Problem> {
    let mut found = ScopeSet::NONE;
    for text in texts {
        let scope = Scope::parse(text).ok_or_else(|| Problem::of("block", "Choose from the list."))?;
        found = found.or(ScopeSet::of(&[scope]));
    }
    Ok(found)
}

pub(crate) fn send_edit(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let block = scopes(form.all("block"))?;
    // What another admin blocked or allowed since the form was opened stays as it is.
    let was = match form.has(WAS) {
        true => scopes(form.get(WAS).split_whitespace())?,
        false => ScopeSet::of(Scope::ALL).without(block),
    };
    let days = form.some("max-token-days").map(|days| days.parse());
    let days = days
        .transpose()
        .map_err(|_| Problem::of("max-token-days", "Enter a number of days, or leave it empty."))?;
    let change = PolicyChange {
        block: block.without(was),
        allow: was.without(block),
        cap: Some(days.map_or(Cap::None, Cap::Days)),
    };
    let to = asking.frame.at("policy");
    let seen = Seen::new(asking, form, "policy.");
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| Ok(fields(&policy::show(view)?)))?;
        policy::set(act, &change)?;
        Ok(Done::new(to.clone(), "Saved the policy."))
    })))
}
