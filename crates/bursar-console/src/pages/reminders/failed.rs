//! Messages that were not delivered, and what the mail server said: of reminders, statements, tests and notices.

use askama::Template;
use bursar_app::messages::{self, Sent};
use bursar_app::resources::Readable;
use bursar_app::{View, tokens};
use bursar_domain::ids::Id;
use bursar_domain::reminder::Reminder;

use crate::asking::Asking;
use crate::failure::Failure;
use crate::frame::Frame;
use crate::pages::tabbed::{Cell, Column, Row, Tabbed};
use crate::words::Moment;

/// In the address.
pub(super) const WORD: &str = "failed";

pub(super) fn show(
    view: &mut View<'_, '_>,
    asking: &Asking,
    tabs: Vec<(String, String, bool)>,
) -> Result<String, Failure> {
    let frame = &asking.frame;
    let found = messages::failed(view, Id::parse(asking.query("after")))?;
    let page = Tabbed {
        frame,
        title: "Reminders",
        act: super::write(frame),
        tabs,
        columns: ["What", "To", "Address", "How", "When", "Why"]
            .into_iter()
            .map(Column::new)
            .collect(),
        older: match (found.is_more, found.rows.last()) {
            (true, Some(last)) => asking.with("reminders", &[("after", &last.id.to_string())]),
            _ => String::new(),
        },
        rows: found.rows.into_iter().map(|sent| row(frame, sent)).collect(),
        empty: "Every message was delivered.",
        csv: asking.with("reminders/csv", &[]),
    };
    Ok(page.render()?)
}

fn row(frame: &Frame, sent: Sent) -> Row {
    let zone = &frame.place.organization.time_zone;
    Row {
        to: match (sent.reminder_id, sent.token_id) {
            (Some(id), _) if frame.may(&Reminder::READ) => frame.at(&format!("reminders/{id}")),
            (_, Some(id)) if frame.may(&tokens::LIST_ALL) => frame.at(&format!("tokens/{id}")),
            _ => String::new(),
        },
        what: sent.subject.unwrap_or_else(|| "Message".to_owned()),
        cells: vec![
            Cell::Text(sent.name.unwrap_or_default()),
            Cell::Text(sent.address.unwrap_or_default()),
            Cell::Text(super::how(sent.method).to_owned()),
            Cell::Moment(Moment::there(sent.ended_at.unwrap_or(sent.created_at), zone)),
            Cell::Text(sent.detail.unwrap_or_default()),
        ],
    }
}
