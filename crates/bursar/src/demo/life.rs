//! The demo's last two months: officers act through the same functions as everybody,
//! each at its own time. So the ledger, the activity log and the history look real.

use std::collections::BTreeMap;

use bursar_app::attachments::{self, NewAttachment};
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::campaigns::{self, CampaignChange};
use bursar_app::members::{self, NewMember};
use bursar_app::payments::{self, Debtor, NewCharges, Received};
use bursar_app::policy::{self, Cap, PolicyChange};
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_app::reminders::{self, NewReminder};
use bursar_app::resources::{self, Readable};
use bursar_app::store::OrderMoney;
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::{Act, AppError, Identity, Whole, cards, groups, roles, store};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::attachment::Subject;
use bursar_domain::campaign::CampaignVerb;
use bursar_domain::card::{LimitFrequency, NewCard};
use bursar_domain::group::{Group, NewGroup};
use bursar_domain::ids::{CampaignId, OrganizationId, PaymentId, UserId};
use bursar_domain::listing::Listing;
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::money::Money;
use bursar_domain::order::{OrderLine, OrderVerb};
use bursar_domain::organization::{Organization, OrganizationKind};
use bursar_domain::receipt::Method as Paid;
use bursar_domain::reimbursement::ReimbursementVerb;
use bursar_domain::reminder::{Audience, Method};
use bursar_domain::{Date, Refusal, Timestamp};

use super::data::{OFFICER, SECRETARY};
use super::names::name;
use crate::ambient;

type Done = Result<(), AppError>;
/// Something done at a given time; it may schedule more.
type Deed = Box<dyn FnOnce(&mut Act<'_, '_>, &mut Life) -> Done>;

/// An expense: description, category, and the steps it goes through.
type Story = (
    &'static str,
    &'static str,
    &'static [(ReimbursementVerb, Officer)],
);

#[derive(Clone, Copy, Debug)]
enum Officer {
    Treasurer,
    Secretary,
}

/// One organization's officers and their calendar.
struct Life {
    random: fastrand::Rng,
    today: Date,
    organization: Organization,
    treasurer: UserId,
    secretary: UserId,
    /// By time; the number keeps the order of deeds at one moment.
    ahead: BTreeMap<(Timestamp, usize), (Officer, Deed)>,
    count: usize,
}

/// The same seed gives the same life on the same day.
pub(super) fn random(organization: OrganizationId, seed: u64) -> fastrand::Rng {
    let bytes = organization.to_bytes().into_iter();
    fastrand::Rng::with_seed(bytes.fold(seed, |seed, byte| seed.rotate_left(8) ^ u64::from(byte)))
}

pub(super) fn live(
    whole: &mut Whole<'_, '_>,
    organization: &Organization,
    random: &fastrand::Rng,
    today: Date,
) -> Done {
    let id = organization.id;
    let mut life = Life {
        random: random.clone(),
        today,
        organization: organization.clone(),
        treasurer: roles::person(whole, OFFICER)?,
        secretary: roles::person(whole, SECRETARY)?,
        ahead: BTreeMap::new(),
        count: 0,
    };
    let (groups, members, listings) = (all(whole, id)?, all(whole, id)?, all(whole, id)?);
    life.plan(&groups, members, &listings);
    while let Some(((at, _), (officer, deed))) = life.ahead.pop_first() {
        let user = match officer {
            Officer::Treasurer => life.treasurer,
            Officer::Secretary => life.secretary,
        };
        whole.act_as(Identity::Person(user), at, id, |act| deed(act, &mut life))?;
    }
    let at = life.hours(1);
    super::bank::bring_in(whole, organization, Identity::Person(life.treasurer), at, today)
}

/// When the reminder of late dues was sent.
pub(super) fn reminded_at(today: Date) -> Timestamp {
    today.start().plus_days(-2).plus_seconds(8 * 3_600)
}

/// A page with one line, as small as a PDF can be.
fn receipt(what: &str, amount: &str) -> String {
    let text = format!("BT /F 14 Tf 40 150 Td ({what}: {amount}) Tj ET");
    format!(
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
         3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 420 200]/Contents 4 0 R/Resources<</Font<</F<</Type/Font\
         /Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n4 0 obj<</Length {}>>stream\n{text}\nendstream endobj\n\
         trailer<</Root 1 0 R>>\n%%EOF\n",
        text.len()
    )
}

