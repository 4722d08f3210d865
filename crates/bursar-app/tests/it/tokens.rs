//! Tokens, roles, policy and activity: the whole life of a credential, on both engines, with time passed in.

mod life;
mod log;
mod matrix;
mod model;
mod once;
mod race;
mod remembered;
mod who;

use std::cell::RefCell;
use std::sync::Arc;

use bursar_app::organizations::{NewOrganization, create as create_organization};
use bursar_app::policy::{self, PolicyChange};
use bursar_app::tokens::{self, Explanation, Holder, Issued, NewToken, Rotated};
use bursar_app::{Act, App, AppError, Identity, TokenCaller, View, roles};
use bursar_db::Db;
use bursar_db::testing::TestDb;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::ids::{IdSource, OrganizationId, TokenId, UserId};
use bursar_domain::money::Currency;
use bursar_domain::organization::{CardIssuing, OrganizationKind};
use bursar_domain::time::DAY_MICROS;
use bursar_domain::token::{ENTROPY_BYTES, hash};
use bursar_domain::{Refusal, Timestamp};

const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

/// An organization, a clock on the wall that the test moves, and whoever acts.
struct World {
    db: Db,
    org: OrganizationId,
    outside: RefCell<Outside>,
}

struct Outside {
    now: Timestamp,
    ids: IdSource,
}

/// An admin who stays, so that others may leave.
const CHAIR: &str = "chair@example.org";

impl World {
    fn new(test: &TestDb) -> Self {
        Self::seeded(test, 1)
    }

    /// A new organization in the same database, so that one database serves many tries.
    fn seeded(test: &TestDb, seed: u64) -> Self {
        let mut ids = IdSource::seeded(seed);
        let world = World {
            db: test.db.clone(),
            org: ids.next(START),
            outside: RefCell::new(Outside { now: START, ids }),
        };
        let org = world.org;
        let new = NewOrganization {
            name: "Alpha".to_owned(),
            kind: OrganizationKind::National,
            parent_id: None,
            currency: Currency::USD,
            contact_email: None,
            contact_phone: None,
            card_issuing: CardIssuing::Approved,
            time_zone: Default::default(),
        };
        let made = world
            .app(&world.db)
            .change::<_, AppError>(Identity::Operator, org, move |whole| {
                create_organization(whole, org, &new)
            });
        made.wait().unwrap();
        world
    }

    fn now(&self) -> Timestamp {
        self.outside.borrow().now
    }

    fn pass(&self, micros: i64) {
        let mut outside = self.outside.borrow_mut();
        outside.now = Timestamp::from_micros(outside.now.micros() + micros);
    }

    fn pass_days(&self, days: i64) {
        self.pass(days * DAY_MICROS);
    }

    fn entropy(&self) -> [u8; ENTROPY_BYTES] {
        let mut outside = self.outside.borrow_mut();
        let now = outside.now;
        let mut bytes = [0; ENTROPY_BYTES];
        for chunk in bytes.chunks_mut(4) {
            let id: TokenId = outside.ids.fork().next(now);
            chunk.copy_from_slice(&id.to_bytes()[12..]);
        }
        bytes
    }

    /// The database of this world, or another way into it, at the time of this world.
    fn app(&self, db: &Db) -> App {
        let mut outside = self.outside.borrow_mut();
        let now = outside.now;
        App::new(db.clone(), Arc::new(move || now), outside.ids.fork())
    }

