//! Dates as people write them. Where the year is last, the whole column decides whether the day or the month is first.

use bursar_domain::Date;

use super::problem::Fault;
use super::{DateOrder, quoted};

/// A date with its year last, before it is known which number is the day.
#[derive(Clone, Copy)]
struct YearLast {
    first: u8,
    second: u8,
    year: u16,
}

impl YearLast {
    fn in_order(self, order: DateOrder) -> Option<Date> {
        let (day, month) = match order {
            DateOrder::DayFirst => (self.first, self.second),
            DateOrder::MonthFirst => (self.second, self.first),
        };
        Date::parse(&format!("{:04}-{month:02}-{day:02}", self.year))
    }

    /// The orders in which this is a day of the calendar.
    fn orders(self) -> (bool, bool) {
        let can_be = |order| self.in_order(order).is_some();
        (can_be(DateOrder::DayFirst), can_be(DateOrder::MonthFirst))
    }
}

enum Shape {
    /// Only one reading: year first, or the month by its name.
    Plain(Date),
    YearLast(YearLast),
    /// A day as spreadsheets count them.
    Serial,
    Year,
    Other,
}

/// Which cells say what about the order of a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    said: Option<DateOrder>,
    day_first: Evidence,
    month_first: Evidence,
    either: Evidence,
    short_years: Evidence,
}

#[derive(Clone, Debug, Default)]
struct Evidence {
    count: usize,
    first: Option<(u64, String)>,
}

impl Evidence {
    fn add(&mut self, line: u64, text: &str) {
        self.count += 1;
        self.first.get_or_insert_with(|| (line, text.to_owned()));
    }

    fn shown(&self) -> String {
        match &self.first {
            Some((line, text)) => format!("{} in line {line}", quoted(text)),
            None => String::new(),
        }
    }
}

impl Column {
    /// An officer's word goes before what the cells say.
    pub(super) fn survey<'a>(cells: impl Iterator<Item = (u64, &'a str)>, said: Option<DateOrder>) -> Self {
        let mut column = Self {
            said,
            ..Self::default()
        };
        for (line, text) in cells {
            let Shape::YearLast(date) = shape(text) else {
                continue;
            };
            match date.orders() {
                (true, true) if date.first != date.second => column.either.add(line, text),
                (true, false) => column.day_first.add(line, text),
                (false, true) => column.month_first.add(line, text),
                (true, true) | (false, false) => {}
            }
            if !ends_in_four_digits(without_time(text)) {
                column.short_years.add(line, text);
            }
        }
        column
    }

    /// What the officer said, or the one order that every cell allows.
    fn order(&self) -> Option<DateOrder> {
        self.said
            .or(match (self.day_first.count, self.month_first.count) {
                (0, 0) => None,
                (_, 0) => Some(DateOrder::DayFirst),
                (0, _) => Some(DateOrder::MonthFirst),
                _ => None,
            })
    }

    /// What was found out about the column.
    pub(super) fn note(&self) -> Option<String> {
        let mut notes = Vec::new();
        let evidence = match self.order() {
            Some(DateOrder::DayFirst) => Some(("day", &self.day_first)),
            Some(DateOrder::MonthFirst) => Some(("month", &self.month_first)),
            None => None,
        };
        if let Some((first, evidence)) = evidence
            && self.day_first.count + self.month_first.count + self.either.count > 0
        {
            notes.push(match self.said {
                Some(_) => format!("{first} first, as --dates says"),
                None => format!("{first} first: {} can only be read so", evidence.shown()),
            });
        }
        if self.short_years.count > 0 {
            notes.push("years of two digits are 1930 to 2029".to_owned());
        }
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    pub(super) fn read(&self, text: &str) -> Result<Date, Fault> {
        let rule = "must be a date such as 2026-01-31";
        match shape(text) {
            Shape::Plain(date) => Ok(date),
            Shape::YearLast(date) => match (self.order(), date.orders()) {
                (_, (false, false)) => Err(Fault::new(rule, "no calendar has this day")),
                (Some(order), _) => date
                    .in_order(order)
                    .ok_or_else(|| Fault::new(rule, self.other_order(order))),
                (None, (true, true)) if date.first == date.second => date
                    .in_order(DateOrder::DayFirst)
                    .ok_or_else(|| Fault::new(rule, "")),
                (None, (true, true)) => Err(Fault::new(
                    "is a date that can be read day first or month first",
                    "say --dates day-first or --dates month-first",
                )
                .settled_by("--dates day-first|month-first")),
                // Some cells can only be day first and some only month first.
                (None, (true, false)) => date
                    .in_order(DateOrder::DayFirst)
                    .ok_or_else(|| Fault::new(rule, "")),
                (None, (false, true)) => date
                    .in_order(DateOrder::MonthFirst)
                    .ok_or_else(|| Fault::new(rule, "")),
            },
            Shape::Serial => Err(Fault::new(
                rule,
                "this is a spreadsheet's number for a day; format the column as a date and save the file again",
            )),
            Shape::Year => Err(Fault::new(
                rule,
                "a year alone is not a day; write one, such as 2026-01-01",
            )),
            Shape::Other => Err(Fault::new(rule, "")),
        }
    }

    fn other_order(&self, order: DateOrder) -> String {
        let (other, order) = match order {
            DateOrder::DayFirst => ("month", "day first"),
            DateOrder::MonthFirst => ("day", "month first"),
        };
        match self.said {
            Some(_) => {
                format!("this can only be {other} first, and --dates says {order}; write it year first")
            }
            None => {
                format!("this can only be {other} first, and the others are {order}; write it year first")
            }
        }
    }
}

