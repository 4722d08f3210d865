//! Passkeys: a person adds them when signed in, and signs in with them afterwards.

use bursar_db::{ceremonies, organizations, passkeys};
use bursar_domain::Refusal;
use bursar_domain::ids::UserId;
use bursar_domain::organization::User;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::sign_in::passkey::{MAX, StoredPasskey, ceremonies_end};
use bursar_domain::text::NAME;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;
use webauthn_rs::prelude::{
    DiscoverableAuthentication, Passkey, PasskeyRegistration, PublicKeyCredential,
    RegisterPublicKeyCredential, Uuid,
};
use webauthn_rs::{Webauthn, WebauthnBuilder};

use super::{ENTER, ONESELF, begin, tell};
use crate::act::Whole;
use crate::caller::Caller;
use crate::error::AppError;
use crate::rule::Rule;

pub const CHANGE: Rule = Rule::of_oneself("passkey.change", "add and remove their passkeys").guarded();
pub const ASK: Rule = Rule::of_visitor("sign_in.passkey", "sign in with a passkey");

/// The place that passkeys are for.
#[derive(Debug)]
pub struct Passkeys(Webauthn);

impl Passkeys {
    /// `None` for an address without a name: a passkey cannot belong to it.
    pub fn of(base_url: &Url) -> Option<Self> {
        let host = base_url.domain()?;
        let builder = WebauthnBuilder::new(host, base_url).ok()?;
        builder.rp_name("bursar").build().ok().map(Self)
    }
}

/// The passkeys of the caller.
pub fn list(whole: &mut Whole<'_, '_>) -> Result<Vec<StoredPasskey>, AppError> {
    whole.allow(&ONESELF)?;
    let user = caller(whole)?;
    Ok(passkeys::of(whole.tx, user)?)
}

/// Begins to add one. Returns what the browser is to be asked.
pub fn begin_adding(
    whole: &mut Whole<'_, '_>,
    place: &Passkeys,
    browser: &SecretHash,
) -> Result<String, AppError> {
    whole.allow(&CHANGE)?;
    let user = caller(whole)?;
    let user = organizations::user(whole.tx, user)?.ok_or(AppError::Unrecognised)?;
    let had = passkeys::of(whole.tx, user.id)?;
    if had.len() >= MAX {
        return Err(Refusal::conflict(format!("you have {MAX} passkeys; remove one first")).into());
    }
    let known: Vec<Passkey> = had
        .iter()
        .filter_map(|had| serde_json::from_str(&had.credential).ok())
        .collect();
    let known = known.iter().map(|passkey| passkey.cred_id().clone()).collect();
    let name = user.name.as_deref().unwrap_or(&user.email);
    let handle = Uuid::from_bytes(user.id.to_bytes());
    let (asked, state) = place
        .0
        .start_passkey_registration(handle, &user.email, name, Some(known))
        .map_err(refused)?;
    let now = whole.now();
    ceremonies::begin(whole.tx, browser, &written(&state)?, now)?;
    let mut asked = serde_json::to_value(asked).map_err(broken)?;
    // The key must say by itself whose it is: nobody types an address to sign in with it.
    if let Some(selection) = asked.pointer_mut("/publicKey/authenticatorSelection") {
        selection["residentKey"] = json!("required");
        selection["requireResidentKey"] = json!(true);
    }
    Ok(asked.to_string())
}

/// Adds the passkey that the browser has made.
pub fn add(
    whole: &mut Whole<'_, '_>,
    place: &Passkeys,
    browser: &SecretHash,
    name: &str,
    answer: &str,
) -> Result<(), AppError> {
    whole.allow(&CHANGE)?;
    let (user, now) = (caller(whole)?, whole.now());
    let name = NAME.check(name).map_err(Refusal::of_field("name"))?;
    let state: PasskeyRegistration = ceremony(whole, browser)?;
    let answer: RegisterPublicKeyCredential = read_answer(answer)?;
    let made = place
        .0
        .finish_passkey_registration(&answer, &state)
        .map_err(refused)?;
    let passkey = StoredPasskey {
        hash: hash(made.cred_id().as_ref()),
        user,
        name,
        credential: written(&made)?,
        created_at: now,
        used_at: None,
    };
    if passkeys::get(whole.tx, &passkey.hash)?.is_some() {
        return Err(Refusal::conflict("this passkey is known already").into());
    }
    passkeys::insert(whole.tx, &passkey)?;
    tell(
        whole,
        user,
        ("passkey", &format!("\"{}\"", passkey.name)),
        "added to",
    )
}

