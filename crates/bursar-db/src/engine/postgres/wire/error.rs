//! What can go wrong on a connection.

use std::fmt;
use std::io::{self, ErrorKind};

/// An error that the server reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super::super) struct Told {
    /// The SQLSTATE.
    pub(in super::super::super) code: String,
    pub(in super::super::super) message: String,
}

#[derive(Debug)]
pub(in super::super::super) enum WireError {
    Told(Told),
    /// The server did not respond in time.
    Silent,
    Closed,
    Io(io::Error),
    /// The server takes no writes: it is a standby, or was told so.
    ReadOnly,
    /// The server cannot be trusted, or has no TLS.
    Tls(String),
    /// A password is missing, or the server wants one in a way that is not known.
    Login(String),
    Protocol(String),
    /// A value that does not fit its parameter.
    Value(String),
}

impl Told {
    pub(super) fn read(body: &[u8]) -> Self {
        let field = |wanted| {
            body.split(|byte| *byte == 0)
                .find_map(|field| field.strip_prefix(&[wanted]))
                .map(|text| String::from_utf8_lossy(text).into_owned())
                .unwrap_or_default()
        };
        Told {
            code: field(b'C'),
            message: field(b'M'),
        }
    }
}

impl WireError {
    pub(super) fn protocol(text: String) -> Self {
        WireError::Protocol(text)
    }

    /// The SQLSTATE of an error that the server reported.
    pub(in super::super) fn code(&self) -> Option<&str> {
        match self {
            WireError::Told(told) => Some(&told.code),
            _ => None,
        }
    }
}

impl From<Told> for WireError {
    fn from(told: Told) -> Self {
        WireError::Told(told)
    }
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        let refused = error
            .get_ref()
            .and_then(|source| source.downcast_ref::<rustls::Error>());
        match error.kind() {
            _ if let Some(refused) = refused => WireError::Tls(refused.to_string()),
            ErrorKind::WouldBlock | ErrorKind::TimedOut => WireError::Silent,
            ErrorKind::UnexpectedEof => WireError::Closed,
            _ => WireError::Io(error),
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Told(told) => f.write_str(&told.message),
            WireError::Silent => f.write_str("it did not respond in time"),
            WireError::ReadOnly => f.write_str("it takes no writes"),
            WireError::Closed => f.write_str("it closed the connection"),
            WireError::Io(error) => error.fmt(f),
            WireError::Tls(text)
            | WireError::Login(text)
            | WireError::Protocol(text)
            | WireError::Value(text) => f.write_str(text),
        }
    }
}
