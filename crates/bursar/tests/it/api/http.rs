//! A blocking HTTP/1.1 client that sends exactly the bytes it is told to, malformed ones included.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Longer than any request may take.
const PATIENCE: Duration = Duration::from_secs(40);

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// What was asked, for messages.
    pub(crate) asked: String,
}

/// Opens a connection.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server accepts");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends bytes and reads until the server closes. A server that answers before it has read everything may
/// close while we still write: then what it said counts.
pub(crate) fn exchange(address: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = connect(address);
    let _ = stream.write_all(bytes);
    let asked = String::from_utf8_lossy(&bytes[..bytes.len().min(300)])
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    read_reply(&mut stream, &asked)
}

/// Reads an answer up to the end of the connection.
pub(crate) fn read_reply(stream: &mut TcpStream, asked: &str) -> Reply {
    let mut bytes = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(n) => bytes.extend_from_slice(&part[..n]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset && !bytes.is_empty() => break,
            Err(error) => panic!("{asked}: {error} after {:?}", String::from_utf8_lossy(&bytes)),
        }
    }
    parse(&bytes, asked)
}

/// Reads one answer with a length, and leaves the connection open.
pub(crate) fn read_one(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        let read = stream.read(&mut part).unwrap();
        assert!(read > 0, "closed after {:?}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&part[..read]);
        if bytes.windows(4).any(|four| four == b"\r\n\r\n") {
            let reply = parse(&bytes, "a connection that is kept");
            if reply.body.len() == reply.must("content-length").parse::<usize>().unwrap() {
                return reply;
            }
        }
    }
}

fn parse(bytes: &[u8], asked: &str) -> Reply {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("{asked}: not an answer: {text:?}"));
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    let status = status
        .split(' ')
        .nth(1)
        .and_then(|code| code.parse().ok())
        .unwrap_or_else(|| panic!("{asked}: no status in {status:?}"));
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
    Reply {
        status,
        headers: headers.collect(),
        body: body.to_owned(),
        asked: asked.to_owned(),
    }
}

impl Reply {
    /// The one value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| *other == name);
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "{}: {name} is there twice", self.asked);
        value
    }

    /// Every header of this name.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let found = self.headers.iter().filter(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).collect()
    }

    /// A header that must be there.
    pub(crate) fn must(&self, name: &str) -> &str {
        self.header(name)
            .unwrap_or_else(|| panic!("{}: no {name} in {:?}", self.asked, self.headers))
    }

    /// A header's number.
    pub(crate) fn number(&self, name: &str) -> i64 {
        self.must(name).parse().unwrap()
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {:?}", self.asked, self.body))
    }

    /// The body of a success with this status.
    pub(crate) fn done(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.asked, self.body);
        self.json()
    }

    /// The body of a 200.
    pub(crate) fn ok(&self) -> Value {
        self.done(200)
    }

    /// The error of a refusal with this status and code.
    pub(crate) fn refused(&self, status: u16, code: &str) -> Value {
        let error = self.json()["error"].clone();
        assert_eq!(
            (self.status, error["code"].as_str()),
            (status, Some(code)),
            "{}: {}",
            self.asked,
            self.body
        );
        error
    }

    /// The error of a 400 `invalid_request` that names this parameter.
    pub(crate) fn invalid(&self, param: Option<&str>) -> Value {
        let error = self.refused(400, "invalid_request");
        assert_eq!(
            error.get("param").and_then(Value::as_str),
            param,
            "{}: {error}",
            self.asked
        );
        error
    }

    /// The error's code, if this is one of ours.
    pub(crate) fn code(&self) -> Option<String> {
        let body: Value = serde_json::from_str(&self.body).ok()?;
        body["error"]["code"].as_str().map(str::to_owned)
    }

    /// What every answer below `/v1` has, whatever it says.
    pub(crate) fn check_v1(&self, is_head: bool) {
        let asked = &self.asked;
        assert_eq!(self.must("cache-control"), "no-store", "{asked}");
        assert_eq!(self.must("x-content-type-options"), "nosniff", "{asked}");
        let request_id = self.must("x-request-id");
        assert!(
            request_id.starts_with("req_") && request_id.len() == 30,
            "{asked}: {request_id}"
        );
        let (limit, left, reset) = (
            self.number("ratelimit-limit"),
            self.number("ratelimit-remaining"),
            self.number("ratelimit-reset"),
        );
        assert!(
            (0..=limit).contains(&left) && (1..=60).contains(&reset),
            "{asked}: {left}/{limit} {reset}"
        );
        let bucket = self.must("ratelimit").split('"').nth(1).unwrap_or_default();
        assert_eq!(
            self.must("ratelimit"),
            format!("\"{bucket}\";r={left};t={reset}"),
            "{asked}"
        );
        assert_eq!(
            self.must("ratelimit-policy"),
            format!("\"{bucket}\";q={limit};w=60"),
            "{asked}"
        );
        assert_eq!(self.header("access-control-allow-origin"), None, "{asked}");
        assert_eq!(
            self.header("www-authenticate").is_some(),
            self.status == 401,
            "{asked}"
        );
        assert_eq!(self.header("allow").is_some(), self.status == 405, "{asked}");
        if self.status == 429 {
            assert_eq!(self.number("retry-after"), reset, "{asked}");
        }
        assert_eq!(self.must("content-type"), "application/json", "{asked}");
        if is_head {
            assert_eq!(self.body, "", "{asked}");
            return;
        }
        assert_eq!(
            self.must("content-length"),
            self.body.len().to_string(),
            "{asked}"
        );
        if self.status >= 400 {
            let body = self.json();
            assert_eq!(
                body.as_object().map(serde_json::Map::len),
                Some(1),
                "{asked}: {body}"
            );
            let error = &body["error"];
            assert_eq!(error["requestId"], request_id, "{asked}");
            let code = error["code"].as_str().unwrap_or_default();
            let docs = error["docsUrl"].as_str().unwrap_or_default();
            assert!(docs.ends_with(&format!("/docs/errors#{code}")), "{asked}: {docs}");
            assert!(
                error["message"].as_str().is_some_and(|text| !text.is_empty()),
                "{asked}"
            );
        }
    }
}
