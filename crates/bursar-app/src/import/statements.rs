//! The bank statements of a bundle: files and their lines, with the entries that account for them.

use bursar_db::statements::{self as rows, Link};
use bursar_db::{Tx, journal};
use bursar_domain::Refusal;
use bursar_domain::fields::Fields;
use bursar_domain::ids::{EntryId, OrganizationId, kind};
use bursar_domain::member::Member;
use bursar_domain::money::Currency;
use bursar_domain::payment::Payment;
use bursar_domain::statement::{LineStatus, Statement, StatementLine, Target};

use super::load::Load;
use super::record::exists;
use super::scan::{Scan, owned};
use super::{ImportError, Source};
use crate::error::AppError;

/// A line and its links.
pub(super) fn read_line(
    fields: Fields<'_>,
    currency: Option<Currency>,
) -> Result<(OrganizationId, StatementLine, Vec<Link>), Refusal> {
    let mut fields = fields;
    let (id, organization) = owned(&mut fields)?;
    let mut fields = fields.new_record(true);
    let line = StatementLine::read(id, &mut fields, currency)?;
    let link = |fields: &mut Fields<'_>| {
        Ok(Link {
            line: line.id,
            entry: fields.id("entryId")?.required()?,
            account: line.account,
            is_made: fields.boolean("isMade")?.required()?,
        })
    };
    let mut links = fields.objects("entries", link)?.required()?;
    fields.finish()?;
    links.sort_unstable_by_key(|link| link.entry);
    if currency.is_some() && line.amount == 0 {
        return Err(Refusal::invalid("amount", "must not be 0"));
    }
    let is_settled = matches!(line.status, LineStatus::Matched | LineStatus::Booked);
    match is_settled == links.is_empty() {
        true => Err(Refusal::invalid(
            "entries",
            format!(
                "must be there for a line that is matched or booked, and only then; it is {} and has {}",
                line.status,
                links.len()
            ),
        )),
        false => Ok((organization, line, links)),
    }
}

impl Scan {
    pub(super) fn statement(&mut self, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        self.plan.touched.insert(organization);
        self.plan.known.add(id, organization)?;
        let mut fields = fields.new_record(true);
        Statement::read(id, &mut fields, self.currency(organization))?;
        Ok(fields.finish()?)
    }

    pub(super) fn statement_line(&mut self, mut fields: Fields<'_>) -> Result<(), AppError> {
        let of: OrganizationId = fields.id("organizationId")?.required()?;
        self.plan.touched.insert(of);
        let currency = self.currency(of);
        let (organization, line, links) = read_line(fields, currency)?;
        self.plan.known.add(line.id, organization)?;
        let books = &mut self.plan.books;
        if currency.is_some() {
            let identity = (line.account, line.date, line.amount, line.identity(), line.number);
            if !books.identities.insert((organization, identity)) {
                let rule = format!(
                    "{} is the same as that of another line of this bundle",
                    line.number
                );
                return Err(Refusal::invalid("number", rule).into());
            }
        }
        for link in links {
            if !books.linked.insert((organization, link.entry, link.account)) {
                let rule = format!("{} accounts for another line of this bundle", link.entry);
                return Err(Refusal::invalid("entries", rule).into());
            }
        }
        Ok(())
    }
}

