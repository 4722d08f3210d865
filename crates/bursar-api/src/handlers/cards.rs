use bursar_app::cards::{self, Issued};
use bursar_domain::Resource;
use bursar_domain::card::NewCard;

use super::only;
use crate::error::Error;
use crate::plan::{Plan, Request};

pub(crate) fn create(request: &Request) -> Result<Plan, Error> {
    let mut fields = request.fields()?;
    only(
        &fields,
        &[
            "name",
            "spendLimit",
            "spendLimitFrequency",
            "transactionLimit",
            "assignedMemberId",
        ],
    )?;
    let new = NewCard::read(&mut fields, request.caller.currency())?;
    Ok(Plan::write(request, request.fingerprint(&new), move |act| {
        Ok(match cards::create(act, &new)? {
            Issued::Card(card) => format!(
                r#"{{"kind":"card","card":{},"applicationId":null}}"#,
                card.document()
            ),
            Issued::Application(id) => {
                format!(r#"{{"kind":"application","card":null,"applicationId":"{id}"}}"#)
            }
        })
    }))
}
