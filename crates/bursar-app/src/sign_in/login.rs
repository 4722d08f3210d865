//! Signing in with a login at an OpenID Connect provider. Whoever calls this has asked the provider and checked its answer;
//! here it is decided whose login it is. A login that is new is linked by a mailed code, and signs in alone from then on.

use bursar_db::{ceremonies, logins, organizations};
use bursar_domain::organization::User;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::sign_in::login::{Login, MAX, Proven, ceremonies_end};
use bursar_domain::{Refusal, Timestamp};
use serde::{Deserialize, Serialize};

use super::passkey::{broken, caller, written};
use super::{ENTER, ONESELF, begin_proved, tell};
use crate::act::Whole;
use crate::error::AppError;
use crate::rule::Rule;

pub const ASK: Rule = Rule::of_visitor("sign_in.login", "sign in with a login at the provider");
pub const CHANGE: Rule = Rule::of_oneself("login.change", "remove their logins").guarded();

/// A sign-in for which somebody was sent to the provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// Comes back in the provider's statement.
    pub nonce: String,
    /// Proves to the provider that whoever redeems its answer has asked for it.
    pub verifier: String,
    /// The page that it leads to.
    pub to: String,
    /// Whether they were to prove again who they are.
    pub is_again: bool,
}

/// What a login led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    In(User),
    /// It is nobody's yet, and waits to be linked.
    New,
}

/// What a browser and a secret in an address name together: neither is worth anything alone.
pub fn key(browser: &str, secret: &str) -> SecretHash {
    SecretHash::of(&format!("{browser}:{secret}"))
}

/// Keeps a sign-in until the provider's answer comes, on whichever server.
pub fn begin(whole: &mut Whole<'_, '_>, key: &SecretHash, begun: &Begun) -> Result<(), AppError> {
    whole.allow(&ASK)?;
    let now = whole.now();
    Ok(ceremonies::begin(whole.tx, key, &written(begun)?, now)?)
}

/// Ends it, and returns it with its time. `None` if it was taken before, is too old, or never began in this browser.
pub fn take(whole: &mut Whole<'_, '_>, key: &SecretHash) -> Result<Option<(Begun, Timestamp)>, AppError> {
    whole.allow(&ASK)?;
    let after = ceremonies_end(whole.now());
    let taken = ceremonies::take(whole.tx, key, after)?;
    Ok(taken.and_then(|(state, at)| Some((serde_json::from_str(&state).ok()?, at))))
}

/// Begins a session if somebody here has this login, and ends the one that the browser had. A new login waits under `key`.
/// The sign-in counts as being from the time at which the person proved to the provider who they are.
pub fn enter(
    whole: &mut Whole<'_, '_>,
    (proven, proved_at): (&Proven, Option<Timestamp>),
    (session, agent): (SecretHash, &str),
    before: Option<&SecretHash>,
    key: &SecretHash,
) -> Result<Entry, AppError> {
    whole.allow(&ENTER)?;
    let now = whole.now();
    let found = logins::get(whole.tx, &proven.issuer, &proven.subject)?;
    let user = match found {
        Some(login) => organizations::user(whole.tx, login.user)?,
        None => None,
    };
    let Some(user) = user else {
        ceremonies::begin(whole.tx, key, &written(proven)?, now)?;
        return Ok(Entry::New);
    };
    logins::used(whole.tx, &proven.issuer, &proven.subject, now)?;
    if let Some(before) = before {
        bursar_db::sign_in::end_session(whole.tx, before)?;
    }
    // A provider that does not say when they proved it may have remembered them for weeks.
    let proved_at = proved_at.unwrap_or(Timestamp::from_micros(0)).min(now);
    begin_proved(whole, &user, (session, agent), proved_at)?;
    Ok(Entry::In(user))
}

/// The new login that waits in this browser to be linked.
pub fn waiting(whole: &mut Whole<'_, '_>, key: &SecretHash) -> Result<Option<Proven>, AppError> {
    whole.allow(&ASK)?;
    let after = ceremonies_end(whole.now());
    let state = ceremonies::get(whole.tx, key, after)?;
    Ok(state.and_then(|state| serde_json::from_str(&state).ok()))
}

/// Links a login to the person who has typed the code that was mailed for it.
pub(super) fn link(whole: &mut Whole<'_, '_>, user: &User, state: &str) -> Result<(), AppError> {
    let proven: Proven = serde_json::from_str(state).map_err(broken)?;
    let now = whole.now();
    match logins::get(whole.tx, &proven.issuer, &proven.subject)? {
        Some(login) if login.user == user.id => return Ok(()),
        Some(_) => {
            let taken = "this login belongs to another person here; they can remove it from their account";
            return Err(Refusal::conflict(taken).into());
        }
        None if logins::of(whole.tx, user.id)?.len() >= MAX => {
            return Err(Refusal::conflict(format!("you have {MAX} logins; remove one first")).into());
        }
        None => {}
    }
    let login = Login {
        issuer: proven.issuer,
        subject: proven.subject,
        email: proven.email,
        user: user.id,
        created_at: now,
        used_at: None,
    };
    logins::insert(whole.tx, &login)?;
    let name = named(&login.issuer, &login.email);
    tell(whole, user.id, ("login", &name), "linked to")
}

/// The logins of the caller.
pub fn list(whole: &mut Whole<'_, '_>) -> Result<Vec<Login>, AppError> {
    whole.allow(&ONESELF)?;
    let user = caller(whole)?;
    Ok(logins::of(whole.tx, user)?)
}

/// Removes a login of the caller's own; one that they do not have is no error.
pub fn remove(whole: &mut Whole<'_, '_>, key: &SecretHash) -> Result<(), AppError> {
    whole.allow(&CHANGE)?;
    let user = caller(whole)?;
    let own = logins::of(whole.tx, user)?;
    let Some(login) = own.iter().find(|login| login.key() == *key) else {
        return Ok(());
    };
    logins::remove(whole.tx, login)?;
    let name = named(&login.issuer, &login.email);
    tell(whole, user, ("login", &name), "removed from")
}

/// What people call it: `ada@example.org at https://id.example.org`.
pub(super) fn named(issuer: &str, email: &str) -> String {
    match email {
        "" => format!("at {issuer}"),
        email => format!("{email} at {issuer}"),
    }
}
