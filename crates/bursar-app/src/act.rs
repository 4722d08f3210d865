//! One act: a transaction on an organization's data, by somebody, at a time.

use bursar_db::clock::Clock;
use bursar_db::{Stored, Tx, activity, table};
use bursar_domain::ids::{Id, IdSource, OrganizationId, RequestId, TokenId, UserId};
use bursar_domain::{Refusal, Timestamp};

use crate::error::AppError;

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Actor {
    /// Whoever runs the command line on the machine: may do anything.
    Operator,
    /// The service itself.
    Worker,
    /// A program with a token of an organization.
    Token(TokenId, OrganizationId),
    /// A person in an organization.
    User(UserId, OrganizationId),
}

impl Actor {
    /// What the activity log calls it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Worker => "worker",
            Self::Token(..) => "token",
            Self::User(..) => "user",
        }
    }

    /// Its id, if it has one.
    pub fn id(&self) -> Option<String> {
        match self {
            Self::Operator | Self::Worker => None,
            Self::Token(id, _) => Some(id.to_string()),
            Self::User(id, _) => Some(id.to_string()),
        }
    }

    /// Its organization, if it has one.
    pub const fn organization(&self) -> Option<OrganizationId> {
        match self {
            Self::Operator | Self::Worker => None,
            Self::Token(_, organization) | Self::User(_, organization) => Some(*organization),
        }
    }
}

/// What an act takes from outside: the time, a source of ids, who acts, and by which request.
#[derive(Debug)]
pub struct Context {
    /// The time of the act.
    pub now: Timestamp,
    /// Makes ids.
    pub ids: IdSource,
    /// Who acts.
    pub actor: Actor,
    /// The request it is part of.
    pub request_id: Option<RequestId>,
}

/// An act under way: the organization's clock is held until it ends.
pub struct Act<'a, 'c> {
    /// The transaction.
    pub tx: &'a mut Tx<'c>,
    /// What came from outside.
    pub context: &'a mut Context,
    /// Whose data it changes.
    pub organization: OrganizationId,
    clock: Clock,
}

impl<'a, 'c> Act<'a, 'c> {
    /// Takes the organization's clock, runs the work, and gives the clock back with the last stamp it gave.
    pub fn run<T, E: From<AppError>>(
        tx: &'a mut Tx<'c>,
        context: &'a mut Context,
        organization: OrganizationId,
        work: impl FnOnce(&mut Act<'_, 'c>) -> Result<T, E>,
    ) -> Result<T, E> {
        let taken = Clock::take(tx, organization, context.now).map_err(AppError::from)?;
        let clock = taken.ok_or_else(|| AppError::from(no_organization(organization)))?;
        let mut act = Act {
            tx,
            context,
            organization,
            clock,
        };
        let result = work(&mut act)?;
        let Act { tx, clock, .. } = act;
        clock.give_back(tx).map_err(AppError::from)?;
        Ok(result)
    }

    /// The time of the act.
    pub fn now(&self) -> Timestamp {
        self.context.now
    }

    /// A new id.
    pub fn new_id<K>(&mut self) -> Id<K> {
        self.context.ids.next(self.context.now)
    }

    /// A stamp for one more changed row.
    pub fn tick(&mut self) -> Timestamp {
        self.clock.tick()
    }

    /// Adds a resource that was made with [`Act::tick`]'s stamp.
    pub fn insert<R: Stored>(&mut self, resource: &R) -> Result<(), AppError> {
        table::insert(self.tx, self.organization, resource).map_err(AppError::from)
    }

    /// Stamps a changed resource and puts it in place of the version before.
    pub fn update<R: Stored>(&mut self, resource: &mut R) -> Result<(), AppError> {
        resource.stamps_mut().updated_at = self.clock.tick();
        table::update(self.tx, self.organization, resource).map_err(AppError::from)
    }

    /// Writes a line to the organization's activity log.
    pub fn log(&mut self, action: &str, subject: Option<String>, count: Option<i64>) -> Result<(), AppError> {
        log(self.tx, self.context, self.organization, action, subject, count)
    }
}

/// Writes a line to an organization's activity log; it needs no clock.
pub fn log(
    tx: &mut Tx<'_>,
    context: &mut Context,
    organization: OrganizationId,
    action: &str,
    subject: Option<String>,
    count: Option<i64>,
) -> Result<(), AppError> {
    let line = activity::Line {
        id: context.ids.next(context.now),
        at: context.now,
        action: action.to_owned(),
        actor_kind: context.actor.kind().to_owned(),
        actor_id: context.actor.id(),
        actor_organization_id: context.actor.organization(),
        subject,
        count,
        request_id: context.request_id,
    };
    activity::add(tx, organization, &line).map_err(AppError::from)
}

/// The refusal for an organization that is not there.
pub fn no_organization(id: OrganizationId) -> Refusal {
    Refusal::missing(format!(
        "organization {id} does not exist; `bursar organization list` shows those that do"
    ))
}
