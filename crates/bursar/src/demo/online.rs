//! Card payments of the demo: every organization takes cards by the demo's own provider, and in the first one members have
//! paid already. One of them got a part back, one bank disputes a payment, one card was declined.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bursar_app::online::providers::{self, ENTROPY, NewProvider};
use bursar_app::online::{self, NewOnlinePayment, Record, Teller};
use bursar_app::secrets::KeyFile;
use bursar_app::{App, AppError, DatabaseUrl, Identity, NO_ORGANIZATION, member_access, roles};
use bursar_domain::ids::{IdSource, MemberId, OnlinePaymentId, OrganizationId, PaymentId, UserId};
use bursar_domain::member_access::MemberLink;
use bursar_domain::online::ProviderKind;
use bursar_domain::organization::{Organization, OrganizationKind};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::{Date, Timestamp};
use bursar_stripe::{DEMO_KEY, Stripe};

use super::cards::CardDesk;
use super::data::OFFICER;
use super::{Failure, Outcome, life, organizations};
use crate::ambient;

/// The working directory has it where the database is elsewhere.
const KEY_FILE: &str = "bursar-demo.secret-key";
const STATE_FILE: &str = "bursar-demo.cards.json";
/// Members who have paid.
const PAYERS: usize = 5;
/// Where links lead before the server says where it is.
const NOWHERE: &str = "http://localhost:8080";

/// What the provider keeps is beside the database.
pub(super) fn state_file(url: &DatabaseUrl) -> PathBuf {
    match url {
        DatabaseUrl::Sqlite(path) => {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(".cards.json");
            path.with_file_name(name)
        }
        DatabaseUrl::Postgres(_) => PathBuf::from(STATE_FILE),
    }
}

/// The file with the key of secrets, if it cannot be beside the database and nobody named one.
pub(super) fn key_file(url: &DatabaseUrl) -> Result<Option<PathBuf>, Failure> {
    if matches!(url, DatabaseUrl::Sqlite(_)) {
        return Ok(None);
    }
    let file = PathBuf::from(KEY_FILE);
    KeyFile::Beside(file.clone()).read_or_make(Some(ambient::entropy()?))?;
    Ok(Some(file))
}

/// Connects every organization that is not connected yet.
pub(super) fn connect(app: &App, keys: &KeyFile, desk: &CardDesk, seed: u64, today: Date) -> Outcome {
    let officer = app.look::<_, AppError>(Identity::Operator, |whole| roles::person(whole, OFFICER));
    let officer = officer.wait()?;
    for organization in organizations(app)? {
        let key = format!("{DEMO_KEY}{}", organization.id);
        let id = organization.id;
        let shown = app.view::<_, AppError>(Identity::Operator, id, providers::show);
        if shown.wait().is_ok() && desk.counter.is_connected(&key) {
            continue;
        }
        let secret: [u8; 16] = ambient::entropy()?;
        let secret = secret
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>();
        let past = Past::new(app, keys, desk, (&organization, officer), seed);
        past.at(today, 13, 10);
        past.set_provider(keys, &key, format!("whsec_{secret}"))?;
        if organization.kind == OrganizationKind::National {
            past.play(today)?;
        }
        desk.counter.set_time(None);
        let path = format!("/hooks/stripe/{id}");
        desk.counter
            .connect(&key, &organization.name, path, format!("whsec_{secret}"));
    }
    Ok(())
}

/// A member with something to pay, for the newcomer to be.
pub(super) fn somebody(app: &App, organization: OrganizationId) -> Result<Option<MemberId>, Failure> {
    let mut open: Vec<(MemberId, i64)> = Vec::new();
    for charge in charges(app, organization)? {
        let Some(member) = charge.member_id.filter(|_| is_open(&charge)) else {
            continue;
        };
        match open.iter_mut().find(|(known, _)| *known == member) {
            Some((_, count)) => *count += 1,
            None => open.push((member, 1)),
        }
    }
    // With a choice of charges, if anybody has one.
    Ok(open
        .into_iter()
        .max_by_key(|(member, count)| (*count, *member))
        .map(|(member, _)| member))
}

fn is_open(charge: &Payment) -> bool {
    match charge.status {
        PaymentStatus::Pending | PaymentStatus::PartiallyPaid => true,
        PaymentStatus::Processing
        | PaymentStatus::Paid
        | PaymentStatus::Failed
        | PaymentStatus::Cancelled
        | PaymentStatus::Disputed => false,
    }
}

fn charges(app: &App, organization: OrganizationId) -> Result<Vec<Payment>, Failure> {
    let all = app.look::<_, AppError>(Identity::Operator, move |whole| life::all(whole, organization));
    Ok(all.wait()?)
}

/// One organization's card payments of the last two weeks, each at its own time.
struct Past<'a> {
    app: App,
    teller: Teller,
    desk: &'a CardDesk,
    clock: Arc<AtomicI64>,
    organization: OrganizationId,
    officer: UserId,
}

impl<'a> Past<'a> {
    fn new(
        app: &App,
        keys: &KeyFile,
        desk: &'a CardDesk,
        (organization, officer): (&Organization, UserId),
        seed: u64,
    ) -> Self {
        let clock = Arc::new(AtomicI64::default());
        let told = Arc::clone(&clock);
        let mut random = life::random(organization.id, seed);
        // The first is that of other ids.
        let _ = random.u64(..);
        let app = app
            .at(Arc::new(move || {
                Timestamp::from_micros(told.load(Ordering::Relaxed))
            }))
            .with_ids(IdSource::seeded(random.u64(..)));
        Self {
            teller: Teller::new(app.clone(), keys.clone(), Arc::new(Stripe::new(&desk.url()))),
            app,
            desk,
            clock,
            organization: organization.id,
            officer,
        }
    }

