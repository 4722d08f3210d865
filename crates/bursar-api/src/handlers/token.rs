//! The caller, explained to itself.

use bursar_app::tokens;

use crate::error::Error;
use crate::plan::{Answer, Plan, Request};

pub(super) fn explain(request: &Request) -> Result<Plan, Error> {
    let explanation = tokens::explain(&request.caller);
    // Ids, texts and words always have a JSON form.
    Ok(Plan::Ready(Answer::ok(
        serde_json::to_string(&explanation).unwrap_or_default(),
    )))
}
