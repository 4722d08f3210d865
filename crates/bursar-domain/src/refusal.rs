//! What a rule returns when something is not allowed.

use std::borrow::Cow;
use std::fmt;

/// What is wrong, by which rule, and what to do. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Invalid {
        /// As the caller spells it; `None` if the whole input is unreadable.
        field: Option<Cow<'static, str>>,
        /// One sentence that starts with the field and names the rule and the way out.
        message: String,
    },
    /// It does not exist, or not in this organization.
    Missing {
        /// The field of the body that named it, if any.
        field: Option<&'static str>,
        message: String,
    },
    /// The current state does not allow it.
    Conflict {
        /// Names the state and the way out.
        message: String,
    },
    Forbidden {
        /// Says who may.
        message: String,
    },
}

impl Refusal {
    /// `rule` reads on after the field's name.
    pub fn invalid(field: impl Into<Cow<'static, str>>, rule: impl fmt::Display) -> Self {
        let field = field.into();
        Self::Invalid {
            message: format!("{field} {rule}"),
            field: Some(field),
        }
    }

    /// For `map_err`, where a rule is checked that knows no field.
    pub fn of_field(field: &'static str) -> impl Fn(String) -> Self {
        move |rule| Self::invalid(field, rule)
    }

    pub fn unreadable(message: impl Into<String>) -> Self {
        Self::Invalid {
            field: None,
            message: message.into(),
        }
    }

    /// For the path and the command line.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::Missing {
            field: None,
            message: message.into(),
        }
    }

    /// For an id in a body.
    pub fn missing_reference(field: &'static str, id: impl fmt::Display) -> Self {
        Self::Missing {
            field: Some(field),
            message: format!("{field} {id} does not exist in this organization"),
        }
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict {
            message: message.into(),
        }
    }

    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Invalid { field, .. } => field.as_deref(),
            Self::Missing { field, .. } => *field,
            Self::Conflict { .. } | Self::Forbidden { .. } => None,
        }
    }

    pub fn message(&self) -> &str {
        match self {
            Self::Invalid { message, .. }
            | Self::Missing { message, .. }
            | Self::Conflict { message }
            | Self::Forbidden { message } => message,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Refusal {}
