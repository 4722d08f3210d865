//! Data out: a bundle that imports into an empty database and exports again byte for byte.

use std::collections::HashSet;
use std::io::{self, Write};

use bursar_db::{DbError, Stored, Tx, organizations, table};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::group::Group;
use bursar_domain::ids::OrganizationId;
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;

use crate::act::{Whole, no_organization};
use crate::bundle::{organization_line, policy_line, role_line, user_line};
use crate::error::AppError;
use crate::organizations::subtree;
use crate::rule::Rule;

/// Rows left out that an export names; more of them say nothing new.
pub const BROKEN_MAX: usize = 100;

/// What an export did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Lines written.
    pub records: u64,
    /// References to organizations outside of it, which were written as null.
    pub outside: u64,
    /// Rows that could not be read and were left out; at most [`BROKEN_MAX`].
    pub broken: Vec<Broken>,
    /// How many more of them there are.
    pub broken_more: u64,
}

/// A row that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Whose it is.
    pub organization: OrganizationId,
    /// Its id.
    pub subject: String,
    /// Why.
    pub message: String,
}

/// Why an export broke off.
#[derive(Debug)]
pub enum ExportError {
    /// The rules or the database.
    App(AppError),
    /// The output cannot be written.
    Output(io::Error),
}

impl<E: Into<AppError>> From<E> for ExportError {
    fn from(error: E) -> Self {
        Self::App(error.into())
    }
}

/// Writing a bundle.
pub const EXPORT: Rule = Rule::of_operator("export", "export bundles");
/// The rules of exports.
pub const RULES: &[&Rule] = &[&EXPORT];

/// Writes a bundle of everything, or of one organization and all below it.
pub fn export(
    whole: &mut Whole<'_, '_>,
    root: Option<OrganizationId>,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64),
) -> Result<Exported, ExportError> {
    whole.allow(&EXPORT)?;
    let tx = &mut *whole.tx;
    let all = organizations::all(tx)?;
    let scope: Option<HashSet<OrganizationId>> = match root {
        None => None,
        Some(root) => {
            all.iter()
                .find(|o| o.id == root)
                .ok_or_else(|| AppError::from(no_organization(root)))?;
            Some(subtree(root, &all).into_iter().collect())
        }
    };
    let mut export = Export {
        scope,
        out,
        done: Exported::default(),
        progress,
    };
    for organization in all.iter().filter(|o| export.covers(o.id)).collect::<Vec<_>>() {
        let parent_id = organization.parent_id.filter(|id| export.names(*id));
        export.line(&organization_line(organization, parent_id))?;
    }
    export.people(tx, &all.iter().map(|o| o.id).collect::<Vec<_>>())?;
    export.resources::<Member>(tx)?;
    export.resources::<Group>(tx)?;
    export.resources::<Payment>(tx)?;
    export.resources::<Reimbursement>(tx)?;
    export.resources::<Reminder>(tx)?;
    export.resources::<Card>(tx)?;
    export.resources::<Campaign>(tx)?;
    export.resources::<Listing>(tx)?;
    export.resources::<Order>(tx)?;
    export.out.flush().map_err(ExportError::Output)?;
    Ok(export.done)
}

struct Export<'a> {
    /// The organizations that are exported; all of them when `None`.
    scope: Option<HashSet<OrganizationId>>,
    out: &'a mut dyn Write,
    done: Exported,
    progress: &'a mut dyn FnMut(u64),
}

impl Export<'_> {
    fn covers(&self, id: OrganizationId) -> bool {
        self.scope.as_ref().is_none_or(|scope| scope.contains(&id))
    }

    /// Whether a reference may name this organization; one that may not is counted.
    fn names(&mut self, id: OrganizationId) -> bool {
        let named = self.covers(id);
        self.done.outside += u64::from(!named);
        named
    }

    fn line(&mut self, line: &str) -> Result<(), ExportError> {
        self.out
            .write_all(line.as_bytes())
            .and_then(|()| self.out.write_all(b"\n"))
            .map_err(ExportError::Output)?;
        self.done.records += 1;
        (self.progress)(self.done.records);
        Ok(())
    }

    fn people(&mut self, tx: &mut Tx<'_>, all: &[OrganizationId]) -> Result<(), ExportError> {
        let covered: Vec<OrganizationId> = all.iter().copied().filter(|id| self.covers(*id)).collect();
        let mut roles = Vec::new();
        for organization in &covered {
            roles.extend(
                organizations::roles(tx, *organization)?
                    .into_iter()
                    .map(|(user, role)| (*organization, user, role)),
            );
        }
        let holders: HashSet<_> = roles.iter().map(|(_, user, _)| *user).collect();
        for user in organizations::users(tx)? {
            if self.scope.is_none() || holders.contains(&user.id) {
                self.line(&user_line(&user))?;
            }
        }
        for (organization, user, role) in roles {
            self.line(&role_line(organization, user, role))?;
        }
        for organization in covered {
            if let Some(policy) = organizations::policy(tx, organization)? {
                self.line(&policy_line(organization, policy))?;
            }
        }
        Ok(())
    }

    fn resources<R: Stored>(&mut self, tx: &mut Tx<'_>) -> Result<(), ExportError> {
        let mut broken = None;
        let scope = self.scope.clone();
        let wanted = |id| scope.as_ref().is_none_or(|scope| scope.contains(&id));
        let walked = table::each_of_all::<R>(tx, wanted, |organization, kept| {
            let resource = match kept.resource {
                Ok(resource) => resource,
                Err(error) => {
                    self.left_out(organization, kept.id, &error);
                    return Ok(());
                }
            };
            let line = resource.bundle_line(organization, &mut |id| self.names(id));
            self.line(&line).map_err(|error| {
                broken = Some(error);
                DbError::Internal("the output cannot be written".into())
            })
        });
        match (walked, broken) {
            (_, Some(error)) => Err(error),
            (walked, None) => walked.map_err(ExportError::from),
        }
    }

    /// One row that cannot be read must not keep all others from being exported.
    fn left_out(&mut self, organization: OrganizationId, id: impl ToString, error: &DbError) {
        if self.done.broken.len() == BROKEN_MAX {
            self.done.broken_more += 1;
            return;
        }
        self.done.broken.push(Broken {
            organization,
            subject: id.to_string(),
            message: error.to_string(),
        });
    }
}
