//! Commands take names, and what they print shows names.

use serde_json::Value;

use crate::support::{Place, both_engines, finish};

/// A club with two Adas, somebody whose letters are not ASCII, and two groups.
fn club(place: &Place) {
    place.ok(&[
        "organization",
        "create",
        "--name",
        "River Club",
        "--kind",
        "independent",
    ]);
    for group in ["Seniors", "Juniors"] {
        place.ok(&["group", "create", "--name", group]);
    }
    for (first, last, email, phone, group) in [
        ("Ada", "Larsen", "ada@example.org", "+47 912 34 567", "seniors"),
        (
            "Ada",
            "Larsen",
            "ada.l@example.org",
            "+47 (912) 99-999",
            "JUNIORS",
        ),
        ("Bo", "Ek", "Bo@Example.org", "0171 5550", "Seniors"),
        ("Zoë", "Łoś", "zoe@example.org", "+48 1", "Seniors"),
        ("Иван", "Петров", "ivan@example.org", "112", "Juniors"),
        ("Percy", "100%_\\", "percy@example.org", "113", "Juniors"),
    ] {
        let added = place.ok(&[
            "member",
            "add",
            "--first-name",
            first,
            "--last-name",
            last,
            "--email",
            email,
            "--phone",
            phone,
            "--group",
            group,
        ]);
        assert!(
            added.starts_with(&format!("Added {first} {last} <{email}> (mem_")),
            "{added}"
        );
        assert!(
            added
                .to_lowercase()
                .ends_with(&format!(", in {}\n", group.to_lowercase())),
            "{added}"
        );
    }
}

fn charge(place: &Place, member: &str) -> Value {
    place.json(&["payment", "raise", "--amount", "5", "--member", member])["payments"][0].clone()
}

#[test]
fn a_name_in_any_case_an_address_or_an_id_names_a_member() {
    both_engines(|place| {
        club(place);
        let all = place.json(&["member", "list"]);
        let id = |email: &str| {
            let found = all.as_array().unwrap().iter().find(|m| m["email"] == email);
            found.unwrap()["id"].as_str().unwrap().to_owned()
        };
        for (named, email) in [
            ("bo ek", "Bo@Example.org"),
            ("Ek, Bo", "Bo@Example.org"),
            ("  BO   EK ", "Bo@Example.org"),
            ("bO@example.ORG", "Bo@Example.org"),
            ("zoë łoś", "zoe@example.org"),
            ("ZOË ŁOŚ", "zoe@example.org"),
            ("ИВАН петров", "ivan@example.org"),
            ("percy 100%_\\", "percy@example.org"),
            ("ADA.L@example.org", "ada.l@example.org"),
            (&id("ada@example.org"), "ada@example.org"),
        ] {
            assert_eq!(charge(place, named)["memberId"], id(email), "{named}");
        }
        // A pattern of the database is only text here, and part of a name is not the name.
        for named in [
            "%",
            "Percy 100__\\",
            "B_ Ek",
            "Ek",
            "Bo",
            "ada",
            "ex_mple@example.org",
        ] {
            let refused = place.run(&["payment", "raise", "--amount", "5", "--member", named]);
            assert_eq!(refused.code, Some(3), "{refused:?}");
            assert!(
                refused.one_line().starts_with("there is no member "),
                "{refused:?}"
            );
        }
    });
}

#[test]
fn several_are_listed_and_so_are_the_nearest() {
    both_engines(|place| {
        club(place);
        let several = place.run(&["payment", "raise", "--amount", "5", "--member", "ada larsen"]);
        assert_eq!(several.code, Some(1), "{several:?}");
        let several = several.one_line();
        let (first, second) = several.split_once("; ").unwrap();
        assert!(
            first.starts_with(
                "member \"ada larsen\" is the name of several: Ada Larsen <ada@example.org>, Seniors, mem_"
            ),
            "{several}"
        );
        assert!(
            second.starts_with("Ada Larsen <ada.l@example.org>, Juniors, mem_"),
            "{several}"
        );
        assert!(
            second.ends_with(". Give the e-mail address, the reference or the id"),
            "{several}"
        );
        for (named, nearest) in [
            ("Bo Eck", "did you mean Bo Ek <Bo@Example.org>, Seniors, mem_"),
            (
                "larsen",
                "the nearest are Ada Larsen <ada@example.org>, Seniors, mem_",
            ),
            ("Zoe Łoś", "did you mean Zoë Łoś"),
            ("Иван Петрв", "did you mean Иван Петров"),
            ("percy@exmaple.org", "did you mean Percy"),
            ("Quentin Xylander", "`bursar member list` lists them"),
        ] {
            let refused = place.refused(&["member", "show", named]);
            assert!(refused.contains(nearest), "{named}: {refused}");
        }
        let archived = place.ok(&["member", "archive", "ada.l@example.org"]);
        assert!(archived.starts_with("Archived Ada Larsen"), "{archived}");
        let refused = place.refused(&["member", "show", "Ada Larsen"]);
        assert!(refused.contains("Juniors, archived, mem_"), "{refused}");

        let group = place.refused(&["dues", "show", "--group", "Senior"]);
        assert!(
            group.starts_with("there is no group \"Senior\"; did you mean Seniors grp_"),
            "{group}"
        );
        place.ok(&["group", "create", "--name", "SENIORS"]);
        let group = place.refused(&["dues", "show", "--group", "seniors"]);
        assert!(
            group.contains("Seniors grp_") && group.contains("; SENIORS grp_"),
            "{group}"
        );
    });
}

