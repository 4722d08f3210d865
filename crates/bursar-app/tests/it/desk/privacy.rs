//! A member who touched everything is exported and erased, on both engines.

use std::collections::BTreeMap;

use bursar_app::attachments::{self, NewAttachment};
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::outbox::{self, Attempt};
use bursar_app::privacy::{self, Erased, Looking};
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_app::reminders::{self, NewReminder};
use bursar_app::roster;
use bursar_app::statements::{self, Lines, NewStatement};
use bursar_app::{activity, cards, uploads};
use bursar_db::tables::{EVERY_TABLE, read_rows};
use bursar_db::{OwnedValue, Value};
use bursar_domain::Resource;
use bursar_domain::attachment::Subject;
use bursar_domain::card::{LimitFrequency, NewCard};
use bursar_domain::member::MemberChange;
use bursar_domain::money::Money;
use bursar_domain::reimbursement::ReimbursementVerb;
use bursar_domain::reminder::{Audience, Method, ReminderStatus};

use super::*;
use crate::support::{export_all, import_at, numbers, plant, record};

/// In lower case. The first four are the person's, the others were.
const NEEDLES: [&str; 8] = [
    "zaubermannova",
    "xanthippe.z@unusual.example",
    "9988776",
    "de89370400440532013000",
    "oldnamova",
    "old.x@unusual.example",
    "secret of hers",
    "quixotica",
];

/// The tables that have a needle, with how many rows do.
fn found(db: &Db) -> BTreeMap<&'static str, usize> {
    let read: Result<_, DbError> = db.survey(|tx| {
        let mut found = BTreeMap::new();
        for table in EVERY_TABLE {
            read_rows(tx, table, &mut |row| {
                let text: String = row
                    .iter()
                    .map(|value| match value {
                        OwnedValue::Text(text) => text.to_lowercase(),
                        OwnedValue::Bytes(bytes) => String::from_utf8_lossy(bytes).to_lowercase(),
                        OwnedValue::Null | OwnedValue::Int(_) => String::new(),
                    })
                    .collect();
                if NEEDLES.iter().any(|needle| text.contains(needle)) {
                    *found.entry(table.table).or_default() += 1;
                }
                Ok(())
            })?;
        }
        Ok(found)
    });
    read.unwrap()
}

struct Story {
    desk: Desk,
    member: Member,
    other: Member,
    group: Group,
    admin: Identity,
}

impl Story {
    fn erase(&self) -> Result<Erased, String> {
        let id = self.member.id;
        let looking = Looking {
            also: vec!["Quixotica".into()],
            is_full_name_only: false,
        };
        self.desk.try_as(self.admin, move |act| {
            privacy::erase(act, id, &looking, "asked by Zaubermannova in writing")
        })
    }
}

fn receipt(payer: Option<MemberId>, amount: &str, reference: &str) -> NewReceipt {
    NewReceipt {
        amount: amount.into(),
        method: Paid::Transfer,
        date: None,
        account: None,
        payer,
        payer_name: payer
            .is_none()
            .then(|| "Mother of Xanthippe Zaubermannova".to_owned()),
        reference: Some(reference.into()),
        payments: Vec::new(),
        campaign: None,
        income: payer.is_none().then(|| "other-income".to_owned()),
        again: false,
    }
}