    fn act<T: Send + 'static>(
        &self,
        who: Identity,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app(&self.db).act(who, self.org, work).wait()
    }

    fn look<T: Send + 'static>(
        &self,
        who: Identity,
        work: impl FnOnce(&mut View<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app(&self.db).view(who, self.org, work).wait()
    }

    fn role(&self, email: &'static str, role: Role) -> UserId {
        self.act(Identity::Operator, move |act| roles::set(act, email, role))
            .unwrap()
            .user
            .id
    }

    fn remove(&self, email: &'static str) -> Result<(), AppError> {
        self.act(Identity::Operator, move |act| roles::remove(act, email))
            .map(drop)
    }

    fn create_as(&self, actor: Identity, new: NewToken) -> Result<Issued, AppError> {
        let entropy = self.entropy();
        self.act(actor, move |act| tokens::create(act, &new, &entropy))
    }

    fn create(&self, holder: Holder, scopes: ScopeSet, days: Option<i64>) -> Result<Issued, AppError> {
        let name = Some("sync".to_owned());
        self.create_as(
            Identity::Operator,
            NewToken {
                holder,
                name,
                scopes,
                days,
            },
        )
    }

    fn personal(&self, email: &str, scopes: &[Scope]) -> Issued {
        self.create(Holder::Person(email.to_owned()), ScopeSet::of(scopes), None)
            .unwrap()
    }

    fn service(&self, role: Role, scopes: &[Scope]) -> Issued {
        self.create(Holder::Service(role), ScopeSet::of(scopes), None)
            .unwrap()
    }

    fn rotate(&self, id: TokenId, overlap_days: Option<i64>) -> Result<Rotated, AppError> {
        self.rotate_as(Identity::Operator, id, overlap_days)
    }

    fn rotate_as(
        &self,
        actor: Identity,
        id: TokenId,
        overlap_days: Option<i64>,
    ) -> Result<Rotated, AppError> {
        let entropy = self.entropy();
        self.act(actor, move |act| tokens::rotate(act, id, overlap_days, &entropy))
    }

    fn revoke_as(&self, actor: Identity, id: TokenId) -> Result<tokens::Record, AppError> {
        self.act(actor, move |act| tokens::revoke(act, id))
    }

    fn revoke(&self, id: TokenId) -> tokens::Record {
        self.revoke_as(Identity::Operator, id).unwrap()
    }

    fn policy(&self, change: PolicyChange) -> Result<(), AppError> {
        self.act(Identity::Operator, move |act| policy::set(act, &change))
            .map(drop)
    }

    fn block(&self, scopes: ScopeSet) {
        let change = PolicyChange {
            block: scopes,
            ..PolicyChange::default()
        };
        self.policy(change).unwrap();
    }

    fn allow(&self, scopes: ScopeSet) {
        let change = PolicyChange {
            allow: scopes,
            ..PolicyChange::default()
        };
        self.policy(change).unwrap();
    }

    /// What a request with this secret finds: `None` is a 401.
    fn caller(&self, secret: &str) -> Option<TokenCaller> {
        let known = |found: Option<(TokenCaller, View<'_, '_>)>| Ok(found.map(|(caller, _)| caller));
        let found = self
            .app(&self.db)
            .ask::<_, AppError>(hash(secret), self.now(), None, known);
        found.wait().unwrap()
    }

    /// What a token is told about itself.
    fn explained(&self, issued: &Issued) -> Option<Explanation> {
        let explain = |found: Option<(TokenCaller, View<'_, '_>)>| {
            found.map(|(_, view)| tokens::explain_caller(&view)).transpose()
        };
        let hash = hash(issued.secret.expose());
        let told = self
            .app(&self.db)
            .ask::<_, AppError>(hash, self.now(), None, explain);
        told.wait().unwrap()
    }

    /// The role and the scopes that a request with this secret has: `None` is a 401.
    fn rights(&self, issued: &Issued) -> Option<(Role, ScopeSet)> {
        let caller = self.caller(issued.secret.expose())?;
        Some((caller.role(), caller.scopes()))
    }

    fn works(&self, issued: &Issued) -> bool {
        self.rights(issued).is_some()
    }
}

fn refusal<T>(result: Result<T, AppError>) -> Refusal {
    match result {
        Ok(_) => panic!("it should have been refused"),
        Err(AppError::Refused(refusal)) => refusal,
        Err(error) => panic!("{error}"),
    }
}

fn conflict<T>(result: Result<T, AppError>) -> String {
    match refusal(result) {
        Refusal::Conflict { message } => message,
        other => panic!("not a conflict: {other:?}"),
    }
}

fn invalid<T>(result: Result<T, AppError>) -> String {
    match refusal(result) {
        Refusal::Invalid { message, .. } => message,
        other => panic!("not invalid: {other:?}"),
    }
}

fn forbidden<T>(result: Result<T, AppError>) -> String {
    match refusal(result) {
        Refusal::Forbidden { message } => message,
        other => panic!("not forbidden: {other:?}"),
    }
}

fn missing<T>(result: Result<T, AppError>) -> String {
    match refusal(result) {
        Refusal::Missing { message, .. } => message,
        other => panic!("not missing: {other:?}"),
    }
}
