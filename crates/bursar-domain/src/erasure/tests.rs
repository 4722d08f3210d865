use super::*;
use crate::ids::MemberId;

fn ada() -> Naming {
    let mut naming = Naming::default();
    naming.add_name("Ada Maria", "Müller-Łoś");
    naming.add_email("Ada.M@Example.org");
    naming.add_phone("+49 (0)170 1234567");
    naming.add_account("DE89 3704 0044 0532 0130 00");
    naming
}

#[test]
fn what_names_a_person_is_found_however_it_is_written() {
    let naming = ada();
    for text in [
        "Ada Maria Müller-Łoś",
        "MUELLER-LOS, ADA",
        "ada muller los",
        "ADA.M@EXAMPLE.ORG",
        "+491701234567",
        "0170 / 123 45 67",
        "0049 170 1234567",
        "DE89370400440532013000",
        "de89 3704 0044 0532 0130 00",
    ] {
        let scrubbed = naming.scrub(&format!("From {text}."));
        assert_eq!(scrubbed.as_deref(), Some("From (erased)."), "{text}");
        let lower = text.to_lowercase();
        let pieces = naming.pieces().unwrap();
        assert!(
            pieces.iter().any(|piece| lower.contains(piece)),
            "{text}: {pieces:?}"
        );
    }
}

#[test]
fn what_names_somebody_else_stays() {
    let naming = ada();
    for text in [
        "Ada Larsen",
        "Müller-Łoś",
        "Maria Müller",
        "xada.m@example.org",
        "ada.m@example.org.uk",
        "1234567",
        "DE89370400440532013001",
        "2026-11-17",
        "",
    ] {
        let expected = (text == "1234567").then(|| "*******".to_owned());
        assert_eq!(naming.scrub(text), expected, "{text}");
    }
}

#[test]
fn a_family_name_by_itself_is_looked_for_only_if_it_is_asked_for() {
    let mut naming = ada();
    assert_eq!(naming.scrub("Flowers for Müller-Łoś"), None);
    naming.add_phrase("Müller-Łoś");
    assert_eq!(
        naming.scrub("Flowers for Müller-Łoś").as_deref(),
        Some("Flowers for (erased)")
    );
    // Only whole words.
    naming.add_phrase("Baker");
    assert_eq!(naming.scrub("Bakery, Baker's"), None);
    assert_eq!(naming.scrub("Baker, Bakery").as_deref(), Some("*****, Bakery"));
    // Two letters say nothing.
    naming.add_phrase("Ng");
    assert_eq!(naming.scrub("Ng"), None);
}

#[test]
fn several_finds_in_one_text_are_all_replaced() {
    assert_eq!(
        ada()
            .scrub("Write to ada.m@example.org or Ada Müller-Łoś, 0170 1234567!")
            .as_deref(),
        Some("Write to (erased) or (erased), (erased)!")
    );
    assert_eq!(
        ada().scrub("Ada Müller-Łoś <ada.m@example.org>").as_deref(),
        Some("(erased)>")
    );
}

#[test]
fn rows_about_the_member_are_blanked_and_others_searched() {
    let member = MemberId::from_bits(7);
    let mut naming = Naming::default();
    naming.add_name("Paid", "Dues");
    let event = format!(
        r#"{{"id":"evt_1","type":"member.updated","data":{{"id":"{member}","firstName":"Paid","lastName":"Dues","email":"p@example.org","isActive":true,"joinDate":"2020-01-01","groups":["grp_1"]}},"changed":["email"]}}"#
    );
    assert_eq!(
        scrub_document(&event, member, &naming).unwrap(),
        format!(
            r#"{{"id":"evt_1","type":"member.updated","data":{{"id":"{member}","firstName":"Erased","lastName":"member","email":null,"isActive":true,"joinDate":null,"groups":["grp_1"]}},"changed":["email"]}}"#
        )
    );
    let charge = format!(
        r#"{{"id":"pay_1","memberId":"{member}","description":"The boat","amount":"5.00","status":"paid"}}"#
    );
    assert_eq!(
        scrub_document(&charge, member, &naming).unwrap(),
        charge.replace("The boat", ERASED)
    );
    let other = r#"{"id":"pay_2","memberId":"mem_x","description":"With Paid Dues","status":"paid dues"}"#;
    assert_eq!(
        scrub_document(other, member, &naming).unwrap(),
        other.replace("Paid Dues", ERASED)
    );
    assert_eq!(scrub_document(r#"{"description":"paid"}"#, member, &naming), None);
    assert_eq!(scrub_document("not JSON", member, &naming), None);
}

#[test]
fn what_somebody_else_has_too_is_not_looked_for() {
    let person = Person {
        names: vec![("Ada".into(), "Larsen".into())],
        emails: vec!["ada@example.org".into(), "Family@Example.org".into()],
        phones: vec!["+12025550123".into()],
        accounts: vec!["DE1234567".into()],
        ..Person::default()
    };
    let (naming, shared) = person.naming(&Others::default());
    assert!(shared.is_empty());
    for text in ["Larsen", "family@example.org", "202 555 0123", "DE12 34567"] {
        assert!(naming.scrub(text).is_some(), "{text}");
    }
    let mut others = Others::default();
    others.add_name(["Bo", "Larsen"]);
    others.add_email("family@example.org");
    others.add_phone("+1 202 555 0123");
    others.add_account("de1234567");
    let (naming, shared) = person.naming(&others);
    assert_eq!(
        shared,
        ["+12025550123", "DE1234567", "Family@Example.org", "Larsen"]
    );
    for text in [
        "Larsen",
        "family@example.org",
        "202 555 0123",
        "DE12 34567",
        "Bo Larsen",
    ] {
        assert_eq!(naming.scrub(text), None, "{text}");
    }
    assert!(naming.scrub("Larsen, Ada").is_some());
    others.add_name(["Ada", "Larsen"]);
    let (naming, _) = person.naming(&others);
    assert_eq!(naming.scrub("Ada Larsen"), None);
    let named = Person {
        is_full_name_only: true,
        also: vec!["the skipper".into()],
        ..person
    };
    let (naming, _) = named.naming(&Others::default());
    assert_eq!(naming.scrub("Larsen"), None);
    assert!(naming.scrub("The Skipper").is_some());
}