/// Somebody with charges, money, a claim, a card, an order, messages, bank lines and a file, and of whom others write.
fn story(test: &TestDb) -> Story {
    let desk = Desk::open(test, 11, noon("2026-03-02"));
    let admin = desk.officer("chair@example.org", Role::Admin);
    let group = desk.group("Crew");
    let new = NewMember {
        first_name: "Xanthippe".into(),
        last_name: "Oldnamova".into(),
        email: Some("old.x@unusual.example".into()),
        phone: Some("+49 170 9988776".into()),
        groups: vec![group.id],
        ..NewMember::default()
    };
    let member = desk.act(move |act| members::add(act, &new)).member;
    let id = member.id;
    let other = desk.member("Bo", &[group.id]);
    desk.act(move |act| {
        let renamed = MemberChange {
            last_name: Some("Zaubermannova".into()),
            email: Some(Some("Xanthippe.Z@Unusual.example".into())),
            ..MemberChange::default()
        };
        members::change(act, id, &renamed)
    });
    // A roster that changes the member keeps the version before for undo.
    let csv = "First name,Last name,Email,Phone\nXanthippe,Zaubermannova,xanthippe.z@unusual.example,+49 170 9988776 0\n";
    let roster = roster::read(csv.as_bytes(), &roster::Options::default()).unwrap();
    desk.act(move |act| {
        let options = roster::Options::default();
        roster::import(act, &roster, &options, &mut |_| {}).unwrap();
        Ok(())
    });
    let child = other.id;
    desk.act(move |act| {
        let payer = MemberChange {
            payer_id: Some(Some(id)),
            ..MemberChange::default()
        };
        members::change(act, child, &payer)
    });
    let settings = groups::GroupSettings {
        description: Some("Led by Xanthippe Zaubermannova".into()),
        ..groups::GroupSettings::default()
    };
    let crew = group.id;
    desk.act(move |act| groups::set(act, crew, &settings));
    let described = |who, amount: &str, text: &str| NewCharges {
        description: text.into(),
        ..charges(Debtor::Member(who), amount)
    };
    let own = described(id, "25.00", "A secret of hers");
    desk.act(move |act| payments::raise(act, &own, None));
    let of_other = described(child, "5.00", "Ride with Xanthippe  ZAUBERMANNOVA");
    desk.act(move |act| payments::raise(act, &of_other, None));
    desk.act(move |act| receipts::record(act, &receipt(Some(id), "10.00", "check of Zaubermannova")));
    desk.act(move |act| receipts::record(act, &receipt(None, "3.00", "for Zaubermannova")));
    bank(&desk);
    claim(&desk, id, admin);
    let card = NewCard {
        name: "Card of Zaubermannova".into(),
        spend_limit: Money::parse("50.00", Currency::USD).unwrap(),
        spend_limit_frequency: LimitFrequency::Monthly,
        transaction_limit: None,
        assigned_member_id: Some(id),
    };
    desk.act(move |act| cards::create(act, &card));
    write_to(&desk, id, child);
    desk.try_as(admin, |act| {
        uploads::park(act, "roster.csv", b"Name\nXanthippe Zaubermannova\n")
    })
    .unwrap();
    plant(
        &desk.db,
        "INSERT INTO idempotency (organization_id, principal, key, fingerprint, status, body, created_at) \
         VALUES (?1, ?1, 'a-key', ?2, 200, ?3, 1)",
        &[
            Value::Bytes(&desk.org.to_bytes()),
            Value::Bytes(&[0; 32]),
            Value::Text(&desk.get::<Member>(id).document()),
        ],
    );
    Story {
        member: desk.get(id),
        other,
        group,
        admin,
        desk,
    }
}

/// A line that settles the member's charge, and one that nobody matched.
fn bank(desk: &Desk) {
    let csv = "Booking date;Amount;Name;IBAN;Purpose\n\
               2026-03-01;15.00;ZAUBERMANNOVA XANTHIPPE;DE89370400440532013000;boat\n\
               2026-03-01;7.00;Z. Zaubermannova;DE89 3704 0044 0532 0130 00;call 0170 / 99 88 776\n";
    let new = NewStatement {
        account: "bank".into(),
        bytes: csv.into(),
        format: None,
        columns: Vec::new(),
    };
    let read = desk.look(move |view| statements::read(view, &new)).unwrap();
    desk.act(move |act| statements::import(act, &read, false));
    let lines = desk
        .look(|view| statements::show(view, &Lines::default()))
        .unwrap();
    let line = lines
        .iter()
        .find(|line| line.line.amount == 1500)
        .unwrap()
        .line
        .id;
    desk.act(move |act| statements::confirm(act, &[line]));
}

fn claim(desk: &Desk, member: MemberId, admin: Identity) {
    let draft = Draft {
        member_id: Some(member),
        recipient_organization_id: None,
        amount: "12.00".into(),
        category: Some("Travel".into()),
        description: "Train of Zaubermannova".into(),
        incurred_at: None,
        receipts: vec!["Zaubermannova 1".into()],
    };
    let made = desk.act(move |act| reimbursements::draft(act, &draft)).id;
    let file = NewAttachment {
        subject: Subject::Reimbursement(made),
        name: "zaubermannova.pdf".into(),
        bytes: b"%PDF-1.7\nTicket of Zaubermannova".to_vec(),
    };
    desk.act(move |act| attachments::add(act, &file));
    for verb in [
        ReimbursementVerb::Submit,
        ReimbursementVerb::Approve,
        ReimbursementVerb::Pay,
    ] {
        let remarks = Remarks {
            note: Some("to Zaubermannova".into()),
            ..Remarks::default()
        };
        desk.try_as(admin, move |act| {
            reimbursements::perform(act, made, verb, &remarks)
        })
        .unwrap();
    }
}

