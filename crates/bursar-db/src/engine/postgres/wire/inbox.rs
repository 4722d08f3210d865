//! What was received: a buffer, cut into messages.

use std::io::{ErrorKind, Read};
use std::ops::Range;

use super::error::WireError;

const READ_BYTES: usize = 16 << 10;
/// A tag and a length.
const HEAD: usize = 5;

#[derive(Default)]
pub(super) struct Inbox {
    buffer: Vec<u8>,
    /// What is not cut yet.
    from: usize,
    to: usize,
}

impl Inbox {
    pub(super) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Valid until the next message is cut.
    pub(super) fn bytes(&self, body: &Range<usize>) -> &[u8] {
        &self.buffer[body.clone()]
    }

    /// The kind of the next message and where its body is, if all of it is there.
    pub(super) fn next(&mut self) -> Result<Option<(u8, Range<usize>)>, WireError> {
        let Some((tag, length)) = self.head()? else {
            return Ok(None);
        };
        if self.to - self.from < length {
            return Ok(None);
        }
        let body = self.from + HEAD..self.from + length;
        self.from += length;
        Ok(Some((tag, body)))
    }

    /// The tag of the message at the start, and its length with its head.
    fn head(&self) -> Result<Option<(u8, usize)>, WireError> {
        let Some(head) = self.buffer[self.from..self.to].first_chunk::<HEAD>() else {
            return Ok(None);
        };
        let [tag, length @ ..] = *head;
        match u32::from_be_bytes(length) {
            length @ 4.. => Ok(Some((tag, length as usize + 1))),
            length => Err(WireError::protocol(format!(
                "a message of {length} bytes was received"
            ))),
        }
    }

    /// Waits for more.
    pub(super) fn fill(&mut self, stream: &mut impl Read) -> Result<(), WireError> {
        self.make_room()?;
        loop {
            match stream.read(&mut self.buffer[self.to..]) {
                Ok(0) => return Err(WireError::Closed),
                Ok(bytes) => {
                    self.to += bytes;
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn make_room(&mut self) -> Result<(), WireError> {
        let wanted = self.head()?.map_or(0, |(_, length)| length);
        self.buffer.copy_within(self.from..self.to, 0);
        self.to -= self.from;
        self.from = 0;
        // A long message grows the buffer as it comes, and no faster than it is filled.
        let least = (self.to + READ_BYTES).max(wanted.min(self.to * 2));
        if self.buffer.len() < least {
            self.buffer.resize(least, 0);
        } else if self.to == 0 && self.buffer.len() > 64 * READ_BYTES {
            self.buffer.truncate(READ_BYTES);
            self.buffer.shrink_to_fit();
        }
        Ok(())
    }
}

/// Reads numbers from the start of a message.
struct Numbers<'b>(&'b [u8]);

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(short)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn two(&mut self) -> Result<u16, WireError> {
        self.take().map(u16::from_be_bytes)
    }

    fn four(&mut self) -> Result<u32, WireError> {
        self.take().map(u32::from_be_bytes)
    }
}

fn short() -> WireError {
    WireError::protocol("a message was cut short".to_owned())
}

pub(super) fn parameter_types(body: &[u8]) -> Result<Vec<u32>, WireError> {
    let mut numbers = Numbers(body);
    (0..numbers.two()?).map(|_| numbers.four()).collect()
}

pub(super) fn column_types(body: &[u8]) -> Result<Vec<u32>, WireError> {
    let mut numbers = Numbers(body);
    (0..numbers.two()?)
        .map(|_| {
            let end = numbers.0.iter().position(|byte| *byte == 0).ok_or_else(short)?;
            numbers.0 = &numbers.0[end + 1..];
            // Its table and its place there; then its type, and the type's size, modifier and format.
            numbers.take::<6>()?;
            let kind = numbers.four()?;
            numbers.take::<8>()?;
            Ok(kind)
        })
        .collect()
}

/// Where the row's values are in the body; `None` is NULL.
pub(super) fn cells(body: &[u8], cells: &mut Vec<Option<(usize, usize)>>) -> Result<(), WireError> {
    let mut numbers = Numbers(body);
    let count = numbers.two()?;
    cells.clear();
    for _ in 0..count {
        let length = numbers.four()?;
        if length == u32::MAX {
            cells.push(None);
            continue;
        }
        let from = body.len() - numbers.0.len();
        let to = from + length as usize;
        numbers.0 = body.get(to..).ok_or_else(short)?;
        cells.push(Some((from, to)));
    }
    Ok(())
}

/// The number at the end of a tag such as `UPDATE 3` or `INSERT 0 1`.
pub(super) fn rows_changed(body: &[u8]) -> u64 {
    let text = body.strip_suffix(&[0]).unwrap_or(body);
    let word = text.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    std::str::from_utf8(word)
        .ok()
        .and_then(|word| word.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a few bytes at a time.
    struct Slow<'b>(&'b [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let bytes = self.1.min(self.0.len()).min(buffer.len());
            buffer[..bytes].copy_from_slice(&self.0[..bytes]);
            self.0 = &self.0[bytes..];
            Ok(bytes)
        }
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag][..], &length.to_be_bytes(), body].concat()
    }

    #[test]
    fn messages_are_cut_however_they_arrive() {
        let long = vec![7; 3 * READ_BYTES + 1];
        let sent = [
            message(b'Z', b"I"),
            message(b'D', &long),
            message(b'C', b""),
            message(b'D', &long),
        ]
        .concat();
        for piece in [1, 4, 5, 6, 1_000, READ_BYTES, sent.len()] {
            let mut stream = Slow(&sent, piece);
            let mut inbox = Inbox::default();
            let mut found = Vec::new();
            while found.len() < 4 {
                match inbox.next().unwrap() {
                    Some((tag, body)) => found.push((tag, inbox.bytes(&body).to_vec())),
                    None => inbox.fill(&mut stream).unwrap(),
                }
            }
            assert!(inbox.is_empty());
            let expected = [
                (b'Z', b"I".to_vec()),
                (b'D', long.clone()),
                (b'C', Vec::new()),
                (b'D', long.clone()),
            ];
            assert!(found == expected, "in pieces of {piece}");
            assert!(matches!(inbox.fill(&mut stream), Err(WireError::Closed)));
        }
    }

    #[test]
    fn what_no_server_sends_is_an_error() {
        let mut inbox = Inbox::default();
        inbox.fill(&mut Slow(&[b'Z', 0, 0, 0, 3], 5)).unwrap();
        assert!(matches!(inbox.next(), Err(WireError::Protocol(_))));
        let mut found = Vec::new();
        assert!(cells(&[0, 1, 0, 0, 0, 9, 1], &mut found).is_err());
        assert!(cells(&[0, 2, 0xff, 0xff, 0xff, 0xff], &mut found).is_err());
        assert!(column_types(&[0, 1, b'a', 0, 1, 2]).is_err());
        assert!(parameter_types(&[]).is_err());
    }

    #[test]
    fn rows_and_tags_are_read() {
        let mut found = Vec::new();
        let body = [0, 3, 0, 0, 0, 2, 5, 6, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
        cells(&body, &mut found).unwrap();
        assert_eq!(found, [Some((6, 8)), None, Some((16, 16))]);
        for (tag, rows) in [
            (&b"UPDATE 3\0"[..], 3),
            (b"INSERT 0 12\0", 12),
            (b"SELECT 1\0", 1),
            (b"BEGIN\0", 0),
            (b"", 0),
        ] {
            assert_eq!(rows_changed(tag), rows);
        }
    }
}