impl Load<'_> {
    pub(super) fn statement(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        let currency = self.known_organization(organization)?.currency;
        self.plan.known.check_owner(id)?;
        let mut fields = fields.new_record(true);
        let statement = Statement::read(id, &mut fields, Some(currency))?;
        fields.finish()?;
        self.check_account(tx, organization, statement.account)?;
        let before = match self.first_import {
            true => None,
            false => rows::get(tx, organization, id)?,
        };
        match before {
            Some(before) if before == statement => self.done.unchanged += 1,
            Some(_) => {
                let rule = format!("{id} was imported with other content; statements never change");
                return Err(Refusal::invalid("id", rule).into());
            }
            None => {
                let row = rows::statement_values(organization, &statement);
                self.add(tx, &rows::STATEMENTS, row)?;
                self.done.added += 1;
            }
        }
        Ok(())
    }

    pub(super) fn statement_line(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let organization = fields.id("organizationId")?.required()?;
        let currency = self.known_organization(organization)?.currency;
        let (_, line, links) = read_line(fields, Some(currency))?;
        self.plan.known.check_owner(line.id)?;
        self.check_line(tx, organization, &line, &links)?;
        let before = match self.first_import {
            true => None,
            false => rows::line(tx, organization, line.id)?,
        };
        let Some(before) = before else {
            if !self.first_import {
                let days = (line.date, line.date);
                let known = rows::identities(tx, organization, line.account, days)?;
                if known.contains(&(line.date, line.amount, line.identity(), line.number)) {
                    let rule = "is that of another line in the database: the same line is never taken twice";
                    return Err(Refusal::invalid("number", rule).into());
                }
            }
            self.add(tx, &rows::STATEMENT_LINES, rows::line_values(organization, &line))?;
            for link in &links {
                self.add(tx, &rows::STATEMENT_LINKS, rows::link_values(organization, link))?;
            }
            self.done.added += 1;
            return Ok(());
        };
        let known_links = rows::links_of(tx, organization, line.id)?;
        if before == line && known_links == links {
            self.done.unchanged += 1;
            return Ok(());
        }
        let same = StatementLine {
            status: line.status,
            chosen: line.chosen.clone(),
            ..before
        };
        if same != line {
            let rule = format!(
                "{} is known with other content; what a bank said never changes",
                line.id
            );
            return Err(Refusal::invalid("id", rule).into());
        }
        rows::update_line(tx, organization, &line)?;
        rows::remove_links(tx, organization, line.id)?;
        for link in &links {
            self.add(tx, &rows::STATEMENT_LINKS, rows::link_values(organization, link))?;
        }
        self.done.changed += 1;
        Ok(())
    }

    /// Everything that a line names is in the bundle or in the database, for this organization.
    fn check_line(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        line: &StatementLine,
        links: &[Link],
    ) -> Result<(), AppError> {
        self.check_account(tx, organization, line.account)?;
        let unknown = |field: &'static str, id: String| {
            let rule = format!("{id} is neither in this bundle nor in the database for this organization");
            Err(AppError::from(Refusal::invalid(field, rule)))
        };
        let known = &self.plan.known;
        if !known.has(line.statement, organization) && rows::get(tx, organization, line.statement)?.is_none()
        {
            return unknown("statementId", line.statement.to_string());
        }
        let is_entry = |tx: &mut Tx<'_>, id: EntryId| {
            Ok::<_, AppError>(known.has(id, organization) || journal::get(tx, organization, id)?.is_some())
        };
        for link in links {
            if !is_entry(tx, link.entry)? {
                return unknown("entries", link.entry.to_string());
            }
            if !self.first_import {
                let others = rows::links_of_entry(tx, organization, link.entry)?;
                let is_other = |other: &&Link| other.account == link.account && other.line != line.id;
                if let Some(other) = others.iter().find(is_other) {
                    let rule = format!("{} accounts for {} in the database", link.entry, other.line);
                    return Err(Refusal::invalid("entries", rule).into());
                }
            }
        }
        for target in &line.chosen {
            let is_known = match target {
                Target::Entry(id) => is_entry(tx, *id)?,
                Target::Payment(id) => {
                    known.has(*id, organization) || exists::<Payment>(tx, organization, *id)?
                }
                Target::Member(id) => {
                    known.has(*id, organization) || exists::<Member>(tx, organization, *id)?
                }
            };
            if !is_known {
                return unknown("chosen", target.to_string());
            }
        }
        Ok(())
    }

    /// After everything is written: a line of the bundle whose entries do not sum to it.
    pub(super) fn prove_statements(
        &mut self,
        tx: &mut Tx<'_>,
        source: &Source<'_>,
    ) -> Result<(), ImportError> {
        if !self.plan.known.has_any::<kind::StatementLine>() {
            return Ok(());
        }
        let organizations: Vec<OrganizationId> = self.records.keys().copied().collect();
        for organization in organizations {
            let mut wrong = None;
            let known = &self.plan.known;
            rows::each_unexplained(tx, organization, |line| {
                if wrong.is_none() && known.has(line.line, organization) {
                    wrong = Some(line);
                }
                Ok(())
            })?;
            if let Some(line) = wrong {
                let rule = format!(
                    "of {} sum to {} minor units in its account, and the line is of {}",
                    line.line, line.booked, line.amount
                );
                let number = super::line_of(source, line.line)?;
                return Err(ImportError::Line(number, Refusal::invalid("entries", rule)));
            }
        }
        Ok(())
    }
}
