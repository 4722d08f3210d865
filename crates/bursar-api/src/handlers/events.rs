use bursar_app::events;
use bursar_domain::ids::EventId;

use crate::error::Error;
use crate::plan::{Answer, Plan, Request};

pub(crate) fn get(request: &Request) -> Result<Plan, Error> {
    let id: EventId = request.id(0)?;
    Ok(Plan::Read(Box::new(move |view| {
        Ok(Answer::ok(events::get(view, id)?))
    })))
}
