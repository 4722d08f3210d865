//! A member's first page: what is due, what was paid, and how to pay.

use askama::Template;
use bursar_app::MemberProof;
use bursar_app::member_page::{MemberPage, Owed};
use bursar_app::member_statement::Line;
use bursar_app::online::Record;
use bursar_app::online::autopay::AutopayRecord;
use bursar_app::statement::Standing;
use bursar_domain::creditor_reference::spaced;
use bursar_domain::ids::ReceiptId;
use bursar_domain::online::OnlineState;
use bursar_domain::payment::PaymentStatus;
use bursar_domain::receipt::ReceiptStatus;
use hyper::StatusCode;

use super::page::{days_of, hinted};
use super::transfer_code::{self, Drawing};
use crate::assets;
use crate::failure::Failure;
use crate::forms::Form;
use crate::serve::Answer;
use crate::words;

/// Movements on the first page. The statement has all.
const MOVEMENTS_MAX: usize = 12;
const RECEIPTS_MAX: usize = 12;

#[derive(Template)]
#[template(path = "m/home.html")]
struct Home<'a> {
    form: &'a Form,
    /// Of the form that pays.
    key: String,
    takes_cards: bool,
    by_card: Vec<ByCard>,
    autopay: Option<SavedCard>,
    offers_autopay: bool,
    style: String,
    organization: String,
    contact: String,
    name: String,
    said: &'static str,
    /// A download that the code was entered for: its address and its name.
    ready: Option<(String, String)>,
    due: String,
    is_due: bool,
    is_overdue: bool,
    overdue: String,
    later: String,
    credit: String,
    open: Vec<OpenRow>,
    transfer: Option<Transfer>,
    how_to_pay: String,
    payer: String,
    household: Vec<String>,
    receipts: Vec<ReceiptRow>,
    movements: Vec<Movement>,
    years: Vec<i16>,
    email: String,
    phone: Option<String>,
    shares_address: bool,
}

/// Shown beside the charge, or above the form.
const PAY_FIELDS: &[&str] = &[];

impl Home<'_> {
    /// What is due is paid unless something else was chosen.
    fn is_ticked(&self, row: &OpenRow) -> bool {
        match self.form.is_sent() {
            true => self.form.all("charge").any(|id| id == row.id),
            false => row.is_due || self.open.iter().all(|other| !other.is_due),
        }
    }

    fn part<'b>(&'b self, row: &'b OpenRow) -> &'b str {
        let typed = self.form.get(&format!("amount-{}", row.id));
        match typed {
            "" => &row.plain,
            typed => typed,
        }
    }
}

/// A download of the member's.
pub(super) enum Paper {
    /// Of a year, or of the last twelve months.
    Statement(Option<String>),
    Receipt(ReceiptId),
}

impl Paper {
    /// `statement`, `statement/2026` or `receipts/` and an id.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text.split_once('/') {
            None => (text == "statement").then_some(Self::Statement(None)),
            Some(("statement", year)) => {
                let is_year = !year.is_empty() && days_of(year).is_ok();
                is_year.then(|| Self::Statement(Some(year.to_owned())))
            }
            Some(("receipts", id)) => Some(Self::Receipt(ReceiptId::parse(id)?)),
            Some(_) => None,
        }
    }

    fn address(&self) -> String {
        match self {
            Self::Statement(None) => "/m/statement".to_owned(),
            Self::Statement(Some(year)) => format!("/m/statement?year={year}"),
            Self::Receipt(id) => format!("/m/receipts/{id}"),
        }
    }

    fn told(&self) -> String {
        match self {
            Self::Statement(None) => "Statement of the last twelve months (PDF)".to_owned(),
            Self::Statement(Some(year)) => format!("Statement of {year} (PDF)"),
            Self::Receipt(_) => "Your receipt (PDF)".to_owned(),
        }
    }
}

/// A payment by card that is under way or failed.
struct ByCard {
    what: String,
    /// Where to go on with it; empty if it has ended.
    to: String,
    state: (&'static str, &'static str),
    why: String,
}

/// The card that dues are charged to, and what is going to be.
struct SavedCard {
    card: String,
    until: String,
    planned: Vec<Movement>,
}

