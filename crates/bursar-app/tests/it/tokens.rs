//! Tokens, roles, policy and activity: the whole life of a credential, on both engines, with time passed in.

mod life;
mod log;
mod matrix;
mod model;
mod race;
mod who;

use std::cell::RefCell;

use bursar_app::organizations::{NewOrganization, create as create_organization};
use bursar_app::policy::{self, PolicyChange};
use bursar_app::tokens::{self, Holder, Issued, NewToken, Rotated};
use bursar_app::{AppError, Context, Identity, TokenCaller, Whole, roles};
use bursar_db::testing::TestDb;
use bursar_db::{Db, Tx};
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
        };
        world
            .act(Identity::Operator, move |tx, context| {
                create_organization(&mut Whole::open(tx, context)?, org, &new).map(drop)
            })
            .unwrap();
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

    fn context(&self, who: Identity) -> Context {
        let mut outside = self.outside.borrow_mut();
        Context {
            now: outside.now,
            ids: outside.ids.fork(),
            who,
            request_id: None,
        }
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

    fn act<T: Send + 'static>(
        &self,
        actor: Identity,
        mut work: impl FnMut(&mut Tx<'_>, &mut Context) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        let mut context = self.context(actor);
        self.db
            .write(self.org.to_bytes(), move |tx| work(tx, &mut context))
            .wait()
    }

    fn look<T: Send + 'static>(
        &self,
        actor: Identity,
        work: impl FnOnce(&mut Tx<'_>, &Context) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        let context = self.context(actor);
        self.db.read(move |tx| work(tx, &context)).wait()
    }

    fn role(&self, email: &'static str, role: Role) -> UserId {
        let org = self.org;
        self.act(Identity::Operator, move |tx, context| {
            roles::set(tx, context, org, email, role)
        })
        .unwrap()
        .user
        .id
    }

    fn remove(&self, email: &'static str) -> Result<(), AppError> {
        let org = self.org;
        self.act(Identity::Operator, move |tx, context| {
            roles::remove(tx, context, org, email)
        })
        .map(drop)
    }

    fn create_as(&self, actor: Identity, new: NewToken) -> Result<Issued, AppError> {
        let (org, entropy) = (self.org, self.entropy());
        self.act(actor, move |tx, context| {
            tokens::create(tx, context, org, &new, &entropy)
        })
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
        let (org, entropy) = (self.org, self.entropy());
        self.act(actor, move |tx, context| {
            tokens::rotate(tx, context, org, id, overlap_days, &entropy)
        })
    }

    fn revoke_as(&self, actor: Identity, id: TokenId) -> Result<tokens::Record, AppError> {
        let org = self.org;
        self.act(actor, move |tx, context| tokens::revoke(tx, context, org, id))
    }

    fn revoke(&self, id: TokenId) -> tokens::Record {
        self.revoke_as(Identity::Operator, id).unwrap()
    }

    fn policy(&self, change: PolicyChange) -> Result<(), AppError> {
        let org = self.org;
        self.act(Identity::Operator, move |tx, context| {
            policy::set(tx, context, org, &change)
        })
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
        let (key, now) = (hash(secret), self.now());
        let found = self.look(Identity::Operator, move |tx, _| {
            Ok(TokenCaller::known(tx, &key, now)?)
        });
        found.unwrap()
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
