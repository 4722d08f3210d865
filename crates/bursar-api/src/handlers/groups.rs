use bursar_app::groups;
use bursar_domain::Resource;
use bursar_domain::fields::Fields;
use bursar_domain::group::{GroupChange, NewGroup, refuse_read_only};

use super::only;
use crate::error::Error;
use crate::plan::{Plan, Request};

pub(crate) fn create(request: &Request) -> Result<Plan, Error> {
    let mut fields = known_fields(request)?;
    let new = NewGroup::read(&mut fields)?;
    Ok(Plan::write(request, request.fingerprint(&new), move |act| {
        Ok(groups::create(act, &new)?.document())
    }))
}

pub(crate) fn update(request: &Request) -> Result<Plan, Error> {
    let id = request.id(0)?;
    let mut fields = known_fields(request)?;
    let change = GroupChange::read(&mut fields)?;
    Ok(Plan::write(request, request.fingerprint(&change), move |act| {
        Ok(groups::change(act, id, &change)?.document())
    }))
}

pub(crate) fn remove_member(request: &Request) -> Result<Plan, Error> {
    let (group, member) = (request.id(0)?, request.id(1)?);
    request.empty_body()?;
    Ok(Plan::write(request, request.fingerprint(&()), move |act| {
        Ok(groups::remove_member(act, group, member)?.document())
    }))
}

/// Read-only fields pass: the domain refuses them with a better message.
fn known_fields(request: &Request) -> Result<Fields<'_>, Error> {
    let fields = request.fields()?;
    if refuse_read_only(&fields).is_ok() {
        only(&fields, &["name", "description"])?;
    }
    Ok(fields)
}
