//! Forms with files, and bank statements in the console.

use crate::api::bundle::{NATIONAL, RIVAL};
use crate::api::http::Reply;
use crate::api::world::{World, on_both_engines};
use crate::console::{Browser, again, at};
use bursar_testing::Engine;

on_both_engines! {
    a_statement_goes_from_the_file_to_the_books
    columns_are_asked_for_and_remembered
    bad_uploads_are_told
}

const BOUNDARY: &str = "----x7MA4YWxkTrZu0gW";

/// A form with files as a browser sends it: fields, and files with their names.
pub(crate) fn multipart(fields: &[(&str, &str)], files: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let head =
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(head.as_bytes());
    }
    for (field, name, bytes) in files {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

impl Browser<'_> {
    pub(crate) fn upload_as(&self, path: &str, content_type: &str, body: &[u8]) -> Reply {
        let call = self
            .world
            .nobody()
            .post(path)
            .header("Sec-Fetch-Site", "same-origin");
        call.header("Cookie", &self.cookie)
            .header("Content-Type", content_type)
            .bytes(body)
    }

    pub(crate) fn upload(&self, path: &str, fields: &[(&str, &str)], files: &[(&str, &str, &[u8])]) -> Reply {
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        self.upload_as(path, &content_type, &multipart(fields, files))
    }

    /// Where an upload leads.
    pub(crate) fn uploaded(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        files: &[(&str, &str, &[u8])],
    ) -> String {
        let reply = self.upload(path, fields, files);
        assert_eq!(reply.status, 303, "{reply:?}");
        reply.must("location").to_owned()
    }
}

/// The text between two others, the first time.
pub(crate) fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text
        .split(start)
        .nth(1)
        .unwrap_or_else(|| panic!("{start} is not in {text}"));
    rest.split(end).next().unwrap()
}

