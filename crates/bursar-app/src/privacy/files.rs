//! Files of the outbox that name somebody who was erased.

use std::io;
use std::path::Path;

use super::Erased;

/// Files of messages that are looked at.
const FILES_MAX: usize = 1_000_000;

/// Removes the files of messages to the member, and of those that name the person. Returns how many. A folder that does
/// not exist has none.
pub fn remove_files(outbox: &Path, erased: &Erased) -> io::Result<usize> {
    let entries = match std::fs::read_dir(outbox) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let names: Vec<String> = erased.messages.iter().map(ToString::to_string).collect();
    let mut removed = 0;
    for entry in entries.take(FILES_MAX) {
        let path = entry?.path();
        if !path.extension().is_some_and(|end| end == "eml" || end == "sms") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_of_member = names.iter().any(|known| *known == name);
        if is_of_member || erased.naming.scrub(&decoded(&std::fs::read(&path)?)).is_some() {
            std::fs::remove_file(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// A mail as text: without the soft line breaks and codes of quoted-printable.
fn decoded(bytes: &[u8]) -> String {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let rest = &bytes[at + 1..];
        let code = rest
            .get(..2)
            .filter(|_| *byte == b'=')
            .and_then(|code| std::str::from_utf8(code).ok());
        let value = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match (code, value) {
            (Some("\r\n"), _) => at += 3,
            (Some(_), Some(value)) => {
                plain.push(value);
                at += 3;
            }
            _ if *byte == b'=' && rest.first() == Some(&b'\n') => at += 2,
            _ => {
                plain.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_printable_is_read() {
        assert_eq!(decoded("M=C3=BCl=\r\nler = 5=\n6".as_bytes()), "Müller = 56");
        assert_eq!(decoded(b"a=zz="), "a=zz=");
    }
}
