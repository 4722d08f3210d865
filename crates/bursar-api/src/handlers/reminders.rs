use bursar_app::reminders;
use bursar_domain::Resource;

use crate::error::Error;
use crate::plan::{Plan, Request};

pub(crate) fn send(request: &Request) -> Result<Plan, Error> {
    let id = request.id(0)?;
    request.empty_body()?;
    Ok(Plan::write(request, request.fingerprint(&()), move |act| {
        let (reminder, outcome) = reminders::send_now(act, id)?;
        // Adds the outcome as one more field of the object.
        let mut body = reminder.document();
        body.truncate(body.len() - 1);
        Ok(format!(r#"{body},"outcome":"{outcome}"}}"#))
    }))
}
