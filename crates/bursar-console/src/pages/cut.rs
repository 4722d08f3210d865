//! Pages of lists of which an organization has few, so that they are read and sorted whole.

use bursar_app::desk::PAGE_ROWS;

use crate::asking::Asking;

/// Keeps the rows of one page; the address of the next, empty on the last. A row of the address that is gone leads to
/// the first page.
pub(super) fn page<T>(
    asking: &Asking,
    (end, field): (&str, &str),
    rows: &mut Vec<T>,
    id: impl Fn(&T) -> String,
) -> String {
    let after = asking.query(field);
    if let Some(place) = rows.iter().position(|row| id(row) == after) {
        rows.drain(..=place);
    }
    let is_more = rows.len() > PAGE_ROWS;
    rows.truncate(PAGE_ROWS);
    match rows.last() {
        Some(last) if is_more => asking.with(end, &[(field, &id(last))]),
        _ => String::new(),
    }
}
