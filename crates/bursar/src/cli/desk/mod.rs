//! The officers' desk: the acts that make and move what the API reads.

pub(crate) mod campaign;
pub(crate) mod card;
pub(crate) mod group;
mod list;
pub(crate) mod member;
pub(crate) mod payment;
pub(crate) mod reimbursement;
pub(crate) mod report;
pub(crate) mod store;
pub(crate) mod undo;

use bursar_app::act::no_organization;
use bursar_app::{Act, App, AppError, Opening};
use bursar_db::{DbError, Stored, organizations, table};
use bursar_domain::Date;
use bursar_domain::ids::{Id, Kind, OrganizationId};

use super::{Failure, Outcome, Session, output};

/// The organization that an id belongs to.
pub(crate) fn organization_of<R: Stored>(app: &App, id: Id<R::Kind>) -> Result<OrganizationId, Failure> {
    let found = app
        .db()
        .read::<_, DbError>(move |tx| table::owner::<R>(tx, id))
        .wait()?;
    found.ok_or_else(|| Failure::missing(format!("there is no {} {id}", R::Kind::NOUN)))
}

/// Nothing, when there is such an organization: a list of what is in one that does not exist would merely be empty.
pub(crate) fn expect_organization(app: &App, id: OrganizationId) -> Outcome {
    match app.db().read(move |tx| organizations::get(tx, id)).wait()? {
        Some(_) => Ok(()),
        None => Err(no_organization(id).into()),
    }
}

/// Runs an act for an organization.
pub(crate) fn perform<T: Send + 'static>(
    session: &Session,
    organization: impl FnOnce(&App) -> Result<OrganizationId, Failure>,
    work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, Failure> {
    let app = session.open(Opening::Require)?;
    let organization = organization(&app)?;
    Ok(app.act(session.who(&app)?, organization, work).wait()?)
}

/// Prints a resource: its representation for machines, a line for people.
pub(crate) fn tell(session: &Session, document: &str, line: &str) -> Outcome {
    match session.json {
        true => output::document(document),
        false => output::say(line),
    }
    Ok(())
}

/// Reads a day from the command line.
pub(crate) fn parse_date(text: &str) -> Result<Date, String> {
    Date::parse(text).ok_or_else(|| "must be a calendar date such as 2026-11-15".to_owned())
}
