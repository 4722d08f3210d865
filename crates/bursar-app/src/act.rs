//! An act is one write transaction on one organization by one caller. A view only reads. A whole is a transaction
//! that is not about one organization.

use std::any::Any;
use std::cell::Cell;
use std::collections::HashMap;

use bursar_db::aside::Changes;
use bursar_db::clock::Clock;
use bursar_db::events::Pending;
use bursar_db::{OwnedValue, Stored, Tx, activity, organizations, table};
use bursar_domain::event::Evented;
use bursar_domain::ids::{Id, IdSource, Kind, OrganizationId, RequestId};
use bursar_domain::journal::Entry;
use bursar_domain::organization::Organization;
use bursar_domain::{Refusal, Timestamp};

use crate::caller::{Caller, Identity, TokenCaller};
use crate::error::AppError;
use crate::events;
use crate::rule::Rule;

pub const ACT_AS: Rule = Rule::of_operator("act.as", "act for others");

pub const RULES: &[&Rule] = &[&ACT_AS];

/// For work that belongs to no organization.
pub const NO_ORGANIZATION: OrganizationId = Id::from_bits(0);

/// An act holds the organization's change clock until it ends. With [`Looking`] it is a view.
pub struct Act<'a, 'c, M = Changing> {
    pub(crate) tx: &'a mut Tx<'c>,
    pub(crate) caller: Caller,
    pub(crate) organization: OrganizationId,
    now: Timestamp,
    /// What follows from rows that change. A view has none.
    following: Option<Following>,
    /// The last guarded rule that was granted.
    guarded: Cell<Option<Rule>>,
    mode: M,
}

pub type View<'a, 'c> = Act<'a, 'c, Looking>;

/// What an act writes at its end, because it follows from the rows that it wrote.
#[derive(Default)]
struct Following {
    /// Rows that were read or written, as they stand now.
    seen: HashMap<Key, Box<dyn Any>>,
    aside: Changes,
    events: Pending,
}