/// The ids of lines that have a checkbox.
fn lines(page: &str) -> Vec<String> {
    page.split("name=\"line\" value=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

const HEAD: &str = "Booking date;Amount;Name;IBAN;Purpose\n";

fn a_statement_goes_from_the_file_to_the_books(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let viewer = Browser::of(&world, "viewer@people.example");
    let bank = at(NATIONAL, "/bank");
    assert!(editor.page(&bank).contains("No statement was imported yet"));
    assert!(!viewer.page(&bank).contains("Import a statement"));
    let new = editor.sent(
        &at(NATIONAL, "/members/new"),
        "first-name=Ada&last-name=Ekwall&email=ada@example.org&key=m1",
    );
    let ada = between(&new, "/members/", "?").to_owned();
    editor.sent(
        &at(NATIONAL, "/charges/new"),
        "member=ada@example.org&amount=47&description=Boat+%3Cscript%3E&due-date=2026-01-31&step=do&key=c1",
    );
    let form = editor.page(&at(NATIONAL, "/bank/import"));
    let account = between(&form, "<option value=\"", "\"").to_owned();
    let file = format!(
        "{HEAD}2026-02-02;47.00;EKWALL ADA;DE1;dues\n2026-02-03;-3.50;Bank;;fees\n\
         2026-02-04;25.00;Uncle <script>;DE2;a gift\n2026-02-05;30.00;Two of us;DE3;both\n"
    );
    let import = |who: &Browser<'_>, key: &str, bytes: &str| {
        let fields = [("account", account.as_str()), ("key", key)];
        who.upload(
            &at(NATIONAL, "/bank/import"),
            &fields,
            &[("file", "feb.csv", bytes.as_bytes())],
        )
    };
    assert_eq!(import(&viewer, "v", &file).status, 403);
    assert_eq!(viewer.get(&at(NATIONAL, "/bank/import")).status, 403);
    let done = import(&editor, "k1", &file);
    let to = done.must("location").to_owned();
    // The same file with the same key acts once; another file does not pass for it.
    assert_eq!(import(&editor, "k1", &file).must("location"), again(&to));
    assert_eq!(import(&editor, "k1", &format!("{file}\n")).status, 422);
    let page = editor.page(&to);
    assert!(
        page.contains("Imported 4 lines. 1 of them have a proposal."),
        "{page}"
    );
    assert!(
        page.contains("Amount and name") && page.contains("Ada Ekwall: Boat &#60;script&#62;"),
        "{page}"
    );
    assert!(!page.contains("<script>"));
    let statement = between(&to, "/bank/", "?").to_owned();
    let own = at(NATIONAL, &format!("/bank/{statement}"));
    let seen = viewer.page(&own);
    assert!(
        !seen.contains("name=\"key\"") && !seen.contains("deselect what is wrong"),
        "{seen}"
    );
    assert!(
        !seen.contains("name=\"line\"") && !seen.contains("Confirm"),
        "{seen}"
    );

    // Confirm, and undo from the page that says so.
    let all = lines(&page);
    assert_eq!(all.len(), 4, "{page}");
    assert_eq!(
        viewer
            .post(&own, &format!("do=confirm&line={}&key=x", all[0]))
            .status,
        403
    );
    assert_eq!(editor.post(&own, "do=confirm&key=none").status, 422);
    // What is proposed must be what the page has shown.
    let other = editor.post(&own, &format!("do=confirm&line={0}&plan={0}+00&key=k2", all[0]));
    assert!(
        other.status == 422 && other.body.contains("This has changed since you looked."),
        "{}",
        other.body
    );
    let plan = between(&page, "name=\"plan\" value=\"", "\"").replace(' ', "+");
    let confirm = format!("do=confirm&line={}&plan={plan}&key=k2", all[0]);
    let done = editor.sent(&own, &confirm);
    assert_eq!(editor.sent(&own, &confirm), again(&done));
    let page = editor.page(&done);
    assert!(page.contains("Confirmed 1 line, 47.00 USD in all."), "{page}");
    assert!(
        editor
            .page(&at(NATIONAL, &format!("/members/{ada}")))
            .contains("0.00 USD")
    );
    let undo = format!("{}{}", at(NATIONAL, "/undo/"), between(&page, "/undo/", "\""));
    assert!(editor.page(&undo).contains("Undo 1 line?"));
    let back = editor.page(&editor.sent(&undo, "key=k3"));
    assert!(back.contains("Undone: 1 line to match again."), "{back}");

    one_by_one(&editor, &viewer, &all, &ada);

    // Everything is dealt with; bank and books are compared.
    let list = viewer.page(&bank);
    assert!(
        list.contains("Done") && !list.contains("to match</span>"),
        "{list}"
    );
    let reconcile = between(&list, "/bank/reconcile/", "\"").to_owned();
    let held = viewer.page(&at(NATIONAL, &format!("/bank/reconcile/{reconcile}")));
    assert!(held.contains("From the bank to the books"), "{held}");

    // Ids of others, and of nothing.
    for path in [
        at(RIVAL, &format!("/bank/{statement}")),
        at(NATIONAL, "/bank/stm_00000000000000000000000000"),
        at(NATIONAL, "/bank/lines/stl_00000000000000000000000000"),
        at(NATIONAL, "/bank/reconcile/acc_00000000000000000000000000"),
        at(NATIONAL, "/undo/lines/nothing"),
    ] {
        assert_eq!(editor.get(&path).status, 404, "{path}");
    }
    let import_back = editor.post(&at(NATIONAL, &format!("/undo/statement/{statement}")), "key=k9");
    assert_eq!(import_back.status, 422, "lines in use keep their import");
    world.place.check();
}

/// What can be done on the page of a line.
fn one_by_one(editor: &Browser<'_>, viewer: &Browser<'_>, all: &[String], ada: &str) {
    let line = |id: &str| at(NATIONAL, &format!("/bank/lines/{id}"));
    assert!(
        !viewer
            .page(&line(&all[0]))
            .contains("<form method=\"post\"><input type=\"hidden\" name=\"key\"")
    );
    // Somebody who is looked for by name; the charge is chosen.
    let found = editor.page(&format!("{}?member=ekwall", line(&all[0])));
    assert!(found.contains("Book 47.00 USD for Ada Ekwall"), "{found}");
    let payment = between(&found, "name=\"payment\" value=\"", "\"").to_owned();
    let form = format!("do=member&payer={ada}&payment={payment}&key=l1");
    let page = editor.page(&editor.sent(&line(&all[0]), &form));
    assert!(page.contains("Booked 47.00 USD."), "{page}");
    assert!(
        editor
            .page(&format!("{}?member=nobody-at-all", line(&all[2])))
            .contains("Nobody matches.")
    );

    // An expense, by an account.
    let fees = editor.page(&line(&all[1]));
    assert!(
        fees.contains("Bank fees") && !fees.contains("It is a member"),
        "{fees}"
    );
    let target = fees
        .split("\">Bank fees")
        .next()
        .unwrap()
        .rsplit('"')
        .next()
        .unwrap();
    assert_eq!(editor.post(&line(&all[1]), "do=book&target=&key=l2").status, 422);
    editor.sent(
        &line(&all[1]),
        &format!("do=book&target={target}&memo=%3Cb%3Efees&key=l3"),
    );
    let booked = viewer.page(&line(&all[1]));
    assert!(
        booked.contains("In the books") && booked.contains("&#60;b&#62;fees"),
        "{booked}"
    );

    // In parts, which must sum up.
    let gift = editor.page(&line(&all[3]));
    let donations = gift
        .split("\">Donations")
        .next()
        .unwrap()
        .rsplit('"')
        .next()
        .unwrap();
    let part = |one: &str, key: &str| {
        format!(
            "do=split&amount-1={one}&member-1=ada@example.org&amount-2=20&account-2={donations}&key={key}"
        )
    };
    let wrong = editor.post(&line(&all[3]), &part("1,011.00", "l4"));
    assert_eq!(wrong.status, 422);
    assert!(
        wrong.body.contains("must sum to") && wrong.body.contains("value=\"1,011.00\""),
        "{}",
        wrong.body
    );
    editor.sent(&line(&all[3]), &part("10", "l5"));

    // Out of the books, and back again.
    editor.sent(&line(&all[2]), "do=ignore&key=l6");
    let out = editor.page(&line(&all[2]));
    assert!(out.contains("excluded from the books"), "{out}");
    editor.sent(&line(&all[2]), "do=undo&key=l7");
    assert!(editor.page(&line(&all[2])).contains("To match"));
    editor.sent(&line(&all[2]), "do=ignore&key=l8");
}

fn columns_are_asked_for_and_remembered(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let other = Browser::of(&world, "admin@people.example");
    let import = at(NATIONAL, "/bank/import");
    let account = between(&editor.page(&import), "<option value=\"", "\"").to_owned();
    let file = "Wann;Wieviel;Wer\n02.03.2026;12,50;<script>Bo\n13.03.2026;-1,00;Bank\n";
    let fields = [("account", account.as_str()), ("key", "k1")];
    let asked = editor.uploaded(&import, &fields, &[("file", "m<b>.csv", file.as_bytes())]);
    let page = editor.page(&asked);
    assert!(
        page.contains("Identify the columns") && page.contains("m&#60;b&#62;.csv"),
        "{page}"
    );
    assert!(
        page.contains("12,50") && !page.contains("<script>Bo") && !page.contains("--map"),
        "{page}"
    );
    let path = asked.split('?').next().unwrap();
    // It is the person's who uploaded it.
    assert_eq!(other.get(path).status, 404);
    assert_eq!(editor.get(&path.replace(NATIONAL_ID, RIVAL_ID)).status, 404);
    let wrong = editor.post(path, &format!("account={account}&column-0=date&key=k2"));
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("one with the amount"), "{}", wrong.body);
    let said = format!("account={account}&column-0=date&column-1=amount&column-2=name&key=k3");
    let to = editor.sent(path, &said);
    assert!(
        editor.page(&to).contains("Imported 2 lines."),
        "{}",
        editor.page(&to)
    );
    assert_eq!(
        editor.get(path).status,
        404,
        "a file that was imported is not kept"
    );
    // The next file is read without asking, and can be taken back.
    let next = "Wann;Wieviel;Wer\n14.04.2026;1,00;Bo\n";
    let fields = [("account", account.as_str()), ("key", "k4")];
    let to = editor.uploaded(&import, &fields, &[("file", "n.csv", next.as_bytes())]);
    let page = editor.page(&to);
    assert!(page.contains("Imported 1 line."), "{page}");
    let undo = format!(
        "{}{}",
        at(NATIONAL, "/undo/statement/"),
        between(&page, "/undo/statement/", "\"")
    );
    let back = editor.page(&editor.sent(&undo, "key=k5"));
    assert!(back.contains("Undid the import of 1 line."), "{back}");
    world.place.check();
}