/// A reminder to the member, and one to somebody who reads of the member.
fn write_to(desk: &Desk, member: MemberId, other: MemberId) {
    for (to, text) in [(member, "Dear Xanthippe"), (other, "Ask Xanthippe Zaubermannova")] {
        let new = NewReminder {
            audience: Audience::Member(to),
            method: Method::Email,
            at: noon("2026-03-02"),
            subject: Some("Zaubermannova".into()),
            body: Some(text.into()),
            every_days: None,
            include_payment_info: false,
        };
        let reminder = desk.act(move |act| reminders::schedule(act, &new)).id;
        desk.act(move |act| reminders::send_now(act, reminder));
    }
    let until = noon("2026-03-03");
    let jobs = desk
        .app
        .change(Identity::Worker, desk.org, move |whole| {
            outbox::claim_jobs(whole, until, 10)
        })
        .wait()
        .unwrap();
    for job in jobs {
        let expanded: Result<bool, AppError> = desk
            .app
            .act(Identity::Worker, desk.org, move |act| outbox::expand(act, &job))
            .wait();
        expanded.unwrap();
    }
    let claimed = desk
        .app
        .change(Identity::Worker, desk.org, move |whole| {
            outbox::claim(whole, Method::Email, until, 10)
        })
        .wait()
        .unwrap();
    for claim in claimed {
        let attempt = Attempt::Delivered("accepted for Zaubermannova".to_owned());
        let done: Result<_, AppError> = desk
            .app
            .act(Identity::Worker, desk.org, move |act| {
                outbox::attempted(act, &claim, &attempt)
            })
            .wait();
        done.unwrap();
    }
    // One that waits: it is not sent.
    let new = NewReminder {
        audience: Audience::Member(member),
        method: Method::Email,
        at: noon("2026-04-02"),
        subject: Some("Later, Zaubermannova".into()),
        body: Some("See you".into()),
        every_days: None,
        include_payment_info: false,
    };
    desk.act(move |act| reminders::schedule(act, &new));
}

