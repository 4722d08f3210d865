//! A form as it was sent, and how it is shown again.

use bursar_app::Act;
use bursar_app::AppError;
use bursar_domain::Date;
use bursar_domain::ids::OnlinePaymentId;
use bursar_domain::money::Currency;
use bursar_http::body::{FormFile, FormParts};
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::form_urlencoded;

use crate::asking::Asking;
use crate::failure::{Choice, Failure, Problem};
use crate::questions::Question;

/// The hidden field with the idempotency key.
pub(crate) const KEY: &str = "key";

/// The hidden field with what an edit form has seen of what it changes.
pub(crate) const SEEN: &str = "seen";

/// The hidden field with what a preview showed.
pub(crate) const PLAN: &str = "plan";

/// The hidden field with what a button of a preview does, and its value for going back to the form.
pub(crate) const STEP: &str = "step";
pub(crate) const CHANGE: &str = "change";

/// Ends the name of the field that says who is meant by what was typed in another one.
const IS: &str = "-is";

/// The value of that field.
pub(crate) fn meaning(id: impl std::fmt::Display, text: &str) -> String {
    format!("{id} {text}")
}

/// Which of very many names a preview shows.
pub(crate) const NAMES_AFTER: &str = "names-after";

/// The fields of a form: empty when the page is opened, what was typed when it is shown again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    fields: Vec<(String, String)>,
    files: Vec<FormFile>,
    pub(crate) problem: Option<Problem>,
}

/// What a form did: where to go, and what to say there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) to: String,
    pub(crate) said: String,
    /// Where it can be undone, below `undo/`: the id of a bulk act, or another page.
    pub(crate) undo: Option<String>,
    /// Lines of statements that it settled, for their undoing.
    #[serde(default)]
    pub(crate) lines: Vec<String>,
}

pub(crate) type Work = Box<dyn FnMut(&mut Act<'_, '_>) -> Result<Done, AppError> + Send>;

/// Also yields a page for this one response, with what is kept nowhere.
pub(crate) type Telling = Box<dyn FnMut(&mut Act<'_, '_>) -> Result<(Done, String), AppError> + Send>;

/// What follows a form that was read.
pub(crate) enum Sent {
    /// A page that asks for more, such as a preview.
    Show(String),
    Do(Work),
    /// Does it, and then asks the payment provider about this payment.
    DoAndAsk(Work, OnlinePaymentId),
    Tell(Telling),
    /// Only asks the payment provider.
    Ask(Question),
}

impl Done {
    pub(crate) fn new(to: impl Into<String>, said: impl Into<String>) -> Self {
        Self {
            to: to.into(),
            said: said.into(),
            undo: None,
            lines: Vec::new(),
        }
    }
}

impl Form {
    pub(crate) fn parse(text: &str) -> Self {
        Self {
            fields: form_urlencoded::parse(text.as_bytes()).into_owned().collect(),
            ..Self::default()
        }
    }

    /// What is typed so far, as a part of a page asks with it.
    pub(crate) fn of_query(asking: &Asking) -> Self {
        Self {
            fields: asking.said(),
            ..Self::default()
        }
    }

    pub(crate) fn of_parts(parts: FormParts) -> Self {
        Self {
            fields: parts.fields,
            files: parts.files,
            problem: None,
        }
    }

    /// The same for the same form sent again, whatever its encoding.
    pub(crate) fn fingerprint(&self, path: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        add(path.as_bytes());
        add(&(self.fields.len() as u64).to_be_bytes());
        for (name, value) in &self.fields {
            add(name.as_bytes());
            add(value.as_bytes());
        }
        for file in &self.files {
            add(file.field.as_bytes());
            add(file.name.as_bytes());
            add(&file.bytes);
        }
        hash.finalize().into()
    }

    /// The one file of a field.
    pub(crate) fn file<'a>(&'a self, name: &'a str) -> Result<&'a FormFile, Problem> {
        let mut found = self.files(name);
        match (found.next(), found.next()) {
            (Some(file), None) if !file.bytes.is_empty() => Ok(file),
            (Some(_), None) => Err(Problem::of(name, "The file is empty. Choose another one.")),
            (Some(_), Some(_)) => Err(Problem::of(name, "Choose one file at a time.")),
            (None, _) => Err(Problem::of(name, "Choose a file.")),
        }
    }

