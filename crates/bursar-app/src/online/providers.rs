//! Who collects online payments for an organization: one provider, with a key that is kept encrypted and never shown.

use bursar_db::online::providers::{self as rows, Provider as Row};
use bursar_db::webhooks;
use bursar_domain::access::Role;
use bursar_domain::account::Standing;
use bursar_domain::ids::OrganizationId;
use bursar_domain::online::ProviderKind;
use bursar_domain::sealed::{KEY_BYTES, NONCE_BYTES, SecretKey};
use bursar_domain::{Refusal, Timestamp};
use serde::Serialize;

use super::port::Access;
use crate::act::{Act, View};
use crate::books::money_account;
use crate::error::AppError;
use crate::rule::Rule;
use crate::secrets::KeyFile;

pub const SET: Rule = Rule::of("provider.set", Role::Admin, "set the payment provider").guarded();
pub const SHOW: Rule = Rule::of("provider.show", Role::Admin, "see the payment provider");
pub const TEST: Rule = Rule::of("provider.test", Role::Admin, "test the payment provider");
pub const REMOVE: Rule = Rule::of("provider.remove", Role::Admin, "remove the payment provider").guarded();
pub const ACCESS: Rule = Rule::of_worker("provider.access", "use the key of the payment provider");
pub const RULES: &[&Rule] = &[&SET, &SHOW, &TEST, &REMOVE, &ACCESS];

/// Two secrets are sealed, each with a nonce.
pub const ENTROPY: usize = 2 * NONCE_BYTES;
/// What is shown of a key.
const KEY_END: usize = 4;
const TEXT_MAX: usize = 255;

#[derive(Clone)]
pub struct NewProvider {
    pub kind: ProviderKind,
    /// A restricted key; the one before stays if it is left out.
    pub key: Option<String>,
    /// What signs the provider's reports. Without it, none is accepted.
    pub webhook_secret: Option<String>,
    /// The account that payouts go to, by name; `bank` if left out.
    pub account: Option<String>,
}

/// A provider as admins see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderRecord {
    pub organization_id: OrganizationId,
    pub kind: ProviderKind,
    /// The start and the last characters of the key.
    pub key_hint: String,
    /// Whether the key moves real money.
    pub is_live: bool,
    pub has_webhook_secret: bool,
    /// Where payouts go.
    pub payout_account: String,
    pub created_at: Timestamp,
    pub created_by: String,
    /// Up to when it is known what the provider did.
    pub asked_at: Option<Timestamp>,
    /// Why the last question failed.
    pub problem: Option<String>,
    /// Payments that are still to be asked about: under way, or with a refund or dispute that has not ended.
    pub under_way: i64,
}

#[derive(Clone, Copy)]
enum Sealed {
    Key,
    Secret,
}

/// What a sealed secret belongs to.
fn owner(organization: OrganizationId, which: Sealed) -> [u8; 24] {
    let mut owner = *b"provider................";
    owner[8..].copy_from_slice(&organization.to_bytes());
    if matches!(which, Sealed::Secret) {
        owner[..8].copy_from_slice(b"prv-hook");
    }
    owner
}

/// The key that seals new secrets. One beside the database is made from `random` if nothing is sealed yet.
pub fn sealing_key(
    view: &mut View<'_, '_>,
    file: &KeyFile,
    random: [u8; KEY_BYTES],
) -> Result<SecretKey, AppError> {
    view.allow(&SHOW)?;
    let is_first = !webhooks::has_secrets(view.tx)? && !rows::is_any(view.tx)?;
    let key = file.read_or_make(is_first.then_some(random));
    Ok(key.map_err(Refusal::conflict)?)
}

