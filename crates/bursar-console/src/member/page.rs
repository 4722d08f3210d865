//! What the pages of members show.

use askama::Template;
use bursar_app::MemberProof;
use bursar_app::member_access::Choice;
use bursar_app::member_page::{MemberPage, Owed};
use bursar_app::online::Record;
use bursar_app::statement::Standing;
use bursar_domain::creditor_reference::spaced;
use bursar_domain::ids::RequestId;
use bursar_domain::online::OnlineState;
use bursar_domain::organization::Organization;
use bursar_domain::payment::PaymentStatus;
use bursar_domain::receipt::ReceiptStatus;
use bursar_domain::{Date, Refusal};
use hyper::StatusCode;

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
    takes_cards: bool,
    by_card: Vec<ByCard>,
    style: String,
    organization: String,
    contact: String,
    name: String,
    said: &'static str,
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

/// A payment by card that is under way or failed.
struct ByCard {
    what: String,
    /// Where to go on with it; empty if it has ended.
    to: String,
    state: (&'static str, &'static str),
    why: String,
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
    shares_address: bool,
    said: &str,
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
        takes_cards: shown.takes_cards && shown.open.iter().any(Owed::can_be_paid),
        by_card: shown
            .online
            .iter()
            .filter_map(|record| by_card(shown, record))
            .collect(),
        style: assets::style(),
        organization: own.name.clone(),
        contact: text(&own.contact_email),
        name: shown.member.name(),
        said: match said {
            "contact" => "Your contact data is saved. We sent a note to the old and the new address.",
            "paid" => "Thank you. Your payment has arrived.",
            "processing" => "Thank you. Your payment is on its way; this page shows when it has arrived.",
            _ => "",
        },
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
        movements: movements
            .map(|line| Movement {
                day: words::day(line.date),
                what: line.told(),
                amount: match line.charged.minor {
                    0 => words::money_in(line.credited),
                    _ => words::money_in(line.charged),
                },
                is_less: line.charged.minor == 0,
            })
            .collect(),
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

#[derive(Template)]
#[template(path = "m/leading.html")]
struct Leading<'a> {
    style: String,
    amount: String,
    url: &'a str,
}

pub(super) fn leading(record: &Record, url: &str) -> Result<Answer, Failure> {
    let page = Leading {
        style: assets::style(),
        amount: words::money_in(record.amount),
        url,
    };
    Ok(Answer::Page(StatusCode::OK, page.render()?))
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

/// The first and the last day of a year; without one, the last twelve months.
pub(super) fn days_of(year: &str) -> Result<(Option<Date>, Option<Date>), Failure> {
    if year.is_empty() {
        return Ok((None, None));
    }
    let day = |end: &str| Date::parse(&format!("{year}{end}"));
    match (day("-01-01"), day("-12-31")) {
        (Some(first), Some(last)) => Ok((Some(first), Some(last))),
        _ => Err(Refusal::missing("there is no statement of this year").into()),
    }
}

#[derive(Template)]
#[template(path = "m/ask.html")]
struct Ask<'a> {
    style: String,
    organization: &'a str,
    id: String,
    form: &'a Form,
}

pub(super) fn ask(organization: &Organization, form: &Form) -> Result<Answer, Failure> {
    let page = Ask {
        style: assets::style(),
        organization: &organization.name,
        id: organization.id.to_string(),
        form,
    };
    Ok(Answer::Page(status_of(form), page.render()?))
}

#[derive(Template)]
#[template(path = "m/offer.html")]
struct Offer<'a> {
    style: String,
    organization: &'a str,
    email: String,
    wrong: &'a str,
    to: &'a str,
}

