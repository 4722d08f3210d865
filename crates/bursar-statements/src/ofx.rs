//! OFX 1, which is SGML whose values need no closing tag, and OFX 2, which is XML. Both have the same elements, so one
//! tolerant reader takes both; nothing is ever expanded or fetched.

mod tokens;
mod transaction;

use tokens::{Token, Tokens};
use transaction::Transaction;

use crate::limits::{DEPTH_MAX, LINE_BYTES_MAX};
use crate::number::{check_currency, quoted};
use crate::text::{account, tidy};
use crate::{Balance, Format, Options, Problem, Statement, StatementFile, decode};

/// The elements that hold others and decide what the values in them mean.
const AGGREGATES: [&str; 15] = [
    "STATUS",
    "STMTRS",
    "CCSTMTRS",
    "INVSTMTRS",
    "BANKACCTFROM",
    "CCACCTFROM",
    "STMTTRN",
    "STMTTRNP",
    "PAYEE",
    "BANKACCTTO",
    "CCACCTTO",
    "CURRENCY",
    "ORIGCURRENCY",
    "LEDGERBAL",
    "AVAILBAL",
];

pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<StatementFile, Problem> {
    let text = decode::named(bytes, &encoding(bytes))?;
    let mut reader = Reader::new(options);
    for token in Tokens::new(&text) {
        reader.take(token?)?;
    }
    reader.finish()
}

/// The encoding that the header names. Programs often name another than they write, but text in a single-byte encoding
/// that is valid UTF-8 by accident does not occur.
fn encoding(bytes: &[u8]) -> String {
    if bytes.trim_ascii_start().starts_with(b"<?xml") {
        let declared = decode::declared(bytes.trim_ascii_start());
        // The name of the header of OFX 1, which is none in XML.
        return if declared == "USASCII" {
            "us-ascii".to_owned()
        } else {
            declared
        };
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]).to_uppercase();
    let header = start.split('<').next().unwrap_or_default();
    let named = |key: &str| {
        let (_, value) = header.split_once(key)?;
        value.split_whitespace().next()
    };
    let is_utf8 = std::str::from_utf8(bytes).is_ok();
    let says_utf8 =
        named("ENCODING:").is_some_and(|name| name.starts_with("UTF") || name.starts_with("UNICODE"));
    match named("CHARSET:") {
        _ if is_utf8 || says_utf8 => "utf-8".to_owned(),
        Some(charset) if charset.contains("8859-15") => "iso-8859-15".to_owned(),
        _ => "windows-1252".to_owned(),
    }
}

/// An element that is open.
struct Open<'a> {
    name: &'a str,
    line: usize,
}

/// A statement that is being read.
#[derive(Default)]
struct Draft<'a> {
    statement: Statement,
    transaction: Option<Transaction<'a>>,
    closing_amount: Option<i64>,
    closing_day: Option<crate::Day>,
}

struct Reader<'a> {
    options: &'a Options,
    open: Vec<Open<'a>>,
    /// The last element that was opened and what was read in it. It holds a value or other elements.
    last: Option<(Open<'a>, String)>,
    draft: Option<Draft<'a>>,
    file: StatementFile,
    lines: usize,
    line: usize,
    is_closed: bool,
    error: Option<String>,
}

