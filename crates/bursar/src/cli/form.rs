//! Output for people or programs: tables and sentences on a terminal, JSON when piped.

use std::io::IsTerminal;

use clap::ArgMatches;
use clap::error::{Error, ErrorKind};
use clap::parser::ValueSource;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Tables and sentences.
    Text,
    /// On one line, as requested.
    Json,
    /// JSON by default, because the output is not a terminal.
    Piped,
}

/// A flag wins over a variable; two flags or two variables are a contradiction.
pub(crate) fn of(matches: &ArgMatches) -> Result<Form, Error> {
    let asked = |source: ValueSource| {
        let is = |name: &str| matches.get_flag(name) && matches.value_source(name) == Some(source);
        (is("json"), is("text"))
    };
    for source in [ValueSource::CommandLine, ValueSource::EnvVariable] {
        match asked(source) {
            (true, true) => {
                let rule = "--json and --text (or their variables) cannot be used together";
                return Err(Error::raw(ErrorKind::ArgumentConflict, rule));
            }
            (true, false) => return Ok(Form::Json),
            (false, true) => return Ok(Form::Text),
            (false, false) => {}
        }
    }
    Ok(match std::io::stdout().is_terminal() {
        true => Form::Text,
        false => Form::Piped,
    })
}
