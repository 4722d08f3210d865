//! One act: a transaction on an organization's data, by somebody, at a time. A view is the same without a change, and
//! the whole is what the operator and the service see: every organization.

use bursar_db::clock::Clock;
use bursar_db::{Stored, Tx, activity, organizations, table};
use bursar_domain::ids::{ActivityId, Id, IdSource, Kind, OrganizationId, RequestId};
use bursar_domain::organization::Organization;
use bursar_domain::{Refusal, Timestamp};

use crate::caller::{Caller, Identity, TokenCaller};
use crate::error::AppError;
use crate::rule::Rule;

/// Acting for somebody else, at another time.
pub const ACT_AS: Rule = Rule::of_operator("act.as", "act for others");

/// The rules of this module.
pub const RULES: &[&Rule] = &[&ACT_AS];

/// An act under way: the organization's clock is held until it ends.
pub struct Act<'a, 'c, M = Changing> {
    pub(crate) tx: &'a mut Tx<'c>,
    pub(crate) caller: Caller,
    pub(crate) organization: OrganizationId,
    now: Timestamp,
    mode: M,
}

/// A look at an organization's data, by somebody, at a time.
pub type View<'a, 'c> = Act<'a, 'c, Looking>;

/// What an act has and a view has not.
pub struct Changing {
    clock: Clock,
    ids: IdSource,
    request: Option<RequestId>,
}

/// Nothing changes.
pub struct Looking;

/// A transaction on the whole database, for what is not one organization's affair.
pub struct Whole<'a, 'c> {
    pub(crate) tx: &'a mut Tx<'c>,
    pub(crate) caller: Caller,
    pub(crate) context: &'a mut Context,
}

/// What an act takes from outside: the time, a source of ids, who acts, and by which request.
#[derive(Debug)]
pub(crate) struct Context {
    /// The time of the act.
    pub now: Timestamp,
    /// Makes ids.
    pub ids: IdSource,
    /// Who acts.
    pub who: Identity,
    /// The request it is part of.
    pub request_id: Option<RequestId>,
}

impl<M> Act<'_, '_, M> {
    /// The time of the act.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Who acts.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Whose data it is about.
    pub fn organization(&self) -> OrganizationId {
        self.organization
    }

    /// Refuses a caller whom the rule does not allow. Every operation asks this first.
    pub(crate) fn allow(&self, rule: &Rule) -> Result<(), AppError> {
        rule.check(&self.caller)
    }

    /// One of the organization's resources.
    pub(crate) fn get<R: Stored>(&mut self, id: Id<R::Kind>) -> Result<Option<R>, AppError> {
        Ok(table::get(self.tx, self.organization, id)?)
    }

    /// One of the organization's resources, which must be there.
    pub(crate) fn find<R: Stored>(&mut self, id: Id<R::Kind>) -> Result<R, AppError> {
        let missing = || Refusal::missing(format!("there is no such {}", R::Kind::NOUN));
        Ok(self.get(id)?.ok_or_else(missing)?)
    }

    /// The organization itself.
    pub(crate) fn own(&mut self) -> Result<Organization, AppError> {
        let own = organizations::get(self.tx, self.organization)?;
        Ok(own.ok_or_else(|| no_organization(self.organization))?)
    }
}

impl<'a, 'c> Act<'a, 'c> {
    /// Takes the organization's clock, looks the caller up, runs the work, and gives the clock back with the last stamp
    /// it gave.
    pub(crate) fn run<T, E: From<AppError>>(
        tx: &'a mut Tx<'c>,
        context: &mut Context,
        organization: OrganizationId,
        work: impl FnOnce(&mut Act<'_, 'c>) -> Result<T, E>,
    ) -> Result<T, E> {
        let taken = Clock::take(tx, organization, context.now).map_err(AppError::from)?;
        let clock = taken.ok_or_else(|| AppError::from(no_organization(organization)))?;
        let caller = Caller::look_up(tx, context.who, organization, context.now)?;
        let mut act = Act {
            tx,
            caller,
            organization,
            now: context.now,
            mode: Changing {
                clock,
                ids: context.ids.fork(),
                request: context.request_id,
            },
        };
        let result = work(&mut act)?;
        let Act { tx, mode, .. } = act;
        mode.clock.give_back(tx).map_err(AppError::from)?;
        Ok(result)
    }

    /// A new id.
    pub(crate) fn new_id<K>(&mut self) -> Id<K> {
        self.mode.ids.next(self.now)
    }

    /// A source of ids of its own, for what makes many.
    pub(crate) fn ids(&mut self) -> IdSource {
        self.mode.ids.fork()
    }

    /// A stamp for one more changed row.
    pub(crate) fn tick(&mut self) -> Timestamp {
        self.mode.clock.tick()
    }

    /// Adds a resource that was made with [`Act::tick`]'s stamp.
    pub(crate) fn insert<R: Stored>(&mut self, resource: &R) -> Result<(), AppError> {
        table::insert(self.tx, self.organization, resource).map_err(AppError::from)
    }

    /// Stamps a changed resource and puts it in place of the version before.
    pub(crate) fn update<R: Stored>(&mut self, resource: &mut R) -> Result<(), AppError> {
        resource.stamps_mut().updated_at = self.mode.clock.tick();
        table::update(self.tx, self.organization, resource).map_err(AppError::from)
    }

    /// Writes a line to the organization's activity log.
    pub(crate) fn log(
        &mut self,
        action: &str,
        subject: Option<String>,
        count: Option<i64>,
    ) -> Result<(), AppError> {
        let line = Line {
            id: self.new_id(),
            now: self.now,
            request: self.mode.request,
            action,
            subject,
            count,
        };
        line.add(self.tx, &self.caller, self.organization)
    }
}