pub(super) fn offer(shown: &MemberPage, to: &str, wrong: Option<&str>) -> Result<Answer, Failure> {
    let email = shown.member.email.as_deref();
    let page = Offer {
        style: assets::style(),
        organization: &shown.organization.name,
        email: email.map(hinted).unwrap_or_default(),
        wrong: wrong.unwrap_or_default(),
        to,
    };
    let status = match wrong {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    Ok(Answer::Page(status, page.render()?))
}

/// Enough of an address to recognise it, for whoever has the link.
fn hinted(email: &str) -> String {
    let (name, host) = email.rsplit_once('@').unwrap_or((email, ""));
    let first: String = name.chars().take(1).collect();
    format!("{first}…@{host}")
}

#[derive(Template)]
#[template(path = "m/code.html")]
struct Code<'a> {
    style: String,
    organization: &'a str,
    email: String,
    to: &'a str,
    wrong: &'a str,
}

pub(super) fn code(
    organization: &Organization,
    email: &str,
    to: &str,
    wrong: &str,
) -> Result<Answer, Failure> {
    let page = Code {
        style: assets::style(),
        organization: &organization.name,
        email: hinted(email),
        to,
        wrong,
    };
    let status = match wrong.is_empty() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Ok(Answer::Page(status, page.render()?))
}

#[derive(Template)]
#[template(path = "m/choose.html")]
struct Choose<'a> {
    style: String,
    organization: &'a str,
    members: Vec<(String, &'a str, bool)>,
}

pub(super) fn choose(choice: &Choice) -> Result<Answer, Failure> {
    let members = choice.members.iter();
    let page = Choose {
        style: assets::style(),
        organization: &choice.organization.name,
        members: members
            .map(|(id, name)| (id.to_string(), name.as_str(), choice.chosen == Some(*id)))
            .collect(),
    };
    Ok(Answer::Page(StatusCode::OK, page.render()?))
}

#[derive(Template)]
#[template(path = "m/contact.html")]
struct Contact<'a> {
    style: String,
    organization: &'a str,
    name: String,
    email: &'a str,
    phone: &'a str,
    form: &'a Form,
}

const CONTACT_FIELDS: &[&str] = &["email", "phone"];

pub(super) fn contact(shown: &MemberPage, form: &Form) -> Result<Answer, Failure> {
    let page = Contact {
        style: assets::style(),
        organization: &shown.organization.name,
        name: shown.member.name(),
        email: shown.member.email.as_deref().unwrap_or_default(),
        phone: shown.member.phone.as_deref().unwrap_or_default(),
        form,
    };
    Ok(Answer::Page(status_of(form), page.render()?))
}

#[derive(Template)]
#[template(path = "m/ended.html")]
struct Ended<'a> {
    style: String,
    title: &'a str,
    text: &'a str,
    request: String,
}

pub(super) fn ended() -> Result<Answer, Failure> {
    let page = Ended {
        style: assets::style(),
        title: "This link does not work",
        text: "Links to your page work for 60 days. Open the link in the newest message from your organization, or ask \
               your organization for a new one.",
        request: String::new(),
    };
    Ok(Answer::Page(StatusCode::NOT_FOUND, page.render()?))
}

pub(super) fn left() -> Result<Answer, Failure> {
    let page = Ended {
        style: assets::style(),
        title: "You have left your page",
        text: "This browser has forgotten it. The link in your message opens it again.",
        request: String::new(),
    };
    Ok(Answer::Page(StatusCode::OK, page.render()?))
}

pub(super) fn problem(title: &str, text: &str, request: RequestId) -> String {
    let page = Ended {
        style: assets::style(),
        title,
        text,
        request: request.to_string(),
    };
    page.render().unwrap_or_else(|_| title.to_owned())
}

fn status_of(form: &Form) -> StatusCode {
    match form.problem {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_hinted_at() {
        assert_eq!(hinted("ada.ek@example.org"), "a…@example.org");
        assert_eq!(hinted("ø@example.org"), "ø…@example.org");
    }

    #[test]
    fn a_year_has_its_days() {
        assert!(days_of("2026").is_ok_and(|(first, _)| first == Date::parse("2026-01-01")));
        assert!(days_of("").is_ok_and(|(first, _)| first.is_none()));
        for wrong in ["26", "x", "2026-01", "99999"] {
            assert!(days_of(wrong).is_err(), "{wrong}");
        }
    }
}
