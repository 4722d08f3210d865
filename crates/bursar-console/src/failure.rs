//! Why a page or a form could not be answered as asked.

use bursar_app::{AppError, DbError};
use bursar_domain::Refusal;
use hyper::StatusCode;

#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody is signed in, or not any more.
    SignedOut,
    App(AppError),
    /// What was typed cannot be taken.
    Problem(Problem),
    /// The request came from another site.
    CrossSite,
    /// The address is neither https nor on this machine.
    Unsafe,
    /// The request itself is not one that the console takes.
    Bad(StatusCode, String),
    /// It is still under way. What a form does is done all the same.
    TooSlow,
    /// Too many requests; after so many seconds there is room again.
    TooMany(u32),
    /// A template did not render.
    Page(askama::Error),
}

/// What is wrong with a form. It stands beside the field, or above the form.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problem {
    pub(crate) field: Option<String>,
    pub(crate) message: String,
    /// The message without the name of the field, which operations call otherwise than the page. Empty if it does not begin
    /// with it.
    pub(crate) rule: String,
    /// Those who may be meant by what was typed.
    pub(crate) choices: Vec<Choice>,
}

/// One to choose, because what was typed is not enough.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) name: String,
    /// What tells it from the others.
    pub(crate) about: String,
}

impl Problem {
    pub(crate) fn of(field: &str, message: impl Into<String>) -> Self {
        Self {
            field: Some(field.to_owned()),
            message: message.into(),
            ..Self::default()
        }
    }

    /// Of the form as a whole.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..Self::default()
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Unrecognised => Self::SignedOut,
            other => Self::App(other),
        }
    }
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        Self::App(error.into())
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::App(refusal.into())
    }
}

impl From<askama::Error> for Failure {
    fn from(error: askama::Error) -> Self {
        Self::Page(error)
    }
}

impl Failure {
    /// If the person can correct it by typing something else.
    pub(crate) fn problem(&self) -> Option<Problem> {
        match self {
            Self::Problem(problem) => Some(problem.clone()),
            Self::App(AppError::Refused(refusal @ (Refusal::Invalid { .. } | Refusal::Conflict { .. }))) => {
                Some(told(refusal))
            }
            Self::App(AppError::Refused(refusal @ Refusal::Missing { field: Some(_), .. })) => {
                Some(told(refusal))
            }
            Self::App(AppError::KeyReused) => Some(Problem::new(
                "This form was sent before with other values. Check what it did, then fill it in again.",
            )),
            _ => None,
        }
    }

    /// The title, the text and the status of a page that says so.
    pub(crate) fn told(&self) -> (StatusCode, &'static str, String) {
        match self {
            Self::SignedOut => (
                StatusCode::UNAUTHORIZED,
                "You are signed out",
                "Your session has ended.".to_owned(),
            ),
            Self::Unsafe => (
                StatusCode::FORBIDDEN,
                "The console needs https",
                "Put a TLS proxy in front of the server, and start it with --base-url https://…".to_owned(),
            ),
            Self::CrossSite => (
                StatusCode::FORBIDDEN,
                "This form came from another site",
                "Nothing was changed. Open the page here and send the form from it.".to_owned(),
            ),
            Self::Bad(status, rule) => (*status, "The request cannot be read", sentence(rule)),
            Self::TooSlow => (
                StatusCode::SERVICE_UNAVAILABLE,
                "This takes longer than usual",
                "The server is still working. A form that you sent will be processed, so do not send it again. Check the page \
                 that it changes in a minute."
                    .to_owned(),
            ),
            Self::TooMany(seconds) => (
                StatusCode::TOO_MANY_REQUESTS,
                "Too many requests",
                format!("Wait {seconds} seconds, then try again. Nothing was changed."),
            ),
            Self::App(AppError::Stale) => (
                StatusCode::FORBIDDEN,
                "Confirm that it is you",
                "You last signed in more than 30 minutes ago."
                    .to_owned(),
            ),
            Self::App(AppError::Refused(refusal @ Refusal::Missing { .. })) => {
                (StatusCode::NOT_FOUND, "Page not found", on_page(refusal))
            }
            Self::App(AppError::Refused(refusal @ Refusal::Forbidden { .. })) => {
                (StatusCode::FORBIDDEN, "You do not have permission", on_page(refusal))
            }
            Self::App(AppError::Db(DbError::Unavailable(_))) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "Temporarily unavailable",
                "The database is unavailable. Nothing was changed. Try again in a minute."
                    .to_owned(),
            ),
            other => match other.problem() {
                Some(problem) => (
                    StatusCode::CONFLICT,
                    "That is not possible",
                    sentence(&problem.message),
                ),
                None => (
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "Something went wrong",
                    "The error is in the server's log, with the id of this request.".to_owned(),
                ),
            },
        }
    }

    /// What only the log says.
    pub(crate) fn cause(&self) -> Option<String> {
        match self {
            Self::Page(error) => Some(error.to_string()),
            Self::App(AppError::Db(error)) => Some(error.to_string()),
            _ => None,
        }
    }
}