pub(super) fn all<R: Readable>(
    whole: &mut Whole<'_, '_>,
    organization: OrganizationId,
) -> Result<Vec<R>, AppError> {
    let mut found = Vec::new();
    whole.view(organization, |view| {
        resources::each(view, |resource| found.push(resource))
    })?;
    Ok(found)
}

impl Life {
    fn at(
        &mut self,
        at: Timestamp,
        who: Officer,
        deed: impl FnOnce(&mut Act<'_, '_>, &mut Life) -> Done + 'static,
    ) {
        self.count += 1;
        self.ahead.insert((at, self.count), (who, Box::new(deed)));
    }

    /// A random moment in office hours.
    fn hours(&mut self, days_ago: i64) -> Timestamp {
        let within = i64::from(self.random.u32(9 * 3_600..18 * 3_600));
        self.today.start().plus_days(-days_ago).plus_seconds(within)
    }

    /// The same, at most `days_max` days after `start` and before today.
    fn hours_after(&mut self, start: Timestamp, days_max: i64) -> Timestamp {
        let elapsed = self.today.days() - start.date().days();
        let after = self.random.i64(0..=days_max.min(elapsed - 1));
        self.hours(elapsed - after).max(start.plus_seconds(60))
    }

    fn plan(&mut self, groups: &[Group], mut members: Vec<Member>, listings: &[Listing]) {
        members.retain(|member| member.is_active);
        for group in groups.iter().filter(|group| group.recurring_interval.is_some()) {
            // The last two periods; a yearly group has one.
            let periods = if group.name == "Boat owners" { 0..1 } else { 0..2 };
            for back in periods {
                self.dues(group, back);
            }
        }
        self.people(groups, &members);
        self.expenses(&members);
        self.card(&members);
        self.campaign();
        for listing in listings.iter().filter(|listing| listing.is_active) {
            self.orders(listing, &members);
        }
        self.settings(groups.first());
    }

    /// Raises the dues of `back` months ago, two weeks before they were due, and records the payments as they arrive.
    fn dues(&mut self, group: &Group, back: i32) {
        let due = self.today.plus_months(0, 1).plus_months(-back, 1);
        let charges = NewCharges {
            debtor: Debtor::Group(group.id),
            amount: None,
            description: format!("{}, {}", group.name, &due.to_string()[..7]),
            due_date: Some(due),
            category: None,
            again: false,
        };
        let raised_at = due.start().plus_days(-14).plus_seconds(9 * 3_600);
        self.at(raised_at, Officer::Treasurer, move |act, life| {
            for payment in payments::raise(act, &charges, None)?.payments {
                life.fate_of(payment.id, payment.amount, raised_at, back);
            }
            Ok(())
        });
    }

    /// Last month's payments are mostly settled; this month's are still arriving.
    fn fate_of(&mut self, id: PaymentId, amount: Money, raised_at: Timestamp, back: i32) {
        let (settled, days_max) = if back == 0 { (58, 45) } else { (88, 27) };
        let at = self.hours_after(raised_at, days_max);
        let soon = self.hours_after(at, 6);
        match self.random.u32(0..100) {
            draw if draw < settled => self.receive(id, amount, at),
            draw if draw < settled + 4 => self.receive(id, Money::new(amount.minor / 2, amount.currency), at),
            draw if draw < settled + 5 => {
                self.at(at, Officer::Treasurer, move |act, _| {
                    payments::cancel(act, id, false, None).map(drop)
                });
            }
            draw if draw < settled + 6 => {
                self.receive_by_card(id, amount, at);
                self.at(soon, Officer::Secretary, move |act, _| {
                    payments::dispute(act, id).map(drop)
                });
            }
            draw if draw < settled + 7 => self.bounce(id, amount, at, soon),
            _ => {}
        }
    }