pub fn remove(whole: &mut Whole<'_, '_>, hash: &SecretHash) -> Result<(), AppError> {
    whole.allow(&CHANGE)?;
    let user = caller(whole)?;
    let Some(passkey) = passkeys::get(whole.tx, hash)? else {
        return Ok(());
    };
    match passkeys::remove(whole.tx, user, hash)? {
        true => tell(
            whole,
            user,
            ("passkey", &format!("\"{}\"", passkey.name)),
            "removed from",
        ),
        false => Ok(()),
    }
}

/// Begins to sign in. Returns what the browser is to be asked, which is the same for everybody.
pub fn begin_entering(
    whole: &mut Whole<'_, '_>,
    place: &Passkeys,
    browser: &SecretHash,
) -> Result<String, AppError> {
    whole.allow(&ASK)?;
    let (asked, state) = place.0.start_discoverable_authentication().map_err(refused)?;
    let now = whole.now();
    ceremonies::begin(whole.tx, browser, &written(&state)?, now)?;
    let mut asked = serde_json::to_value(asked).map_err(broken)?;
    // The person presses a button, so the browser need not wait for the field.
    if let Value::Object(fields) = &mut asked {
        fields.remove("mediation");
    }
    Ok(asked.to_string())
}

/// Begins a session if the passkey proves who it is, and ends the one that the browser had.
pub fn enter(
    whole: &mut Whole<'_, '_>,
    place: &Passkeys,
    (browser, answer): (&SecretHash, &str),
    (session, agent): (SecretHash, &str),
    before: Option<&SecretHash>,
) -> Result<User, AppError> {
    whole.allow(&ENTER)?;
    let now = whole.now();
    let state: DiscoverableAuthentication = ceremony(whole, browser)?;
    let answer: PublicKeyCredential = read_answer(answer)?;
    let (handle, credential) = place
        .0
        .identify_discoverable_authentication(&answer)
        .map_err(refused)?;
    let (user, hash) = (UserId::from_bytes(handle.into_bytes()), hash(credential));
    let unknown =
        || Refusal::conflict("this passkey is not known here; sign in with a code, and add it again");
    let stored = passkeys::get(whole.tx, &hash)?.filter(|stored| stored.user == user);
    let stored = stored.ok_or_else(unknown)?;
    let mut passkey: Passkey = serde_json::from_str(&stored.credential).map_err(broken)?;
    let proof = place
        .0
        .finish_discoverable_authentication_v2(&answer, state, &passkey)
        .map_err(refused)?;
    passkey.update_credential(&proof);
    passkeys::used(whole.tx, &hash, &written(&passkey)?, now)?;
    let user = organizations::user(whole.tx, user)?.ok_or_else(unknown)?;
    if let Some(before) = before {
        bursar_db::sign_in::end_session(whole.tx, before)?;
    }
    begin(whole, &user, session, agent)?;
    Ok(user)
}

pub(super) fn caller(whole: &Whole<'_, '_>) -> Result<UserId, AppError> {
    match whole.caller {
        Caller::Person(user, ..) => Ok(user),
        _ => Err(AppError::Unrecognised),
    }
}

fn ceremony<S: DeserializeOwned>(whole: &mut Whole<'_, '_>, browser: &SecretHash) -> Result<S, AppError> {
    let after = ceremonies_end(whole.now());
    let state = ceremonies::take(whole.tx, browser, after)?;
    let ended = || Refusal::conflict("this took longer than 5 minutes, or was sent before; begin again");
    let state = state.and_then(|(state, _)| serde_json::from_str(&state).ok());
    Ok(state.ok_or_else(ended)?)
}

fn hash(credential: &[u8]) -> SecretHash {
    use sha2::Digest as _;
    SecretHash(sha2::Sha256::digest(credential).into())
}

fn read_answer<A: DeserializeOwned>(answer: &str) -> Result<A, AppError> {
    let read = serde_json::from_str(answer);
    read.map_err(|_| Refusal::conflict("the browser's response cannot be read; start again").into())
}

pub(super) fn written(state: &impl Serialize) -> Result<String, AppError> {
    serde_json::to_string(state).map_err(broken)
}

fn refused(error: webauthn_rs::prelude::WebauthnError) -> AppError {
    Refusal::conflict(format!(
        "the passkey was not accepted ({error}); begin again, or sign in with a code"
    ))
    .into()
}

pub(super) fn broken(error: serde_json::Error) -> AppError {
    bursar_db::DbError::Internal(error.to_string()).into()
}
