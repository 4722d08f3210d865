//! Finds and replaces what names the person in texts that are not about the member alone.

use std::collections::{BTreeMap, BTreeSet};

use bursar_db::erasure::{self, FATES, Fate, Found, Pieces, Place, Shape};
use bursar_db::{DbError, Stored};
use bursar_domain::Resource;
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::erasure::{Naming, scrub_document};
use bursar_domain::event::Evented;
use bursar_domain::group::Group;
use bursar_domain::ids::{Id, MessageId};
use bursar_domain::listing::Listing;
use bursar_domain::money::Currency;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use bursar_domain::resource::{Cell, FieldType};
use serde_json::Value;

use super::known::Known;
use super::plan::Mention;
use crate::act::Act;
use crate::error::AppError;

/// What was found, with the texts as they are to be.
#[derive(Default)]
pub(super) struct Texts {
    rows: Vec<Row>,
    places: Vec<(&'static Place, Found)>,
    counts: BTreeMap<&'static str, usize>,
    mentions: Vec<Mention>,
}

/// A row of a resource that is to be written.
enum Row {
    Group(Group),
    Payment(Payment),
    Reimbursement(Reimbursement),
    Reminder(Reminder),
    Card(Card),
    Campaign(Campaign),
    Listing(Listing),
}

impl Texts {
    pub(super) fn chain(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self.places.extend(other.places);
        for (place, count) in other.counts {
            *self.counts.entry(place).or_default() += count;
        }
        self.mentions.extend(other.mentions);
        self
    }

    pub(super) fn counts(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.counts.iter().map(|(place, count)| (*place, *count))
    }

    pub(super) fn mentions(&self) -> Vec<Mention> {
        self.mentions.clone()
    }

    /// Messages to others that name the person.
    pub(super) fn messages(&self) -> impl Iterator<Item = MessageId> {
        let of_outbox = self
            .places
            .iter()
            .filter(|(place, _)| place.table == "outbox_messages");
        of_outbox.filter_map(|(_, found)| found.id().map(MessageId::from_bytes))
    }

    fn count(&mut self, place: &'static str, mentions: Vec<String>) {
        *self.counts.entry(place).or_default() += 1;
        self.mentions.extend(mentions.into_iter().map(|text| Mention {
            place: place.to_owned(),
            text,
        }));
    }
}

/// Rows of resources. Those about the member are blanked anyway.
pub(super) fn in_rows<M>(act: &mut Act<'_, '_, M>, known: &Known) -> Result<Texts, AppError> {
    let mut found = Texts::default();
    if known.naming.is_empty() {
        return Ok(found);
    }
    let member = known.member.id;
    let pieces = Pieces::new(known.naming.pieces());
    let mut searching = Searching {
        naming: &known.naming,
        currency: known.organization.currency,
        pieces: &pieces,
        found: &mut found,
    };
    for (table, fate) in &FATES {
        let Fate::Rows(columns) = fate else { continue };
        let columns = *columns;
        match *table {
            "groups" => searching.rows(act, (table, columns, "groups"), |_| false, Row::Group)?,
            "payments" => {
                let is_own = |payment: &Payment| payment.member_id == Some(member);
                searching.rows(act, (table, columns, "charges of others"), is_own, Row::Payment)?;
            }
            "reimbursements" => {
                let is_own = |claim: &Reimbursement| claim.member_id == Some(member);
                let place = (*table, columns, "reimbursements of others");
                searching.rows(act, place, is_own, Row::Reimbursement)?;
            }
            "reminders" => {
                let is_own = |reminder: &Reminder| reminder.target_member_id == Some(member);
                searching.rows(
                    act,
                    (table, columns, "reminders to others"),
                    is_own,
                    Row::Reminder,
                )?;
            }
            "cards" => {
                let is_own = |card: &Card| card.assigned_member_id == Some(member);
                searching.rows(act, (table, columns, "cards of others"), is_own, Row::Card)?;
            }
            "campaigns" => searching.rows(act, (table, columns, "campaigns"), |_| false, Row::Campaign)?,
            "listings" => searching.rows(act, (table, columns, "store listings"), |_| false, Row::Listing)?,
            other => {
                let message = format!("the texts of {other} cannot be searched");
                return Err(DbError::Internal(message).into());
            }
        }
    }
    Ok(found)
}

struct Searching<'a> {
    naming: &'a Naming,
    currency: Currency,
    pieces: &'a Pieces,
    found: &'a mut Texts,
}

impl Searching<'_> {
    fn rows<M, R: Stored>(
        &mut self,
        act: &mut Act<'_, '_, M>,
        (table, columns, told): (&'static str, &'static [&'static str], &'static str),
        is_own: impl Fn(&R) -> bool,
        row: fn(R) -> Row,
    ) -> Result<(), AppError> {
        for id in erasure::find_rows(act.tx, act.organization, table, columns, self.pieces)? {
            let Some(mut found) = act.get::<R>(Id::from_bytes(id))? else {
                continue;
            };
            if is_own(&found) {
                continue;
            }
            let mentions = scrub_fields(&mut found, columns, (self.naming, self.currency))?;
            if !mentions.is_empty() {
                self.found.count(told, mentions);
                self.found.rows.push(row(found));
            }
        }
        Ok(())
    }
}

