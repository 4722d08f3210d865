use bursar_app::members;
use bursar_domain::Resource;
use bursar_domain::member::MemberChange;

use super::only;
use crate::error::Error;
use crate::plan::{Plan, Request};

pub(crate) fn update(request: &Request) -> Result<Plan, Error> {
    let id = request.id(0)?;
    let mut fields = request.fields()?;
    only(&fields, &["firstName", "lastName", "email", "isActive"])?;
    let change = MemberChange::read(&mut fields)?;
    Ok(Plan::write(request, request.fingerprint(&change), move |act| {
        Ok(members::change(act, id, &change)?.document())
    }))
}
