//! Settings for card payments: who collects them, whether its key works, and what to enter at Stripe.

use askama::Template;
use bursar_app::books::entries;
use bursar_app::online::port::Tested;
use bursar_app::online::providers::{self, ENTROPY, NewProvider, ProviderRecord};
use bursar_app::{AppError, View};
use bursar_domain::Refusal;
use bursar_domain::account::{Account, Standing};
use bursar_domain::online::ProviderKind;
use bursar_domain::sealed::SecretKey;

use super::ask::{Ask, Field};
use super::bank::account_name;
use super::token_acts::entropy;
use crate::asking::Asking;
use crate::failure::{Failure, Problem, without_commands};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::questions::Question;
use crate::words::{self, Moment};

/// `key` is the name of every form's own key.
const KEY_FIELD: &str = "stripe-key";
/// What the key must be able to do, as Stripe's dashboard names it.
const PERMISSIONS: [(&str, &str); 2] = [
    (
        "Write",
        "Checkout Sessions, Payment Intents, Refunds, Customers, Payment Methods, Setup Intents",
    ),
    (
        "Read",
        "Charges, Balance, Balance transactions, Disputes, Payouts",
    ),
];
/// What Stripe is to tell.
const EVENTS: [&str; 5] = [
    "checkout.session.*",
    "payment_intent.*",
    "charge.*",
    "refund.*",
    "payout.*",
];

/// A connected provider.
struct Shown {
    key: String,
    is_live: bool,
    has_secret: bool,
    account: String,
    set: Moment,
    asked: Moment,
    problem: String,
    under_way: String,
}

/// What a test found.
struct Found {
    is_well: bool,
    said: String,
    /// What to look at although the key works.
    warning: String,
}

#[derive(Template)]
#[template(path = "provider.html")]
struct Page<'a> {
    frame: &'a Frame,
    shown: Option<Shown>,
    tested: Option<Found>,
    /// Where Stripe reports to.
    address: String,
    is_reachable: bool,
    permissions: [(&'static str, &'static str); 2],
    events: [&'static str; 5],
}

/// `None` if none is connected.
fn connected(view: &mut View<'_, '_>) -> Result<Option<ProviderRecord>, Failure> {
    match providers::show(view) {
        Err(AppError::Refused(Refusal::Missing { .. })) => Ok(None),
        shown => Ok(Some(shown?)),
    }
}

fn render(frame: &Frame, record: Option<&ProviderRecord>, tested: Option<Found>) -> Result<String, Failure> {
    let own = &frame.place.organization;
    let shown = |record: &ProviderRecord| Shown {
        key: record.key_hint.clone(),
        is_live: record.is_live,
        has_secret: record.has_webhook_secret,
        account: words::label(&record.payout_account),
        set: Moment::there(record.created_at, &own.time_zone),
        asked: Moment::or(record.asked_at, &own.time_zone, "Not yet"),
        problem: record
            .problem
            .as_deref()
            .map(without_commands)
            .unwrap_or_default(),
        under_way: under_way(record),
    };
    let page = Page {
        frame,
        shown: record.map(shown),
        tested,
        address: format!("{}/hooks/stripe/{}", frame.origin, own.id),
        is_reachable: frame.origin.starts_with("https://"),
        permissions: PERMISSIONS,
        events: EVENTS,
    };
    Ok(page.render()?)
}

fn under_way(record: &ProviderRecord) -> String {
    match usize::try_from(record.under_way).unwrap_or(0) {
        0 => String::new(),
        count => words::count(count, "payment", "payments"),
    }
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let record = connected(view)?;
    render(&asking.frame, record.as_ref(), None)
}

/// The key that seals what is typed.
fn sealing_key(view: &mut View<'_, '_>, frame: &Frame) -> Result<SecretKey, Failure> {
    match providers::sealing_key(view, &frame.webhooks.key, entropy(frame)?) {
        // The message names the file, for whoever runs the server.
        Err(AppError::Refused(Refusal::Conflict { message, .. })) => {
            tracing::error!("the key of a payment provider cannot be kept: {message}");
            Err(Problem::new(
                "The server has no key for stored secrets, or has lost it. Its log says what to do.",
            )
            .into())
        }
        key => Ok(key?),
    }
}

fn back(frame: &Frame) -> (String, String) {
    (frame.at("provider"), "Card payments".to_owned())
}

/// Where payouts can go: names, and what they are called.
fn accounts(view: &mut View<'_, '_>) -> Result<Vec<(String, String)>, Failure> {
    let (accounts, _) = entries::accounts(view)?;
    let can_be = |account: &&Account| {
        !account.is_closed && account.holds_money() && account.id != Standing::Clearing.id()
    };
    let mut named: Vec<(String, String)> = accounts
        .values()
        .filter(can_be)
        .map(|account| (account.name.clone(), account_name(account)))
        .collect();
    named.sort();
    Ok(named)
}