/// Returns the texts that changed, as they were.
fn scrub_fields<R: Resource>(
    row: &mut R,
    columns: &[&str],
    (naming, currency): (&Naming, Currency),
) -> Result<Vec<String>, AppError> {
    let mut mentions = Vec::new();
    for field in R::FIELDS.iter().filter(|field| columns.contains(&field.column)) {
        let cell = (field.cell)(row);
        let Some(text) = cell.text().map(str::to_owned) else {
            continue;
        };
        let scrubbed = match field.field_type {
            FieldType::List => scrub_list(&text, naming),
            _ => naming.scrub(&text),
        };
        if let Some(scrubbed) = scrubbed {
            if !(field.load)(row, &Cell::Text(scrubbed.into()), currency) {
                let message = format!("{} cannot hold what is left of it", field.column);
                return Err(DbError::Internal(message).into());
            }
            mentions.push(text);
        }
    }
    Ok(mentions)
}

/// Texts in a JSON list, on their own or as `name` of an object.
fn scrub_list(text: &str, naming: &Naming) -> Option<String> {
    let mut list: Vec<Value> = serde_json::from_str(text).ok()?;
    let mut is_changed = false;
    for item in &mut list {
        let text = match item {
            Value::Object(object) => object.get_mut("name"),
            item => Some(item),
        };
        if let Some(Value::String(text)) = text
            && let Some(scrubbed) = naming.scrub(text)
        {
            (*text, is_changed) = (scrubbed, true);
        }
    }
    is_changed.then(|| Value::Array(list).to_string())
}

pub(super) fn update_rows(act: &mut Act<'_, '_>, found: &Texts) -> Result<(), AppError> {
    fn update<R: Stored + Evented>(act: &mut Act<'_, '_>, row: &R) -> Result<(), AppError> {
        act.update(&mut row.clone())
    }
    for row in &found.rows {
        match row {
            Row::Group(row) => update(act, row)?,
            Row::Payment(row) => update(act, row)?,
            Row::Reimbursement(row) => update(act, row)?,
            Row::Reminder(row) => update(act, row)?,
            Row::Card(row) => update(act, row)?,
            Row::Campaign(row) => update(act, row)?,
            Row::Listing(row) => update(act, row)?,
        }
    }
    Ok(())
}

/// Texts and documents that are rewritten where they are.
pub(super) fn in_place<M>(act: &mut Act<'_, '_, M>, known: &Known) -> Result<Texts, AppError> {
    let mut found = Texts::default();
    let id = known.member.id.to_string();
    let pieces = known.naming.pieces().map(|mut pieces| {
        pieces.push(&id);
        pieces
    });
    let pieces = Pieces::new(pieces);
    let blanked = blanked(known);
    for place in FATES.iter().filter_map(|(_, fate)| fate.place()) {
        for mut row in erasure::find(act.tx, act.organization, place, &pieces)? {
            if row.id().is_some_and(|id| blanked.contains(&(place.table, id))) {
                continue;
            }
            let mut mentions = Vec::new();
            let mut is_changed = false;
            for (text, (_, shape)) in row.texts.iter_mut().zip(place.texts) {
                let Some(kept) = text else { continue };
                let scrubbed = match shape {
                    Shape::Text => known.naming.scrub(kept),
                    Shape::Document => scrub_document(kept, known.member.id, &known.naming),
                };
                if let Some(scrubbed) = scrubbed {
                    let before = std::mem::replace(kept, scrubbed);
                    is_changed = true;
                    if *shape == Shape::Text {
                        mentions.push(before);
                    }
                }
            }
            if is_changed {
                found.count(place.told, mentions);
                found.places.push((place, row));
            }
        }
    }
    Ok(found)
}

/// Rows that are blanked as a whole.
fn blanked(known: &Known) -> BTreeSet<(&'static str, [u8; 16])> {
    let lines = known
        .lines
        .iter()
        .map(|line| ("statement_lines", line.id.to_bytes()));
    let notes = known
        .alone
        .iter()
        .map(|entry| ("journal_notes", entry.to_bytes()));
    let receipts = known
        .receipts
        .iter()
        .map(|receipt| ("receipts", receipt.id.to_bytes()));
    let files = known
        .attachments
        .iter()
        .map(|file| ("attachments", file.id.to_bytes()));
    let messages = known
        .messages
        .iter()
        .map(|message| ("outbox_messages", message.id.to_bytes()));
    lines
        .chain(notes)
        .chain(receipts)
        .chain(files)
        .chain(messages)
        .collect()
}

pub(super) fn rewrite(act: &mut Act<'_, '_>, found: &Texts) -> Result<(), AppError> {
    for (place, row) in &found.places {
        erasure::rewrite(act.tx, act.organization, place, row)?;
    }
    Ok(())
}