    /// It is this hour, so many days ago.
    fn at(&self, today: Date, days_ago: i64, hour: i64) {
        let at = today.start().plus_days(-days_ago).plus_seconds(hour * 3_600);
        self.clock.store(at.micros(), Ordering::Relaxed);
        self.desk.counter.set_time(Some(at));
    }

    fn set_provider(&self, keys: &KeyFile, key: &str, secret: String) -> Outcome {
        let (file, random) = (keys.clone(), ambient::entropy()?);
        let who = Identity::Person(self.officer);
        let sealing = self.app.view::<_, AppError>(who, self.organization, move |view| {
            providers::sealing_key(view, &file, random)
        });
        let (sealing, entropy) = (sealing.wait()?, ambient::entropy::<ENTROPY>()?);
        let new = NewProvider {
            kind: ProviderKind::Stripe,
            key: Some(key.to_owned()),
            webhook_secret: Some(secret),
            account: None,
        };
        let set = self.app.act::<_, AppError>(who, self.organization, move |act| {
            providers::set(act, &new, &sealing, &entropy)
        });
        set.wait()?;
        Ok(())
    }

    fn play(&self, today: Date) -> Outcome {
        let known = self
            .app
            .view::<_, AppError>(Identity::Operator, self.organization, |view| {
                online::list(view, None, 1)
            });
        if !known.wait()?.is_empty() {
            return Ok(());
        }
        let entropy = ambient::entropy()?;
        let announced = self
            .app
            .change::<_, AppError>(Identity::Operator, NO_ORGANIZATION, move |whole| {
                member_access::announce(whole, NOWHERE, &entropy)
            });
        announced.wait()?;
        let [first, second, third, fourth, fifth] = self.payers()?;
        self.at(today, 12, 9);
        self.pay(first, "4242")?;
        self.at(today, 10, 20);
        let paid = self.pay(second, "4242")?;
        self.at(today, 8, 11);
        self.give_back(paid)?;
        self.at(today, 7, 6);
        self.pay_out()?;
        self.at(today, 6, 18);
        self.pay(third, "4242")?;
        self.at(today, 5, 13);
        let disputed = self.pay(fourth, "0259")?;
        self.at(today, 4, 10);
        self.desk.counter.tick();
        self.teller.pursue(self.organization, disputed)?;
        self.at(today, 3, 21);
        let declined = self.pay(fifth, "0002")?;
        self.at(today, 1, 6);
        self.pay_out()?;
        // Its page is over by then.
        self.teller.pursue(self.organization, declined)?;
        Ok(())
    }

    /// Members with a charge that nothing was paid for, and the charge.
    fn payers(&self) -> Result<[(MemberId, PaymentId); PAYERS], Failure> {
        let mut found: Vec<(MemberId, PaymentId)> = Vec::new();
        let mut all = charges(&self.app, self.organization)?;
        // The newest first: that is what people pay.
        all.sort_by_key(|charge| std::cmp::Reverse((charge.due_date, charge.id)));
        for charge in all {
            let is_due = charge.status == PaymentStatus::Pending && charge.due_date.is_some();
            if let Some(member) = charge.member_id.filter(|_| is_due)
                && !found.iter().any(|(known, _)| *known == member)
            {
                found.push((member, charge.id));
            }
        }
        let first: Option<[_; PAYERS]> = found.get(..PAYERS).and_then(|found| found.try_into().ok());
        Ok(first.ok_or("too few members of the demo have something to pay")?)
    }

    /// As the member does it: from the page of their own to the provider's, and back.
    fn pay(&self, (member, charge): (MemberId, PaymentId), card: &str) -> Result<OnlinePaymentId, Failure> {
        let organization = self.organization;
        let link = self
            .app
            .view::<_, AppError>(Identity::Person(self.officer), organization, move |view| {
                member_access::link(view, member)
            });
        let (_, link, _) = link.wait()?;
        let link = link.rsplit('/').next().and_then(MemberLink::parse);
        let who = Identity::Link(link.ok_or("a member's link cannot be read")?);
        let new = NewOnlinePayment {
            member,
            charges: vec![(charge, None)],
            success_url: format!("{NOWHERE}/m/paid/{{id}}"),
            cancel_url: format!("{NOWHERE}/m/"),
        };
        let begun = self
            .app
            .act::<_, AppError>(who, organization, move |act| online::begin(act, &new));
        let id = begun.wait()?.id;
        let Record { url, .. } = self.teller.open(organization, id)?;
        let url = url.unwrap_or_default();
        self.desk
            .counter
            .pay(url.rsplit('/').next().unwrap_or_default(), card);
        self.teller.pursue(organization, id)?;
        Ok(id)
    }

    fn give_back(&self, id: OnlinePaymentId) -> Outcome {
        let who = Identity::Person(self.officer);
        let refunded = self.app.act::<_, AppError>(who, self.organization, move |act| {
            online::refund(act, id, Some("5.00"), Some("Charged for a month too many"))
        });
        refunded.wait()?;
        self.teller.pursue(self.organization, id)?;
        Ok(())
    }

    fn pay_out(&self) -> Outcome {
        self.desk.counter.tick();
        Ok(self.teller.sweep(self.organization)?)
    }
}
