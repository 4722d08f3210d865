//! Files that belong to reimbursements and entries: kept, proved, exported, copied, on both engines.

use bursar_app::attachments::{self, NewAttachment};
use bursar_app::copy::copy;
use bursar_app::{Act, AppError, Identity, View};
use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, Value};
use bursar_domain::attachment::{Attachment, ContentType, PART_BYTES, SIZE_MAX, Subject};
use bursar_domain::ids::{AttachmentId, EntryId, OrganizationId, ReimbursementId};
use serde_json::{Value as Json, json};

use crate::support::{
    EVERY_RECORD, app_at, bundle, dump, export_all, import_now, now, numbers, plant, problems, records,
};

const ORG: &str = "org_01jbst1c00e008000000000000";

fn organization() -> OrganizationId {
    OrganizationId::parse(ORG).unwrap()
}

fn reimbursement() -> Subject {
    Subject::Reimbursement(ReimbursementId::parse("rmb_01jbst1c01e009wdvsq5zmmz0n").unwrap())
}

fn entry() -> Subject {
    Subject::Entry(EntryId::parse("jnl_01jbst1c00e008000000000000").unwrap())
}

/// A file of this size that differs in every part.
fn pdf(size: usize, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut bytes = b"%PDF-1.7\n".to_vec();
    bytes.extend(std::iter::repeat_with(|| random.u8(..)).take(size - bytes.len()));
    bytes
}

fn act<T: Send + 'static>(
    db: &Db,
    work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, String> {
    let done = app_at(db, now()).act(Identity::Operator, organization(), work);
    done.wait().map_err(|error: AppError| error.to_string())
}

fn look<T: Send + 'static>(
    db: &Db,
    work: impl FnOnce(&mut View<'_, '_>) -> Result<T, AppError> + Send + 'static,
) -> Result<T, String> {
    let done = app_at(db, now()).view(Identity::Operator, organization(), work);
    done.wait().map_err(|error: AppError| error.to_string())
}

fn attach(db: &Db, subject: Subject, name: &str, bytes: &[u8]) -> Result<Attachment, String> {
    let new = NewAttachment {
        subject,
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    };
    act(db, move |act| attachments::add(act, &new))
}

#[test]
fn files_are_attached_read_and_removed() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, EVERY_RECORD).unwrap();
        let bytes = pdf(3 * PART_BYTES + 17, 1);
        let made = attach(db, reimbursement(), "scans/März.pdf", &bytes).unwrap();
        assert_eq!(
            (made.name.as_str(), made.content_type),
            ("März.pdf", ContentType::Pdf)
        );
        let of_reimbursement = look(db, move |view| attachments::list(view, Some(reimbursement()))).unwrap();
        assert_eq!(of_reimbursement, std::slice::from_ref(&made));
        let file = look(db, move |view| attachments::get(view, made.id)).unwrap();
        assert!(file.bytes == bytes && file.attachment == made);
        assert_eq!(problems(db), []);

        let said = attach(db, reimbursement(), "again.pdf", &bytes).unwrap_err();
        assert!(
            said.starts_with("the same file is attached already: März.pdf (att_"),
            "{said}"
        );
        attach(db, entry(), "the same elsewhere.pdf", &bytes).unwrap();
        for (subject, bytes, part) in [
            (reimbursement(), b"<html>".to_vec(), "PDF, JPEG or PNG"),
            (reimbursement(), Vec::new(), "1 byte to 10 MB"),
            (reimbursement(), pdf(SIZE_MAX + 1, 2), "1 byte to 10 MB"),
            (
                Subject::Entry(EntryId::from_bits(7)),
                pdf(99, 3),
                "there is no journal entry",
            ),
            (
                Subject::Reimbursement(ReimbursementId::from_bits(7)),
                pdf(99, 3),
                "there is no reimbursement",
            ),
        ] {
            let said = attach(db, subject, "a.pdf", &bytes).unwrap_err();
            assert!(said.contains(part), "{said}");
        }
        attach(db, reimbursement(), "largest.pdf", &pdf(SIZE_MAX, 4)).unwrap();
        assert_eq!(look(db, |view| attachments::list(view, None)).unwrap().len(), 5);

        act(db, move |act| attachments::remove(act, made.id)).unwrap();
        let said = look(db, move |view| attachments::get(view, made.id)).unwrap_err();
        assert!(said.contains("there is no attachment"), "{said}");
        let left = "SELECT COUNT(*) FROM attachment_parts WHERE attachment_id = ?1";
        assert_eq!(numbers(db, left, &[Value::Bytes(&made.id.to_bytes())]), [0]);
        assert_eq!(problems(db), []);
    });
}

