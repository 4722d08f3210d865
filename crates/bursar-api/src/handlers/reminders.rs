//! Reminders.

use bursar_app::reminders;
use bursar_domain::Resource;

use crate::error::Error;
use crate::plan::{Plan, Request};

pub(crate) fn send(request: &Request) -> Result<Plan, Error> {
    let id = request.id(0)?;
    request.empty_body()?;
    Ok(Plan::write(request, &(), move |act| {
        let (reminder, outcome) = reminders::send_now(act, id)?;
        // The representation is an object; the outcome is one more field of it.
        let mut body = reminder.document();
        body.truncate(body.len() - 1);
        Ok(format!(r#"{body},"outcome":"{outcome}"}}"#))
    }))
}