struct OpenRow {
    id: String,
    can_be_paid: bool,
    /// Ticked unless something else was chosen.
    is_due: bool,
    /// What is open, without the currency.
    plain: String,
    what: String,
    whose: String,
    due: String,
    state: (&'static str, &'static str),
    amount: String,
    reference: String,
}

struct Transfer {
    name: String,
    iban: String,
    amount: String,
    reference: String,
    code: Option<Drawing>,
}

struct ReceiptRow {
    id: String,
    day: String,
    amount: String,
    state: &'static str,
}

struct Movement {
    day: String,
    what: String,
    amount: String,
    is_less: bool,
}

pub(super) fn home(
    shown: &MemberPage,
    (key, shares_address): (String, bool),
    (said, ready): (&str, Option<Paper>),
    form: &Form,
) -> Result<Answer, Failure> {
    let (own, statement) = (&shown.organization, &shown.statement);
    let later = bursar_domain::money::Money::new(shown.total.minor - shown.due.minor, own.currency);
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let reference = shown.reference().as_deref().map(spaced).unwrap_or_default();
    let transfer = own
        .iban
        .as_deref()
        .filter(|_| shown.to_transfer.minor > 0)
        .map(|iban| Transfer {
            name: own.name.clone(),
            iban: spaced(iban),
            amount: words::money_in(shown.to_transfer),
            reference,
            code: shown.transfer_code.as_deref().and_then(transfer_code::draw),
        });
    let movements = statement.lines.iter().rev().take(MOVEMENTS_MAX);
    let year: i16 = statement.until.to_string()[..4].parse().unwrap_or_default();
    let page = Home {
        form,
        key,
        takes_cards: shown.takes_cards && shown.open.iter().any(Owed::can_be_paid),
        by_card: shown
            .online
            .iter()
            .filter_map(|record| by_card(shown, record))
            .collect(),
        autopay: shown.autopay.as_ref().map(saved_card),
        offers_autopay: shown.takes_cards,
        style: assets::style(),
        organization: own.name.clone(),
        contact: text(&own.contact_email),
        name: shown.member.name(),
        said: match said {
            "contact" => "Your contact data is saved. We sent a note to the old and the new address.",
            "card" => {
                "Your card is saved. Your dues are charged to it from now on; we sent you a mail about it."
            }
            "saving" => "Your card is being saved; this page shows when that is done.",
            "stopped" => "Automatic payments are stopped. Nothing more is charged to your card.",
            "paid" => "Thank you. Your payment has arrived.",
            "processing" => "Thank you. Your payment is on its way; this page shows when it has arrived.",
            _ => "",
        },
        ready: ready.map(|paper| (paper.address(), paper.told())),
        due: words::money_in(shown.due),
        is_due: shown.due.minor > 0,
        overdue: words::money_in(shown.overdue),
        is_overdue: shown.overdue.minor > 0,
        later: match later.minor {
            0 => String::new(),
            _ => words::money_in(later),
        },
        credit: match statement.credit.minor {
            ..=0 => String::new(),
            _ => words::money_in(statement.credit),
        },
        open: shown.open.iter().map(open_row).collect(),
        transfer,
        how_to_pay: text(&own.pay_text),
        payer: statement
            .payer
            .as_ref()
            .map(|payer| payer.name.clone())
            .unwrap_or_default(),
        household: statement
            .household
            .iter()
            .map(|person| person.name.clone())
            .collect(),
        receipts: shown
            .receipts
            .iter()
            .take(RECEIPTS_MAX)
            .map(|recorded| ReceiptRow {
                id: recorded.receipt.id.to_string(),
                day: words::day(recorded.receipt.date),
                amount: words::money_in(recorded.amount),
                state: match recorded.receipt.status {
                    ReceiptStatus::Recorded => "",
                    ReceiptStatus::Bounced => "Returned by the bank",
                    ReceiptStatus::Reversed => "Corrected",
                },
            })
            .collect(),
        movements: movements.map(movement).collect(),
        years: (0..3).map(|ago| year - ago).collect(),
        // A link may have been passed on.
        email: match shown.proof {
            MemberProof::Code => text(&shown.member.email),
            MemberProof::Link => shown.member.email.as_deref().map(hinted).unwrap_or_default(),
        },
        phone: shown
            .member
            .phone
            .clone()
            .filter(|_| shown.proof == MemberProof::Code),
        shares_address,
    };
    Ok(Answer::Page(StatusCode::OK, page.render()?))
}

