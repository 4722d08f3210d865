//! Settings of organizations and groups, payers, and members found by their references.

use bursar_app::desk::Filter;
use bursar_app::groups::GroupSettings;
use bursar_app::organizations::OrganizationChange;
use bursar_app::{names, search};
use bursar_domain::chapter::Chapter;
use bursar_domain::creditor_reference;
use bursar_domain::group::ProRata;
use bursar_domain::ids::{GroupId, kind};
use bursar_domain::member::MemberChange;
use bursar_domain::zone::Zone;

use super::*;

fn late(fee: &str, after: Option<i64>, cap: Option<&str>) -> GroupSettings {
    GroupSettings {
        late_fee: Some(fee.into()),
        late_after: after,
        late_cap: cap.map(str::to_owned),
        ..GroupSettings::default()
    }
}

impl Desk {
    fn set_group(&self, id: GroupId, settings: GroupSettings) -> Result<Group, String> {
        self.try_as(Identity::Operator, move |act| groups::set(act, id, &settings))
    }

    fn set_payer(&self, id: MemberId, payer: Option<MemberId>) -> Result<Member, String> {
        let change = MemberChange {
            payer_id: Some(payer),
            ..MemberChange::default()
        };
        self.try_as(Identity::Operator, move |act| members::change(act, id, &change))
    }
}

