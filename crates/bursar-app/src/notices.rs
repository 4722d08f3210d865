//! Notices: of tokens that expire, 14 days and 3 days before, to the owner or to the organization's admins; and of guarded
//! acts, to the person in whose name they were done.

use bursar_db::outbox::{self, Message};
use bursar_db::tokens::{self, Token};
use bursar_db::{Tx, organizations};
use bursar_domain::Timestamp;
use bursar_domain::access::Role;
use bursar_domain::ids::{MessageId, TokenId};
use bursar_domain::message::JobKind;
use bursar_domain::organization::User;
use bursar_domain::reminder::Method;

use crate::act::{Act, Whole, no_organization};
use crate::caller::Caller;
use crate::error::AppError;
use crate::personal::{self, Letter};
use crate::rule::Rule;

pub use bursar_db::tokens::Expiring;

pub const DUE: Rule = Rule::of_worker("notice.due", "look for tokens that expire");
pub const QUEUE: Rule = Rule::of_worker("notice.queue", "queue expiry notices");
pub const RULES: &[&Rule] = &[&DUE, &QUEUE];

/// Days before expiry, the earliest notice first.
const DAYS: [i64; 2] = [14, 3];

pub fn due(whole: &mut Whole<'_, '_>, now: Timestamp, limit: i64) -> Result<Vec<Expiring>, AppError> {
    whole.allow(&DUE)?;
    Ok(tokens::expiring(whole.tx, now, now.plus_days(DAYS[0]), limit)?)
}

/// The nearest notice that has fallen due, unless it was sent already or fell due before the token was created.
fn due_notice(token: &Token, noticed_days: Option<i64>, now: Timestamp) -> Option<i64> {
    let fallen = DAYS
        .iter()
        .rev()
        .copied()
        .find(|days| now >= token.expires_at.plus_days(-days))?;
    let is_told = noticed_days.is_some_and(|told| told <= fallen);
    let was_before = token.expires_at.plus_days(-fallen) < token.created_at;
    (!is_told && !was_before).then_some(fallen)
}

/// Queues a token's notice if it is due at `at`, and records that. Reads the token again in this transaction.
pub fn queue(whole: &mut Whole<'_, '_>, expiring: &Expiring, at: Timestamp) -> Result<bool, AppError> {
    whole.allow(&QUEUE)?;
    let (now, organization) = (whole.now(), expiring.token.organization_id);
    let Some(token) = tokens::get(whole.tx, expiring.token.id)?
        .filter(|token| token.revoked_at.is_none() && token.successor_id.is_none())
    else {
        return Ok(false);
    };
    let Some(days) = due_notice(&token, expiring.noticed_days, at) else {
        // The token was created too late for this notice, so it counts as passed.
        let passed = if at >= token.expires_at.plus_days(-DAYS[1]) {
            DAYS[1]
        } else {
            DAYS[0]
        };
        tokens::noticed(whole.tx, organization, token.id, passed)?;
        return Ok(false);
    };
    tokens::noticed(whole.tx, organization, token.id, days)?;
    let job: MessageId = whole.new_id();
    let job = job.to_bytes();
    // A run has a time of its own for each notice, so each is queued once.
    let run_at = token.expires_at.plus_days(-days);
    if !outbox::queue(
        whole.tx,
        organization,
        job,
        JobKind::Notice,
        token.id.to_bytes(),
        run_at,
        now,
    )? {
        return Ok(false);
    }
    let name = organizations::get(whole.tx, organization)?
        .ok_or_else(|| no_organization(organization))?
        .name;
    let readers = readers(whole.tx, &token)?;
    if readers.is_empty() {
        let told = (Method::Email, "", "the organization has no admin to write to");
        let id = whole.new_id();
        outbox::add_skipped(whole.tx, organization, id, job, token.id.to_bytes(), told, now)?;
    }
    for user in readers {
        let message = compose(&token, &user, &name, days, job, whole.new_id());
        outbox::add(whole.tx, &message, now)?;
    }
    Ok(true)
}