#[test]
fn the_organization_is_named_once_or_not_at_all() {
    both_engines(|place| {
        let none = place.refused(&["member", "list"]);
        assert!(
            none.contains("`bursar serve` brings it up") || none.contains("there is no"),
            "{none}"
        );
        club(place);
        place.ok(&["role", "set", "--user", "tina@example.org", "--role", "admin"]);
        place.ok(&["organization", "create", "--name", "Union", "--kind", "national"]);
        place.ok(&[
            "organization",
            "create",
            "--name",
            "Oslo",
            "--kind",
            "chapter",
            "--parent",
            "UNION",
        ]);
        let listed = place.ok(&["organization", "list"]);
        let oslo = listed.lines().find(|line| line.contains("Oslo")).unwrap();
        assert!(oslo.ends_with("  Union"), "{listed}");

        let unsaid = place.run(&["member", "list"]);
        assert_eq!(unsaid.code, Some(2), "{unsaid:?}");
        let unsaid = unsaid.one_line();
        for part in [
            "organization must be named",
            "BURSAR_ORGANIZATION",
            "River Club org_",
            "Oslo org_",
        ] {
            assert!(unsaid.contains(part), "{unsaid}");
        }
        // A person with a role in one organization means that one.
        let own = place.json(&["member", "list", "--as", "tina@example.org"]);
        assert_eq!(own.as_array().unwrap().len(), 6);
        let hidden = place.refused(&[
            "member",
            "list",
            "--as",
            "tina@example.org",
            "--organization",
            "Oslo",
        ]);
        assert!(
            hidden.starts_with("there is no organization \"Oslo\""),
            "{hidden}"
        );
        assert!(
            !hidden.contains("org_"),
            "what a person may not see is not told: {hidden}"
        );

        let named = place.json(&["member", "list", "--organization", "river club"]);
        assert_eq!(named, own);
        let by_variable = finish(
            place
                .command(&["member", "list", "--json"])
                .env("BURSAR_ORGANIZATION", "RIVER CLUB"),
        );
        assert_eq!(
            serde_json::from_str::<Value>(&by_variable.succeeded()).unwrap(),
            own
        );
        let near = place.refused(&["member", "list", "--organization", "rivr club"]);
        assert!(near.contains("did you mean River Club org_"), "{near}");

        // The id of a thing says which organization it is of.
        let member = own[0]["id"].as_str().unwrap();
        place.ok(&["member", "show", member]);
        let elsewhere = place.refused(&["member", "show", member, "--organization", "Oslo"]);
        assert!(elsewhere.contains("leave --organization"), "{elsewhere}");
        let token = place.json(&[
            "token",
            "create",
            "--organization",
            "river club",
            "--service",
            "--role",
            "viewer",
            "--scopes",
            "members:read",
        ]);
        let revoke = ["token", "revoke", token["id"].as_str().unwrap()];
        let elsewhere = place.refused(&[&revoke[..], &["--organization", "Oslo"]].concat());
        assert!(elsewhere.contains("leave --organization"), "{elsewhere}");
        place.ok(&revoke);
        // A chapter is named in its parent's charges; a bundle is imported whatever the variable says.
        let raised = place.ok(&[
            "payment",
            "raise",
            "--organization",
            "union",
            "--chapter",
            "oslo",
            "--amount",
            "70",
        ]);
        assert!(raised.contains("Oslo  70.00"), "{raised}");
        let bundle = place.bundle("again.ndjson", &place.export());
        let mut import = place.command(&["import", bundle.to_str().unwrap()]);
        finish(import.env("BURSAR_ORGANIZATION", "Oslo")).succeeded();
        let typed = place.run(&["check", "--organization", "Oslo"]);
        assert_eq!(typed.code, Some(2), "{typed:?}");
    });
}