    fn receive(&mut self, id: PaymentId, amount: Money, at: Timestamp) {
        let receipt = self.receipt(amount);
        self.at(at, Officer::Treasurer, move |act, _| {
            payments::record(act, id, &receipt).map(drop)
        });
    }

    /// Only card payments are disputed.
    fn receive_by_card(&mut self, id: PaymentId, amount: Money, at: Timestamp) {
        let receipt = Received {
            method: Paid::Card,
            ..self.receipt(amount)
        };
        self.at(at, Officer::Treasurer, move |act, _| {
            payments::record(act, id, &receipt).map(drop)
        });
    }

    /// A check that bounces.
    fn bounce(&mut self, id: PaymentId, amount: Money, at: Timestamp, soon: Timestamp) {
        let receipt = Received {
            method: Paid::Check,
            ..self.receipt(amount)
        };
        self.at(at, Officer::Treasurer, move |act, life| {
            let (_, entry) = payments::record(act, id, &receipt)?;
            life.at(soon, Officer::Treasurer, move |act, _| {
                payments::reverse(act, id, entry, Some("the check bounced"), false).map(drop)
            });
            Ok(())
        });
    }

    fn receipt(&mut self, amount: Money) -> Received {
        let number = self.random.u32(1_000..9_999);
        let (method, reference) = match self.random.u32(0..10) {
            0..2 => (Paid::Cash, None),
            2..4 => (Paid::Check, Some(format!("Check {number}"))),
            4..8 => (Paid::Transfer, Some(format!("TRF-{number}"))),
            _ => (Paid::Card, Some(format!("Terminal {number}"))),
        };
        Received {
            amount: amount.to_string(),
            method,
            received_on: None,
            reference,
            // A number drawn twice is no mistake.
            again: true,
        }
    }

    /// New members, one who changes address, one who leaves, and a course that some join.
    fn people(&mut self, groups: &[Group], members: &[Member]) {
        let adults = groups.first().map(|group| group.id);
        for days_ago in [34, 19, 5] {
            let (first_name, last_name) = name(&mut self.random);
            let new = NewMember {
                email: Some(format!("newcomer.{days_ago}@example.org")),
                first_name,
                last_name,
                phone: None,
                join_date: None,
                groups: adults.into_iter().collect(),
            };
            let at = self.hours(days_ago);
            self.at(at, Officer::Secretary, move |act, _| {
                members::add(act, &new).map(drop)
            });
        }
        let changes = [
            (
                27,
                MemberChange {
                    is_active: Some(false),
                    ..MemberChange::default()
                },
            ),
            (
                3,
                MemberChange {
                    email: Some(Some("moved@example.org".to_owned())),
                    ..MemberChange::default()
                },
            ),
        ];
        for ((days_ago, change), member) in changes.into_iter().zip(members.iter().rev()) {
            let (id, at) = (member.id, self.hours(days_ago));
            self.at(at, Officer::Secretary, move |act, _| {
                members::change(act, id, &change).map(drop)
            });
        }
        let course = NewGroup {
            name: "Saturday rowing school".to_owned(),
            description: "Six Saturdays for beginners.".to_owned(),
        };
        let joining: Vec<_> = members
            .iter()
            .step_by(9)
            .take(8)
            .map(|member| member.id)
            .collect();
        let at = self.hours(21);
        self.at(at, Officer::Secretary, move |act, _| {
            let group = groups::create(act, &course)?.id;
            joining
                .iter()
                .try_for_each(|member| groups::add_member(act, group, *member).map(drop))
        });
    }

