//! MT940, the customer statement of SWIFT, with and without its envelope. A long statement is sent in several messages:
//! all but the last close with an intermediate balance (`:62M:`), with which the next one opens (`:60M:`).

mod details;
mod line;

use crate::limits::LINE_BYTES_MAX;
use crate::number::{check_currency, check_mark, minor_units, quoted, shown};
use crate::text::{account, some_text};
use crate::{Balance, Format, Options, Problem, Statement, StatementFile, day, decode};

/// A tag with its text: the rest of its line and the lines that continue it.
struct Field<'a> {
    tag: &'a str,
    lines: Vec<&'a str>,
    place: usize,
}

/// A message that is being read.
#[derive(Default)]
struct Message {
    statement: Statement,
    place: usize,
    opening: Option<Edge>,
    closing: Option<Edge>,
    /// Only reports during the day (MT942) have these fields.
    is_report: bool,
}

/// A balance at one end of a message.
struct Edge {
    balance: Balance,
    is_intermediate: bool,
    place: usize,
}

pub(crate) fn read(bytes: &[u8], options: &Options) -> Result<StatementFile, Problem> {
    let text = decode::guessed(bytes)?;
    let mut file = StatementFile {
        format: Format::Mt940,
        statements: Vec::new(),
        pending: 0,
        columns: Vec::new(),
    };
    let mut lines = 0;
    // The account and the balance that the next message must open with.
    let mut continues: Option<(Option<String>, Balance)> = None;
    for fields in messages(&text)? {
        let mut message = Message::new(&fields, lines, &mut file.pending, options)?;
        let (opening, closing) = message.edges()?;
        message.statement.opening = Some(opening.balance);
        message.statement.closing = Some(closing.balance);
        message.statement.currency = Some(options.currency.clone());
        message.statement.check_balances(closing.place, options)?;
        lines += message.statement.lines.len();
        let expected = continues.take();
        if closing.is_intermediate {
            continues = Some((message.statement.account.clone(), closing.balance));
        }
        match (expected, file.statements.last_mut()) {
            (Some((account, before)), Some(last))
                if opening.is_intermediate && account == message.statement.account =>
            {
                check_continues(&before, &opening, options)?;
                last.lines.append(&mut message.statement.lines);
                last.closing = message.statement.closing;
            }
            _ => file.statements.push(message.statement),
        }
    }
    if file.statements.is_empty() {
        return Err(Problem::whole(
            "there is no statement (:20:) in the file; export it as MT940",
        ));
    }
    Ok(file)
}

fn check_continues(before: &Balance, opening: &Edge, options: &Options) -> Result<(), Problem> {
    if before.amount == opening.balance.amount {
        return Ok(());
    }
    Err(Problem::at(
        opening.place,
        format!(
            "the message before closes with {}, but this one, which continues it, opens with {}; a part is missing, download \
             the file again",
            shown(before.amount.into(), options),
            shown(opening.balance.amount.into(), options)
        ),
    ))
}

/// The fields of each message. What is before the first `:20:` and between messages is left out.
fn messages(text: &str) -> Result<Vec<Vec<Field<'_>>>, Problem> {
    let mut messages: Vec<Vec<Field<'_>>> = Vec::new();
    let mut is_inside = false;
    for (at, line) in text.lines().enumerate() {
        let place = at + 1;
        if line.len() > LINE_BYTES_MAX {
            return Err(Problem::at(
                place,
                format!("the line has more than {LINE_BYTES_MAX} bytes"),
            ));
        }
        let mut line = line.trim_matches(['\u{1}', '\u{3}', '\u{1a}', '\r']);
        if line.starts_with('{') {
            line = line.split_once("{4:").map_or("", |(_, rest)| rest);
            is_inside = false;
        }
        if line.trim_end() == "-" || line.starts_with("-}") {
            is_inside = false;
            continue;
        }
        if let Some((tag, rest)) = tagged(line) {
            if tag == "20" {
                messages.push(Vec::new());
                is_inside = true;
            }
            if let Some(message) = messages.last_mut().filter(|_| is_inside) {
                message.push(Field {
                    tag,
                    lines: vec![rest],
                    place,
                });
            }
        } else if let Some(field) = messages
            .last_mut()
            .filter(|_| is_inside)
            .and_then(|m| m.last_mut())
        {
            field.lines.push(line);
        }
    }
    Ok(messages)
}