    /// All files of a field, in their order.
    pub(crate) fn files<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a FormFile> {
        self.files.iter().filter(move |file| file.field == name)
    }

    /// Whether it is shown again without the files that came with it: a browser sends only files that are chosen anew.
    pub(crate) fn has_lost_files(&self) -> bool {
        self.problem.is_some() && self.files.iter().any(|file| !file.bytes.is_empty())
    }

    /// Refuses what no database keeps.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let has_nul = |text: &str| text.contains('\0');
        match self
            .fields
            .iter()
            .any(|(name, value)| has_nul(name) || has_nul(value))
        {
            true => {
                let rule = "a field contains a character that is not allowed (NUL); remove it";
                Err(Failure::Bad(StatusCode::BAD_REQUEST, rule.to_owned()))
            }
            false => Ok(()),
        }
    }

    /// The text of a field without space around it; empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        let found = self.fields.iter().find(|(field, _)| field == name);
        found.map_or("", |(_, value)| value.trim())
    }

    pub(crate) fn or<'a>(&'a self, name: &str, otherwise: &'a str) -> &'a str {
        match self.has(name) {
            true => self.get(name),
            false => otherwise,
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(field, _)| field == name)
    }

    /// Every value of a field that can be given several times.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let found = self.fields.iter().filter(move |(field, _)| field == name);
        found.map(|(_, value)| value.trim())
    }

    /// Whether it was sent, and is not just being opened.
    pub(crate) fn is_sent(&self) -> bool {
        !self.fields.is_empty()
    }

    /// `None` for an empty field.
    pub(crate) fn some(&self, name: &str) -> Option<String> {
        let text = self.get(name);
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// `problem` is what an empty field is told.
    pub(crate) fn required(&self, name: &str, problem: &str) -> Result<String, Problem> {
        self.some(name).ok_or_else(|| Problem::of(name, problem))
    }

    /// An amount, also as pages show it: `1,250.00`.
    pub(crate) fn amount(&self, name: &str, currency: Currency) -> Result<Option<String>, Problem> {
        let text = self.some(name);
        text.map(|text| without_groups(&text, currency))
            .transpose()
            .map_err(|problem| Problem::of(name, problem))
    }

    /// `problem` is what an empty field is told.
    pub(crate) fn required_amount(
        &self,
        name: &str,
        currency: Currency,
        problem: &str,
    ) -> Result<String, Problem> {
        let amount = self.amount(name, currency)?;
        amount.ok_or_else(|| Problem::of(name, problem))
    }

    /// A day, as `<input type="date">` sends it.
    pub(crate) fn date(&self, name: &str) -> Result<Option<Date>, Problem> {
        let Some(text) = self.some(name) else {
            return Ok(None);
        };
        let read = Date::parse(&text).ok_or_else(|| Problem::of(name, "Enter a date such as 2026-05-31."));
        read.map(Some)
    }

    /// What is wrong with this field; empty if nothing is.
    pub(crate) fn wrong(&self, name: &str) -> &str {
        match &self.problem {
            Some(problem) if problem.field.as_deref() == Some(name) => &problem.message,
            _ => "",
        }
    }

    /// The same where the field has this label on the page.
    pub(crate) fn wrong_as(&self, name: &str, label: &str) -> String {
        match &self.problem {
            Some(problem) if problem.field.as_deref() == Some(name) && !problem.rule.is_empty() => {
                // A label can be a phrase.
                match label.contains(' ') {
                    true => format!("\u{201c}{label}\u{201d} {}", problem.rule),
                    false => format!("{label} {}", problem.rule),
                }
            }
            _ => self.wrong(name).to_owned(),
        }
    }

    /// What is wrong with the form as a whole, or with a field that the page does not show.
    pub(crate) fn wrong_elsewhere(&self, shown: &[&str]) -> &str {
        match &self.problem {
            Some(problem)
                if problem
                    .field
                    .as_deref()
                    .is_none_or(|field| !shown.contains(&field)) =>
            {
                &problem.message
            }
            _ => "",
        }
    }

    /// Whether somebody else changed what this form changes, after it was opened.
    pub(crate) fn is_outdated(&self) -> bool {
        let field = self.problem.as_ref().and_then(|problem| problem.field.as_deref());
        field == Some(SEEN)
    }

    /// Whether this is what the person has looked at. A form that does not say what it has seen has nothing to compare.
    pub(crate) fn is_planned(&self, plan: &str) -> bool {
        !self.has(PLAN) || self.get(PLAN) == plan
    }

    /// Those who may be meant by what was typed in this field.
    pub(crate) fn choices(&self, name: &str) -> &[Choice] {
        match &self.problem {
            Some(problem) if problem.field.as_deref() == Some(name) => &problem.choices,
            _ => &[],
        }
    }

    /// Who is meant by what was typed in this field, if somebody was chosen: an id.
    pub(crate) fn chosen<'a>(&'a self, name: &str, text: &str) -> Option<&'a str> {
        let is = format!("{name}{IS}");
        let of = |(field, value): &'a (String, String)| match field == &is {
            true => value.trim().split_once(' ').filter(|(_, of)| *of == text),
            false => None,
        };
        self.fields.iter().rev().find_map(of).map(|(id, _)| id)
    }

    /// Choices that a page repeats, because what was typed stands for them still: an id and the text. `given` is the one
    /// that a page opens with.
    pub(crate) fn meant(&self, name: &str, given: &str) -> Vec<String> {
        if !self.has(name) {
            return [given]
                .into_iter()
                .filter(|given| !given.is_empty())
                .map(str::to_owned)
                .collect();
        }
        let is_offered = |value: &str| self.choices(name).iter().any(|choice| choice.value == value);
        let mut kept: Vec<String> = Vec::new();
        for text in self.get(name).lines().map(str::trim) {
            if let Some(id) = self.chosen(name, text) {
                let value = meaning(id, text);
                if !is_offered(&value) && !kept.contains(&value) {
                    kept.push(value);
                }
            }
        }
        kept
    }

    /// All fields as they were sent.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Fields as hidden inputs repeat them on a page that asks once more.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields
            .iter()
            .filter(|(name, _)| name != KEY && name != STEP && name != NAMES_AFTER && name != PLAN)
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Drops the commas between groups of three digits. Any other comma stays, and is refused as part of no amount. So is a
/// single comma that could be the decimal point, in a currency with three decimals: nobody wants to pay a thousandfold.
pub(crate) fn without_groups(text: &str, currency: Currency) -> Result<String, String> {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut groups = whole.split(',');
    let is_number = |group: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&group.len()) && group.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_grouped = groups.next().is_some_and(|first| is_number(first, 1..=3))
        && groups.all(|group| is_number(group, 3..=3));
    if !is_grouped {
        return Ok(text.to_owned());
    }
    if currency.digits() == 3 && rest.is_empty() && whole.matches(',').count() == 1 {
        return Err(format!(
            "{text} can be read in two ways. Enter {} or {}.",
            whole.replace(',', "."),
            whole.replace(',', "")
        ));
    }
    Ok(whole.replace(',', "") + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_pages_show_them() {
        for (text, read) in [
            ("1,250.00", "1250.00"),
            ("12,345,678", "12345678"),
            ("1250.00", "1250.00"),
            ("12,50", "12,50"),
            ("1,2500", "1,2500"),
            ("1234,567", "1234,567"),
            (",250", ",250"),
            ("-1,250", "-1,250"),
            ("1,250.00,000", "1250.00,000"),
        ] {
            for code in ["USD", "JPY"] {
                let currency = Currency::parse(code).unwrap();
                assert_eq!(without_groups(text, currency).as_deref(), Ok(read), "{code}");
            }
        }
    }

    #[test]
    fn a_comma_that_could_be_the_decimal_point_is_refused() {
        for code in ["KWD", "TND", "BHD"] {
            let currency = Currency::parse(code).unwrap();
            for (text, read) in [
                (
                    "12,500",
                    Err("12,500 can be read in two ways. Enter 12.500 or 12500."),
                ),
                ("1,250,500", Ok("1250500")),
                ("12,500.000", Ok("12500.000")),
                ("12.500", Ok("12.500")),
                ("12,50", Ok("12,50")),
                ("12500", Ok("12500")),
            ] {
                let amount = without_groups(text, currency);
                assert_eq!(amount.as_deref().map_err(String::as_str), read, "{code}");
            }
            let form = Form::parse("amount=12%2C500");
            let problem = form.required_amount("amount", currency, "").unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("amount"));
        }
    }

    #[test]
    fn a_fingerprint_covers_names_values_and_files() {
        let file = |field: &str, name: &str, bytes: &'static str| FormFile {
            field: field.to_owned(),
            name: name.to_owned(),
            bytes: bytes.into(),
        };
        let form = |text: &str, files: Vec<FormFile>| Form {
            files,
            ..Form::parse(text)
        };
        let all = [
            form("a=b", vec![]).fingerprint("/x"),
            form("a=b", vec![]).fingerprint("/y"),
            form("ab=", vec![]).fingerprint("/x"),
            form("a=b&a=b", vec![]).fingerprint("/x"),
            form("a=b", vec![file("f", "n", "1")]).fingerprint("/x"),
            form("a=b", vec![file("f", "n", "2")]).fingerprint("/x"),
            form("a=b", vec![file("f", "m", "1")]).fingerprint("/x"),
            form("a=b", vec![file("g", "n", "1")]).fingerprint("/x"),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[..at].contains(one), "{at}");
        }
        assert_eq!(all[0], form("a=%62", vec![]).fingerprint("/x"));
    }

    #[test]
    fn a_field_has_one_file_or_several() {
        let file = |name: &str, bytes: &'static str| FormFile {
            field: "f".to_owned(),
            name: name.to_owned(),
            bytes: bytes.into(),
        };
        let form = |files| Form {
            files,
            ..Form::default()
        };
        assert!(form(vec![]).file("f").is_err());
        assert!(form(vec![file("a", "")]).file("f").is_err());
        assert!(form(vec![file("a", "x"), file("b", "y")]).file("f").is_err());
        assert_eq!(form(vec![file("a", "x")]).file("f").unwrap().name, "a");
        assert_eq!(form(vec![file("a", "x"), file("b", "y")]).files("f").count(), 2);
        assert_eq!(
            Form::parse("l=1&m=2&l=3").all("l").collect::<Vec<_>>(),
            ["1", "3"]
        );
    }

    #[test]
    fn a_choice_stands_for_what_was_typed() {
        let form = Form::parse("who=Ada+L&who-is=mem_1+Ada+L&who-is=mem_2+Bo");
        assert_eq!(form.chosen("who", "Ada L"), Some("mem_1"));
        assert_eq!(form.chosen("who", "Ada"), None, "something else was typed since");
        assert_eq!(form.meant("who", "mem_3 Cy"), ["mem_1 Ada L"]);
        assert_eq!(Form::default().meant("who", "mem_3 Cy"), ["mem_3 Cy"]);
        assert!(Form::parse("who=").meant("who", "mem_3 Cy").is_empty());
        let lines = Form::parse("who=Ada+L%0D%0ABo&who-is=mem_1+Ada+L&who-is=mem_2+Bo");
        assert_eq!(lines.meant("who", ""), ["mem_1 Ada L", "mem_2 Bo"]);
    }

    #[test]
    fn a_form_is_read_and_shown_again() {
        let mut form = Form::parse("name=+Ada%20L&empty=&due=2026-02-30&key=k&step=do");
        assert_eq!(form.get("name"), "Ada L");
        assert_eq!((form.some("empty"), form.has("empty")), (None, true));
        assert_eq!(form.get("absent"), "");
        assert!(form.date("due").is_err());
        assert_eq!(form.kept().count(), 3);
        assert_eq!(form.chosen("name", "Ada L"), None);
        form.problem = Some(Problem::of("name", "Too short."));
        assert_eq!((form.wrong("name"), form.wrong("due")), ("Too short.", ""));
        assert_eq!(form.wrong_elsewhere(&["due"]), "Too short.");
        assert_eq!(form.wrong_elsewhere(&["name"]), "");
        assert_eq!(form.wrong_as("name", "Your name"), "Too short.");
        let refusal = bursar_domain::Refusal::invalid("name", "is required");
        form.problem = Some(crate::failure::told(&refusal));
        assert_eq!(form.wrong("name"), "Name is required.");
        assert_eq!(
            form.wrong_as("name", "Your name"),
            "\u{201c}Your name\u{201d} is required."
        );
        assert_eq!(form.wrong_as("name", "Surname"), "Surname is required.");
        assert_eq!(form.wrong_as("due", "Due"), "");
    }
}
