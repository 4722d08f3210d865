//! What a form has seen of what it changes. If that is another by the time it is sent, nothing is saved: the form is shown
//! with what was typed, what is there now, and who changed it. Sent from there, it saves.

use bursar_app::activity::{self, About, Last};
use bursar_app::{Act, AppError, View};
use bursar_domain::zone::Zone;
use bursar_domain::{Refusal, Timestamp};
use sha2::{Digest as _, Sha256};

use super::ask::Field;
use crate::asking::Asking;
use crate::forms::{Form, PLAN, SEEN};
use crate::words;

/// A digest that tells things apart, in letters and digits.
#[derive(Default)]
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn add(&mut self, text: impl AsRef<[u8]>) -> &mut Self {
        let bytes = text.as_ref();
        self.0.update((bytes.len() as u64).to_be_bytes());
        self.0.update(bytes);
        self
    }

    pub(crate) fn text(self) -> String {
        let hash = self.0.finalize();
        hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

fn digest(fields: &[Field]) -> String {
    let mut digest = Digest::default();
    for field in fields {
        for part in field.basis() {
            digest.add(field.name).add(part);
        }
    }
    digest.text()
}

/// Refuses to do what was not looked at. The preview is shown again.
pub(crate) fn planned(form: &Form, plan: &str) -> Result<(), AppError> {
    match form.is_planned(plan) {
        true => Ok(()),
        false => Err(changed().into()),
    }
}

pub(crate) fn changed() -> Refusal {
    Refusal::Invalid {
        field: Some(PLAN.into()),
        message: CHANGED.to_owned(),
    }
}

/// Said above a preview that is another by now.
pub(crate) const CHANGED: &str = "This has changed since you looked. Nothing was done. Check it again.";

/// When a form was opened, and what the fields were.
pub(super) fn of(at: Timestamp, fields: &[Field]) -> String {
    format!("{}-{}", at.micros(), digest(fields))
}

/// What an edit form is about, for those who change it at the same time.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Empty if the form does not say.
    text: String,
    /// An id; or the start of an action with a dot at its end, for what has none.
    about: String,
    zone: Zone,
}

impl Seen {
    pub(crate) fn new(asking: &Asking, form: &Form, about: impl ToString) -> Self {
        Self {
            text: form.get(SEEN).to_owned(),
            about: about.to_string(),
            zone: asking.frame.place.organization.time_zone.clone(),
        }
    }

    /// Refuses if the fields are no longer what the form has seen.
    pub(crate) fn check(
        &self,
        act: &mut Act<'_, '_>,
        now: impl FnOnce(&mut View<'_, '_>) -> Result<Vec<Field>, AppError>,
    ) -> Result<(), AppError> {
        let Some((_, seen)) = self.text.split_once('-') else {
            return Ok(());
        };
        let mut view = act.view();
        match digest(&now(&mut view)?) == seen {
            true => Ok(()),
            false => Err(self.refusal(&mut view)?.into()),
        }
    }

    /// Says who changed it; the form is shown with what is there now.
    pub(crate) fn refusal(&self, view: &mut View<'_, '_>) -> Result<Refusal, AppError> {
        let at = self.text.split_once('-').and_then(|(at, _)| at.parse().ok());
        let since = Timestamp::from_micros(at.unwrap_or(0));
        let about = match self.about.ends_with('.') {
            true => About::Action(&self.about),
            false => About::Subject(&self.about),
        };
        let last = activity::last(view, about, since)?;
        Ok(Refusal::Invalid {
            field: Some(SEEN.into()),
            message: self.told(last.as_ref()),
        })
    }

    fn told(&self, last: Option<&Last>) -> String {
        let changed = match last {
            None => "This has changed since you opened it.".to_owned(),
            Some(last) => {
                let at = words::moment_there(last.at, &self.zone);
                match last.who.as_str() {
                    "" => format!("You changed this yourself on {at}, after you opened this form."),
                    who => format!("This was changed by {who} on {at}, after you opened it."),
                }
            }
        };
        format!(
            "{changed} Nothing is saved yet. Each field that differs shows its current value: correct the field, or save again to keep what you entered."
        )
    }
}