fn checked_key(kind: ProviderKind, key: &str) -> Result<&str, Refusal> {
    let ProviderKind::Stripe = kind;
    let key = key.trim();
    let is_plain = key.len() <= TEXT_MAX && key.bytes().all(|byte| byte.is_ascii_graphic());
    let is_restricted = ["rk_live_", "rk_test_"]
        .iter()
        .any(|start| key.starts_with(start));
    // A secret key works for tests of the account; with real money it could do anything.
    match is_plain && key.len() > 16 && (is_restricted || key.starts_with("sk_test_")) {
        true => Ok(key),
        false => Err(Refusal::invalid(
            "stripe-key",
            "must be a restricted key of Stripe, rk_live_… or rk_test_…; make one in the Stripe dashboard under \
             Developers, API keys",
        )),
    }
}

/// `rk_test_…abcd`: enough to tell one key from another.
fn hint(key: &str) -> String {
    let start = key.match_indices('_').nth(1).map_or(0, |(at, _)| at + 1);
    format!(
        "{}…{}",
        &key[..start],
        &key[key.len().saturating_sub(KEY_END).max(start)..]
    )
}

fn checked_secret(secret: &str) -> Result<&str, Refusal> {
    let secret = secret.trim();
    let is_plain = secret.len() <= TEXT_MAX && secret.bytes().all(|byte| byte.is_ascii_graphic());
    match is_plain && secret.len() > 12 && secret.starts_with("whsec_") {
        true => Ok(secret),
        false => Err(Refusal::invalid(
            "webhook-secret",
            "must be the signing secret of the endpoint at Stripe, whsec_…",
        )),
    }
}

/// In place of the one before. What is left out stays, and so does what is known about payouts.
pub fn set(
    act: &mut Act<'_, '_>,
    new: &NewProvider,
    key: &SecretKey,
    entropy: &[u8; ENTROPY],
) -> Result<ProviderRecord, AppError> {
    act.allow(&SET)?;
    let text = match &new.key {
        Some(key) => Some(checked_key(new.kind, key)?),
        None => None,
    };
    let secret = new.webhook_secret.as_deref().map(checked_secret).transpose()?;
    let (mut first, mut second) = ([0; NONCE_BYTES], [0; NONCE_BYTES]);
    first.copy_from_slice(&entropy[..NONCE_BYTES]);
    second.copy_from_slice(&entropy[NONCE_BYTES..]);
    let before = rows::get(act.tx, act.organization)?;
    let account = match &new.account {
        Some(name) => money_account(act, Some(name), bursar_domain::receipt::Method::Transfer)?.id,
        None => before
            .as_ref()
            .map_or(Standing::Bank.id(), |before| before.payout_account),
    };
    if account == Standing::Clearing.id() {
        let rule = "must not be clearing, which is where the provider's money is";
        return Err(Refusal::invalid("account", rule).into());
    }
    let (now, organization) = (act.now(), act.organization);
    let seal = |nonce, which, text: &str| key.seal(nonce, &owner(organization, which), text.as_bytes());
    let sealed_before = before.as_ref().and_then(|before| before.secret_sealed.clone());
    let (key_sealed, key_hint) = match (text, &before) {
        (Some(text), _) => (seal(first, Sealed::Key, text), hint(text)),
        (None, Some(before)) => (before.key_sealed.clone(), before.key_hint.clone()),
        (None, None) => {
            let rule = "must be given to connect a provider; it is a restricted key of Stripe, rk_live_… or rk_test_…";
            return Err(Refusal::invalid("stripe-key", rule).into());
        }
    };
    let provider = Row {
        organization_id: organization,
        kind: new.kind,
        key_sealed,
        key_hint,
        secret_sealed: match secret {
            Some(secret) => Some(seal(second, Sealed::Secret, secret)),
            None => sealed_before,
        },
        payout_account: account,
        created_at: before.as_ref().map_or(now, |before| before.created_at),
        created_by: act.caller.id().unwrap_or_else(|| act.caller.kind().to_owned()),
        problem: None,
        swept_at: before.as_ref().map_or(now, |before| before.swept_at),
        due_at: now,
        attempts: 0,
        heard: before.as_ref().map_or(0, |before| before.heard + 1),
    };
    rows::put(act.tx, &provider)?;
    act.log(SET.name, None, None)?;
    shown(act, provider)
}