/// Writes to the person in whose name a guarded act was done.
pub(crate) fn tell_of(act: &mut Act<'_, '_>, rule: &Rule) -> Result<(), AppError> {
    let Caller::Person(user, ..) = act.caller else {
        return Ok(());
    };
    let Some(user) = organizations::user(act.tx, user)? else {
        return Ok(());
    };
    let (organization, now) = (act.own()?, act.now());
    let subject = format!("{}: your account was used to {}", organization.name, rule.deed);
    let body = format!(
        "Your account was used to {} in {}, at {now}.\n\nIf this was you, there is nothing to do. If not, sign in to the \
         console, open \"Your sessions\", end the sessions that you do not know, and tell another admin.",
        rule.deed, organization.name
    );
    let id = act.new_id();
    Ok(personal::queue(
        act.tx,
        id,
        &user,
        Letter::Act,
        (subject, body),
        now,
    )?)
}

/// Whether a token's notice is still worth sending, or why not.
pub(crate) fn still_due(act: &mut Act<'_, '_>, id: TokenId) -> Result<Result<(), String>, AppError> {
    let now = act.now();
    Ok(match tokens::get(act.tx, id)? {
        Some(token) if token.revoked_at.is_some() => Err("the token was revoked".to_owned()),
        Some(token) if token.successor_id.is_some() => Err("the token was rotated".to_owned()),
        Some(token) if token.expires_at <= now => Err("the token has expired".to_owned()),
        Some(_) => Ok(()),
        None => Err("the token does not exist".to_owned()),
    })
}

fn readers(tx: &mut Tx<'_>, token: &Token) -> Result<Vec<User>, AppError> {
    let mut users = Vec::new();
    match token.user_id {
        Some(owner) => users.extend(organizations::user(tx, owner)?),
        None => {
            for (user, role) in organizations::roles(tx, token.organization_id)? {
                if role == Role::Admin {
                    users.extend(organizations::user(tx, user)?);
                }
            }
        }
    }
    Ok(users)
}

fn compose(
    token: &Token,
    user: &User,
    organization: &str,
    days: i64,
    job: [u8; 16],
    id: MessageId,
) -> Message {
    let what_to_do = match token.user_id {
        Some(_) => "Create a new personal token, move your programs to it, and revoke this one.",
        None => "Rotate it: the successor has the same role and scopes, and both work for the overlap.",
    };
    Message {
        organization: token.organization_id,
        id,
        job,
        recipient: user.id.to_bytes(),
        method: Method::Email,
        address: user.email.clone(),
        name: user.name.clone().unwrap_or_default(),
        subject: format!("Access token \"{}\" expires in {days} days", token.name),
        body: format!(
            "The access token \"{}\" ({}) of {organization} expires at {}.\n\nPrograms that still use it will then get 401 responses. {what_to_do}",
            token.name, token.id, token.expires_at
        ),
        owed: None,
        headers: format!("X-Bursar-Notice: token-expiry; token={}; days={days}", token.id),
        segments: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(days: u16) -> Token {
        let at = Timestamp::from_micros(0);
        let expires_at = at.plus_days(i64::from(days));
        Token {
            organization_id: bursar_domain::ids::Id::from_bits(1),
            id: bursar_domain::ids::Id::from_bits(2),
            kind: bursar_domain::token::TokenKind::Personal,
            name: "t".into(),
            user_id: None,
            role: None,
            scopes: bursar_domain::access::ScopeSet::NONE,
            days,
            created_at: at,
            expires_at,
            ends_at: expires_at,
            revoked_at: None,
            family_id: bursar_domain::ids::Id::from_bits(2),
            predecessor_id: None,
            successor_id: None,
            created_by: "operator".into(),
            last_used_at: None,
        }
    }

    #[test]
    fn each_once_and_the_nearest_one_only() {
        let at = |day: i64| Timestamp::from_micros(0).plus_days(day);
        for (lifetime, told, day, expected) in [
            (90, None, 75, None),
            (90, None, 76, Some(14)),
            (90, Some(14), 80, None),
            (90, Some(14), 87, Some(3)),
            (90, None, 88, Some(3)),
            (90, Some(3), 89, None),
            (14, None, 0, Some(14)),
            (13, None, 0, None),
            (13, None, 10, Some(3)),
            (2, None, 1, None),
        ] {
            assert_eq!(
                due_notice(&token(lifetime), told, at(day)),
                expected,
                "{lifetime} days, day {day}, told {told:?}"
            );
        }
    }
}
