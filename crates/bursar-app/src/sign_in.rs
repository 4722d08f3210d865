//! Signing in to the console. What is handed out is a secret; what is kept is its hash.

pub mod address;
pub mod code;
pub mod login;
pub mod passkey;

use bursar_db::{idempotency, organizations, sign_in};
use bursar_domain::access::Role;
use bursar_domain::ids::UserId;
use bursar_domain::organization::{Organization, User};
use bursar_domain::sign_in::{ENTROPY_BYTES, Link, SecretHash, Session, secret};
use bursar_domain::{Refusal, Timestamp};

use crate::act::{View, Whole};
use crate::caller::Caller;
use crate::error::AppError;
use crate::once::Output;
use crate::personal::{self, Letter};
use crate::rule::Rule;

pub const MAKE_LINK: Rule = Rule::of_operator("sign_in.link", "create sign-in links");
pub const OPEN_LINK: Rule = Rule::of_visitor("sign_in.open", "open a sign-in link");
pub const ENTER: Rule = Rule::of_visitor("sign_in.enter", "sign in");
pub const ONESELF: Rule = Rule::of_oneself("sign_in.oneself", "see and end their own sessions");
pub const SENT: Rule = Rule::of("form.sent", Role::Viewer, "see what they did");
pub const RULES: &[&Rule] = &[
    &MAKE_LINK,
    &OPEN_LINK,
    &address::CHANGE,
    &code::ASK,
    &passkey::ASK,
    &passkey::CHANGE,
    &login::ASK,
    &login::CHANGE,
    &ENTER,
    &ONESELF,
    &SENT,
];

/// What a browser calls itself may be long.
const AGENT_CHARS_MAX: usize = 200;

/// A signed-in person, and where they have a role.
#[derive(Clone, Debug)]
pub struct Oneself {
    pub user: User,
    pub session: Session,
    pub places: Vec<(Organization, Role)>,
}

/// Makes a link for this person that works once. Returns the secret at its end.
pub fn make_link(
    whole: &mut Whole<'_, '_>,
    email: &str,
    entropy: &[u8; ENTROPY_BYTES],
) -> Result<(User, String), AppError> {
    whole.allow(&MAKE_LINK)?;
    let user = organizations::user_by_email(whole.tx, email.trim())?;
    let missing = || Refusal::missing(format!("there is no user {email}; `bursar role set` creates one"));
    let user = user.ok_or_else(missing)?;
    let text = secret(entropy);
    let link = Link {
        user: user.id,
        created_at: whole.now(),
    };
    sign_in::add_link(whole.tx, &SecretHash::of(&text), &link)?;
    Ok((user, text))
}

/// Who would be signed in. Changes nothing, because mail programs open links too.
pub fn open_link(whole: &mut Whole<'_, '_>, link: &SecretHash) -> Result<User, AppError> {
    whole.allow(&OPEN_LINK)?;
    let found = sign_in::link(whole.tx, link)?;
    of_link(whole, found)
}

/// Uses up the link and begins a session. The one that the browser had ends.
pub fn enter(
    whole: &mut Whole<'_, '_>,
    link: &SecretHash,
    (session, agent): (SecretHash, &str),
    before: Option<&SecretHash>,
) -> Result<User, AppError> {
    whole.allow(&ENTER)?;
    let taken = sign_in::take_link(whole.tx, link)?;
    let user = of_link(whole, taken)?;
    if let Some(before) = before {
        sign_in::end_session(whole.tx, before)?;
    }
    begin(whole, &user, session, agent)?;
    Ok(user)
}

/// Begins a session.
pub(crate) fn begin(
    whole: &mut Whole<'_, '_>,
    user: &User,
    session: SecretHash,
    agent: &str,
) -> Result<(), AppError> {
    let now = whole.now();
    begin_proved(whole, user, (session, agent), now)
}