pub(crate) fn show_set(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let record = connected(view)?;
    let accounts = accounts(view)?;
    let chosen = match &record {
        Some(record) => record.payout_account.clone(),
        None => Standing::Bank.as_str().to_owned(),
    };
    let (title, lead, button) = match &record {
        Some(_) => (
            "Change the connection to Stripe",
            "Use a key of the same Stripe account: it looks up the payments in progress. Fields that you leave empty stay \
             unchanged.",
            "Save",
        ),
        None => (
            "Connect Stripe",
            "Members can pay by card as soon as Stripe is connected. The key and the secret are stored encrypted and never shown \
             again.",
            "Connect Stripe",
        ),
    };
    let key_hint = match &record {
        Some(record) => format!("Currently {}. Leave it empty to keep it.", record.key_hint),
        None => "It begins with rk_live_, or with rk_test_ to try it without real money.".to_owned(),
    };
    let secret_hint = match record.as_ref().map(|record| record.has_webhook_secret) {
        Some(true) => "One is stored. Leave it empty to keep it.",
        Some(false) | None => {
            "Of the endpoint that you added at Stripe; it begins with whsec_. Without it payments are booked some minutes later."
        }
    };
    Ask::new(frame, form, title, back(frame))
        .lead(lead)
        .fields([
            Field::secret(KEY_FIELD, "Restricted key").hint(key_hint),
            Field::secret("webhook-secret", "Signing secret of the webhook").hint(secret_hint),
            Field::choice("account", "Payouts go to", accounts)
                .hint("The account in the books that stands for the bank account at Stripe.")
                .value(chosen),
        ])
        .button(button)
        .page()
}

pub(crate) fn send_set(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let frame = &asking.frame;
    let is_first = connected(view)?.is_none();
    let new = NewProvider {
        kind: ProviderKind::Stripe,
        key: match is_first {
            true => Some(form.required(KEY_FIELD, "Paste the restricted key.")?),
            false => form.some(KEY_FIELD),
        },
        webhook_secret: form.some("webhook-secret"),
        account: form.some("account"),
    };
    let (key, entropy) = (sealing_key(view, frame)?, entropy::<ENTROPY>(frame)?);
    let to = frame.at("provider");
    Ok(Sent::Do(Box::new(move |act| {
        providers::set(act, &new, &key, &entropy)?;
        let said = match is_first {
            true => "Connected Stripe. Test the key now.",
            false => "Saved the connection. Test the key now.",
        };
        Ok(Done::new(to.clone(), said))
    })))
}

pub(crate) fn show_test(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    providers::check_test(view)?;
    Ask::new(&asking.frame, form, "Test the key", back(&asking.frame))
        .lead("Stripe is asked for the balance and for the last payments, refunds, disputes and payouts. Nothing is changed, so the permissions to \
               write are not tested.")
        .button("Test the key")
        .page()
}

pub(crate) fn send_test(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    providers::check_test(view)?;
    let (frame, record) = (asking.frame.clone(), providers::show(view)?);
    Ok(Sent::Ask(Question::Test(Box::new(move |tested| {
        let found = found(&frame, tested);
        render(&frame, Some(&record), Some(found))
    }))))
}

fn found(frame: &Frame, tested: Result<Tested, String>) -> Found {
    let tested = match tested {
        Ok(tested) => tested,
        Err(why) => {
            return Found {
                is_well: false,
                said: format!("The test failed. {why}"),
                warning: String::new(),
            };
        }
    };
    let money = match tested.is_live {
        true => "with real money",
        false => "in test mode: no real money moves",
    };
    let codes: Vec<&str> = tested.currencies.iter().map(|currency| currency.code()).collect();
    let own = frame.place.organization.currency;
    let warning = match tested.currencies.contains(&own) {
        true => String::new(),
        false => format!(
            "The Stripe account holds no {own}, the currency of {}. Stripe would settle in another currency, and such payments \
             cannot be booked automatically. Add a bank account in {own} at Stripe first.",
            frame.name()
        ),
    };
    Found {
        is_well: true,
        said: format!(
            "The key works, {money}. The account holds {}. The permissions to write were not tested.",
            match codes.is_empty() {
                true => "no balance yet".to_owned(),
                false => codes.join(", "),
            }
        ),
        warning,
    }
}

pub(crate) fn show_remove(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let record = providers::show(view)?;
    let waiting = under_way(&record);
    let (lead, button) = match waiting.is_empty() {
        true => (
            "Members can no longer pay by card. What was paid stays in the books; book later payouts by hand from the bank \
             statement.",
            "Disconnect Stripe",
        ),
        false => (
            "Stripe cannot be disconnected yet: their outcome could no longer be looked up. Try again when all payments, \
             refunds and disputes have ended.",
            "",
        ),
    };
    let instead = (!waiting.is_empty()).then(|| {
        (
            frame.at("online"),
            "See the card payments".to_owned(),
            format!(
                "{waiting} {} in progress: not finished, or with a refund, a dispute or a problem that has not ended.",
                if record.under_way == 1 { "is" } else { "are" }
            ),
        )
    });
    Ask::new(frame, form, "Disconnect Stripe?", back(frame))
        .instead(instead)
        .lead(lead)
        .button(button)
        .dangerous()
        .page()
}

pub(crate) fn send_remove(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    providers::show(view)?;
    let to = asking.frame.at("provider");
    Ok(Sent::Do(Box::new(move |act| {
        providers::remove(act)?;
        Ok(Done::new(
            to.clone(),
            "Disconnected Stripe. Members can no longer pay by card.",
        ))
    })))
}
