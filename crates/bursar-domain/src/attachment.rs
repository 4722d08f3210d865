//! Attachments: receipts and documents that belong to a reimbursement or a journal entry.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::fields::Fields;
use crate::ids::{AttachmentId, EntryId, ReimbursementId};
use crate::refusal::Refusal;
use crate::text::TextRule;
use crate::time::Timestamp;
use crate::words;

pub const SIZE_MAX: usize = 10 << 20;
/// A file is kept in parts of this size; the last one is smaller.
pub const PART_BYTES: usize = 64 << 10;
/// What file systems allow.
pub const FILE_NAME: TextRule = TextRule {
    min: 1,
    max: 255,
    lines: false,
};

words! {
    /// What an attachment is. It is recognised by its content, whatever its name.
    ContentType {
        Pdf "application/pdf",
        Jpeg "image/jpeg",
        Png "image/png",
    }
}

impl ContentType {
    pub fn of(bytes: &[u8]) -> Option<Self> {
        const STARTS: [(ContentType, &[u8]); 3] = [
            (ContentType::Pdf, b"%PDF-"),
            (ContentType::Jpeg, b"\xff\xd8\xff"),
            (ContentType::Png, b"\x89PNG\r\n\x1a\n"),
        ];
        let found = STARTS.iter().find(|(_, start)| bytes.starts_with(start));
        found.map(|(content_type, _)| *content_type)
    }

    /// How names of such files end, the usual one first.
    const fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Pdf => &[".pdf"],
            Self::Jpeg => &[".jpg", ".jpeg"],
            Self::Png => &[".png"],
        }
    }
}

/// What an attachment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    Reimbursement(ReimbursementId),
    Entry(EntryId),
}

impl Subject {
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let reimbursement = ReimbursementId::parse(text).map(Self::Reimbursement);
        reimbursement.or_else(|| EntryId::parse(text).map(Self::Entry))
    }

    pub const fn reimbursement(self) -> Option<ReimbursementId> {
        match self {
            Self::Reimbursement(id) => Some(id),
            Self::Entry(_) => None,
        }
    }

    pub const fn entry(self) -> Option<EntryId> {
        match self {
            Self::Reimbursement(_) => None,
            Self::Entry(id) => Some(id),
        }
    }

    fn of(reimbursement: Option<ReimbursementId>, entry: Option<EntryId>) -> Option<Self> {
        match (reimbursement, entry) {
            (Some(id), None) => Some(Self::Reimbursement(id)),
            (None, Some(id)) => Some(Self::Entry(id)),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Reimbursement(id) => write!(f, "{id}"),
            Self::Entry(id) => write!(f, "{id}"),
        }
    }
}

/// An attachment without its bytes. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub id: AttachmentId,
    pub subject: Subject,
    /// The name of the file, without folders.
    pub name: String,
    pub content_type: ContentType,
    pub size: i64,
    pub sha256: [u8; 32],
    pub created_at: Timestamp,
}

impl Attachment {
    /// The name to save the file under. It shows no other order than it has and ends as the content asks, so that
    /// nobody opens a program for a receipt.
    pub fn saved_name(&self) -> String {
        let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let mut name = self.name.replace(turns, "");
        let lower = name.to_ascii_lowercase();
        let endings = self.content_type.endings();
        if !endings.iter().any(|ending| lower.ends_with(ending)) {
            name.push_str(endings[0]);
        }
        name
    }

    /// Refuses a file that is empty, too large, or of another type.
    pub fn new(
        id: AttachmentId,
        subject: Subject,
        name: &str,
        bytes: &[u8],
        now: Timestamp,
    ) -> Result<Self, Refusal> {
        if bytes.is_empty() || bytes.len() > SIZE_MAX {
            let rule = format!(
                "must have 1 byte to {} MB, got {} bytes; save the document with a lower resolution",
                SIZE_MAX >> 20,
                bytes.len()
            );
            return Err(Refusal::invalid("file", rule));
        }
        let rule = "must be a PDF, JPEG or PNG file, by its content; convert or scan the document";
        let content_type = ContentType::of(bytes).ok_or_else(|| Refusal::invalid("file", rule))?;
        Ok(Self {
            id,
            subject,
            name: file_name(name)?,
            content_type,
            size: i64::try_from(bytes.len()).unwrap_or(i64::MAX),
            sha256: Sha256::digest(bytes).into(),
            created_at: now,
        })
    }

    /// Whether these bytes are the attachment's.
    pub fn is_whole(&self, bytes: &[u8]) -> bool {
        i64::try_from(bytes.len()) == Ok(self.size) && self.sha256 == <[u8; 32]>::from(Sha256::digest(bytes))
    }

    pub fn read(id: AttachmentId, fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let reimbursement = fields.id("reimbursementId")?.optional();
        let entry = fields.id("entryId")?.optional();
        let one = "must be given, or entryId, and not both";
        let subject = Subject::of(reimbursement, entry);
        let subject = subject.ok_or_else(|| Refusal::invalid("reimbursementId", one))?;
        let name: String = fields.text("name", FILE_NAME)?.required()?;
        let limit = i64::try_from(SIZE_MAX).unwrap_or(i64::MAX);
        let attachment = Self {
            id,
            subject,
            name: file_name(&name)?,
            content_type: fields.word("contentType")?.required()?,
            size: fields.integer("size", 1..=limit)?.required()?,
            sha256: fields.string("sha256", parse_hex)?.required()?,
            created_at: fields.timestamp("createdAt")?.required()?,
        };
        Ok(attachment)
    }