#[test]
fn damage_is_found() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, EVERY_RECORD).unwrap();
        let id = AttachmentId::parse("att_01jbst1c00e008000000000000").unwrap();
        let key = id.to_bytes();
        plant(
            db,
            "UPDATE attachment_parts SET data = ?2 WHERE attachment_id = ?1",
            &[Value::Bytes(&key), Value::Bytes(b"%PDF-other")],
        );
        assert_eq!(problems(db), [("attachment", id.to_string())]);
        let said = look(db, move |view| attachments::get(view, id)).unwrap_err();
        assert!(!said.contains("%PDF"), "{said}");
        plant(db, "DELETE FROM attachments WHERE id = ?1", &[Value::Bytes(&key)]);
        assert_eq!(problems(db), [("reference", id.to_string())]);
    });
}

/// Byte for byte through bundles and copies, from one engine to the other.
#[test]
fn bundles_and_copies_carry_the_bytes() {
    let (first, second, third) = (TestDb::sqlite(), TestDb::postgres(), TestDb::sqlite());
    import_now(&first.db, EVERY_RECORD).unwrap();
    let bytes = pdf(SIZE_MAX, 5);
    let made = attach(&first.db, entry(), "statement.pdf", &bytes).unwrap();
    let export = export_all(&first.db);
    assert!(export.lines().all(|line| line.len() < 1 << 20), "no line is long");
    import_now(&second.db, &export).unwrap();
    assert!(export_all(&second.db) == export);
    // Importing it again changes nothing.
    let again = import_now(&second.db, &export).unwrap();
    assert_eq!((again.added, again.changed), (0, 0));
    copy(
        &app_at(&second.db, now()),
        Identity::Operator,
        &app_at(&third.db, now()),
        &mut |_, _| {},
    )
    .unwrap();
    assert!(dump(&third.db)["attachment_parts"] == dump(&second.db)["attachment_parts"]);
    assert_eq!(problems(&third.db), []);
    let file = look(&third.db, move |view| attachments::get(view, made.id)).unwrap();
    assert!(file.bytes == bytes);
}

/// Changes the lines of the fixture's first attachment, and imports.
fn refused(db: &Db, change: impl Fn(&mut Vec<Json>)) -> String {
    let mut lines = records(EVERY_RECORD);
    change(&mut lines);
    import_now(db, &bundle(&lines)).unwrap_err()
}

#[test]
fn bundles_with_bad_attachments_are_refused() {
    both_engines(|test| {
        let db = &test.db;
        let set = |kind: &'static str, field: &'static str, value: Json| {
            move |lines: &mut Vec<Json>| {
                let line = lines.iter_mut().find(|line| line["type"] == kind).unwrap();
                line[field] = value.clone();
            }
        };
        let before = dump(db);
        for (change, part) in [
            (
                set("attachment", "sha256", json!("0".repeat(64))),
                "sha256: disagrees with the parts",
            ),
            (
                set("attachment", "size", json!(5)),
                "sha256: disagrees with the parts",
            ),
            (set("attachment", "size", json!(SIZE_MAX + 1)), "size"),
            (
                set("attachment", "contentType", json!("image/png")),
                "contentType: must be what the content is",
            ),
            (
                set("attachment", "contentType", json!("text/html")),
                "contentType",
            ),
            (set("attachment", "name", json!("..")), "name"),
            (
                set("attachment", "entryId", json!("jnl_01jbst1c00e008000000000000")),
                "not both",
            ),
            (
                set(
                    "attachment",
                    "reimbursementId",
                    json!(ReimbursementId::from_bits(9)),
                ),
                "is neither in this bundle",
            ),
            (
                set("attachment", "createdAt", json!("2027-01-01T00:00:00Z")),
                "must not be in the future",
            ),
            (
                set("attachmentPart", "data", json!("JVBERi0=")),
                "sha256: disagrees with the parts",
            ),
            (set("attachmentPart", "data", json!("no base64")), "in base64"),
            (set("attachmentPart", "data", json!("")), "in base64"),
            (set("attachmentPart", "number", json!(1_000)), "number"),
            (
                set(
                    "attachmentPart",
                    "attachmentId",
                    json!(AttachmentId::from_bits(9)),
                ),
                "its own line is missing",
            ),
        ] {
            let said = refused(db, change);
            assert!(said.starts_with("line ") && said.contains(part), "{said}");
        }
        let without = refused(db, |lines| lines.retain(|line| line["type"] != "attachmentPart"));
        assert!(without.contains("together they have 0 bytes"), "{without}");
        let twice = refused(db, |lines| {
            let part = lines
                .iter()
                .find(|line| line["type"] == "attachmentPart")
                .unwrap()
                .clone();
            lines.push(part);
        });
        assert!(twice.contains("given twice"), "{twice}");
        assert!(dump(db) == before, "nothing was written");
        // What is known never changes.
        import_now(db, EVERY_RECORD).unwrap();
        let said = refused(db, set("attachment", "name", json!("other.pdf")));
        assert!(said.contains("attachments never change"), "{said}");
        let said = refused(db, set("attachmentPart", "data", json!("JVBERi0=")));
        assert!(said.contains("differs from what is kept"), "{said}");
    });
}
