//! Exports any list of the API as CSV: the fields in their order, one resource per line.

use std::io::Write;

use bursar_db::{DbError, Stored, table};
use bursar_domain::chapter::Chapter;
use bursar_domain::ids::Id;
use bursar_domain::{Stamps, Timestamp, words};
use serde_json::{Map, Value};

use crate::act::View;
use crate::chapters::require_national;
use crate::export::{ExportError, writing};
use crate::resources::{Readable, match_resource};
use crate::spreadsheet::record;

words! {
    /// A list, as the API's paths call it.
    List {
        Member "members",
        Group "groups",
        Payment "payments",
        Reimbursement "reimbursements",
        Reminder "reminders",
        Card "cards",
        Campaign "campaigns",
        Listing "store-listings",
        Order "store-orders",
        Chapter "chapters",
    }
}

/// Writes a list in the order of ids. Returns the number of lines without the header.
pub fn export(
    view: &mut View<'_, '_>,
    list: List,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, ExportError> {
    match_resource!(list, List: R => {
        view.allow(&R::READ)?;
        rows::<R>(view, out, progress)
    },
    List::Chapter => {
        view.allow(&Chapter::READ)?;
        require_national(view)?;
        rows::<Chapter>(view, out, progress)
    },)
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
    let mut count = 0;
    writing(|written| {
        table::each::<R>(view.tx, organization, |kept| {
            let line = record(object(kept.document)?.values().map(cell));
            written(out.write_all(line.as_bytes()).map_err(ExportError::Output))?;
            count += 1;
            progress(count);
            Ok(())
        })
    })?;
    out.flush().map_err(ExportError::Output)?;
    Ok(count)
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
