//! A page that asks for a few things and then acts: what will happen, fields, and one button.

use askama::Template;
use bursar_domain::receipt::Method;
use bursar_domain::{Date, Timestamp};

use super::seen;
use super::who::Known;
use crate::failure::Failure;
use crate::forms::{Form, SEEN};
use crate::frame::Frame;
use crate::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The type of an `<input>`.
    Line(&'static str),
    Area,
    Choice,
    Check,
    /// Boxes to tick, all of one name.
    Boxes,
    Hidden,
    /// A line that is not shown again, whatever was typed.
    Secret,
}

pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) label: String,
    pub(crate) hint: String,
    pub(crate) shape: Shape,
    pub(crate) value: String,
    /// Values and what they are called; with the ticked ones of boxes first in `ticked`.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) ticked: Vec<String>,
    /// Who the value is, for a field that names members; `None` for others.
    pub(crate) meaning: Option<String>,
    /// What counts as a change of it, where that is not the value.
    basis: Option<String>,
    /// Asked anew each time: nothing of it is kept that somebody could change.
    is_asked: bool,
}

impl Field {
    pub(crate) fn new(name: &'static str, label: &str, shape: Shape) -> Self {
        Self {
            name,
            label: label.to_owned(),
            hint: String::new(),
            shape,
            value: String::new(),
            options: Vec::new(),
            ticked: Vec::new(),
            meaning: None,
            basis: None,
            is_asked: false,
        }
    }

    pub(crate) fn text(name: &'static str, label: &str) -> Self {
        Self::new(name, label, Shape::Line("text"))
    }

    pub(crate) fn secret(name: &'static str, label: &str) -> Self {
        Self::new(name, label, Shape::Secret).asked()
    }

    /// A member by name.
    pub(crate) fn member(name: &'static str, label: &str) -> Self {
        Self::text(name, label).of_members()
    }

    pub(crate) fn date(name: &'static str, label: &str) -> Self {
        Self::new(name, label, Shape::Line("date"))
    }

    pub(crate) fn area(name: &'static str, label: &str) -> Self {
        Self::new(name, label, Shape::Area)
    }

    /// Ticked if its value is not empty.
    pub(crate) fn check(name: &'static str, label: &str) -> Self {
        Self::new(name, label, Shape::Check)
    }

    pub(crate) fn hidden(name: &'static str, value: impl Into<String>) -> Self {
        Self::new(name, "", Shape::Hidden).value(value)
    }

    pub(crate) fn choice<V: Into<String>, L: Into<String>>(
        name: &'static str,
        label: &str,
        options: impl IntoIterator<Item = (V, L)>,
    ) -> Self {
        let options = options
            .into_iter()
            .map(|(value, label)| (value.into(), label.into()));
        Self {
            options: options.collect(),
            ..Self::new(name, label, Shape::Choice)
        }
    }

    /// How money moved.
    pub(crate) fn method(label: &str) -> Self {
        let methods = Method::ALL
            .iter()
            .map(|method| (method.as_str(), words::label(method.as_str())));
        Self::choice("method", label, methods).value(Method::Transfer.as_str())
    }