/// The kind of a row and its id: rows of two kinds can have the same bits.
type Key = (&'static str, u128);

fn key_of<R: Stored>(id: Id<R::Kind>) -> Key {
    (R::Kind::PREFIX, id.bits())
}

impl Following {
    fn see<R: Stored>(&mut self, row: &R) {
        self.seen.insert(key_of::<R>(row.id()), Box::new(row.clone()));
    }

    /// The row before it is written again.
    fn take<R: Stored>(&mut self, id: Id<R::Kind>) -> Option<R> {
        let seen = self.seen.remove(&key_of::<R>(id))?;
        seen.downcast().ok().map(|row| *row)
    }
}

/// What an act has and a view has not.
pub struct Changing {
    clock: Clock,
    context: Context,
}

pub struct Looking;

pub struct Whole<'a, 'c> {
    pub(crate) tx: &'a mut Tx<'c>,
    pub(crate) caller: Caller,
    pub(crate) context: &'a mut Context,
}

#[derive(Debug)]
pub(crate) struct Context {
    pub now: Timestamp,
    pub ids: IdSource,
    pub who: Identity,
    pub request_id: Option<RequestId>,
}

impl<M> Act<'_, '_, M> {
    pub fn now(&self) -> Timestamp {
        self.now
    }

    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Every operation calls this first.
    pub(crate) fn allow(&self, rule: &Rule) -> Result<(), AppError> {
        rule.check(&self.caller)?;
        if rule.guarded {
            self.guarded.set(Some(*rule));
        }
        Ok(())
    }

    /// The guarded rule by which the act was done, if there is one.
    pub(crate) fn guarded(&self) -> Option<Rule> {
        self.guarded.get()
    }

    pub(crate) fn get<R: Stored>(&mut self, id: Id<R::Kind>) -> Result<Option<R>, AppError> {
        let found = table::get(self.tx, self.organization, id)?;
        if let (Some(following), Some(row)) = (&mut self.following, &found) {
            following.see(row);
        }
        Ok(found)
    }

    /// Like `get`, but refuses an id that does not exist.
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
    /// Takes the organization's change clock, looks up the caller, runs the work, and writes the clock back.
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
            following: Some(Following::default()),
            guarded: Cell::default(),
            mode: Changing {
                clock,
                context: Context {
                    ids: context.ids.fork(),
                    ..*context
                },
            },
        };
        let result = work(&mut act)?;
        let Act {
            tx, mode, following, ..
        } = act;
        let following = following.unwrap_or_default();
        following.events.write(tx).map_err(AppError::from)?;
        following.aside.write(tx).map_err(AppError::from)?;
        mode.clock.give_back(tx).map_err(AppError::from)?;
        Ok(result)
    }

    /// Reads as a view does, within the act: nobody can change it before the act ends. What the act itself has changed
    /// so far may not be seen yet.
    pub fn view(&mut self) -> View<'_, 'c> {
        View::open(self.tx, self.caller.clone(), self.organization, self.now)
    }

    pub(crate) fn new_id<K>(&mut self) -> Id<K> {
        self.mode.context.ids.next(self.now)
    }

    /// A separate id source, for code that makes many ids.
    pub(crate) fn ids(&mut self) -> IdSource {
        self.mode.context.ids.fork()
    }

    /// The change clock as it stands.
    pub(crate) fn last_stamp(&self) -> Timestamp {
        self.mode.clock.last()
    }

    /// The request behind the act, if there is one.
    pub(crate) fn request_id(&self) -> Option<RequestId> {
        self.mode.context.request_id
    }

    /// The stamp for one more changed row.
    pub(crate) fn tick(&mut self) -> Timestamp {
        self.mode.clock.tick()
    }

    /// The organization's next creditor reference.
    pub(crate) fn next_reference(&mut self) -> String {
        self.mode.clock.next_reference()
    }

    /// The resource must carry a stamp from [`Act::tick`].
    pub(crate) fn insert<R: Stored + Evented>(&mut self, resource: &R) -> Result<(), AppError> {
        let document = table::insert(self.tx, self.organization, resource)?;
        self.added(resource, &document)?;
        self.following.get_or_insert_default().see(resource);
        Ok(())
    }

    /// A new row that the caller loads with others: its values.
    pub(crate) fn loads<R: Stored + Evented>(&mut self, resource: &R) -> Result<Vec<OwnedValue>, AppError> {
        let values = table::row_values(self.organization, resource);
        self.added(resource, table::document_in(&values))?;
        Ok(values)
    }

    fn added<R: Stored + Evented>(&mut self, resource: &R, document: &str) -> Result<(), AppError> {
        let following = self.following.get_or_insert_default();
        following.aside.add(self.tx, self.organization, resource)?;
        self.note(None, resource, document)
    }

    fn note<R: Stored + Evented>(
        &mut self,
        before: Option<&R>,
        after: &R,
        document: &str,
    ) -> Result<(), AppError> {
        let following = self.following.get_or_insert_default();
        let (events, context) = (&mut following.events, &mut self.mode.context);
        let written = (before, after, document);
        events::note(events, self.tx, context, &self.caller, self.organization, written)
    }

    pub(crate) fn posts(&mut self, entry: &Entry) {
        let following = self.following.get_or_insert_default();
        following.aside.post(self.organization, entry);
    }

    /// Stamps the resource and replaces its previous version.
    pub(crate) fn update<R: Stored + Evented>(&mut self, resource: &mut R) -> Result<(), AppError> {
        resource.stamps_mut().updated_at = self.mode.clock.tick();
        let seen = self.following.get_or_insert_default().take(resource.id());
        let before = match seen {
            Some(before) => Some(before),
            None => table::get(self.tx, self.organization, resource.id())?,
        };
        let Some(before) = before else {
            return Err(AppError::from(Refusal::missing(format!(
                "there is no such {}",
                R::Kind::NOUN
            ))));
        };
        let epoch = self.mode.clock.epoch();
        let document = table::update(self.tx, self.organization, &before, resource, epoch)?;
        let following = self.following.get_or_insert_default();
        following.aside.change(self.organization, Some(&before), resource);
        following.see(resource);
        self.note(Some(&before), resource, &document)
    }

    pub(crate) fn log(
        &mut self,
        action: &str,
        subject: Option<String>,
        count: Option<i64>,
    ) -> Result<(), AppError> {
        let context = &mut self.mode.context;
        context.log(self.tx, &self.caller, self.organization, action, subject, count)
    }
}