fn movement(line: &Line) -> Movement {
    Movement {
        day: words::day(line.date),
        what: line.told(),
        amount: match (line.charged.minor, line.credited.minor) {
            // Credit that was used changes what is owed by nothing: it counted when it came.
            (0, 0) => String::new(),
            (0, _) => words::money_in(line.credited),
            _ => words::money_in(line.charged),
        },
        is_less: line.credited.minor > 0,
    }
}

fn saved_card(own: &AutopayRecord) -> SavedCard {
    SavedCard {
        card: own.card.clone().unwrap_or_default(),
        until: own.card_until.clone().unwrap_or_default(),
        planned: own
            .planned
            .iter()
            .map(|planned| Movement {
                day: words::day(planned.on),
                what: planned.description.clone(),
                amount: words::money_in(planned.amount),
                is_less: false,
            })
            .collect(),
    }
}

fn by_card(shown: &MemberPage, record: &Record) -> Option<ByCard> {
    // What was paid in another way meanwhile is not offered again.
    let is_open = |payment| {
        let mut open = shown.open.iter().filter(|owed| owed.can_be_paid());
        open.any(|owed| owed.charge.payment_id == payment)
    };
    let (state, to) = match record.state {
        OnlineState::Created | OnlineState::Open => {
            let to = record.url.as_ref().map(|_| format!("/m/pay/{}", record.id));
            let can_go_on = record.parts.iter().all(|part| is_open(part.payment_id));
            (("Not finished", "pending"), to.filter(|_| can_go_on)?)
        }
        OnlineState::Processing => (("On its way", "processing"), String::new()),
        OnlineState::Failed => (("Failed", "failed"), String::new()),
        OnlineState::Refunded => (("Paid back", ""), String::new()),
        OnlineState::Succeeded | OnlineState::Expired => return None,
    };
    let parts: Vec<&str> = record
        .parts
        .iter()
        .map(|part| part.description.as_str())
        .collect();
    Some(ByCard {
        what: format!("{} for {}", words::money_in(record.amount), parts.join(", ")),
        to,
        state,
        why: record.failure.clone().unwrap_or_default(),
    })
}

fn open_row(owed: &Owed) -> OpenRow {
    let charge = &owed.charge;
    OpenRow {
        id: charge.payment_id.to_string(),
        can_be_paid: owed.can_be_paid(),
        is_due: charge.standing != Standing::NotDue,
        plain: charge.open.to_string(),
        what: charge.description.clone(),
        whose: charge.member.clone().unwrap_or_default(),
        due: charge.due_date.map(words::day).unwrap_or_default(),
        state: match (owed.status, charge.standing) {
            (PaymentStatus::Processing, _) => ("Payment under way", "processing"),
            (PaymentStatus::Disputed, _) => ("Disputed", "disputed"),
            (PaymentStatus::Failed, _) => ("Payment failed", "failed"),
            (_, Standing::Overdue) => ("Overdue", "failed"),
            (_, Standing::Due) => ("Due now", "pending"),
            (_, Standing::NotDue) => ("Not due yet", ""),
        },
        amount: words::money_in(charge.open),
        reference: charge.reference.clone().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use bursar_domain::Date;
    use bursar_domain::ids::EntryId;
    use bursar_domain::journal::EntryKind;
    use bursar_domain::money::{Currency, Money};

    use super::*;

    #[test]
    fn a_movement_has_an_amount_unless_credit_was_used() {
        let shown = |kind, charged, credited| {
            let money = |minor| Money::new(minor, Currency::USD);
            let movement = movement(&Line {
                date: Date::parse("2026-01-31").unwrap(),
                entry_id: EntryId::from_bits(1),
                kind,
                what: String::new(),
                charges: Vec::new(),
                members: Vec::new(),
                reference: None,
                charged: money(charged),
                credited: money(credited),
                balance: money(0),
            });
            (movement.amount, movement.is_less)
        };
        assert_eq!(shown(EntryKind::Charge, 500, 0), ("5.00 USD".to_owned(), false));
        assert_eq!(shown(EntryKind::Receipt, 0, 500), ("5.00 USD".to_owned(), true));
        assert_eq!(shown(EntryKind::CreditApplied, 0, 0), (String::new(), false));
    }
}