/// Begins a session of somebody who proved who they are at this time.
fn begin_proved(
    whole: &mut Whole<'_, '_>,
    user: &User,
    (session, agent): (SecretHash, &str),
    proved_at: Timestamp,
) -> Result<(), AppError> {
    let now = whole.now();
    let session = Session {
        hash: session,
        user: user.id,
        started_at: now,
        seen_at: now,
        signed_in_at: proved_at,
        agent: agent.chars().take(AGENT_CHARS_MAX).collect(),
    };
    Ok(sign_in::begin_session(whole.tx, &session)?)
}

fn of_link(whole: &mut Whole<'_, '_>, link: Option<Link>) -> Result<User, AppError> {
    let now = whole.now();
    let user = match link.filter(|link| link.is_in_force(now)) {
        Some(link) => organizations::user(whole.tx, link.user)?,
        None => None,
    };
    let ended = || Refusal::missing("this link was used, or is older than 15 minutes");
    Ok(user.ok_or_else(ended)?)
}

/// The person behind a session, and the organizations where they have a role.
pub fn oneself(whole: &mut Whole<'_, '_>, session: &SecretHash) -> Result<Oneself, AppError> {
    whole.allow(&ONESELF)?;
    let session = own(whole, session)?;
    let user = organizations::user(whole.tx, session.user)?;
    let user = user.ok_or(AppError::Unrecognised)?;
    let places = organizations::places(whole.tx, user.id)?;
    Ok(Oneself {
        user,
        session,
        places,
    })
}

/// All sessions of the caller that are in force, the last used first.
pub fn sessions(whole: &mut Whole<'_, '_>) -> Result<Vec<Session>, AppError> {
    whole.allow(&ONESELF)?;
    let now = whole.now();
    let Caller::Person(user, ..) = whole.caller else {
        return Ok(Vec::new());
    };
    let mut all = sign_in::sessions(whole.tx, user)?;
    all.retain(|session| session.is_in_force(now));
    Ok(all)
}

/// Stores that the session was used now.
pub fn seen(whole: &mut Whole<'_, '_>, session: &SecretHash) -> Result<(), AppError> {
    whole.allow(&ONESELF)?;
    let now = whole.now();
    Ok(sign_in::seen(whole.tx, session, now)?)
}

/// Signs out a browser of the caller's own.
pub fn end(whole: &mut Whole<'_, '_>, session: &SecretHash) -> Result<(), AppError> {
    whole.allow(&ONESELF)?;
    own(whole, session)?;
    sign_in::end_session(whole.tx, session)?;
    Ok(())
}

/// What a form of the caller's did, by its key.
pub fn sent(view: &mut View<'_, '_>, key: &str) -> Result<Option<Output>, AppError> {
    view.allow(&SENT)?;
    let Caller::Person(user, ..) = view.caller else {
        return Ok(None);
    };
    let since = Timestamp::from_micros(0);
    let found = idempotency::get(view.tx, view.organization, user.to_bytes(), key, since)?;
    Ok(found.map(|(_, output)| output))
}

/// A session of the caller, and of nobody else.
fn own(whole: &mut Whole<'_, '_>, session: &SecretHash) -> Result<Session, AppError> {
    let found = sign_in::session(whole.tx, session)?;
    let is_own = |session: &Session| matches!(whole.caller, Caller::Person(me, ..) if me == session.user);
    found.filter(is_own).ok_or(AppError::Unrecognised)
}

/// Mails a person that a way to sign in, such as a passkey, was added to their account or removed from it.
fn tell(
    whole: &mut Whole<'_, '_>,
    user: UserId,
    (kind, name): (&str, &str),
    done: &str,
) -> Result<(), AppError> {
    let Some(user) = organizations::user(whole.tx, user)? else {
        return Ok(());
    };
    let (now, id) = (whole.now(), whole.new_id());
    let subject = format!("A {kind} was {done} your account");
    let body = format!(
        "The {kind} {name} was {done} your account, at {now}.\n\nIf it was you, there is nothing to do. If not, sign in with \
         a code, remove {kind}s that you do not know, and end all other sessions."
    );
    let queued = personal::queue(whole.tx, id, &user, Letter::Act, (subject, body), now);
    queued.map_err(AppError::from)
}