impl<'a, 'c> View<'a, 'c> {
    /// Looks the caller up, and runs the work if there is such an organization.
    pub(crate) fn look<T, E: From<AppError>>(
        tx: &'a mut Tx<'c>,
        who: Identity,
        now: Timestamp,
        organization: OrganizationId,
        work: impl FnOnce(&mut View<'_, 'c>) -> Result<T, E>,
    ) -> Result<T, E> {
        let caller = Caller::look_up(tx, who, organization, now)?;
        if organizations::get(tx, organization)
            .map_err(AppError::from)?
            .is_none()
        {
            return Err(AppError::from(no_organization(organization)).into());
        }
        work(&mut View::open(tx, caller, organization, now))
    }

    /// A look at its organization by a token that was looked up.
    pub(crate) fn of_token(tx: &'a mut Tx<'c>, token: TokenCaller, now: Timestamp) -> Self {
        let organization = token.organization();
        Self::open(tx, Caller::Token(token), organization, now)
    }

    /// A look by somebody who was looked up.
    pub(crate) fn open(
        tx: &'a mut Tx<'c>,
        caller: Caller,
        organization: OrganizationId,
        now: Timestamp,
    ) -> Self {
        Self {
            tx,
            caller,
            organization,
            now,
            mode: Looking,
        }
    }
}

impl<'a, 'c> Whole<'a, 'c> {
    /// Looks the caller up.
    pub(crate) fn open(tx: &'a mut Tx<'c>, context: &'a mut Context) -> Result<Self, AppError> {
        let caller = Caller::look_up_anywhere(tx, context.who, context.now)?;
        Ok(Self { tx, caller, context })
    }

    /// The time of the transaction.
    pub fn now(&self) -> Timestamp {
        self.context.now
    }

    /// Who calls.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Refuses a caller whom the rule does not allow. Every operation asks this first.
    pub(crate) fn allow(&self, rule: &Rule) -> Result<(), AppError> {
        rule.check(&self.caller)
    }

    /// Whether the rule lets the caller do it in this organization.
    pub(crate) fn may(&mut self, rule: &Rule, organization: OrganizationId) -> Result<bool, AppError> {
        let (who, now) = (self.context.who, self.context.now);
        let caller = Caller::look_up(self.tx, who, organization, now)?;
        Ok(rule.check(&caller).is_ok())
    }

    /// A new id.
    pub fn new_id<K>(&mut self) -> Id<K> {
        self.context.ids.next(self.context.now)
    }

    /// An act on one organization, in this transaction.
    pub fn act<T, E: From<AppError>>(
        &mut self,
        organization: OrganizationId,
        work: impl FnOnce(&mut Act<'_, 'c>) -> Result<T, E>,
    ) -> Result<T, E> {
        Act::run(self.tx, self.context, organization, work)
    }

    /// An act by somebody else at another time, in this transaction: how the operator writes down what happened.
    pub fn act_as<T, E: From<AppError>>(
        &mut self,
        who: Identity,
        now: Timestamp,
        organization: OrganizationId,
        work: impl FnOnce(&mut Act<'_, 'c>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.allow(&ACT_AS)?;
        let mut context = Context {
            now,
            ids: self.context.ids.fork(),
            who,
            request_id: None,
        };
        Act::run(self.tx, &mut context, organization, work)
    }

    /// A look at one organization, in this transaction.
    pub fn view<T, E: From<AppError>>(
        &mut self,
        organization: OrganizationId,
        work: impl FnOnce(&mut View<'_, 'c>) -> Result<T, E>,
    ) -> Result<T, E> {
        View::look(self.tx, self.context.who, self.context.now, organization, work)
    }

    /// Writes a line to an organization's activity log; it moves no clock.
    pub fn log(
        &mut self,
        organization: OrganizationId,
        action: &str,
        subject: Option<String>,
        count: Option<i64>,
    ) -> Result<(), AppError> {
        log(
            self.tx,
            self.context,
            &self.caller,
            organization,
            action,
            subject,
            count,
        )
    }
}

/// Writes a line to an organization's activity log; it moves no clock.
pub(crate) fn log(
    tx: &mut Tx<'_>,
    context: &mut Context,
    caller: &Caller,
    organization: OrganizationId,
    action: &str,
    subject: Option<String>,
    count: Option<i64>,
) -> Result<(), AppError> {
    let line = Line {
        id: context.ids.next(context.now),
        now: context.now,
        request: context.request_id,
        action,
        subject,
        count,
    };
    line.add(tx, caller, organization)
}

/// A line of an activity log that is about to be written.
struct Line<'a> {
    id: ActivityId,
    now: Timestamp,
    request: Option<RequestId>,
    action: &'a str,
    subject: Option<String>,
    count: Option<i64>,
}

impl Line<'_> {
    fn add(self, tx: &mut Tx<'_>, caller: &Caller, organization: OrganizationId) -> Result<(), AppError> {
        let line = activity::Line {
            id: self.id,
            at: self.now,
            action: self.action.to_owned(),
            actor_kind: caller.kind().to_owned(),
            actor_id: caller.id(),
            actor_organization_id: caller.home(organization),
            subject: self.subject,
            count: self.count,
            request_id: self.request,
        };
        activity::add(tx, organization, &line).map_err(AppError::from)
    }
}

/// The refusal for an organization that is not there.
pub fn no_organization(id: OrganizationId) -> Refusal {
    Refusal::missing(format!(
        "organization {id} does not exist; `bursar organization list` shows those that do"
    ))
}
