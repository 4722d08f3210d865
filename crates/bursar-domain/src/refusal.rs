//! What the rules answer when something may not be.

use std::borrow::Cow;
use std::fmt;

/// A refusal: what is wrong, by which rule, and what to do. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A value breaks a rule.
    Invalid {
        /// The field or parameter, as the caller spells it; `None` when the whole input is unreadable.
        field: Option<Cow<'static, str>>,
        /// One sentence that starts with the field and names the rule and the way out.
        message: String,
    },
    /// What was named does not exist, or not for this organization.
    Missing {
        /// The field that named it, when it was one in a body.
        field: Option<&'static str>,
        /// One sentence.
        message: String,
    },
    /// The state of things does not allow it.
    Conflict {
        /// One sentence that names the state and the way out.
        message: String,
    },
    /// The actor may not do this.
    Forbidden {
        /// One sentence that says who may.
        message: String,
    },
}

impl Refusal {
    /// A value of `field` that breaks a rule; `rule` reads on after the field's name.
    pub fn invalid(field: impl Into<Cow<'static, str>>, rule: impl fmt::Display) -> Self {
        let field = field.into();
        Self::Invalid {
            message: format!("{field} {rule}"),
            field: Some(field),
        }
    }

    /// Input that cannot be read at all.
    pub fn unreadable(message: impl Into<String>) -> Self {
        Self::Invalid {
            field: None,
            message: message.into(),
        }
    }

    /// Something in the path or the command line that is not there.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::Missing {
            field: None,
            message: message.into(),
        }
    }

    /// An id in a body that names nothing.
    pub fn missing_reference(field: &'static str, id: impl fmt::Display) -> Self {
        Self::Missing {
            field: Some(field),
            message: format!("{field} {id} does not exist in this organization"),
        }
    }

    /// A state that does not allow the move.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::Conflict {
            message: message.into(),
        }
    }

    /// The field at fault, if one is.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Invalid { field, .. } => field.as_deref(),
            Self::Missing { field, .. } => *field,
            Self::Conflict { .. } | Self::Forbidden { .. } => None,
        }
    }

    /// The sentence.
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
