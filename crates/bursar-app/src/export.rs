//! Writes a bundle that imports into an empty database and exports again byte for byte.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use bursar_db::statements::Link;
use bursar_db::{
    DbError, Stored, Tx, accounts, attachments, journal, organizations, receipts, statements, table,
};
use bursar_domain::ids::{OrganizationId, StatementLineId};
use bursar_domain::money::Currency;
use bursar_domain::organization::Organization;

use crate::act::{Whole, no_organization};
use crate::bundle::{
    account_line, attachment_line, attachment_part_line, entry_line, organization_line, policy_line,
    receipt_line, role_line, statement_line, statement_line_line, user_line,
};
use crate::error::AppError;
use crate::organizations::subtree;
use crate::resources::for_each_resource;
use crate::rule::Rule;

/// Unreadable rows that an export names. More are only counted.
pub const BROKEN_MAX: usize = 100;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exported {
    pub records: u64,
    /// References to organizations outside the export, written as null.
    pub outside: u64,
    /// Unreadable rows that were left out; at most [`BROKEN_MAX`].
    pub broken: Vec<Broken>,
    /// How many more were left out.
    pub broken_more: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub organization: OrganizationId,
    /// The id of the row.
    pub subject: String,
    pub message: String,
}

#[derive(Debug)]
pub enum ExportError {
    App(AppError),
    Output(io::Error),
}

impl<E: Into<AppError>> From<E> for ExportError {
    fn from(error: E) -> Self {
        Self::App(error.into())
    }
}

/// Lets a walk through the database stop when the output fails. A walk stops only for an error of the database, so the
/// visitor passes the result of its writing to the function it is given, which keeps the error.
pub(crate) fn writing(
    walk: impl FnOnce(&mut dyn FnMut(Result<(), ExportError>) -> Result<(), DbError>) -> Result<(), DbError>,
) -> Result<(), ExportError> {
    let mut failed = None;
    let walked = walk(&mut |written| {
        written.map_err(|error| {
            failed = Some(error);
            DbError::Internal("the output cannot be written".into())
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(walked?),
    }
}

pub const EXPORT: Rule = Rule::of_operator("export", "export bundles");
pub const RULES: &[&Rule] = &[&EXPORT];

/// Exports everything, or the root and all organizations below it.
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
    for_each_resource!(R => export.resources::<R>(tx)?);
    let covered: Vec<&Organization> = all.iter().filter(|o| export.covers(o.id)).collect();
    export.books(tx, &covered)?;
    export.out.flush().map_err(ExportError::Output)?;
    Ok(export.done)
}

struct Export<'a> {
    /// `None` exports all organizations.
    scope: Option<HashSet<OrganizationId>>,
    out: &'a mut dyn Write,
    done: Exported,
    progress: &'a mut dyn FnMut(u64),
}

impl Export<'_> {
    fn covers(&self, id: OrganizationId) -> bool {
        self.scope.as_ref().is_none_or(|scope| scope.contains(&id))
    }

    /// Whether a reference may name this organization. Counts those that may not.
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
        let scope = self.scope.clone();
        let wanted = |id| scope.as_ref().is_none_or(|scope| scope.contains(&id));
        writing(|written| {
            table::each_of_all::<R>(tx, wanted, |organization, kept| {
                match kept.resource {
                    Ok(resource) => {
                        let line = resource.bundle_line(organization, &mut |id| self.names(id));
                        written(self.line(&line))?;
                    }
                    Err(error) => self.left_out(organization, kept.id, &error),
                }
                Ok(())
            })
        })
    }

    /// Accounts, then entries of the journal, then receipts; each by id.
    fn books(&mut self, tx: &mut Tx<'_>, covered: &[&Organization]) -> Result<(), ExportError> {
        let currencies: HashMap<OrganizationId, Currency> =
            covered.iter().map(|own| (own.id, own.currency)).collect();
        let mut all = Vec::new();
        for own in covered {
            let stored = accounts::stored(tx, own.id)?;
            all.extend(stored.into_iter().map(|account| (account.id, own.id, account)));
        }
        all.sort_unstable_by_key(|(id, own, _)| (*id, *own));
        for (_, own, account) in &all {
            self.line(&account_line(*own, account, currencies[own]))?;
        }
        let wanted = |id| currencies.contains_key(&id);
        writing(|written| {
            journal::each_of_all(tx, wanted, |own, entry| {
                let line = entry_line(own, &entry, currencies[&own], &mut |id| self.names(id));
                written(self.line(&line))
            })
        })?;
        writing(|written| {
            receipts::each_of_all(tx, wanted, |own, receipt| {
                written(self.line(&receipt_line(own, &receipt, currencies[&own])))
            })
        })?;
        self.attachments(tx, covered)?;
        self.statements(tx, &currencies)
    }

    /// By id, then their parts.
    fn attachments(&mut self, tx: &mut Tx<'_>, covered: &[&Organization]) -> Result<(), ExportError> {
        let mut all = Vec::new();
        for own in covered {
            let kept = attachments::all(tx, own.id)?;
            all.extend(
                kept.into_iter()
                    .map(|attachment| (attachment.id, own.id, attachment)),
            );
        }
        all.sort_unstable_by_key(|(id, own, _)| (*id, *own));
        for (_, own, attachment) in &all {
            self.line(&attachment_line(*own, attachment))?;
        }
        for (id, own, _) in all {
            for (number, data) in attachments::parts(tx, own, id)? {
                self.line(&attachment_part_line(own, id, number, &data))?;
            }
        }
        Ok(())
    }

    fn statements(
        &mut self,
        tx: &mut Tx<'_>,
        currencies: &HashMap<OrganizationId, Currency>,
    ) -> Result<(), ExportError> {
        let wanted = |id| currencies.contains_key(&id);
        writing(|written| {
            statements::each_of_all(tx, wanted, |own, statement| {
                written(self.line(&statement_line(own, &statement, currencies[&own])))
            })
        })?;
        let mut links: HashMap<(OrganizationId, StatementLineId), Vec<Link>> = HashMap::new();
        for own in currencies.keys() {
            for link in statements::all_links(tx, *own)? {
                links.entry((*own, link.line)).or_default().push(link);
            }
        }
        writing(|written| {
            statements::each_line_of_all(tx, wanted, |own, line| {
                let of_line = links.remove(&(own, line.id)).unwrap_or_default();
                written(self.line(&statement_line_line(own, &line, &of_line, currencies[&own])))
            })
        })
    }

    /// One unreadable row must not stop the export of the others.
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
