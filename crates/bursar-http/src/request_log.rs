//! The log line of a request. It never contains query values, bodies, addresses or secrets.
//!
//! It looks like the lines of `tracing`, but is formatted by hand because every request pays
//! for it: a third of the time.

use std::cell::RefCell;
use std::fmt::{self, Display, Write as _};
use std::time::Duration;

use crate::log;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestLog {
    #[default]
    Off,
    Text,
    Json,
}

#[derive(Clone, Copy)]
pub struct RequestLine<'a> {
    /// When the response was ready.
    pub at: &'a dyn Display,
    pub request_id: &'a dyn Display,
    pub method: &'a str,
    /// The template of the path.
    pub route: &'a str,
    pub status: u16,
    pub took: Duration,
    /// Set if the token is valid.
    pub organization: Option<&'a dyn Display>,
    /// Set if the token is valid.
    pub token: Option<&'a dyn Display>,
}

thread_local! {
    static BUFFER: RefCell<String> = RefCell::default();
}

impl RequestLog {
    /// Never waits.
    pub fn write(self, line: &RequestLine<'_>) {
        if self == Self::Off {
            return;
        }
        BUFFER.with_borrow_mut(|buffer| {
            buffer.clear();
            if self.render(line, buffer).is_ok() {
                log::line(buffer);
            }
        });
    }

    fn render(self, line: &RequestLine<'_>, out: &mut String) -> fmt::Result {
        let RequestLine {
            at,
            request_id,
            method,
            route,
            status,
            took,
            ..
        } = line;
        let micros = took.as_micros();
        // HTTP's grammar guarantees that a method needs no escaping, and routes are our own.
        match self {
            Self::Off => return Ok(()),
            Self::Text => write!(
                out,
                "{at}  INFO request request_id={request_id} method=\"{method}\" route=\"{route}\" status={status} micros={micros}",
            )?,
            Self::Json => write!(
                out,
                "{{\"timestamp\":\"{at}\",\"level\":\"INFO\",\"message\":\"request\",\"request_id\":\"{request_id}\",\"method\":\"{method}\",\"route\":\"{route}\",\"status\":{status},\"micros\":{micros}",
            )?,
        }
        self.field(out, "organization", line.organization)?;
        self.field(out, "token", line.token)?;
        out.push_str(if self == Self::Json { "}\n" } else { "\n" });
        Ok(())
    }

    fn field(self, out: &mut String, name: &str, value: Option<&dyn Display>) -> fmt::Result {
        out.push_str(match self {
            Self::Json => ",\"",
            _ => " ",
        });
        out.push_str(name);
        out.push_str(match self {
            Self::Json => "\":\"",
            _ => "=\"",
        });
        match value {
            Some(value) => write!(out, "{value}")?,
            None => out.push('-'),
        }
        out.push('"');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_request_and_no_more() {
        let (id, organization) = ("req_1", "org_2");
        let line = RequestLine {
            at: &"2026-09-21T14:13:20.123456Z",
            request_id: &id,
            method: "GET",
            route: "/v1/members/{memberId}",
            status: 200,
            took: Duration::from_micros(27),
            organization: Some(&organization),
            token: None,
        };
        let rendered = |log: RequestLog| {
            let mut out = String::new();
            log.render(&line, &mut out).unwrap();
            out
        };
        assert_eq!(
            rendered(RequestLog::Text),
            format!(
                "2026-09-21T14:13:20.123456Z  INFO request request_id={id} method=\"GET\" \
                 route=\"/v1/members/{{memberId}}\" status=200 micros=27 organization=\"{organization}\" token=\"-\"\n"
            )
        );
        let json: serde_json::Value = serde_json::from_str(&rendered(RequestLog::Json)).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "timestamp": "2026-09-21T14:13:20.123456Z",
                "level": "INFO",
                "message": "request",
                "request_id": id,
                "method": "GET",
                "route": "/v1/members/{memberId}",
                "status": 200,
                "micros": 27,
                "organization": organization,
                "token": "-",
            })
        );
        assert_eq!(rendered(RequestLog::Off), "");
    }
}