    pub(crate) fn boxes(
        name: &'static str,
        label: &str,
        options: Vec<(String, String)>,
        ticked: Vec<String>,
    ) -> Self {
        Self {
            options,
            ticked,
            ..Self::new(name, label, Shape::Boxes)
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    #[must_use]
    pub(crate) fn value(mut self, value: impl Into<String>) -> Self {
        self.value = value.into();
        self
    }

    /// A member who is known.
    #[must_use]
    pub(crate) fn known(mut self, known: Known) -> Self {
        self.value = known.text;
        self.meaning = Some(known.meaning);
        self
    }

    /// What is typed names members.
    #[must_use]
    pub(crate) fn of_members(mut self) -> Self {
        self.meaning = Some(String::new());
        self
    }

    /// Another value is a change only if this is another too.
    #[must_use]
    pub(crate) fn changes_with(mut self, basis: impl Into<String>) -> Self {
        self.basis = Some(basis.into());
        self
    }

    #[must_use]
    pub(crate) fn asked(mut self) -> Self {
        self.is_asked = true;
        self
    }

    /// What is compared to see whether somebody has changed it; nothing if it is not kept.
    pub(super) fn basis(&self) -> Vec<&str> {
        match (&self.basis, self.is_asked || !self.is_shown()) {
            (_, true) => Vec::new(),
            (Some(basis), false) => vec![basis],
            (None, false) => {
                let mut all: Vec<&str> = self.ticked.iter().map(String::as_str).collect();
                all.sort_unstable();
                all.insert(0, &self.value);
                all
            }
        }
    }

    pub(super) fn is_shown(&self) -> bool {
        self.shape != Shape::Hidden
    }

    /// What it is now, if somebody else changed it and something else was typed.
    fn now(&self, form: &Form) -> Option<String> {
        let labels = |values: &[&str]| -> Vec<String> {
            let chosen = self
                .options
                .iter()
                .filter(|(value, _)| values.contains(&value.as_str()));
            chosen.map(|(_, label)| label.clone()).collect()
        };
        let (is_same, now) = match self.shape {
            Shape::Hidden | Shape::Secret => (true, String::new()),
            Shape::Check => {
                let is_on = !self.value.is_empty();
                let told = if is_on { "ticked" } else { "not ticked" };
                (is_on == form.has(self.name), told.to_owned())
            }
            Shape::Boxes => {
                let mut typed: Vec<&str> = form.all(self.name).collect();
                let mut now: Vec<&str> = self.ticked.iter().map(String::as_str).collect();
                typed.sort_unstable();
                now.sort_unstable();
                (typed == now, labels(&now).join(", "))
            }
            Shape::Choice => {
                let now = labels(&[self.value.as_str()]).join("");
                (form.get(self.name) == self.value, now)
            }
            Shape::Line("date") => {
                let now = Date::parse(&self.value).map_or_else(String::new, words::day);
                (form.get(self.name) == self.value, now)
            }
            Shape::Line(_) | Shape::Area => {
                let typed = form.get(self.name).replace("\r\n", "\n");
                (typed == self.value.trim(), self.value.clone())
            }
        };
        let now = if now.is_empty() { "empty".to_owned() } else { now };
        (form.is_outdated() && !self.is_asked && !is_same).then_some(now)
    }

    fn input(&self) -> &'static str {
        match self.shape {
            Shape::Line(kind) => kind,
            Shape::Secret => "password",
            _ => "text",
        }
    }

    /// What was typed, else the value.
    fn shown<'a>(&'a self, form: &'a Form) -> &'a str {
        match self.shape {
            Shape::Secret => "",
            _ => form.or(self.name, &self.value),
        }
    }

    fn is_ticked(&self, form: &Form) -> bool {
        match form.is_sent() {
            true => form.has(self.name),
            false => !self.value.is_empty(),
        }
    }

    fn has_ticked(&self, form: &Form, value: &str) -> bool {
        match form.is_sent() {
            true => form.all(self.name).any(|ticked| ticked == value),
            false => self.ticked.iter().any(|ticked| ticked == value),
        }
    }
}

#[derive(Template)]
#[template(path = "ask.html")]
pub(crate) struct Ask<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) form: &'a Form,
    pub(crate) title: String,
    /// Where "Cancel" and the link above the title lead, and its name.
    pub(crate) back: (String, String),
    /// Another way that is often the better one: an address, its words, and why.
    pub(crate) instead: Option<(String, String, String)>,
    /// What will happen.
    pub(crate) lead: String,
    /// Rows of a preview: a name and what becomes of it.
    pub(crate) rows: Vec<(String, String)>,
    pub(crate) fields: Vec<Field>,
    /// Empty where there is nothing to do now; the lead says why.
    pub(crate) button: String,
    pub(crate) is_dangerous: bool,
    /// When it was opened, for a form that changes what is there.
    opened: Option<Timestamp>,
}

impl<'a> Ask<'a> {
    pub(crate) fn new(
        frame: &'a Frame,
        form: &'a Form,
        title: impl Into<String>,
        back: (String, String),
    ) -> Self {
        Self {
            frame,
            form,
            title: title.into(),
            back,
            instead: None,
            lead: String::new(),
            rows: Vec::new(),
            fields: Vec::new(),
            button: "Save".to_owned(),
            is_dangerous: false,
            opened: None,
        }
    }

    /// The fields are what is there now; see [`super::seen`].
    #[must_use]
    pub(crate) fn editing(mut self, now: Timestamp) -> Self {
        self.opened = Some(now);
        self
    }

    /// What the form has seen. Once it is shown what is there now, that is it.
    fn seen(&self) -> Option<String> {
        let opened = self.opened?;
        Some(match self.form.has(SEEN) && !self.form.is_outdated() {
            true => self.form.get(SEEN).to_owned(),
            false => seen::of(opened, &self.fields),
        })
    }

    #[must_use]
    pub(crate) fn instead(mut self, instead: Option<(String, String, String)>) -> Self {
        self.instead = instead;
        self
    }

    #[must_use]
    pub(crate) fn lead(mut self, lead: impl Into<String>) -> Self {
        self.lead = lead.into();
        self
    }

    #[must_use]
    pub(crate) fn fields(mut self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.fields.extend(fields);
        self
    }

    #[must_use]
    pub(crate) fn rows(mut self, rows: Vec<(String, String)>) -> Self {
        self.rows = rows;
        self
    }

    #[must_use]
    pub(crate) fn button(mut self, button: impl Into<String>) -> Self {
        self.button = button.into();
        self
    }

    #[must_use]
    pub(crate) fn dangerous(mut self) -> Self {
        self.is_dangerous = true;
        self
    }

    pub(crate) fn page(&self) -> Result<String, Failure> {
        Ok(self.render()?)
    }

    /// What is wrong and belongs to no field.
    fn wrong(&self) -> &str {
        let shown: Vec<&str> = self
            .fields
            .iter()
            .filter(|field| field.is_shown())
            .map(|field| field.name)
            .collect();
        self.form.wrong_elsewhere(&shown)
    }
}
