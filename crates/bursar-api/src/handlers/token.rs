use bursar_app::tokens;

use crate::error::Error;
use crate::plan::{Answer, Plan, Request};

#[expect(clippy::unnecessary_wraps, reason = "a handler can refuse a request")]
pub(crate) fn explain(_: &Request) -> Result<Plan, Error> {
    Ok(Plan::Read(Box::new(|view| {
        let explanation = tokens::explain_caller(view)?;
        // Ids and strings always serialize.
        Ok(Answer::ok(
            serde_json::to_string(&explanation).unwrap_or_default(),
        ))
    })))
}