impl Act<'_, '_> {
    /// Logs in another organization what was done there from this one.
    pub(crate) fn log_in(
        &mut self,
        organization: OrganizationId,
        action: &str,
        subject: Option<String>,
        count: Option<i64>,
    ) -> Result<(), AppError> {
        let home = self.caller.home(self.organization);
        let context = &mut self.mode.context;
        let line = context.line(&self.caller, home, action, subject, count);
        activity::add(self.tx, organization, &line).map_err(AppError::from)
    }
}

impl<'a, 'c> View<'a, 'c> {
    /// Looks up the caller, and refuses an organization that does not exist.
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

    pub(crate) fn of_token(tx: &'a mut Tx<'c>, token: TokenCaller, now: Timestamp) -> Self {
        let organization = token.organization();
        Self::open(tx, Caller::Token(token), organization, now)
    }

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
            following: None,
            guarded: Cell::default(),
            mode: Looking,
        }
    }
}

impl<'a, 'c> Whole<'a, 'c> {
    pub(crate) fn open(tx: &'a mut Tx<'c>, context: &'a mut Context) -> Result<Self, AppError> {
        let caller = Caller::look_up_anywhere(tx, context.who, context.now)?;
        Ok(Self { tx, caller, context })
    }

    pub fn now(&self) -> Timestamp {
        self.context.now
    }

    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Every operation calls this first.
    pub(crate) fn allow(&self, rule: &Rule) -> Result<(), AppError> {
        rule.check(&self.caller)
    }

    /// Looks up the caller again, because a person's role depends on the organization.
    pub(crate) fn may(&mut self, rule: &Rule, organization: OrganizationId) -> Result<bool, AppError> {
        let (who, now) = (self.context.who, self.context.now);
        let caller = Caller::look_up(self.tx, who, organization, now)?;
        Ok(rule.check(&caller).is_ok())
    }

    pub fn new_id<K>(&mut self) -> Id<K> {
        self.context.ids.next(self.context.now)
    }

    pub fn act<T, E: From<AppError>>(
        &mut self,
        organization: OrganizationId,
        work: impl FnOnce(&mut Act<'_, 'c>) -> Result<T, E>,
    ) -> Result<T, E> {
        Act::run(self.tx, self.context, organization, work)
    }

    /// Acts as somebody else at another time, so that the operator can record past events.
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

    pub fn view<T, E: From<AppError>>(
        &mut self,
        organization: OrganizationId,
        work: impl FnOnce(&mut View<'_, 'c>) -> Result<T, E>,
    ) -> Result<T, E> {
        View::look(self.tx, self.context.who, self.context.now, organization, work)
    }

    /// Does not move the change clock.
    pub fn log(
        &mut self,
        organization: OrganizationId,
        action: &str,
        subject: Option<String>,
        count: Option<i64>,
    ) -> Result<(), AppError> {
        self.context
            .log(self.tx, &self.caller, organization, action, subject, count)
    }
}

impl Context {
    /// Adds a line to the activity log. Does not move the change clock.
    pub(crate) fn log(
        &mut self,
        tx: &mut Tx<'_>,
        caller: &Caller,
        organization: OrganizationId,
        action: &str,
        subject: Option<String>,
        count: Option<i64>,
    ) -> Result<(), AppError> {
        let line = self.line(caller, caller.home(organization), action, subject, count);
        activity::add(tx, organization, &line).map_err(AppError::from)
    }

    fn line(
        &mut self,
        caller: &Caller,
        home: Option<OrganizationId>,
        action: &str,
        subject: Option<String>,
        count: Option<i64>,
    ) -> activity::Line {
        activity::Line {
            id: self.ids.next(self.now),
            at: self.now,
            action: action.to_owned(),
            actor_kind: caller.kind().to_owned(),
            actor_id: caller.id(),
            actor_organization_id: home,
            subject,
            count,
            request_id: self.request_id,
        }
    }
}

pub fn no_organization(id: OrganizationId) -> Refusal {
    Refusal::missing(format!(
        "organization {id} does not exist; `bursar organization list` shows those that do"
    ))
}