    /// Four expenses at different steps: paid, approved, rejected, submitted. Each has its receipt.
    fn expenses(&mut self, members: &[Member]) {
        use ReimbursementVerb::{Approve, Pay, Reject, Submit};
        let stories: [Story; 4] = [
            (
                "Trailer hire for the autumn regatta",
                "travel",
                &[
                    (Submit, Officer::Secretary),
                    (Approve, Officer::Treasurer),
                    (Pay, Officer::Treasurer),
                ],
            ),
            (
                "Oar varnish and brushes",
                "equipment",
                &[(Submit, Officer::Secretary), (Approve, Officer::Treasurer)],
            ),
            (
                "Dinner after the race",
                "catering",
                &[(Submit, Officer::Secretary), (Reject, Officer::Treasurer)],
            ),
            (
                "Posters for the open day",
                "printing",
                &[(Submit, Officer::Secretary)],
            ),
        ];
        for (i, ((description, category, steps), member)) in stories.into_iter().zip(members).enumerate() {
            let drafted = self.hours(16 - 3 * i64::try_from(i).unwrap_or(0));
            let draft = Draft {
                member_id: Some(member.id),
                recipient_organization_id: None,
                amount: Money::new(
                    i64::from(self.random.u32(900..26_000)),
                    self.organization.currency,
                )
                .to_string(),
                category: Some(category.to_owned()),
                description: description.to_owned(),
                incurred_at: Some(drafted.date().plus_days(-2)),
                receipts: Vec::new(),
            };
            self.at(drafted, Officer::Secretary, move |act, life| {
                let id = reimbursements::draft(act, &draft)?.id;
                let receipt = NewAttachment {
                    subject: Subject::Reimbursement(id),
                    name: "receipt.pdf".to_owned(),
                    bytes: receipt(description, &draft.amount).into_bytes(),
                };
                attachments::add(act, &receipt)?;
                for (number, (verb, who)) in steps.iter().copied().enumerate() {
                    let at = drafted.plus_seconds(3_600 * 20 * (i64::try_from(number).unwrap_or(0) + 1));
                    let remarks = Remarks {
                        note: (verb == Reject).then(|| "Please attach the itemised receipt.".to_owned()),
                        payout_reference: (verb == Pay).then(|| "TRF-PAYOUT-1".to_owned()),
                        ..Remarks::default()
                    };
                    life.at(at, who, move |act, _| {
                        reimbursements::perform(act, id, verb, &remarks).map(drop)
                    });
                }
                Ok(())
            });
        }
    }

    /// A card, or an application if the organization cannot issue cards yet.
    fn card(&mut self, members: &[Member]) {
        let new = NewCard {
            name: "Coach launch fuel".to_owned(),
            spend_limit: Money::new(30_000, self.organization.currency),
            spend_limit_frequency: LimitFrequency::Monthly,
            transaction_limit: None,
            assigned_member_id: members.get(5).map(|member| member.id),
        };
        let at = self.hours(12);
        self.at(at, Officer::Treasurer, move |act, _| {
            cards::create(act, &new).map(drop)
        });
    }

    fn campaign(&mut self) {
        let new = CampaignChange {
            name: Some("A new coxed four".to_owned()),
            note: Some("The old one has seen thirty seasons.".to_owned()),
            goal_amount: Some(Some("18000.00".to_owned())),
            start_date: Some(Some(self.today.plus_days(-8))),
            end_date: Some(Some(self.today.plus_days(120))),
        };
        let (made, started) = (self.hours(10), self.hours(8));
        self.at(made, Officer::Secretary, move |act, life| {
            let id = campaigns::create(act, &new)?.id;
            life.at(started, Officer::Secretary, move |act, life| {
                campaigns::perform(act, id, CampaignVerb::Start)?;
                life.gifts(id);
                Ok(())
            });
            Ok(())
        });
    }

    /// Money for a campaign that has just begun.
    fn gifts(&mut self, campaign: CampaignId) {
        let gifts = [
            (6, "5000.00", "Harbour Savings Bank"),
            (5, "1200.00", "Friends of the Boathouse"),
            (3, "350.00", "The Masters' crew"),
            (2, "2500.00", "City sports fund"),
        ];
        for (days_ago, amount, from) in gifts {
            let gift = NewReceipt {
                amount: amount.to_owned(),
                method: Paid::Transfer,
                date: None,
                account: None,
                payer: None,
                payer_name: Some(from.to_owned()),
                reference: None,
                payments: Vec::new(),
                campaign: Some(campaign),
                income: None,
                again: false,
            };
            let at = self.hours(days_ago);
            self.at(at, Officer::Treasurer, move |act, _| {
                receipts::record(act, &gift).map(drop)
            });
        }
    }