fn shape(text: &str) -> Shape {
    let text = without_time(text);
    if let Some(date) = Date::parse(text) {
        return Shape::Plain(date);
    }
    let parts: Vec<&str> = text
        .split([' ', ',', '-', '/', '.'])
        .filter(|part| !part.is_empty())
        .collect();
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let [a, b, c] = parts[..] else {
        return match parts[..] {
            [one] if is_digits(one) && one.len() == 5 => Shape::Serial,
            [one] if is_digits(one) && one.len() == 4 => Shape::Year,
            _ => Shape::Other,
        };
    };
    let is_year = |part: &str| part.len() == 4 && is_digits(part);
    let is_short = |part: &str| part.len() <= 2 && is_digits(part);
    let (year, month, day) = if is_year(a) && is_short(b) && is_short(c) {
        (a, b.to_owned(), c)
    } else if let Some(month) = month(a).filter(|_| is_year(c)) {
        (c, month, ordinal(b))
    } else if let Some(month) = month(b) {
        if is_year(a) {
            (a, month, ordinal(c))
        } else {
            (c, month, ordinal(a))
        }
    } else if is_short(a) && is_short(b) && (is_year(c) || (c.len() == 2 && is_digits(c))) {
        let number = |part: &str| part.parse::<u16>().unwrap_or(0);
        let small = |part: &str| part.parse::<u8>().unwrap_or(0);
        let year = match (c.len(), number(c)) {
            // As spreadsheets read them.
            (2, short @ 0..30) => 2000 + short,
            (2, short) => 1900 + short,
            (_, year) => year,
        };
        let date = YearLast {
            first: small(a),
            second: small(b),
            year,
        };
        return Shape::YearLast(date);
    } else {
        return Shape::Other;
    };
    Date::parse(&format!("{year}-{month:0>2}-{day:0>2}")).map_or(Shape::Other, Shape::Plain)
}

fn ends_in_four_digits(text: &str) -> bool {
    let end: Vec<u8> = text.bytes().rev().take(4).collect();
    end.len() == 4 && end.iter().all(u8::is_ascii_digit)
}