#[test]
fn a_groups_rules_are_set_and_removed() {
    both_engines(|test| {
        let desk = Desk::open(test, 60, noon("2026-01-10"));
        let crew = desk.group("Crew").id;
        let rules = |group: &Group| {
            let text = |amount: Option<bursar_domain::money::Money>| amount.map(|amount| amount.to_string());
            (
                text(group.late_fee),
                group.late_percent,
                group.late_after_days,
                text(group.late_cap),
            )
        };
        for (settings, part) in [
            (late("10", None, None), "late-after is required"),
            (
                late("10.005", Some(14), None),
                "late-fee must be a decimal amount",
            ),
            (late("2.5%", Some(14), None), "whole percentage"),
            (late("10", Some(-1), None), "late-after must be 0 to 3650 days"),
            (late("10", Some(3_651), None), "late-after must be 0 to 3650 days"),
            (late("5%", Some(14), Some("0")), "late-cap must be greater than 0"),
            (
                late("5%", Some(14), Some("ten")),
                "late-cap must be a decimal amount",
            ),
            (
                GroupSettings {
                    late_after: Some(14),
                    ..GroupSettings::default()
                },
                "late-fee is required",
            ),
            (
                GroupSettings {
                    late_cap: Some("5".into()),
                    ..GroupSettings::default()
                },
                "late-fee is required",
            ),
            (
                GroupSettings {
                    name: Some(" ".into()),
                    ..GroupSettings::default()
                },
                "name must",
            ),
        ] {
            let said = desk.set_group(crew, settings.clone()).unwrap_err();
            assert!(said.contains(part), "{settings:?}: {said}");
        }
        let set = desk.set_group(crew, late("5%", Some(14), Some("20"))).unwrap();
        assert_eq!(rules(&set), (None, Some(5), Some(14), Some("20.00".into())));
        // One value at a time keeps the others.
        let set = desk.set_group(crew, late("7.50", None, None)).unwrap();
        assert_eq!(
            rules(&set),
            (Some("7.50".into()), None, Some(14), Some("20.00".into()))
        );
        let set = desk.set_group(
            crew,
            GroupSettings {
                name: Some("Rowers".into()),
                late_cap: Some("none".into()),
                pro_rata: Some(ProRata::Monthly),
                ..GroupSettings::default()
            },
        );
        let set = set.unwrap();
        assert_eq!((set.name.as_str(), set.pro_rata), ("Rowers", ProRata::Monthly));
        assert_eq!(rules(&set), (Some("7.50".into()), None, Some(14), None));
        let same = desk.set_group(crew, late("7.5", Some(14), None)).unwrap();
        assert_eq!(same.stamps, set.stamps, "what is as it was does not move");
        let cleared = desk.set_group(crew, late("none", None, None)).unwrap();
        assert_eq!(rules(&cleared), (None, None, None, None));
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn an_organizations_settings_are_changed_by_its_admins() {
    both_engines(|test| {
        let desk = Desk::open(test, 61, noon("2026-01-10"));
        let (admin, editor) = (
            desk.officer("a@example.org", Role::Admin),
            desk.officer("e@example.org", Role::Editor),
        );
        let set =
            |who, change: OrganizationChange| desk.try_as(who, move |act| organizations::set(act, &change));
        let wanted = OrganizationChange {
            time_zone: Some(Zone::parse("Pacific/Auckland").unwrap()),
            contact_email: Some(None),
            auto_credit: Some(false),
            auto_reference: Some(true),
            pay_text: Some(Some("Bank: NZ12\r\nwith the reference".into())),
            ..OrganizationChange::default()
        };
        let said = set(editor, wanted.clone()).unwrap_err();
        assert_eq!(
            said,
            "only an admin of the organization may change the organization's settings"
        );
        let changed = set(admin, wanted).unwrap();
        assert_eq!(changed.time_zone.name(), "Pacific/Auckland");
        assert_eq!((changed.auto_credit, changed.auto_reference), (false, true));
        assert_eq!(changed.contact_email, None);
        assert_eq!(
            changed.pay_text.as_deref(),
            Some("Bank: NZ12\nwith the reference")
        );
        let approve = OrganizationChange {
            card_issuing: Some(CardIssuing::Pending),
            ..OrganizationChange::default()
        };
        let said = set(admin, approve.clone()).unwrap_err();
        assert_eq!(said, "only the operator may approve card issuing");
        let changed = set(Identity::Operator, approve).unwrap();
        assert_eq!(changed.card_issuing, CardIssuing::Pending);
        for (change, field) in [
            (
                OrganizationChange {
                    name: Some(String::new()),
                    ..OrganizationChange::default()
                },
                "name",
            ),
            (
                OrganizationChange {
                    contact_phone: Some(Some("call me".into())),
                    ..OrganizationChange::default()
                },
                "contact-phone",
            ),
            (
                OrganizationChange {
                    pay_text: Some(Some("x".repeat(2_001))),
                    ..OrganizationChange::default()
                },
                "pay-text",
            ),
        ] {
            let said = set(admin, change).unwrap_err();
            assert!(said.starts_with(field), "{said}");
        }
        assert_eq!(problems(&desk.db), []);
    });
}

/// The parent's list has the chapter's name, with a stamp of the parent's change clock.
#[test]
fn a_renamed_chapter_changes_in_the_list_of_its_parent() {
    both_engines(|test| {
        let parent = Desk::open(test, 62, noon("2026-01-10"));
        let mut ids = IdSource::seeded(63);
        let id = ids.next(noon("2026-01-10"));
        let new = NewOrganization {
            name: "North".into(),
            kind: OrganizationKind::Chapter,
            parent_id: Some(parent.org),
            currency: Currency::USD,
            contact_email: None,
            contact_phone: None,
            card_issuing: CardIssuing::Pending,
            time_zone: Default::default(),
        };
        let chapter = Desk::of(&test.db, ids, id, noon("2026-01-10"), new);
        let before: Chapter = parent.get(id);
        chapter.set_clock(noon("2026-01-11"));
        let rename = OrganizationChange {
            name: Some("Far North".into()),
            ..OrganizationChange::default()
        };
        chapter.act(move |act| organizations::set(act, &rename));
        let after: Chapter = parent.get(id);
        assert_eq!(after.name, "Far North");
        assert!(after.stamps.updated_at > before.stamps.updated_at);
        assert_eq!(problems(&test.db), []);
    });
}

#[test]
fn a_payer_is_another_member_who_pays_for_themselves() {
    both_engines(|test| {
        let desk = Desk::open(test, 64, noon("2026-01-10"));
        let [ada, ben, cy] = ["Ada", "Ben", "Cy"].map(|name| desk.member(name, &[]).id);
        assert!(
            desk.set_payer(ada, Some(ada))
                .unwrap_err()
                .contains("another member")
        );
        assert_eq!(desk.set_payer(ben, Some(ada)).unwrap().payer_id, Some(ada));
        let said = desk.set_payer(cy, Some(ben)).unwrap_err();
        assert!(said.contains("Ben Test has a payer"), "{said}");
        let said = desk.set_payer(ada, Some(cy)).unwrap_err();
        assert!(said.contains("a member who pays for others"), "{said}");
        // Somebody of another organization is not there.
        let other = Desk::open(test, 65, noon("2026-01-10"));
        let stranger = other.member("Eve", &[]).id;
        let said = desk.set_payer(cy, Some(stranger)).unwrap_err();
        assert!(said.starts_with("payer"), "{said}");
        assert_eq!(desk.set_payer(ben, None).unwrap().payer_id, None);
        let without = MemberChange {
            email: Some(None),
            ..MemberChange::default()
        };
        let ben = desk.act(move |act| members::change(act, ben, &without));
        assert_eq!(ben.email, None);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_reference_finds_its_member() {
    both_engines(|test| {
        let desk = Desk::open(test, 66, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]);
        desk.member("Ben", &[]);
        let charge = desk.charge(ada.id, "40.00");
        let (own, of_charge) = (ada.reference.unwrap(), charge.reference.unwrap());
        let typed = format!(" {} ", creditor_reference::spaced(&own).to_lowercase());
        let find = |text: &str| {
            let text = text.to_owned();
            desk.look(move |view| names::find::<kind::Member>(view, &text))
        };
        assert_eq!(find(&typed).unwrap(), ada.id);
        // A charge's reference does not name a member, but it leads to one.
        assert!(find(&of_charge).is_err());
        for text in [typed, of_charge] {
            let (found, is_more) = desk
                .look(move |view| search::members(view, &text, Filter::default(), 5))
                .unwrap();
            assert_eq!((found.len(), found[0].id, is_more), (1, ada.id, false));
        }
        let other = Desk::open(test, 67, noon("2026-01-10"));
        assert!(
            other
                .look(move |view| names::find::<kind::Member>(view, &own))
                .is_err()
        );
    });
}
