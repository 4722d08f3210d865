//! Rosters as people have them: groups that come and go with the file, people with several rows, and namesakes.

use bursar_app::Identity;
use bursar_app::roster::{Imported, NewGroup, Options, Plan, Repeat, RosterError};
use bursar_db::testing::both_engines;
use bursar_db::{Db, table};
use bursar_domain::group::Group;
use bursar_domain::ids::GroupId;
use serde_json::json;

use crate::roster::{bad_rows, by_name, club, counts, import, import_as, member_count, planned, undo_now};
use crate::support::{dump, grp, import_now, mem, numbers, org, problems, record};

fn creating() -> Options {
    Options {
        create_groups: true,
        ..Options::default()
    }
}

fn replacing() -> Options {
    Options {
        replace_groups: true,
        ..Options::default()
    }
}

#[track_caller]
fn import_with(db: &Db, csv: &str, options: &Options) -> Imported {
    import_as(db, csv, options, Identity::Operator).unwrap()
}

fn group(db: &Db, id: GroupId) -> Group {
    let found: Result<Option<Group>, _> = db.survey(|tx| table::get(tx, org(1), id));
    found.unwrap().unwrap()
}

fn group_names(new: &[NewGroup]) -> Vec<(&str, usize)> {
    new.iter()
        .map(|group| (group.name.as_str(), group.member_count))
        .collect()
}

const NEW_GROUPS: &str = "Name,Email,Status,Groups\n\
    Ada Larsen,ada@example.org,,Juniors / crew\n\
    Cy Meyer,cy@example.org,,\"juniors, Rowing\"\n\
    Dee Roe,dee@example.org,inactive,Juniors;Rowing\n\
    Eve Stone,eve@example.org,,Rowng\n";

#[test]
fn groups_that_are_missing_are_created_on_request() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &club()).unwrap();
        let before = dump(db);
        assert_eq!(bad_rows(db, NEW_GROUPS).len(), 6, "each name in each row");
        let plan = planned(db, NEW_GROUPS, &creating());
        assert_eq!(
            group_names(&plan.new_groups),
            [("Juniors", 2), ("Rowing", 1), ("Rowng", 1)]
        );
        assert_eq!(
            plan.hints
                .iter()
                .map(|hint| hint.message.as_str())
                .collect::<Vec<_>>(),
            ["the new group `Rowing` is spelled almost as `Rowng`; if it is a slip, correct it in the file"]
        );
        assert_eq!(dump(db), before, "a dry run writes nothing");

        let done = import_with(db, NEW_GROUPS, &creating());
        assert_eq!(counts(&done.plan), [3, 1, 0]);
        let juniors = &done.plan.new_groups[0];
        let kept = group(db, juniors.id);
        assert_eq!((kept.name.as_str(), kept.member_count), ("Juniors", 2));
        assert_eq!(member_count(db, grp(1)), 1);
        let cy = by_name(db, "Cy");
        assert_eq!(cy["groups"].as_array().unwrap().len(), 2);
        assert_eq!(problems(db), []);
        let logged = numbers(
            db,
            "SELECT COUNT(*) FROM activity WHERE action = 'group.create'",
            &[],
        );
        assert_eq!(logged, [3]);

        // Now they are there.
        let again = import_with(db, NEW_GROUPS, &creating());
        assert_eq!((counts(&again.plan), again.plan.new_groups.len()), ([0, 0, 4], 0));
        assert_eq!(import(db, NEW_GROUPS).id, None);

        undo_now(db, done.id.unwrap()).unwrap();
        assert_eq!(
            member_count(db, juniors.id),
            0,
            "groups stay, without the import's members"
        );
        assert_eq!(record(db, mem(1))["groups"], json!([grp(1)]));
        assert_eq!(problems(db), []);
    });
}

#[test]
fn a_bad_name_of_a_group_creates_nothing() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &club()).unwrap();
        let before = dump(db);
        let long = "x".repeat(101);
        let csv = format!("Name,Email,Groups\nCy Meyer,cy@example.org,New;{long}\nDee Roe,dee,New\n");
        let Err(RosterError::Rows(wrong)) = import_as(db, &csv, &creating(), Identity::Operator) else {
            panic!("imported");
        };
        let told: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        assert!(
            told.len() == 2 && told[0].starts_with("line 2: Groups: must have 1 to 100 characters"),
            "{told:?}"
        );
        assert_eq!(dump(db), before);
    });
}