/// Programs write a date with a time of day. A time with a zone is left, because the day may be another there.
fn without_time(text: &str) -> &str {
    let is_time = |time: &str| {
        let parts: Vec<&str> = time.split(':').collect();
        (2..=3).contains(&parts.len())
            && parts
                .iter()
                .all(|part| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
    };
    match text.split_once([' ', 'T']) {
        Some((date, time)) if is_time(time.trim()) => date,
        _ => text,
    }
}

/// The number of a month by its name in English, German, French or Spanish, or by three or more of its first letters.
fn month(text: &str) -> Option<String> {
    const MONTHS: [&[&str]; 12] = [
        &["january", "januar", "jänner", "janvier", "enero"],
        &["february", "februar", "février", "febrero"],
        &["march", "märz", "maerz", "mars", "marzo"],
        &["april", "avril", "abril"],
        &["may", "mai", "mayo"],
        &["june", "juni", "juin", "junio"],
        &["july", "juli", "juillet", "julio"],
        &["august", "août", "agosto"],
        &["september", "septembre", "septiembre"],
        &["october", "oktober", "octobre", "octubre"],
        &["november", "novembre", "noviembre"],
        &["december", "dezember", "décembre", "diciembre"],
    ];
    let text = text.to_lowercase();
    if text.chars().count() < 3 {
        return None;
    }
    let is_named = |names: &[&str]| names.iter().any(|name| name.starts_with(&text));
    let mut found = (1..).zip(MONTHS).filter(|(_, names)| is_named(names));
    match (found.next(), found.next()) {
        (Some((number, _)), None) => Some(u8::to_string(&number)),
        _ => None,
    }
}

/// `31` from `31st`.
fn ordinal(text: &str) -> &str {
    let end = text.len() - 2.min(text.len());
    match text.get(end..) {
        Some("st" | "nd" | "rd" | "th") => &text[..end],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every cell of a column as it is read.
    fn column(cells: &[&str], said: Option<DateOrder>) -> (Vec<Result<String, String>>, Option<String>) {
        let column = Column::survey((2..).zip(cells.iter().copied()), said);
        let told = |fault: Fault| format!("{}; {}", fault.rule, fault.way_out);
        let read = |cell: &&str| column.read(cell).map(|date| date.to_string()).map_err(told);
        (cells.iter().map(read).collect(), column.note())
    }

    fn alone(text: &str) -> Result<String, String> {
        column(&[text], None).0.remove(0)
    }

    #[test]
    fn dates_with_one_reading() {
        for text in [
            "2026-01-31",
            "2026-1-31",
            "2026/01/31",
            "2026.1.31",
            "31 Jan 2026",
            "31-Jan-2026",
            "Jan 31, 2026",
            "January 31st 2026",
            "31. january 2026",
            "2026 Jan 31",
            "31. Jänner 2026",
            "31 janvier 2026",
            "31 Enero 2026",
            "2026-01-31 00:00:00",
            "2026-01-31T18:30",
            "31.01.2026 0:00",
            "1/31/26",
        ] {
            assert_eq!(alone(text).as_deref(), Ok("2026-01-31"), "{text}");
        }
        for (text, expected) in [
            ("1.1.2020", "2020-01-01"),
            ("13. Mai 2019", "2019-05-13"),
            ("1 Dez. 2019", "2019-12-01"),
            ("31.12.31", "1931-12-31"),
            ("31.12.29", "2029-12-31"),
        ] {
            assert_eq!(alone(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn the_whole_column_decides_about_the_order() {
        use DateOrder::{DayFirst, MonthFirst};
        let day = Some("day first: `13.05.2026` in line 3 can only be read so");
        let month = Some("month first: `5/13/2026` in line 3 can only be read so");
        for (cells, said, expected, note) in [
            (
                &["03.04.2026", "13.05.2026", "1.2.2026"][..],
                None,
                &["2026-04-03", "2026-05-13", "2026-02-01"][..],
                day,
            ),
            (
                &["3/4/2026", "5/13/2026"],
                None,
                &["2026-03-04", "2026-05-13"],
                month,
            ),
            (
                &["03/04/2026"],
                Some(DayFirst),
                &["2026-04-03"],
                Some("day first, as --dates says"),
            ),
            (
                &["03/04/2026"],
                Some(MonthFirst),
                &["2026-03-04"],
                Some("month first, as --dates says"),
            ),
            (
                &["2026-01-31", "5 Jan 2021"],
                Some(DayFirst),
                &["2026-01-31", "2021-01-05"],
                None,
            ),
            (
                &["2026-01-31", "5 Jan 2021"],
                None,
                &["2026-01-31", "2021-01-05"],
                None,
            ),
            (
                &["1.2.19", "13.5.19"],
                None,
                &["2019-02-01", "2019-05-13"],
                Some(
                    "day first: `13.5.19` in line 3 can only be read so; years of two digits are 1930 to 2029",
                ),
            ),
        ] {
            let (read, said_of) = column(cells, said);
            let read: Vec<&str> = read.iter().map(|cell| cell.as_deref().unwrap()).collect();
            assert_eq!((&read[..], said_of.as_deref()), (expected, note), "{cells:?}");
        }
    }

    #[test]
    fn what_the_column_cannot_decide_is_asked() {
        let (read, note) = column(&["03/04/2026", "04.05.2026", "06/06/2026"], None);
        for cell in &read[..2] {
            let said = cell.as_ref().unwrap_err();
            assert!(
                said.contains("--dates day-first or --dates month-first"),
                "{said}"
            );
        }
        assert_eq!(
            (read[2].as_deref(), note),
            (Ok("2026-06-06"), None),
            "the same both ways"
        );

        // Cells that contradict each other leave the rest open.
        let (read, note) = column(&["13.05.2026", "05/14/2026", "03/04/2026"], None);
        assert_eq!(read[0].as_deref(), Ok("2026-05-13"));
        assert_eq!(read[1].as_deref(), Ok("2026-05-14"));
        assert!(read[2].as_ref().unwrap_err().contains("--dates"));
        assert_eq!(note, None);

        let (read, _) = column(&["13.05.2026", "03/04/2026"], Some(DateOrder::MonthFirst));
        assert!(
            read[0]
                .as_ref()
                .unwrap_err()
                .contains("can only be day first, and --dates says month first")
        );
        assert_eq!(read[1].as_deref(), Ok("2026-03-04"));
    }

    #[test]
    fn what_is_not_a_day_is_refused() {
        for (text, words) in [
            ("46053", "spreadsheet's number"),
            ("2019", "a year alone"),
            ("31.02.2026", "no calendar"),
            ("32.13.2026", "no calendar"),
            ("2026-02-30", ""),
            ("2026-13-01", ""),
            ("Ja 31 2026", ""),
            ("1 jui 2026", ""),
            ("soon", ""),
            ("2026-01-31T00:00:00Z", ""),
            ("Jan 31 26", ""),
            ("0000-01-01", ""),
            ("2026-01-31-01", ""),
            ("", ""),
        ] {
            let said = alone(text).unwrap_err();
            assert!(
                said.contains("2026-01-31") && said.contains(words),
                "{text}: {said}"
            );
        }
    }
}