pub(crate) fn told(refusal: &Refusal) -> Problem {
    let message = on_page(refusal);
    let field = refusal.field().unwrap_or_default();
    let rule = message
        .strip_prefix(&capital(field))
        .and_then(|rest| rest.strip_prefix(' '))
        .filter(|_| !field.is_empty());
    Problem {
        field: refusal.field().map(str::to_owned),
        rule: rule.unwrap_or_default().to_owned(),
        message: match rule {
            Some(rule) => format!("{} {rule}", capital(&as_words(field))),
            None => message,
        },
        choices: Vec::new(),
    }
}

/// `due-date` and `dueDate` are `due date`.
fn as_words(field: &str) -> String {
    let mut words = String::new();
    for c in field.chars() {
        match c {
            '-' | '_' => words.push(' '),
            c if c.is_ascii_uppercase() => {
                words.push(' ');
                words.push(c.to_ascii_lowercase());
            }
            c => words.push(c),
        }
    }
    words
}

fn capital(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// A message as pages show it.
fn on_page(refusal: &Refusal) -> String {
    sentence(&without_commands(refusal.message()))
}

/// Messages can name commands and their flags as a way out. Pages have other ways. A message that is nothing else stays.
pub(crate) fn without_commands(message: &str) -> String {
    let message = without_remarks(message);
    let kept: Vec<&str> = message.split("; ").filter(|clause| !is_command(clause)).collect();
    match kept.is_empty() {
        true => message,
        false => kept.join("; "),
    }
}

fn is_command(text: &str) -> bool {
    let is_flag = |word: &str| {
        let word = word.trim_start_matches(['(', '`', '"', '\'']);
        word.strip_prefix("--")
            .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    text.contains("`bursar ") || text.split(' ').any(is_flag)
}

/// Drops what stands in brackets and names a command.
fn without_remarks(message: &str) -> String {
    let mut kept = String::new();
    let mut rest = message;
    while let Some((before, (remark, after))) = rest
        .split_once(" (")
        .and_then(|(before, inside)| Some((before, inside.split_once(')')?)))
    {
        kept.push_str(before);
        if !is_command(remark) {
            kept.push_str(&format!(" ({remark})"));
        }
        rest = after;
    }
    kept + rest
}

/// Starts with a capital and ends with a stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut text = capital(text);
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_names_in_words() {
        for (field, message, rule) in [
            ("due-date", "Due date must be a day.", "must be a day."),
            ("amountDue", "Amount due must be a day.", "must be a day."),
            ("amount", "Amount must be a day.", "must be a day."),
        ] {
            let problem = told(&Refusal::invalid(field, "must be a day"));
            assert_eq!((problem.message.as_str(), problem.rule.as_str()), (message, rule));
        }
        let other = Refusal::Invalid {
            field: Some("plan".into()),
            message: "this has changed".to_owned(),
        };
        let problem = told(&other);
        assert_eq!(
            (problem.message.as_str(), problem.rule.as_str()),
            ("This has changed.", "")
        );
    }

    #[test]
    fn pages_name_no_commands() {
        for (given, kept) in [
            ("it is done; undo it first", "it is done; undo it first"),
            ("it is done; use `bursar undo`", "it is done"),
            ("it is unclear; say it with --map", "it is unclear"),
            ("use `bursar undo`", "use `bursar undo`"),
            (
                "must be given (one of two), unless it says so (--include-payment-info)",
                "must be given (one of two), unless it says so",
            ),
            (
                "pay it back (`bursar credit refund`) or apply it",
                "pay it back or apply it",
            ),
            ("is 2 -- or 3 (not closed", "is 2 -- or 3 (not closed"),
        ] {
            assert_eq!(without_commands(given), kept);
        }
        assert_eq!(sentence("no"), "No.");
        for refusal in [
            Refusal::missing("there is no such payment; `bursar online list` shows them"),
            Refusal::Forbidden {
                message: "only an admin may do it; name the person with --as EMAIL".to_owned(),
            },
        ] {
            let (_, _, text) = Failure::from(refusal).told();
            assert!(!text.contains("bursar") && !text.contains("--"), "{text}");
        }
    }
}