/// `:60F:C…` as `60F` and the rest. Some banks have a tag of their own, `:NS:`.
fn tagged(line: &str) -> Option<(&str, &str)> {
    let (tag, rest) = line.strip_prefix(':')?.split_once(':')?;
    let is_tag = match tag.as_bytes() {
        [a, b] => a.is_ascii_digit() && b.is_ascii_digit() || tag == "NS",
        [a, b, c] => a.is_ascii_digit() && b.is_ascii_digit() && c.is_ascii_uppercase(),
        _ => false,
    };
    is_tag.then_some((tag, rest))
}

impl Message {
    fn new(
        fields: &[Field<'_>],
        before: usize,
        pending: &mut usize,
        options: &Options,
    ) -> Result<Self, Problem> {
        let mut message = Self::default();
        let mut fields = fields.iter().peekable();
        while let Some(field) = fields.next() {
            let text = field.lines.first().copied().unwrap_or_default().trim();
            match field.tag {
                "20" => message.place = field.place,
                "25" | "25P" => message.statement.account = own_account(text, options),
                "28" | "28C" => message.statement.id = some_text(text),
                "60F" | "60M" if message.opening.is_none() => {
                    message.opening = Some(edge(field, text, options)?)
                }
                "62F" | "62M" if message.closing.is_none() => {
                    message.closing = Some(edge(field, text, options)?)
                }
                "60F" | "60M" | "62F" | "62M" => {
                    let reason = format!(":{}: is there twice; each message begins with :20:", field.tag);
                    return Err(Problem::at(field.place, reason));
                }
                "61" => {
                    let entry = line::Entry::parse(field, options)?;
                    let mut details = Vec::new();
                    while let Some(next) = fields.next_if(|next| ["86", "NS"].contains(&next.tag)) {
                        if next.tag == "86" {
                            details.extend(next.lines.iter().copied());
                        }
                    }
                    match entry.booked(&details) {
                        Some(line) => message.statement.push(line, before)?,
                        None => *pending += 1,
                    }
                }
                "34F" | "90C" | "90D" => message.is_report = true,
                _ => {}
            }
        }
        Ok(message)
    }

    /// The balances that every message must open and close with.
    fn edges(&mut self) -> Result<(Edge, Edge), Problem> {
        match (self.opening.take(), self.closing.take()) {
            (Some(opening), Some(closing)) => Ok((opening, closing)),
            (None, None) if self.is_report => Err(Problem::at(
                self.place,
                "this is MT942, a report during the day, not a statement; download the statements as MT940",
            )),
            (None, _) => Err(Problem::at(
                self.place,
                "the message has no opening balance (:60F:); it is incomplete, download the file again",
            )),
            (Some(_), None) => Err(Problem::at(
                self.place,
                "the message has no closing balance (:62F:); it is incomplete, download the file again",
            )),
        }
    }
}

/// Some banks write the currency behind the number of the account.
fn own_account(text: &str, options: &Options) -> Option<String> {
    let number = account(text)?;
    let bare = number.strip_suffix(options.currency.as_str());
    match bare.filter(|bare| bare.ends_with(|c: char| c.is_ascii_digit())) {
        Some(bare) => Some(bare.to_owned()),
        None => Some(number),
    }
}

/// `C260131EUR12,50`.
fn edge(field: &Field<'_>, text: &str, options: &Options) -> Result<Edge, Problem> {
    let wrong = || {
        let reason = format!(
            ":{}: must be such as C260131EUR12,50, got {}",
            field.tag,
            quoted(text)
        );
        Problem::at(field.place, reason)
    };
    let (Some(mark), Some(date), Some(currency), Some(amount)) =
        (text.get(..1), text.get(1..7), text.get(7..10), text.get(10..))
    else {
        return Err(wrong());
    };
    check_currency(currency, field.place, options)?;
    let amount = decimal(amount.trim(), options).map_err(|reason| Problem::at(field.place, reason))?;
    Ok(Edge {
        balance: Balance {
            day: Some(day::short(date).ok_or_else(wrong)?),
            amount: match mark {
                "C" => amount,
                "D" => -amount,
                _ => return Err(wrong()),
            },
        },
        is_intermediate: field.tag.ends_with('M'),
        place: field.place,
    })
}

/// An amount with its comma. A few banks write a point.
fn decimal(text: &str, options: &Options) -> Result<i64, String> {
    let mark = if text.contains('.') { '.' } else { ',' };
    if mark == '.' {
        check_mark(text, mark)?;
    }
    minor_units(text, mark, options)
}
