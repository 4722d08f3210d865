use std::fmt;

/// Why a file was refused, in a sentence that names the way out, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1. None where the problem is not in one line.
    pub line: Option<usize>,
    pub reason: String,
}

impl Problem {
    pub(crate) fn at(line: usize, reason: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            reason: reason.into(),
        }
    }

    pub(crate) fn whole(reason: impl Into<String>) -> Self {
        Self {
            line: None,
            reason: reason.into(),
        }
    }

    /// The file ends in the middle of something.
    pub(crate) fn truncated(line: usize, missing: &str) -> Self {
        Self::at(
            line,
            format!("the file ends before {missing}; it is incomplete, download it again"),
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for Problem {}
