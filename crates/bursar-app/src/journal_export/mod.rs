//! The journal for other programs: hledger and ledger, beancount, and spreadsheets. Entry by entry, by date.

mod beancount;
mod csv;
mod hledger;
mod names;

use std::collections::HashMap;
use std::io::Write;

use bursar_db::{accounts, journal};
use bursar_domain::access::Role;
use bursar_domain::ids::{Id, MemberId, OrganizationId};
use bursar_domain::journal::Entry;
use bursar_domain::money::{Currency, Money};
use bursar_domain::{Date, words};

use self::names::AccountNames;
use crate::act::View;
use crate::books::entries::range;
use crate::error::AppError;
use crate::export::{ExportError, writing};
use crate::rule::Rule;

pub const EXPORT: Rule = Rule::of("journal.export", Role::Viewer, "export the journal");

pub const RULES: &[&Rule] = &[&EXPORT];

words! {
    /// The program that reads it.
    Format {
        /// Also read by ledger.
        Hledger "hledger",
        Beancount "beancount",
        Csv "csv",
    }
}

/// What the entries are written with.
struct Books {
    name: String,
    currency: Currency,
    accounts: AccountNames,
    people: HashMap<u128, String>,
}

impl Books {
    fn money(&self, minor: i64) -> Money {
        Money::new(minor, self.currency)
    }

    /// Who the entry is about: a member, a chapter, or a payer who is neither.
    fn payee<'a>(&'a self, entry: &'a Entry) -> Option<&'a str> {
        let named = entry.postings.iter().find_map(|posting| {
            let member = posting.about.member.map(Id::bits);
            let key = member.or_else(|| posting.about.chapter.map(Id::bits))?;
            self.people.get(&key).map(String::as_str)
        });
        named.or(entry.note.payer_name.as_deref())
    }

    /// What the entry records, with what was noted.
    fn narration(&self, entry: &Entry) -> String {
        let mut text = entry.kind.as_str().to_owned();
        let notes = [&entry.note.memo, &entry.note.reference];
        for note in notes.into_iter().flatten() {
            text.push_str(", ");
            text.push_str(note);
        }
        text
    }
}

/// The ids that a posting names, with the words that the programs know them by.
fn subjects(posting: &bursar_domain::journal::Posting) -> Vec<(&'static str, String)> {
    let about = posting.about;
    let subjects = [
        ("member", about.member.map(|id| id.to_string())),
        ("chapter", about.chapter.map(|id| id.to_string())),
        ("payment", about.payment.map(|id| id.to_string())),
        ("order", about.order.map(|id| id.to_string())),
        ("reimbursement", about.reimbursement.map(|id| id.to_string())),
        ("campaign", about.campaign.map(|id| id.to_string())),
    ];
    let named = subjects.into_iter().filter_map(|(word, id)| Some((word, id?)));
    named.collect()
}

/// Returns how many entries were written. Both days are included.
pub fn export(
    view: &mut View<'_, '_>,
    format: Format,
    (from, until): (Option<Date>, Option<Date>),
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, ExportError> {
    view.allow(&EXPORT)?;
    let days = range(from, until).map_err(AppError::from)?;
    let own = view.own()?;
    let (tx, organization) = (&mut *view.tx, view.organization);
    let accounts = accounts::all(tx, organization)?;
    let books = Books {
        accounts: match format {
            Format::Hledger => AccountNames::of(&accounts, hledger::account),
            Format::Beancount => AccountNames::of(&accounts, beancount::account),
            Format::Csv => AccountNames::of(&accounts, csv::account),
        },
        people: people(tx, organization, format)?,
        name: own.name,
        currency: own.currency,
    };
    let start = journal::first_day(tx, organization, days)?;
    let head = match format {
        Format::Hledger => hledger::head(&books),
        Format::Beancount => beancount::head(&books, start),
        Format::Csv => csv::head(),
    };
    out.write_all(head.as_bytes()).map_err(ExportError::Output)?;
    let mut count = 0;
    writing(|written| {
        journal::each_between(tx, organization, days.0, days.1, |entry| {
            let text = match format {
                Format::Hledger => hledger::entry(&books, &entry),
                Format::Beancount => beancount::entry(&books, &entry),
                Format::Csv => csv::entry(&books, &entry),
            };
            written(out.write_all(text.as_bytes()).map_err(ExportError::Output))?;
            count += 1;
            progress(count);
            Ok(())
        })
    })?;
    out.flush().map_err(ExportError::Output)?;
    Ok(count)
}

/// Names of members and of chapters that owe or are paid. A spreadsheet has the ids alone.
fn people(
    tx: &mut bursar_db::Tx<'_>,
    organization: OrganizationId,
    format: Format,
) -> Result<HashMap<u128, String>, AppError> {
    let mut people = HashMap::new();
    if format == Format::Csv {
        return Ok(people);
    }
    bursar_db::names::each_member(tx, organization, |member: MemberId, name| {
        people.insert(member.bits(), name);
    })?;
    for chapter in bursar_db::organizations::children(tx, organization)? {
        people.insert(chapter.id.bits(), chapter.name);
    }
    Ok(people)
}