#[test]
fn a_member_who_touched_everything_is_gone_from_every_table() {
    both_engines(|test| {
        let story = story(test);
        let (desk, id) = (&story.desk, story.member.id);
        let before = found(&desk.db);
        for table in [
            "activity",
            "attachment_parts",
            "attachments",
            "bulk_subjects",
            "cards",
            "events",
            "groups",
            "history",
            "idempotency",
            "journal_notes",
            "member_words",
            "members",
            "outbox_messages",
            "payments",
            "receipts",
            "reimbursements",
            "reminders",
            "statement_lines",
            "upload_parts",
        ] {
            // The activity log has no texts that name members, except what officers write.
            assert!(
                before.contains_key(table) || table == "activity",
                "{table}: {before:?}"
            );
        }
        let sums = "SELECT amount FROM journal_postings ORDER BY organization_id, entry_id, number";
        let books = numbers(&desk.db, sums, &[]);
        let events = numbers(&desk.db, "SELECT COUNT(*) FROM events", &[]);
        let updated = desk.get::<Member>(id).stamps.updated_at;

        let plan = desk
            .look(move |view| {
                privacy::preview(
                    view,
                    id,
                    &Looking {
                        also: vec!["Quixotica".into()],
                        is_full_name_only: false,
                    },
                )
            })
            .unwrap();
        assert_eq!(plan.open, [] as [&str; 0], "{plan:?}");
        assert_eq!(found(&desk.db), before);
        let texts: Vec<&str> = plan
            .mentions
            .iter()
            .map(|mention| mention.text.as_str())
            .collect();
        for text in [
            "Led by Xanthippe Zaubermannova",
            "Ride with Xanthippe  ZAUBERMANNOVA",
            "Z. Zaubermannova",
        ] {
            assert!(texts.contains(&text), "{text}: {texts:?}");
        }

        let erased = story.erase().unwrap();
        assert_eq!(found(&desk.db), BTreeMap::new());
        assert_eq!(erased.messages.len(), 2, "{erased:?}");
        assert_eq!(problems(&desk.db), []);
        // The preview said what was done.
        let counts = |items: &[privacy::Item]| {
            let rows = items.iter().map(|item| (item.what.clone(), item.count));
            rows.collect::<BTreeMap<_, _>>()
        };
        assert_eq!(counts(&erased.plan.stays), counts(&plan.stays));
        for (what, count) in counts(&plan.goes) {
            assert!(counts(&erased.plan.goes)[&what] >= count, "{what}");
        }

        // Amounts stay, a placeholder stands for the member, and mirrors learn it as a change.
        assert_eq!(numbers(&desk.db, sums, &[]), books);
        let left = desk.get::<Member>(id);
        assert_eq!((left.name().as_str(), left.is_active), ("Erased member", false));
        assert_eq!((&left.email, &left.phone, left.join_date), (&None, &None, None));
        assert!(left.groups.is_empty() && left.bank_accounts.is_empty() && left.erased_at.is_some());
        assert_eq!(left.reference, story.member.reference);
        assert!(left.stamps.updated_at > updated);
        assert!(numbers(&desk.db, "SELECT COUNT(*) FROM events", &[]) > events);
        let newest = numbers(
            &desk.db,
            "SELECT COUNT(*) FROM events WHERE resource_id = ?1 AND created_at = ?2",
            &[
                Value::Bytes(&id.to_bytes()),
                Value::Int(left.stamps.updated_at.micros()),
            ],
        );
        assert_eq!(newest, [1]);
        assert_eq!(desk.get::<Member>(story.other.id).payer_id, None);
        assert_eq!(desk.get::<Group>(story.group.id).description, "Led by (erased)");
        let charges = desk.all_payments();
        let own = charges
            .iter()
            .find(|charge| charge.member_id == Some(id))
            .unwrap();
        assert_eq!(
            (own.description.as_str(), own.status),
            ("(erased)", PaymentStatus::Paid)
        );
        assert!(own.reference.is_some());
        let cancelled = desk.look(|view| reminders::list(view, Some(ReminderStatus::Cancelled)));
        assert_eq!(cancelled.unwrap().len(), 1);
        let query = activity::Query {
            action: Some("member.erase".into()),
            limit: 1,
            ..activity::Query::default()
        };
        let said = desk.look(move |view| activity::list(view, &query)).unwrap();
        let subject = said[0].subject.clone().unwrap();
        assert_eq!(subject, format!("{id}: asked by (erased) in writing"));

        // What is left can be exported and imported again.
        let bundle = export_all(&desk.db);
        for needle in NEEDLES {
            assert!(!bundle.to_lowercase().contains(needle), "{needle}");
        }
    });
}

#[test]
fn what_is_left_imports_again_and_an_old_record_does_not_bring_the_name_back() {
    both_engines(|test| {
        let story = story(test);
        let (desk, id) = (&story.desk, story.member.id);
        let old = record(&desk.db, id);
        story.erase().unwrap();
        let left = export_all(&desk.db);
        let fresh = TestDb::sqlite();
        import_at(&fresh.db, &left, noon("2026-03-03")).unwrap();
        assert_eq!(export_all(&fresh.db), left);
        assert_eq!(problems(&fresh.db), []);
        let refused = import_at(&desk.db, &format!("{old}\n"), noon("2026-03-03")).unwrap_err();
        assert!(refused.contains("erasedAt"), "{refused}");
        for change in [
            MemberChange {
                is_active: Some(true),
                ..MemberChange::default()
            },
            MemberChange {
                first_name: Some("Xanthippe".into()),
                ..MemberChange::default()
            },
        ] {
            let refused = desk.refused(move |act| members::change(act, id, &change));
            assert!(refused.contains("was erased on 2026-03-02"), "{refused}");
        }
        let refused = story.erase().unwrap_err();
        assert!(refused.contains("was erased on"), "{refused}");
        let other = story.other.id;
        let payer = MemberChange {
            payer_id: Some(Some(id)),
            ..MemberChange::default()
        };
        let refused = desk.refused(move |act| members::change(act, other, &payer));
        assert!(refused.contains("was erased on"), "{refused}");
    });
}