    /// Recent orders: fulfilled, paid, and one pending.
    fn orders(&mut self, listing: &Listing, members: &[Member]) {
        for (days_ago, steps) in [
            (15, &[OrderVerb::Pay, OrderVerb::Fulfil][..]),
            (6, &[OrderVerb::Pay]),
            (2, &[]),
        ] {
            let (at, listing) = (self.hours(days_ago), listing.id);
            let member = members[self.random.usize(0..members.len())].id;
            let lines = [OrderLine {
                item: ["S", "M", "L"][self.random.usize(0..3)].to_owned(),
                quantity: self.random.i64(1..3),
            }];
            self.at(at, Officer::Secretary, move |act, life| {
                let id = store::order(act, listing, Some(member), &lines)?.id;
                for (number, verb) in (1..).zip(steps) {
                    life.at(
                        at.plus_seconds(7_200 * number),
                        Officer::Treasurer,
                        move |act, _| store::perform_order(act, id, *verb, &OrderMoney::default()).map(drop),
                    );
                }
                Ok(())
            });
        }
    }

    /// Tokens, a policy and the next reminder. Set up in the evening, after everything that is done in office hours.
    fn settings(&mut self, group: Option<&Group>) {
        let evening = self.today.start().plus_seconds(-7_200);
        let (viewer, members) = (Role::Viewer, [Scope::MembersRead, Scope::GroupsRead]);
        if self.organization.kind == OrganizationKind::National {
            self.token(evening, "Website roster", (viewer, &members), 60, false);
            let payments = (viewer, &[Scope::PaymentsRead][..]);
            self.token(evening, "Old accounting export", payments, 60, true);
            // One to renew.
            self.token(
                evening,
                "Regatta results",
                (viewer, &[Scope::GroupsRead]),
                5,
                false,
            );
        } else {
            self.token(
                evening,
                "Boathouse display",
                (viewer, &[Scope::GroupsRead]),
                60,
                false,
            );
            let change = PolicyChange {
                cap: Some(Cap::Days(180)),
                ..PolicyChange::default()
            };
            self.at(evening.plus_seconds(900), Officer::Treasurer, move |act, _| {
                policy::set(act, &change).map(drop)
            });
        }
        let Some(group) = group else { return };
        let late = NewReminder {
            audience: Audience::Group(group.id),
            method: Method::Email,
            at: reminded_at(self.today),
            subject: Some("Your dues are late".to_owned()),
            body: Some("Dear {firstName},\n{overdue} is overdue. Could you look at it this week?".to_owned()),
            every_days: None,
            include_payment_info: true,
        };
        let before = self.hours(4);
        self.at(before, Officer::Treasurer, move |act, _| {
            reminders::schedule(act, &late).map(drop)
        });
        let reminder = NewReminder {
            audience: Audience::Group(group.id),
            method: Method::Email,
            at: self.today.plus_days(6).start().plus_seconds(9 * 3_600),
            subject: Some("Dues are due soon".to_owned()),
            body: Some("Dear member,\nthis is what is open on your account. Thank you!".to_owned()),
            every_days: Some(30),
            include_payment_info: true,
        };
        self.at(evening.plus_seconds(1_800), Officer::Treasurer, move |act, _| {
            reminders::schedule(act, &reminder).map(drop)
        });
    }

    /// A service token to look at; its secret is thrown away.
    fn token(
        &mut self,
        at: Timestamp,
        name: &str,
        (role, scopes): (Role, &[Scope]),
        days: i64,
        is_revoked: bool,
    ) {
        let new = NewToken {
            holder: Holder::Service(role),
            name: Some(name.to_owned()),
            scopes: ScopeSet::of(scopes),
            days: Some(days),
        };
        self.at(at, Officer::Treasurer, move |act, life| {
            // The secret must not be predictable from the seed.
            let entropy = ambient::entropy().map_err(Refusal::conflict)?;
            let id = tokens::create(act, &new, &entropy)?.record.id;
            if is_revoked {
                life.at(at.plus_seconds(600), Officer::Treasurer, move |act, _| {
                    tokens::revoke(act, id).map(drop)
                });
            }
            Ok(())
        });
    }
}