pub fn show(view: &mut View<'_, '_>) -> Result<ProviderRecord, AppError> {
    view.allow(&SHOW)?;
    let found = rows::get(view.tx, view.organization)?;
    let found = found.ok_or_else(no_provider)?;
    shown(view, found)
}

/// Whether there is something to test, for whoever may.
pub fn check_test(view: &mut View<'_, '_>) -> Result<(), AppError> {
    view.allow(&TEST)?;
    rows::get(view.tx, view.organization)?.ok_or_else(no_provider)?;
    Ok(())
}

/// Refused while payments are under way: nobody could ask what became of them.
pub fn remove(act: &mut Act<'_, '_>) -> Result<(), AppError> {
    act.allow(&REMOVE)?;
    rows::get(act.tx, act.organization)?.ok_or_else(no_provider)?;
    let waiting = bursar_db::online::expected(act.tx, act.organization)?;
    if waiting > 0 {
        return Err(Refusal::conflict(format!(
            "{waiting} online payments are under way, or have a refund or dispute that has not ended; wait until they \
             have ended, `bursar online list` shows them"
        ))
        .into());
    }
    super::autopay::stop_all(act)?;
    rows::delete(act.tx, act.organization)?;
    act.log(REMOVE.name, None, None)
}

pub(super) fn no_provider() -> Refusal {
    Refusal::missing("the organization has no payment provider; `bursar provider set` connects one")
}

fn shown<M>(act: &mut Act<'_, '_, M>, row: Row) -> Result<ProviderRecord, AppError> {
    let account = bursar_db::accounts::get(act.tx, act.organization, row.payout_account)?;
    Ok(ProviderRecord {
        organization_id: row.organization_id,
        kind: row.kind,
        is_live: row.key_hint.contains("_live_"),
        key_hint: row.key_hint,
        has_webhook_secret: row.secret_sealed.is_some(),
        payout_account: account.map_or_else(|| row.payout_account.to_string(), |account| account.name),
        created_at: row.created_at,
        created_by: row.created_by,
        asked_at: Some(row.swept_at).filter(|at| *at > row.created_at),
        problem: row.problem,
        under_way: bursar_db::online::expected(act.tx, act.organization)?,
    })
}

fn opened(row: &Row, which: Sealed, sealed: &[u8], keys: &KeyFile) -> Result<String, AppError> {
    let key = keys.read().map_err(Refusal::conflict)?;
    let text = key
        .open(&owner(row.organization_id, which), sealed)
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let unreadable = || {
        Refusal::conflict(
            "the key of the payment provider cannot be read with this --secret-key-file; set it again with `bursar provider set`",
        )
    };
    Ok(text.ok_or_else(unreadable)?)
}

/// The key, to ask the provider with.
pub fn access(view: &mut View<'_, '_>, keys: &KeyFile) -> Result<Access, AppError> {
    view.allow(&ACCESS)?;
    let row = rows::get(view.tx, view.organization)?.ok_or_else(no_provider)?;
    Ok(Access {
        kind: row.kind,
        key: opened(&row, Sealed::Key, &row.key_sealed, keys)?,
    })
}

/// What signs the provider's reports. `None` if there is no provider or no secret.
pub fn webhook_secret(view: &mut View<'_, '_>, keys: &KeyFile) -> Result<Option<String>, AppError> {
    view.allow(&ACCESS)?;
    let Some(row) = rows::get(view.tx, view.organization)? else {
        return Ok(None);
    };
    match &row.secret_sealed {
        Some(sealed) => opened(&row, Sealed::Secret, sealed, keys).map(Some),
        None => Ok(None),
    }
}