impl<'a> Reader<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            open: Vec::new(),
            last: None,
            draft: None,
            file: StatementFile {
                format: Format::Ofx,
                statements: Vec::new(),
                pending: 0,
                columns: Vec::new(),
            },
            lines: 0,
            line: 1,
            is_closed: false,
            error: None,
        }
    }

    fn take(&mut self, token: Token<'a>) -> Result<(), Problem> {
        match token {
            Token::Open { name, line } => {
                self.line = line;
                self.end_value(true)?;
                self.last = Some((Open { name, line }, String::new()));
            }
            Token::Text { text, line } => {
                self.line = line;
                if let Some((_, value)) = &mut self.last {
                    value.push_str(&text);
                    if value.len() > LINE_BYTES_MAX {
                        return Err(Problem::at(
                            line,
                            format!("a value has more than {LINE_BYTES_MAX} bytes"),
                        ));
                    }
                }
            }
            Token::Close { name, line } => {
                self.line = line;
                let is_value = self.last.as_ref().is_some_and(|(open, _)| open.name == name);
                // An element that is closed at once has no value, unless it is one of those that hold others.
                self.end_value(is_value && AGGREGATES.contains(&name))?;
                if !is_value || AGGREGATES.contains(&name) {
                    self.close(name)?;
                }
                self.is_closed |= name == "OFX";
            }
        }
        Ok(())
    }

    /// What was opened last is over: it has a value, or else it holds what comes next.
    fn end_value(&mut self, may_hold: bool) -> Result<(), Problem> {
        let Some((open, value)) = self.last.take() else {
            return Ok(());
        };
        let value = tidy(&value);
        if !value.is_empty() {
            self.value(open.name, &value, open.line)
        } else if may_hold {
            self.begin(open)
        } else {
            Ok(())
        }
    }

    fn begin(&mut self, open: Open<'a>) -> Result<(), Problem> {
        if self.open.len() >= DEPTH_MAX {
            let reason =
                format!("elements are nested more than {DEPTH_MAX} deep, which statements never are");
            return Err(Problem::at(open.line, reason));
        }
        match open.name {
            "STMTRS" | "CCSTMTRS" if self.draft.is_some() => {
                let reason = "a statement begins inside another one; the file is damaged, download it again";
                return Err(Problem::at(open.line, reason));
            }
            "STMTRS" | "CCSTMTRS" => self.draft = Some(Draft::default()),
            "STMTTRN" | "STMTTRNP" => {
                if let Some(draft) = &mut self.draft {
                    if let Some(unclosed) = &draft.transaction {
                        return Err(unclosed.unclosed());
                    }
                    draft.transaction = Some(Transaction::new(open.line));
                }
            }
            _ => {}
        }
        self.open.push(open);
        Ok(())
    }

    /// Closes an element and what is still open in it. A name that is not open closes a value, which is over already.
    fn close(&mut self, name: &str) -> Result<(), Problem> {
        let Some(at) = self.open.iter().rposition(|open| open.name == name) else {
            return Ok(());
        };
        while self.open.len() > at {
            let Some(open) = self.open.pop() else { break };
            match (open.name, &mut self.draft) {
                ("STMTTRN", Some(draft)) if name == "STMTTRN" => {
                    if let Some(transaction) = draft.transaction.take() {
                        draft
                            .statement
                            .push(transaction.line(self.options)?, self.lines)?;
                    }
                }
                ("STMTTRNP", Some(draft)) if name == "STMTTRNP" => {
                    draft.transaction = None;
                    self.file.pending += 1;
                }
                ("STMTTRN" | "STMTTRNP", Some(_)) => return Err(Transaction::new(open.line).unclosed()),
                ("STMTRS" | "CCSTMTRS", _) => self.end_statement(),
                _ => {}
            }
        }
        Ok(())
    }

    fn end_statement(&mut self) {
        let Some(mut draft) = self.draft.take() else {
            return;
        };
        draft.statement.closing = draft.closing_amount.map(|amount| Balance {
            day: draft.closing_day,
            amount,
        });
        draft.statement.currency = Some(self.options.currency.clone());
        self.lines += draft.statement.lines.len();
        self.file.statements.push(draft.statement);
    }

    fn value(&mut self, name: &'a str, value: &str, line: usize) -> Result<(), Problem> {
        let inside = self
            .open
            .iter()
            .rev()
            .find(|open| AGGREGATES.contains(&open.name));
        let inside = inside.map_or("", |open| open.name);
        match (inside, name) {
            ("STATUS", "SEVERITY") if value == "ERROR" => self.error = Some("ERROR".to_owned()),
            ("STATUS", "MESSAGE") if self.error.is_some() => self.error = Some(value.to_owned()),
            _ => {}
        }
        let Some(draft) = &mut self.draft else {
            return Ok(());
        };
        match (inside, name) {
            ("STMTRS" | "CCSTMTRS", "CURDEF") | ("CURRENCY", "CURSYM") => {
                check_currency(value, line, self.options)?
            }
            ("BANKACCTFROM" | "CCACCTFROM", "ACCTID") => draft.statement.account = account(value),
            ("LEDGERBAL", "BALAMT") => {
                draft.closing_amount = Some(transaction::amount(value, line, self.options)?)
            }
            ("LEDGERBAL", "DTASOF") => draft.closing_day = transaction::day(value),
            _ => {
                if let Some(transaction) = &mut draft.transaction {
                    transaction.take(inside, name, value, line);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<StatementFile, Problem> {
        if !self.is_closed {
            return Err(Problem::truncated(self.line, "</OFX>"));
        }
        if self.file.statements.is_empty() {
            let said = self
                .error
                .map(|said| format!("; the bank's server says {}", quoted(&said)));
            return Err(Problem::whole(format!(
                "there is no statement of a bank account or credit card in the file{}; download it again",
                said.unwrap_or_default()
            )));
        }
        Ok(self.file)
    }
}
