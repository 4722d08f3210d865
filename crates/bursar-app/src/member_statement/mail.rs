//! A member's statement by mail: a reminder to the member with the statement as its text, sent at once.

use bursar_domain::access::Role;
use bursar_domain::ids::{MemberId, ReminderId};
use bursar_domain::money::Money;
use bursar_domain::reminder::{Audience, Method, Outcome};
use bursar_domain::template::Placeholder;
use bursar_domain::text::BODY;
use bursar_domain::{Date, Refusal};

use super::{Line, MemberStatement};
use crate::act::Act;
use crate::error::AppError;
use crate::member_access::Links;
use crate::reminders::{self, NewReminder};
use crate::rule::Rule;
use crate::texts::TEXTS;

pub const MAIL: Rule = Rule::of("report.member.mail", Role::Editor, "mail statements");

/// Room for the greeting and what else is added.
const SPARE: usize = 500;

/// Both days are included. Refused if nobody would be written to.
pub fn mail(
    act: &mut Act<'_, '_>,
    member: MemberId,
    days: (Option<Date>, Option<Date>),
) -> Result<ReminderId, AppError> {
    act.allow(&MAIL)?;
    let statement = super::statement(act, member, days)?;
    let new = NewReminder {
        audience: Audience::Member(member),
        method: Method::Email,
        at: act.now(),
        subject: Some(format!(
            "Your statement, {} to {}",
            statement.from, statement.until
        )),
        body: Some(text(&statement, Links::of(act)?.is_some())),
        every_days: None,
        include_payment_info: false,
    };
    let reminder = reminders::schedule(act, &new)?;
    match reminders::send_now(act, reminder.id)?.1 {
        Outcome::Sent => {}
        Outcome::Skipped => {
            let rule =
                "the member has no e-mail address that can be written to; add one, or print the statement";
            return Err(Refusal::conflict(rule).into());
        }
    }
    act.log(MAIL.name, Some(member.to_string()), None)?;
    Ok(reminder.id)
}

/// The statement in lines. A very long one leaves the oldest out.
fn text(statement: &MemberStatement, has_links: bool) -> String {
    let owed = |amount: Money| match amount.minor < 0 {
        true => format!(
            "{} {} in advance",
            Money::new(-amount.minor, amount.currency),
            amount.currency
        ),
        false => format!("{amount} {}", amount.currency),
    };
    let line = |line: &Line| {
        let change = match line.charged.minor > 0 {
            true => format!("charged {}", line.charged),
            false => format!("paid or taken off {}", line.credited),
        };
        format!(
            "{}  {}: {change}. Balance {}",
            line.date,
            line.told(),
            line.balance
        )
    };
    let head = format!(
        "This is your account with {} from {} to {}.\n\nBalance before: {}",
        statement.organization,
        statement.from,
        statement.until,
        owed(statement.opening)
    );
    let mut end = format!("Balance at the end: {}", owed(statement.closing));
    if statement.overdue.minor > 0 {
        end += &format!(", of which {} is overdue", owed(statement.overdue));
    }
    if let Some(how) = &statement.how_to_pay {
        end += &format!("\n\nHow to pay:\n{how}");
    }
    let mut room = BODY
        .max
        .saturating_sub(SPARE + head.chars().count() + end.chars().count());
    let mut lines = Vec::new();
    for told in statement.lines.iter().rev().map(line) {
        let size = told.chars().count() + 1;
        if size > room {
            lines.push(format!("({} earlier lines)", statement.lines.len() - lines.len()));
            break;
        }
        room -= size;
        lines.push(told);
    }
    lines.reverse();
    let text = [head, lines.join("\n"), end].join("\n\n");
    // Braces are placeholders in a reminder.
    let mut text = text.replace('{', "(").replace('}', ")");
    if has_links {
        text += &format!("\n\n{}:\n{{{}}}", TEXTS.pay_link, Placeholder::PayLink);
    }
    text
}

#[cfg(test)]
mod tests {
    use bursar_domain::ids::EntryId;
    use bursar_domain::journal::EntryKind;
    use bursar_domain::money::Currency;

    use super::*;
    use crate::member_statement::Person;

    fn statement(lines: usize) -> MemberStatement {
        let money = |minor| Money::new(minor, Currency::USD);
        let day = |text| Date::parse(text).unwrap();
        let line = |n: usize| Line {
            date: day("2026-02-01"),
            entry_id: EntryId::from_bits(1),
            kind: EntryKind::Charge,
            what: format!("Dues {{{n}}} of a year with a long name"),
            charges: Vec::new(),
            members: Vec::new(),
            reference: None,
            charged: money(1_000),
            credited: money(0),
            balance: money(1_000),
        };
        MemberStatement {
            organization: "River Club".to_owned(),
            contact: None,
            currency: Currency::USD,
            from: day("2026-01-01"),
            until: day("2026-12-31"),
            member: Person {
                id: MemberId::from_bits(1),
                name: "Ada Ek".to_owned(),
                email: None,
                reference: None,
            },
            payer: None,
            household: Vec::new(),
            opening: money(-250),
            lines: (0..lines).map(line).collect(),
            charged: money(1_000),
            credited: money(0),
            closing: money(1_000),
            overdue: money(1_000),
            open: Vec::new(),
            credit: money(0),
            how_to_pay: Some("To account 4711.".to_owned()),
        }
    }

    #[test]
    fn a_statement_is_told_in_lines() {
        assert_eq!(
            text(&statement(1), false),
            "This is your account with River Club from 2026-01-01 to 2026-12-31.\n\n\
             Balance before: 2.50 USD in advance\n\n\
             2026-02-01  Dues (0) of a year with a long name: charged 10.00. Balance 10.00\n\n\
             Balance at the end: 10.00 USD, of which 10.00 USD is overdue\n\nHow to pay:\nTo account 4711."
        );
    }

    #[test]
    fn a_long_statement_leaves_the_oldest_lines_out() {
        let long = text(&statement(1_000), true);
        assert!(long.chars().count() <= BODY.max, "{}", long.len());
        assert!(
            long.contains(" earlier lines)") && long.contains("Dues (999)") && !long.contains("Dues (0)")
        );
    }
}
