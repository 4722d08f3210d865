//! The officers' commands, which create and change what the API reads.

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

use bursar_app::resources::{self, Readable};
use bursar_app::{Act, App, AppError, Identity, Opening, View};
use bursar_domain::Date;
use bursar_domain::ids::{Id, OrganizationId};

use super::{Failure, Globals, Outcome, output};

pub(crate) fn act_in<T: Send + 'static>(
    globals: &Globals,
    organization: OrganizationId,
    work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, Failure> {
    let app = globals.open(Opening::Require)?;
    Ok(app.act(globals.who(&app)?, organization, work).wait()?)
}

/// Runs an act in the organization that the resource belongs to.
pub(crate) fn act_on<R: Readable, T: Send + 'static>(
    globals: &Globals,
    id: Id<R::Kind>,
    work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, Failure> {
    let app = globals.open(Opening::Require)?;
    let organization = organization_of::<R>(&app, id)?;
    Ok(app.act(globals.who(&app)?, organization, work).wait()?)
}

/// For long reads: uses a connection of its own.
pub(crate) fn look_in<T>(
    globals: &Globals,
    organization: OrganizationId,
    work: impl FnOnce(&mut View<'_, '_>) -> Result<T, AppError>,
) -> Result<T, Failure> {
    let app = globals.open(Opening::Require)?;
    let done = app.survey(globals.who(&app)?, |whole| whole.view(organization, work));
    Ok(done?)
}

/// Looked up as the operator, because a person's permissions depend on the organization.
fn organization_of<R: Readable>(app: &App, id: Id<R::Kind>) -> Result<OrganizationId, Failure> {
    let found = app.look(Identity::Operator, move |whole| resources::owner::<R>(whole, id));
    Ok(found.wait()?)
}

/// The representation for programs, a line for people.
pub(crate) fn tell(globals: &Globals, document: &str, line: &str) -> Outcome {
    match globals.json {
        true => output::document(document),
        false => output::say(line),
    }
    Ok(())
}

pub(crate) fn parse_date(text: &str) -> Result<Date, String> {
    Date::parse(text).ok_or_else(|| "must be a calendar date such as 2026-11-15".to_owned())
}
