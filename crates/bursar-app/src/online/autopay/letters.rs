//! What members and admins are written about automatic payments.

use bursar_db::autopay::Autopay;
use bursar_db::online::OnlinePayment;
use bursar_db::organizations;
use bursar_domain::Date;
use bursar_domain::access::Role;
use bursar_domain::ids::MemberId;
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;

use crate::act::Act;
use crate::error::AppError;
use crate::member_access::Links;
use crate::personal::{self, Letter, Reader};

/// A charge in a letter.
#[derive(Clone, Debug)]
pub(super) struct Line {
    words: String,
    amount: Money,
    /// When it is charged, if it is.
    on: Option<Date>,
}

impl Line {
    pub(super) fn of(
        act: &mut Act<'_, '_>,
        payment: &Payment,
        amount: i64,
        on: Option<Date>,
    ) -> Result<Self, AppError> {
        let whose: Option<Member> = match payment.member_id {
            Some(member) => act.get(member)?,
            None => None,
        };
        let what = match payment.description.trim() {
            "" => "Dues",
            words => words,
        };
        let words = match whose {
            Some(member) => format!("{what} for {}", member.name()),
            None => what.to_owned(),
        };
        Ok(Self {
            words,
            amount: Money::new(amount, payment.currency),
            on,
        })
    }
}

fn listed(lines: &[Line], with_day: bool) -> String {
    let line = |line: &Line| {
        let day = match line.on {
            Some(day) if with_day => format!(" on {day}"),
            _ => String::new(),
        };
        format!("- {}: {} {}{day}", line.words, line.amount, line.amount.currency)
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn sum(lines: &[Line]) -> Result<String, AppError> {
    let Some(first) = lines.first() else {
        return Ok(String::new());
    };
    let minor = lines.iter().map(|line| i128::from(line.amount.minor)).sum();
    let total = Money::total("the sum", minor, first.amount.currency)?;
    Ok(format!("{total} {}", total.currency))
}

fn card(autopay: &Autopay) -> &str {
    autopay.card.as_deref().unwrap_or("your saved card")
}

/// Writes to a member, with the way to their page. One without an address is not written to.
fn write(
    act: &mut Act<'_, '_>,
    member: MemberId,
    subject: impl Fn(&str) -> String,
    body: impl Fn(&str) -> String,
) -> Result<(), AppError> {
    let (organization, member) = (act.own()?, act.find::<Member>(member)?);
    let Some(email) = &member.email else {
        return Ok(());
    };
    let name = &organization.name;
    let link = match Links::of(act)? {
        Some(links) => format!("\n\nYour page: {}", links.to(member.id)),
        None => String::new(),
    };
    let reader = Reader {
        key: member.id.to_bytes(),
        email,
        name: &member.name(),
    };
    let letter = (subject(name), format!("{}{link}", body(name)));
    let (id, now) = (act.new_id(), act.now());
    Ok(personal::queue(act.tx, id, reader, Letter::Act, letter, now)?)
}

pub(super) fn started(act: &mut Act<'_, '_>, autopay: &Autopay) -> Result<(), AppError> {
    let card = card(autopay);
    write(
        act,
        autopay.member_id,
        |name| format!("You pay your dues at {name} automatically"),
        |name| {
            format!(
                "From now on your dues at {name} are charged to your card, {card}, on the day they are due. Three days before, \
                 you get a mail that says how much. Dues that were due before today are not charged.\n\nYou can stop this at \
                 any time with one click on your page. If it was not you who saved the card, stop it there and tell {name}."
            )
        },
    )
}

pub(super) fn stopped(act: &mut Act<'_, '_>, autopay: &Autopay) -> Result<(), AppError> {
    let card = card(autopay);
    write(
        act,
        autopay.member_id,
        |name| format!("Your automatic payments at {name} are stopped"),
        |name| {
            format!(
                "Nothing more is charged to your card, {card}, and the payment provider deletes it. From now on you pay your \
                 dues at {name} yourself."
            )
        },
    )
}

pub(super) fn announced(act: &mut Act<'_, '_>, autopay: &Autopay, lines: &[Line]) -> Result<(), AppError> {
    let (sum, listed, card) = (sum(lines)?, listed(lines, true), card(autopay));
    write(
        act,
        autopay.member_id,
        |name| format!("{sum} will be charged to your card for {name}"),
        |_| {
            format!(
                "This is going to be charged to your card, {card}:\n\n{listed}\n\nThere is nothing to do. You can pay in another \
                 way before then, or stop automatic payments with one click on your page."
            )
        },
    )
}

pub(super) fn paid(act: &mut Act<'_, '_>, payment: &OnlinePayment, lines: &[Line]) -> Result<(), AppError> {
    let amount = Money::new(payment.amount, payment.currency);
    let (sum, listed) = (format!("{amount} {}", payment.currency), listed(lines, false));
    write(
        act,
        payment.member_id,
        |name| format!("{sum} was charged to your card for {name}"),
        |name| {
            format!(
                "Thank you. {name} received {sum} from your card for:\n\n{listed}\n\nYour page has the receipt."
            )
        },
    )
}

fn reason(why: Option<&str>) -> String {
    match why {
        Some(why) => format!(" The reason given: {}", full_stop(why)),
        None => String::new(),
    }
}

fn full_stop(text: &str) -> String {
    match text.trim_end().ends_with('.') {
        true => text.trim_end().to_owned(),
        false => format!("{}.", text.trim_end()),
    }
}

pub(super) fn failed(
    act: &mut Act<'_, '_>,
    member: MemberId,
    lines: &[Line],
    why: Option<&str>,
) -> Result<(), AppError> {
    let (sum, listed, reason) = (sum(lines)?, listed(lines, false), reason(why));
    let next = lines.iter().filter_map(|line| line.on).min();
    let then = match next {
        Some(day) => format!(
            "We will try again on {day}. You can also pay it in another way before then, or save another card, on your page."
        ),
        None => "We will not try again. Please pay it on your page, by card or in another way.".to_owned(),
    };
    write(
        act,
        member,
        |name| format!("Your card could not be charged for {name}"),
        |_| format!("{sum} could not be charged to your saved card.{reason}\n\n{listed}\n\n{then}"),
    )
}

/// The last try of a member's dues failed.
pub(super) fn tell_admins(
    act: &mut Act<'_, '_>,
    member: MemberId,
    lines: &[Line],
    why: Option<&str>,
) -> Result<(), AppError> {
    let (organization, member) = (act.own()?, act.find::<Member>(member)?);
    let (sum, listed, reason) = (sum(lines)?, listed(lines, false), reason(why));
    let letter = (
        format!("{} of {} could not be collected by card", sum, member.name()),
        format!(
            "The last attempt to charge {sum} to the saved card of {} in {} failed.{reason}\n\n{listed}\n\nThe member was told, and \
             there will be no further attempt. It stays open.",
            member.name(),
            organization.name
        ),
    );
    for (user, role) in organizations::roles(act.tx, act.organization)? {
        if role != Role::Admin {
            continue;
        }
        let Some(user) = organizations::user(act.tx, user)? else {
            continue;
        };
        let (id, now) = (act.new_id(), act.now());
        personal::queue(act.tx, id, &user, Letter::Act, letter.clone(), now)?;
    }
    Ok(())
}
