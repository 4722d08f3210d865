//! Everything that is known about a member, as a file. Each download is logged.

use bursar_app::{Act, DbError, privacy};
use bursar_domain::ids::kind;

use crate::asking::Asking;
use crate::failure::Failure;
use crate::reply::Download;
use crate::routes::Logged;

pub(crate) fn json(act: &mut Act<'_, '_>, asking: &Asking) -> Result<Logged, Failure> {
    let id = asking.id::<kind::Member>(0)?;
    let known = privacy::export(act, id)?;
    let text = format!("{known:#}\n");
    let name = format!("{id}.json");
    Ok(Logged::File(Download::of(
        name,
        "application/json",
        text.into_bytes(),
    )))
}

pub(crate) fn pdf(act: &mut Act<'_, '_>, asking: &Asking) -> Result<Logged, Failure> {
    let id = asking.id::<kind::Member>(0)?;
    let known = privacy::export(act, id)?;
    let bytes = privacy::pdf(&known).map_err(|unset| DbError::Internal(unset.to_string()))?;
    Ok(Logged::File(Download::pdf(format!("{id}.pdf"), bytes)))
}
