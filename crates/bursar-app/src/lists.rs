//! Exports any list of the API as CSV: the fields in their order, one resource per line. Members have their phone too.

use std::io::Write;

use bursar_db::{DbError, Stored, table};
use bursar_domain::chapter::Chapter;
use bursar_domain::ids::Id;
use bursar_domain::member::Member;
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
    if list == List::Member {
        view.allow(&Member::READ)?;
        return rows::<Member>(view, &[PHONE], out, progress);
    }
    match_resource!(list, List: R => {
        view.allow(&R::READ)?;
        rows::<R>(view, &[], out, progress)
    },
    List::Chapter => {
        view.allow(&Chapter::READ)?;
        require_national(view)?;
        rows::<Chapter>(view, &[], out, progress)
    },)
}

/// A field that the API does not show and officers need.
struct Extra<R> {
    name: &'static str,
    /// The field that it follows.
    after: &'static str,
    value: fn(&R) -> String,
}

/// A list of members is a roster, and a roster has numbers.
const PHONE: Extra<Member> = Extra {
    name: "phone",
    after: "email",
    value: |member| member.phone.clone().unwrap_or_default(),
};

fn rows<R: Stored>(
    view: &mut View<'_, '_>,
    extras: &[Extra<R>],
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<u64, ExportError> {
    let (organization, currency) = (view.organization, view.own()?.currency);
    // The header comes from a blank resource, so that an empty list has one too.
    let stamps = Stamps::at(Timestamp::from_micros(0));
    let blank = R::blank(Id::from_bits(0), currency, stamps).document();
    let mut names: Vec<String> = object(&blank)?.keys().cloned().collect();
    let mut places = Vec::new();
    for extra in extras {
        let place = names.iter().position(|name| name == extra.after);
        let place = place.map_or(names.len(), |place| place + 1);
        names.insert(place, extra.name.to_owned());
        places.push((place, extra.value));
    }
    let header = record(names);
    out.write_all(header.as_bytes()).map_err(ExportError::Output)?;
    let mut count = 0;
    writing(|written| {
        table::each::<R>(view.tx, organization, |kept| {
            let mut cells: Vec<String> = object(kept.document)?.values().map(cell).collect();
            for (place, value) in &places {
                // A row that cannot be read is listed with what its document has.
                let text = kept.resource.as_ref().map(value).unwrap_or_default();
                cells.insert((*place).min(cells.len()), text);
            }
            let line = record(cells);
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
