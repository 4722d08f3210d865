//! Exports any list of the API as CSV: the fields in their order, one resource per line.

use std::io::Write;

use bursar_db::{DbError, Stored, table};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::group::Group;
use bursar_domain::ids::Id;
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use bursar_domain::{Stamps, Timestamp, words};
use serde_json::{Map, Value};

use crate::act::View;
use crate::export::ExportError;
use crate::resources::Readable;
use crate::rule::Rule;
use crate::spreadsheet::record;

words! {
    /// A list, as the API's paths call it.
    List {
        /// Members.
        Members "members",
        /// Groups.
        Groups "groups",
        /// Payments.
        Payments "payments",
        /// Reimbursements.
        Reimbursements "reimbursements",
        /// Reminders.
        Reminders "reminders",
        /// Cards.
        Cards "cards",
        /// Campaigns.
        Campaigns "campaigns",
        /// Store listings.
        StoreListings "store-listings",
        /// Store orders.
        StoreOrders "store-orders",
    }
}

impl List {
    /// A file needs the same rule as any other read of the list.
    fn rule(self) -> &'static Rule {
        match self {
            Self::Members => &Member::READ,
            Self::Groups => &Group::READ,
            Self::Payments => &Payment::READ,
            Self::Reimbursements => &Reimbursement::READ,
            Self::Reminders => &Reminder::READ,
            Self::Cards => &Card::READ,
            Self::Campaigns => &Campaign::READ,
            Self::StoreListings => &Listing::READ,
            Self::StoreOrders => &Order::READ,
        }
    }
}

/// Writes a list in the order of ids. Returns the number of lines without the header.
pub fn export(
    view: &mut View<'_, '_>,
    list: List,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, ExportError> {
    view.allow(list.rule())?;
    match list {
        List::Members => rows::<Member>(view, out, progress),
        List::Groups => rows::<Group>(view, out, progress),
        List::Payments => rows::<Payment>(view, out, progress),
        List::Reimbursements => rows::<Reimbursement>(view, out, progress),
        List::Reminders => rows::<Reminder>(view, out, progress),
        List::Cards => rows::<Card>(view, out, progress),
        List::Campaigns => rows::<Campaign>(view, out, progress),
        List::StoreListings => rows::<Listing>(view, out, progress),
        List::StoreOrders => rows::<Order>(view, out, progress),
    }
}

fn rows<R: Stored>(
    view: &mut View<'_, '_>,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, ExportError> {
    let (organization, currency) = (view.organization, view.own()?.currency);
    // The header comes from a blank resource, so that an empty list has one too.
    let stamps = Stamps::at(Timestamp::from_micros(0));
    let blank = R::blank(Id::from_bits(0), currency, stamps).document();
    let header = record(object(&blank)?.keys());
    out.write_all(header.as_bytes()).map_err(ExportError::Output)?;
    let (mut written, mut broken) = (0, None);
    let walked = table::each::<R>(view.tx, organization, |kept| {
        let line = record(object(kept.document)?.values().map(cell));
        out.write_all(line.as_bytes()).map_err(|error| {
            broken = Some(ExportError::Output(error));
            DbError::Internal("the output cannot be written".into())
        })?;
        written += 1;
        progress(written);
        Ok(())
    });
    match (walked, broken) {
        (_, Some(error)) => Err(error),
        (Err(error), None) => Err(error.into()),
        (Ok(()), None) => out.flush().map(|()| written).map_err(ExportError::Output),
    }
}

fn object(document: &str) -> Result<Map<String, Value>, DbError> {
    serde_json::from_str(document)
        .map_err(|error| DbError::Internal(format!("a document is not JSON: {error}")))
}

/// Null is an empty cell, an array is joined with semicolons, an object is JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join(";"),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}