#[test]
fn members_are_found_by_name_address_and_phone() {
    both_engines(|place| {
        club(place);
        let found = |text: &[&str]| {
            let found = place.json(&[&["member", "find"], text].concat());
            let emails = found
                .as_array()
                .unwrap()
                .iter()
                .map(|m| m["email"].as_str().unwrap().to_owned());
            emails.collect::<Vec<_>>()
        };
        assert_eq!(found(&["LARS"]), ["ada@example.org", "ada.l@example.org"]);
        assert_eq!(found(&["ada", "lars"]), ["ada@example.org", "ada.l@example.org"]);
        assert_eq!(found(&["larsen ada.l"]), ["ada.l@example.org"]);
        assert_eq!(found(&["łOŚ"]), ["zoe@example.org"]);
        assert_eq!(found(&["петр"]), ["ivan@example.org"]);
        assert_eq!(found(&["+47 912 34"]), ["ada@example.org"]);
        assert_eq!(found(&["(0171) 55"]), ["Bo@Example.org"]);
        assert_eq!(found(&["100%"]), ["percy@example.org"]);
        assert!(found(&["nobody"]).is_empty());
        assert_eq!(found(&["example", "--limit", "2"]).len(), 2);
        let table = place.ok(&["member", "find", "example", "--limit", "5"]);
        assert!(
            table.starts_with("ID ") && table.ends_with("and more: --limit shows more than 5\n"),
            "{table}"
        );
        assert!(
            place
                .ok(&["member", "find", "nobody"])
                .starts_with("nobody is called so")
        );
        assert!(
            place
                .refused(&["member", "find", " "])
                .contains("at least one character")
        );
    });
}

#[test]
fn lists_are_narrowed_and_show_names() {
    both_engines(|place| {
        club(place);
        place.ok(&[
            "payment",
            "raise",
            "--group",
            "juniors",
            "--amount",
            "30",
            "--due-date",
            "2027-01-31",
        ]);
        let bo = charge(place, "bo ek");
        let count = |args: &[&str]| place.json(args).as_array().unwrap().len();
        assert_eq!(count(&["payment", "list", "--group", "Juniors"]), 3);
        assert_eq!(count(&["payment", "list", "--member", "bo ek"]), 1);
        assert_eq!(count(&["payment", "list", "--due-before", "2027-01-31"]), 0);
        assert_eq!(count(&["payment", "list", "--due-before", "2027-02-01"]), 3);
        assert_eq!(count(&["payment", "list", "--due-from", "2027-01-31"]), 3);
        assert_eq!(count(&["payment", "list", "--due-from", "2027-02-01"]), 0);
        let table = place.ok(&["payment", "list", "--group", "juniors", "--member", "иван петров"]);
        let row = table.lines().nth(1).unwrap();
        for part in [
            "Иван Петров",
            "Juniors",
            "pending",
            "2027-01-31",
            "30.00",
            "  mem_",
        ] {
            assert!(row.contains(part), "{table}");
        }

        assert_eq!(count(&["member", "list", "--group", "seniors"]), 3);
        assert_eq!(count(&["member", "list", "--owing"]), 4);
        assert_eq!(count(&["member", "list", "--owing", "--group", "seniors"]), 1);
        place.ok(&["member", "archive", "zoë łoś"]);
        assert_eq!(count(&["member", "list", "--status", "archived"]), 1);
        assert_eq!(count(&["member", "list", "--status", "active"]), 5);
        let owing = place.ok(&["member", "list", "--owing"]);
        let row = owing.lines().find(|line| line.contains("Bo Ek")).unwrap();
        assert!(row.ends_with("  5.00   Seniors"), "{owing}");
        let shown = place.ok(&["member", "show", "BO EK"]);
        assert!(
            shown.contains("\n  groups        Seniors\n  payer         -\n"),
            "{shown}"
        );

        let id = bo["id"].as_str().unwrap();
        let recorded = place.ok(&["payment", "record", id, "--amount", "2", "--method", "cash"]);
        let said = format!("{id} of Bo Ek is partially_paid: 2.00 of 5.00 USD paid\n");
        assert!(recorded.ends_with(&said), "{recorded}");

        place.ok(&["listing", "create", "--name", "Hoodies", "--item", "M=15.00"]);
        let order = ["order", "create", "hoodies", "--member", "bo ek", "--item", "M=2"];
        let made = place.ok(&order);
        assert!(
            made.contains(" of Bo Ek from Hoodies (2 × M) is pending: 30.00 USD"),
            "{made}"
        );
        assert_eq!(
            count(&["order", "list", "--listing", "HOODIES", "--member", "bo ek"]),
            1
        );
        assert_eq!(count(&["order", "list", "--member", "иван петров"]), 0);
        let drafted = place.ok(&["reimbursement", "draft", "--member", "bo ek", "--amount", "9"]);
        assert!(drafted.contains(" to Bo Ek is draft: 9.00 USD"), "{drafted}");
        assert_eq!(
            count(&["reimbursement", "list", "--member", "bo ek", "--status", "draft"]),
            1
        );
        place.ok(&["campaign", "create", "--name", "Boat"]);
        assert!(place.ok(&["campaign", "start", "boat"]).starts_with("Boat (cmp_"));
        assert_eq!(count(&["campaign", "list", "--status", "active"]), 1);
        let schedule = [
            "reminder",
            "schedule",
            "--group",
            "juniors",
            "--at",
            "2027-01-01T09:00:00Z",
            "--body",
            "B",
        ];
        assert!(
            place
                .ok(&schedule)
                .contains(" to Juniors is scheduled for 2027-01-01")
        );
        assert!(
            place
                .ok(&["reminder", "list", "--group", "Juniors"])
                .contains("  Juniors  ")
        );
        place.check();
    });
}