#[test]
fn groups_are_replaced_on_request_and_put_back_by_an_undo() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &club()).unwrap();
        let ada = record(db, mem(1));
        let csv = "Name,Email,Groups\nAda Larsen,ada@example.org,\"Board, elected\"\n\
                   Cy Meyer,cy@example.org,Crew\n";
        assert_eq!(
            planned(db, csv, &Options::default()).entries[0].after.groups,
            [grp(1), grp(2)]
        );
        let done = import_with(db, csv, &replacing());
        assert_eq!(record(db, mem(1))["groups"], json!([grp(2)]));
        assert_eq!((member_count(db, grp(1)), member_count(db, grp(2))), (1, 1));
        assert_eq!(problems(db), []);
        let change = &done.plan.entries[0].changes;
        assert_eq!(
            (change[0].from.as_str(), change[0].to.as_str()),
            ("Crew", "Board, elected")
        );
        assert_eq!(
            import_with(db, csv, &replacing()).id,
            None,
            "again changes nothing"
        );

        undo_now(db, done.id.unwrap()).unwrap();
        let mut back = record(db, mem(1));
        back["updatedAt"] = ada["updatedAt"].clone();
        assert_eq!(back, ada);
        assert_eq!((member_count(db, grp(1)), member_count(db, grp(2))), (1, 0));
        assert_eq!(problems(db), []);

        for (cell, expected) in [("", json!([grp(1)])), ("-", json!([grp(1)])), ("none", json!([]))] {
            let csv = format!("Name,Email,Groups\nAda Larsen,ada@example.org,{cell}\n");
            import_with(db, &csv, &Options::default());
            assert_eq!(
                record(db, mem(1))["groups"],
                json!([grp(1)]),
                "`{cell}` removes nobody by itself"
            );
            import_with(db, &csv, &replacing());
            assert_eq!(record(db, mem(1))["groups"], expected, "{cell}");
        }
        assert_eq!(member_count(db, grp(1)), 0);
        assert_eq!(problems(db), []);
    });
}

#[test]
fn rows_of_one_person_are_taken_together_whatever_the_case() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &club()).unwrap();
        let csv = "Name,Email,Phone,Joined,Groups\n\
                   Cy Meyer,cy@example.org,,2020-01-31,Crew\n\
                   \"Meyer, Cy\",CY@Example.ORG,+1 202 555 0123,,\"Board, elected\"\n\
                   ADA LARSEN,ADA@EXAMPLE.ORG,+1 (202) 555-0100,,\n\
                   cy meyer,Cy@example.org,,2020-01-31,Crew\n\
                   Kim Meyer,cy@example.org,,,\n";
        let done = import(db, csv);
        assert_eq!(counts(&done.plan), [2, 0, 1], "a family shares an address");
        assert_eq!(
            done.plan.repeats,
            [
                Repeat {
                    line: 3,
                    first_line: 2,
                    is_exact: false
                },
                Repeat {
                    line: 5,
                    first_line: 2,
                    is_exact: false
                },
            ]
        );
        let cy = by_name(db, "Cy");
        assert_eq!(
            (&cy["phone"], &cy["joinDate"], &cy["groups"]),
            (
                &json!("+1 202 555 0123"),
                &json!("2020-01-31"),
                &json!([grp(1), grp(2)])
            )
        );
        assert_eq!(
            record(db, mem(1))["phone"],
            json!("+1 202 555 0100"),
            "the same number in another shape is no change"
        );
        assert_eq!(import(db, csv).id, None);
        assert_eq!(problems(db), []);
    });
}

#[test]
fn a_new_member_with_a_known_name_is_pointed_out() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &club()).unwrap();
        let csv =
            "Name,Email\nAda Larsen,ada.larsen@example.org\nCy Roe,cy@example.org\nCy Roe,roe@example.org\n";
        let plan = planned(db, csv, &Options::default());
        assert_eq!(counts(&plan), [3, 0, 0]);
        let hints: Vec<String> = plan
            .hints
            .iter()
            .map(|hint| format!("{:?} {}", hint.line, hint.message))
            .collect();
        let way_out = "if they are one, give both the same e-mail";
        assert_eq!(
            hints,
            [
                format!(
                    "Some(2) Ada Larsen <ada.larsen@example.org> is another member than the one with ada@example.org; \
                     {way_out}"
                ),
                format!(
                    "Some(4) Cy Roe <roe@example.org> is another member than the one in line 3; {way_out}"
                ),
            ]
        );
    });
}

#[test]
fn a_dry_run_has_the_values_of_new_rows() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &club()).unwrap();
        let csv = "Name;E-mail;Mobile;Joined;Status;Groups\n\
                   Cy Meyer;cy@example.org;0049 (0)171 2345678;13.05.2019;former;Crew\n\
                   Dee Roe;dee@example.org;;;aktiv;\n";
        let plan = planned(db, csv, &Options::default());
        let values: Vec<Vec<String>> = plan
            .entries
            .iter()
            .map(|entry| {
                let value = |change: &bursar_app::roster::Change| {
                    format!("{} {}>{}", change.field, change.from, change.to)
                };
                entry.changes.iter().map(value).collect()
            })
            .collect();
        assert_eq!(
            values,
            [
                vec![
                    "phone >+49 171 2345678",
                    "isActive >archived",
                    "joinDate >2019-05-13",
                    "groups >Crew"
                ],
                vec![]
            ]
        );
    });
}