const NATIONAL_ID: &str = "org_01jbst1c00e008000000000001";
const RIVAL_ID: &str = "org_01jbst1c00e008000000000005";

fn bad_uploads_are_told(engine: Engine) {
    let world = World::new(engine);
    let editor = Browser::of(&world, "editor@people.example");
    let import = at(NATIONAL, "/bank/import");
    let account = between(&editor.page(&import), "<option value=\"", "\"").to_owned();
    let fields = [("account", account.as_str()), ("key", "k1")];
    let told = |reply: Reply, what: &str| {
        assert_eq!(reply.status, 422, "{reply:?}");
        assert!(reply.body.contains(what), "{what}: {}", reply.body);
        assert!(
            reply.body.contains("<h1>Import a statement</h1>"),
            "{}",
            reply.body
        );
    };
    let large = vec![b'x'; (10 << 20) + (80 << 10)];
    let typed = format!("multipart/form-data; boundary={BOUNDARY}");
    told(editor.upload(&import, &fields, &[]), "Choose a file.");
    told(
        editor.upload(&import, &fields, &[("file", "a.csv", b"")]),
        "The file is empty.",
    );
    told(
        editor.upload(&import, &fields, &[("file", "a", b"1;2"), ("file", "b", b"1;2")]),
        "one file at a time",
    );
    told(
        editor.upload(&import, &fields, &[("file", "a", b"1"), ("file", "a", b"2")]),
        "Two files have the same name",
    );
    told(
        editor.upload(&import, &fields, &[("file", "a", &large)]),
        "larger than 10 MB",
    );
    told(
        editor.upload(&import, &fields, &[("file", "a.pdf", b"%PDF-1.7")]),
        "is a PDF",
    );
    told(
        editor.upload_as(&import, "multipart/form-data", b"x"),
        "no boundary",
    );
    told(
        editor.upload_as(&import, "multipart/mixed; boundary=x", b"x"),
        "multipart/form-data",
    );
    told(
        editor.upload_as(&import, &typed, b"--nothing--\r\n"),
        "breaks off",
    );
    told(
        editor.upload_as(&import, &typed, &multipart(&fields, &[])[..40]),
        "breaks off",
    );
    // What was typed before a file that is too large stays.
    let again = editor.upload(&import, &fields, &[("file", "a", &large)]);
    assert!(
        again.body.contains(&format!("value=\"{account}\" selected")),
        "{}",
        again.body
    );
    // A page without files takes none, and nobody is read before they are known.
    let form = editor.upload(&at(NATIONAL, "/members/new"), &[("first-name", "A")], &[]);
    assert_eq!(form.status, 422);
    assert!(form.body.contains("accepts no files"), "{}", form.body);
    let stranger = Browser {
        world: &world,
        cookie: "a=b".to_owned(),
    };
    let refused = stranger.upload(&import, &fields, &[("file", "a", b"1")]);
    assert_eq!(refused.status, 401);
    world.place.check();
}
