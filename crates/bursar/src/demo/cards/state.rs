//! What the demo's card provider keeps: Stripe's objects by account, in memory and, if it has a file, there too.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::{fs, io};

use bursar_app::private;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Answers that are kept for calls with the same key.
const ANSWERS_MAX: usize = 2_000;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    /// The number in the last id.
    pub(super) number: u64,
    /// By key.
    pub(super) accounts: BTreeMap<String, Account>,
}

/// An organization at the provider.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Account {
    /// What payers see.
    pub(super) name: Option<String>,
    pub(super) hook: Option<Hook>,
    /// As Stripe's API has them, by id.
    pub(super) objects: BTreeMap<String, Value>,
    /// By path and idempotency key.
    pub(super) answers: BTreeMap<String, Answered>,
    /// Payment intents that are disputed later, and when, in seconds.
    pub(super) disputes_due: BTreeMap<String, i64>,
    pub(super) reports: VecDeque<Report>,
}

/// Where reports go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hook {
    pub(super) path: String,
    pub(super) secret: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) body: Value,
    pub(super) tries: u32,
    /// Not before, in seconds.
    pub(super) at: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Answered {
    pub(super) form: Vec<(String, String)>,
    pub(super) status: u16,
    pub(super) body: Value,
    number: u64,
}

impl State {
    /// An empty one if there is no file. Its ids begin after `number`.
    pub(super) fn read(file: &Path, number: u64) -> Result<Self, String> {
        let unreadable = |error: String| {
            format!(
                "{} cannot be read: {error}; remove it together with the demo's database to start over",
                file.display()
            )
        };
        match fs::read(file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self {
                number,
                ..Self::default()
            }),
            Err(error) => Err(unreadable(error.to_string())),
        }
    }

    /// Appears whole or not at all.
    pub(super) fn write(&self, file: &Path) -> io::Result<()> {
        let mut part = file.as_os_str().to_owned();
        part.push(".part");
        let mut written = private::create(part.as_ref())?;
        written.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(&part, file)
    }
}

impl Account {
    pub(super) fn answered(&mut self, key: String, form: &[(String, String)], (status, body): (u16, &Value)) {
        let number = self.answers.values().map(|answer| answer.number).max();
        let number = number.unwrap_or(0) + 1;
        let answer = Answered {
            form: form.to_vec(),
            status,
            body: body.clone(),
            number,
        };
        self.answers.insert(key, answer);
        if self.answers.len() > ANSWERS_MAX {
            let kept_from = number.saturating_sub(ANSWERS_MAX as u64 / 2);
            self.answers.retain(|_, answer| answer.number > kept_from);
        }
    }
}