/// A family shares an address, a phone and a name.
#[test]
fn what_somebody_else_has_too_stays_theirs() {
    both_engines(|test| {
        let desk = Desk::open(test, 12, noon("2026-03-02"));
        let add = |first: &str| {
            let new = NewMember {
                first_name: first.into(),
                last_name: "Larsen".into(),
                email: Some("family@example.org".into()),
                phone: Some("+12025550123".into()),
                ..NewMember::default()
            };
            desk.act(move |act| members::add(act, &new)).member
        };
        let (ada, bo) = (add("Ada"), add("Bo"));
        let group = desk.group("Larsen crew, led by Ada Larsen");
        let texts = NewCharges {
            description: "Larsen, family@example.org, 202 555 0123; Larsen, Ada".into(),
            ..charges(Debtor::Member(bo.id), "5.00")
        };
        let charge = desk.act(move |act| payments::raise(act, &texts, None)).payments[0].id;
        let id = ada.id;
        let plan = desk
            .look(move |view| privacy::preview(view, id, &Looking::default()))
            .unwrap();
        assert_eq!(plan.shared, ["+12025550123", "Larsen", "family@example.org"]);
        desk.act(move |act| privacy::erase(act, id, &Looking::default(), "asked for it"));
        let left = desk.get::<Member>(bo.id);
        assert_eq!(
            (left.email, left.phone, left.last_name),
            (bo.email, bo.phone, bo.last_name)
        );
        assert_eq!(
            desk.get::<Payment>(charge).description,
            "Larsen, family@example.org, 202 555 0123; (erased)"
        );
        assert_eq!(desk.get::<Group>(group.id).name, "Larsen crew, led by (erased)");
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn who_is_still_needed_stays() {
    both_engines(|test| {
        let desk = Desk::open(test, 13, noon("2026-03-02"));
        let member = desk.member("Quentin", &[]);
        let id = member.id;
        let erase = move |act: &mut Act<'_, '_>| privacy::erase(act, id, &Looking::default(), "asked for it");
        desk.officer("quentin@example.org", Role::Viewer);
        let refused = desk.refused(erase);
        assert!(refused.contains("quentin@example.org has a role"), "{refused}");
        desk.act(|act| roles::remove(act, "quentin@example.org"));
        let contact = |email: &str| organizations::OrganizationChange {
            contact_email: Some(Some(email.into())),
            ..organizations::OrganizationChange::default()
        };
        let own = contact("Quentin@example.org");
        desk.act(move |act| organizations::set(act, &own));
        let refused = desk.refused(erase);
        assert!(refused.contains("the organization's contact"), "{refused}");
        let office = contact("office@example.org");
        desk.act(move |act| organizations::set(act, &office));
        // Who may, and why.
        let editor = desk.officer("editor@example.org", Role::Editor);
        let refused = desk.try_as(editor, erase).unwrap_err();
        assert!(refused.contains("only an admin"), "{refused}");
        let refused = desk.refused(move |act| privacy::erase(act, id, &Looking::default(), " "));
        assert!(refused.contains("reason"), "{refused}");
        desk.act(erase);
        // The sign-in went with the last role.
        let users = numbers(
            &desk.db,
            "SELECT COUNT(*) FROM users WHERE email LIKE '%quentin%'",
            &[],
        );
        assert_eq!(users, [0]);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn references_go_when_the_books_are_old() {
    both_engines(|test| {
        let desk = Desk::open(test, 14, noon("2013-03-02"));
        let member = desk.member("Quentin", &[]);
        let id = member.id;
        let raise = |amount: &str, due: &str| {
            let new = NewCharges {
                due_date: Some(day(due)),
                ..charges(Debtor::Member(id), amount)
            };
            desk.act(move |act| payments::raise(act, &new, None)).payments[0].clone()
        };
        let old = raise("10.00", "2013-03-31");
        let paid = receipt(Some(id), "10.00", "old");
        desk.act(move |act| receipts::record(act, &paid));
        desk.set_clock(noon("2016-06-01"));
        let new = raise("20.00", "2016-06-30");
        let paid = receipt(Some(id), "20.00", "new");
        desk.act(move |act| receipts::record(act, &paid));
        desk.set_clock(noon("2026-03-02"));
        let erased = desk.act(move |act| privacy::erase(act, id, &Looking::default(), "asked for it"));
        assert_eq!(erased.plan.kept_until, Some(day("2026-12-31")));
        // 2016 is kept until the end of 2026, 2013 is not.
        assert_eq!(desk.get::<Payment>(old.id).reference, None);
        assert!(desk.get::<Payment>(new.id).reference.is_some());
        assert!(desk.get::<Member>(id).reference.is_some());
        let stays: Vec<&str> = erased.plan.stays.iter().map(|item| item.what.as_str()).collect();
        assert!(stays.contains(&"Charges from before the retention"), "{stays:?}");
        assert_eq!(problems(&desk.db), []);
    });
}