#[test]
fn damaged_files_write_nothing() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &club()).unwrap();
        let before = dump(db);
        for (bytes, words) in [
            (
                &b"Name,Email\nCy Meyer,cy@example.org\nBj\xf8rn Dahl,b@example.org\n"[..],
                "line 3: is not UTF-8",
            ),
            (
                b"Name,Email\nCy Meyer,cy@example.org\nBj\xbfrn Dahl,b@example.org\n",
                "line 3 is not UTF-8",
            ),
            (
                b"Name,Email\nCy Meyer,cy@example.org\n\"Dee Roe,dee@example.org\n",
                "line 3: a quotation mark",
            ),
            (
                b"Name,Email,Phone\nCy Meyer,cy@example.org,\nDee Roe,dee@exam",
                "line 3: is the last line",
            ),
            (
                b"Name,Email\nCy\0 Meyer,cy@example.org\n",
                "line 2 has the control character U+0000",
            ),
            (b"\xff\xfeN\0a\0m\0e", "line 1 is not UTF-16"),
        ] {
            let read = bursar_app::roster::read(bytes, &Options::default());
            let refused = match read {
                Err(refusal) => refusal.to_string(),
                Ok(read) => {
                    let app = crate::support::app_at(db, crate::roster::later());
                    let done = app.exclusive(Identity::Operator, |whole| {
                        whole.act(org(1), |act| {
                            bursar_app::roster::import(act, &read, &Options::default(), &mut |_| {})
                        })
                    });
                    done.unwrap_err().to_string()
                }
            };
            assert!(refused.starts_with(words), "{words}: {refused}");
            assert_eq!(dump(db), before, "{words}");
        }
    });
}

fn hints(plan: &Plan) -> Vec<&str> {
    plan.hints.iter().map(|hint| hint.message.as_str()).collect()
}

/// A name alone finds a member without an address again. Somebody with an address is another member, and that is told.
#[test]
fn rows_without_an_address_are_members_without_one() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &club()).unwrap();
        let csv = "Name,E-mail,Phone,Groups\nCy Meyer,,+1 202 555 0123,Crew\nDee Roe,n/a,,Crew\n\
                   Eve Stone,eve@example.org,,\n";
        let done = import(db, csv);
        assert_eq!((counts(&done.plan), done.plan.without_email), ([3, 0, 0], 2));
        assert_eq!(hints(&done.plan), [""; 0]);
        let cy = by_name(db, "Cy");
        assert_eq!(
            (&cy["email"], &cy["phone"]),
            (&json!(null), &json!("+1 202 555 0123"))
        );
        assert!(cy["reference"].as_str().unwrap().starts_with("RF"));
        // The second import finds them by name, in any case.
        let again = import(db, "Name,Phone\ncy MEYER,+1 202 555 0199\nDee Roe,\n");
        assert_eq!((counts(&again.plan), again.plan.without_email), ([0, 1, 1], 2));
        assert_eq!(by_name(db, "Cy")["phone"], json!("+1 202 555 0199"));
        // A row with an address is another member, as always, and the two are told.
        let named = planned(db, "Name,Email\nCy Meyer,cy@example.org\n", &Options::default());
        assert_eq!(counts(&named), [1, 0, 0]);
        assert_eq!(
            hints(&named),
            [
                "Cy Meyer <cy@example.org> is another member than the one without an e-mail address; if they are one, give \
              both the same e-mail"
            ]
        );
        let bare = planned(db, "Name,Email\nAda Larsen,\n", &Options::default());
        assert_eq!(counts(&bare), [1, 0, 0]);
        assert!(
            hints(&bare)[0]
                .starts_with("Ada Larsen without an e-mail address is another member than the one with")
        );
        // What may be a heading is told.
        let heading = planned(db, "Name,Email\nSection B,\n", &Options::default());
        assert!(
            hints(&heading)[0].contains("nothing but a name"),
            "{:?}",
            hints(&heading)
        );
        // Two people of one name cannot be told apart.
        let two = bad_rows(
            db,
            "Name,Phone\nFay Lind,+1 202 555 0101\nFay Lind,+1 202 555 0102\n",
        );
        assert!(two[0].contains("`bursar member add`"), "{two:?}");
        undo_now(db, done.id.unwrap()).unwrap();
        assert_eq!(problems(db), []);
    });
}

/// Members would be added without the addresses that the file has.
#[test]
fn a_column_with_addresses_is_not_passed_over() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &club()).unwrap();
        let csv = "Name,Contact\nCy Meyer,cy@example.org\nDee Roe,by post\n";
        let refused = bursar_app::roster::read(csv.as_bytes(), &Options::default()).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "no column is email, and `Contact` has addresses; say what it is with --map \"Contact=email\", or that it is not \
             with --map \"Contact=ignore\""
        );
        let ignoring = Options {
            map: vec![("Contact".into(), None)],
            ..Options::default()
        };
        assert_eq!(planned(db, csv, &ignoring).without_email, 2);
    });
}