    pub fn sha256_text(&self) -> String {
        self.sha256.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A part of the bytes, as a bundle has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub attachment: AttachmentId,
    pub number: i64,
    pub data: Vec<u8>,
}

impl Part {
    pub fn read(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let limit = i64::try_from(SIZE_MAX / PART_BYTES).unwrap_or(i64::MAX);
        Ok(Self {
            attachment: fields.id("attachmentId")?.required()?,
            number: fields.integer("number", 0..=limit)?.required()?,
            data: fields.string("data", decode)?.required()?,
        })
    }

    /// The bytes in base64.
    pub fn text(data: &[u8]) -> String {
        STANDARD.encode(data)
    }
}

fn decode(text: &str) -> Result<Vec<u8>, String> {
    let bytes = STANDARD.decode(text).ok();
    let bytes = bytes.filter(|bytes| (1..=PART_BYTES).contains(&bytes.len()));
    bytes.ok_or_else(|| format!("must be 1 to {PART_BYTES} bytes in base64"))
}

/// A name that leads out of no folder.
fn file_name(name: &str) -> Result<String, Refusal> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = FILE_NAME.check(name).map_err(Refusal::of_field("name"))?;
    match name.as_str() {
        "." | ".." => Err(Refusal::invalid(
            "name",
            "must be the name of a file, such as receipt.pdf",
        )),
        _ => Ok(name),
    }
}

fn parse_hex(text: &str) -> Result<[u8; 32], String> {
    let rule = || "must be a SHA-256 sum: 64 hexadecimal digits in lower case".to_owned();
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 64 || !text.bytes().all(is_hex) {
        return Err(rule());
    }
    let mut sum = [0; 32];
    for (byte, digits) in sum.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).map_err(|_| rule())?;
        *byte = u8::from_str_radix(digits, 16).map_err(|_| rule())?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attach(name: &str, bytes: &[u8]) -> Result<Attachment, String> {
        let subject = Subject::Entry(EntryId::from_bits(1));
        let made = Attachment::new(
            AttachmentId::from_bits(2),
            subject,
            name,
            bytes,
            Timestamp::from_micros(3),
        );
        made.map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn files_are_known_by_their_content() {
        for (bytes, content_type) in [
            (&b"%PDF-1.7\n"[..], Some(ContentType::Pdf)),
            (b"\xff\xd8\xff\xe0\x00\x10JFIF", Some(ContentType::Jpeg)),
            (b"\x89PNG\r\n\x1a\n\x00", Some(ContentType::Png)),
            (b"<html>%PDF-", None),
            (b"\x89PNG\n", None),
            (b"GIF89a", None),
            (b"", None),
        ] {
            assert_eq!(ContentType::of(bytes), content_type, "{bytes:?}");
        }
        assert!(
            attach("a.pdf", b"<html>")
                .unwrap_err()
                .contains("PDF, JPEG or PNG")
        );
    }

    #[test]
    fn a_file_is_saved_as_what_it_is() {
        for (name, bytes, saved) in [
            ("bill.pdf", &b"%PDF-1.7"[..], "bill.pdf"),
            ("BILL.PDF", b"%PDF-1.7", "BILL.PDF"),
            ("bill", b"%PDF-1.7", "bill.pdf"),
            ("bill.pdf.exe", b"%PDF-1.7", "bill.pdf.exe.pdf"),
            ("photo.jpeg", b"\xff\xd8\xff", "photo.jpeg"),
            ("photo.png", b"\xff\xd8\xff", "photo.png.jpg"),
            ("bill\u{202e}fdp.exe", b"%PDF-1.7", "billfdp.exe.pdf"),
            ("חשבון.pdf", b"%PDF-1.7", "חשבון.pdf"),
        ] {
            assert_eq!(attach(name, bytes).unwrap().saved_name(), saved, "{name:?}");
        }
    }

    #[test]
    fn sizes_and_names_have_limits() {
        let of_size = |size: usize| {
            let mut bytes = b"%PDF-".to_vec();
            bytes.resize(size, 0);
            bytes
        };
        assert_eq!(attach("a.pdf", &of_size(SIZE_MAX)).unwrap().size, 10 << 20);
        assert!(
            attach("a.pdf", &of_size(SIZE_MAX + 1))
                .unwrap_err()
                .contains("10 MB")
        );
        assert!(attach("a.pdf", b"").unwrap_err().contains("1 byte"));
        for (name, kept) in [
            ("receipt.pdf", Some("receipt.pdf")),
            ("/folder/receipt.pdf", Some("receipt.pdf")),
            ("C:\\scans\\Beleg März.pdf", Some("Beleg März.pdf")),
            ("..", None),
            ("folder/", None),
            ("a\nb", None),
        ] {
            assert_eq!(
                attach(name, b"%PDF-").ok().map(|a| a.name).as_deref(),
                kept,
                "{name:?}"
            );
        }
    }

    #[test]
    fn sums_prove_the_bytes() {
        let attachment = attach("a.pdf", b"%PDF-").unwrap();
        assert!(attachment.is_whole(b"%PDF-"));
        assert!(!attachment.is_whole(b"%PDF") && !attachment.is_whole(b"%PDF+"));
        assert_eq!(parse_hex(&attachment.sha256_text()), Ok(attachment.sha256));
        assert!(parse_hex("AB").is_err() && parse_hex(&"G".repeat(64)).is_err());
    }
}
