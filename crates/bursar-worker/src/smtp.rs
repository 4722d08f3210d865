//! E-mail by SMTP: one connection, kept while there is work, and what each reply means for a message.
//!
//! An error before the first recipient concerns the connection, not the message, and is
//! retried whatever the code: a wrong password must not fail a thousand messages permanently.

use std::error::Error as _;
use std::fmt;
use std::io::ErrorKind;
use std::time::{Duration, Instant};

use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{Certificate, SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt, Rset};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::Response;

use super::outlet::{Fault, Undelivered};
use super::url::ServerUrl;

/// For connecting, and for each command and its reply.
const TIMEOUT: Duration = Duration::from_secs(30);
/// A connection idle for this long is tested before use.
const ASK_AFTER: Duration = Duration::from_secs(2);
/// A connection idle for this long is closed.
const CLOSE_AFTER: Duration = Duration::from_secs(30);
/// Nobody waits for QUIT.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

enum Security {
    Plain,
    /// TLS from the first byte.
    Tls(TlsParameters),
    /// STARTTLS is required.
    StartTls(TlsParameters),
    /// STARTTLS if the server offers it.
    Opportunistic(TlsParameters),
}

impl Security {
    const fn word(&self) -> &'static str {
        match self {
            Self::Plain => "none",
            Self::Tls(_) => "tls",
            Self::StartTls(_) => "starttls",
            Self::Opportunistic(_) => "opportunistic",
        }
    }
}

pub struct Smtp {
    host: String,
    port: u16,
    hello: ClientId,
    security: Security,
    credentials: Option<Credentials>,
    timeout: Duration,
    idle: Option<(SmtpConnection, Instant)>,
}

impl fmt::Debug for Smtp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Smtp")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("security", &self.security.word())
            .finish_non_exhaustive()
    }
}

impl Smtp {
    /// Parses `smtps://…` (TLS, port 465) or `smtp://…` (STARTTLS, port 587), with `USER:PASSWORD@` before the host and
    /// the name for EHLO as its path. STARTTLS is required when there is a password; `?tls=required`,
    /// `?tls=opportunistic` and `?tls=none` override it. For this machine the defaults are no TLS and port 25.
    /// `ca` is a PEM certificate authority to trust beside the public ones.
    pub fn parse(text: &str, ca: Option<&[u8]>) -> Result<Self, String> {
        let url = ServerUrl::parse(text)?;
        let asked = match url.query.split_once('=') {
            None if url.query.is_empty() => None,
            Some(("tls", word)) => Some(word),
            _ => {
                return Err(
                    "may have ?tls=required, ?tls=opportunistic or ?tls=none, and nothing else".into(),
                );
            }
        };
        let tls = || tls_parameters(&url.host, ca);
        let (security, port) = match (url.scheme.as_str(), asked) {
            ("smtps", None) => (Security::Tls(tls()?), 465),
            ("smtp", Some("required")) => (Security::StartTls(tls()?), 587),
            ("smtp", Some("opportunistic")) => (Security::Opportunistic(tls()?), 587),
            ("smtp", Some("none")) => (Security::Plain, 25),
            ("smtp", None) if url.is_local() => (Security::Plain, 25),
            ("smtp", None) if url.credentials.is_some() => (Security::StartTls(tls()?), 587),
            ("smtp", None) => (Security::Opportunistic(tls()?), 587),
            ("smtp" | "smtps", Some(_)) => {
                return Err(
                    "may have ?tls=required, ?tls=opportunistic or ?tls=none (only with smtp://)".into(),
                );
            }
            _ => return Err("must start with smtp:// or smtps://".into()),
        };
        Ok(Self {
            port: url.port.unwrap_or(port),
            hello: match url.path.trim_matches('/') {
                "" => ClientId::default(),
                name => ClientId::Domain(name.to_owned()),
            },
            security,
            credentials: url
                .credentials
                .map(|(user, password)| Credentials::new(user, password)),
            timeout: TIMEOUT,
            idle: None,
            host: url.host,
        })
    }

    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Connects and logs in, but sends nothing. Returns what was done.
    pub fn check(&self) -> Result<String, String> {
        let connection = self.open().map_err(|undelivered| undelivered.reason)?;
        let protected = match &self.security {
            Security::Tls(_) => "over TLS",
            _ if connection.is_encrypted() => "with STARTTLS",
            _ => "without TLS",
        };
        quit(connection);
        let login = match self.credentials {
            Some(_) => ", and the login is taken",
            None => ", without a login",
        };
        Ok(format!("{}:{} responds {protected}{login}", self.host, self.port))
    }

    /// Returns the server's reply.
    pub fn send(&mut self, envelope: &Envelope, mail: &[u8]) -> Result<String, Undelivered> {
        let sender = Mail::new(envelope.from().cloned(), Vec::new());
        let mut connection = match self.wake() {
            Some(mut connection) => match connection.command(&sender) {
                Ok(_) => connection,
                // The server may have closed an idle connection; nothing was sent yet.
                Err(_) => self.begin(&sender)?,
            },
            None => self.begin(&sender)?,
        };
        match hand_over(&mut connection, envelope, mail) {
            Ok(response) => {
                self.idle = Some((connection, Instant::now()));
                Ok(answer_of(&response))
            }
            Err((stage, error)) => {
                // A server that replied is still in sync: after RSET the connection can be used again.
                if error.status().is_some_and(|code| code.to_string() != "421")
                    && connection.command(Rset).is_ok()
                {
                    self.idle = Some((connection, Instant::now()));
                }
                Err(self.judge(stage, &error))
            }
        }
    }

    fn judge(&self, stage: &str, error: &Error) -> Undelivered {
        match (error.is_permanent(), error.status()) {
            (true, _) => Undelivered::for_good(self.words(error)),
            (false, Some(_)) => Undelivered::new(Fault::Passing, self.words(error)),
            (false, None) => Undelivered::new(Fault::Passing, format!("{stage}: {}", self.words(error))),
        }
    }

    /// A new connection that has accepted the sender.
    fn begin(&mut self, sender: &Mail) -> Result<SmtpConnection, Undelivered> {
        self.idle = None;
        let mut connection = self.open()?;
        let refused = |error| self.unreachable(&error);
        connection.command(sender).map_err(refused)?;
        Ok(connection)
    }

    /// A new connection, logged in.
    fn open(&self) -> Result<SmtpConnection, Undelivered> {
        let mut connection = self.connect().map_err(|error| self.unreachable(&error))?;
        match self.log_in(&mut connection) {
            Ok(()) => Ok(connection),
            // A lost connection says nothing about the login.
            Err(error) if error.status().is_none() && !error.is_client() => Err(self.unreachable(&error)),
            Err(error) => {
                let (host, port, words) = (&self.host, self.port, self.words(&error));
                let reason = format!("mail server {host}:{port} refuses the login: {words}");
                Err(Undelivered::new(Fault::Login, reason))
            }
        }
    }

    fn unreachable(&self, error: &Error) -> Undelivered {
        let reason = format!("mail server {}:{}: {}", self.host, self.port, self.words(error));
        Undelivered::new(Fault::Unreachable, reason)
    }

    fn connect(&self) -> Result<SmtpConnection, Error> {
        let wrapper = match &self.security {
            Security::Tls(tls) => Some(tls),
            Security::Plain | Security::StartTls(_) | Security::Opportunistic(_) => None,
        };
        let place = (self.host.as_str(), self.port);
        let mut connection = SmtpConnection::connect(place, Some(self.timeout), &self.hello, wrapper, None)?;
        match &self.security {
            Security::StartTls(tls) => connection.starttls(tls, &self.hello)?,
            Security::Opportunistic(tls) if connection.can_starttls() => {
                connection.starttls(tls, &self.hello)?
            }
            Security::Plain | Security::Tls(_) | Security::Opportunistic(_) => {}
        }
        Ok(connection)
    }

    fn log_in(&self, connection: &mut SmtpConnection) -> Result<(), Error> {
        match &self.credentials {
            Some(credentials) => connection.auth(DEFAULT_MECHANISMS, credentials).map(drop),
            None => Ok(()),
        }
    }

    /// The idle connection, if it still works.
    fn wake(&mut self) -> Option<SmtpConnection> {
        let (mut connection, since) = self.idle.take()?;
        let rested = since.elapsed();
        if rested > CLOSE_AFTER {
            quit(connection);
            return None;
        }
        (rested < ASK_AFTER || connection.test_connected()).then_some(connection)
    }

    /// Closes a connection that was idle for a while.
    pub fn rest(&mut self) {
        if let Some((connection, since)) = self.idle.take() {
            match since.elapsed() > CLOSE_AFTER {
                true => quit(connection),
                false => self.idle = Some((connection, since)),
            }
        }
    }

    fn words(&self, error: &Error) -> String {
        if let Some(code) = error.status() {
            let said = error.source().map(ToString::to_string).unwrap_or_default();
            return format!("{code} {said}").trim_end().to_owned();
        }
        let mut source = error.source();
        while let Some(inner) = source {
            let kind = inner.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
            if matches!(kind, Some(ErrorKind::WouldBlock | ErrorKind::TimedOut)) {
                return format!("no response within {} s", self.timeout.as_secs());
            }
            source = inner.source();
        }
        error.to_string()
    }
}

impl Drop for Smtp {
    fn drop(&mut self) {
        if let Some((connection, _)) = self.idle.take() {
            quit(connection);
        }
    }
}

fn quit(mut connection: SmtpConnection) {
    let _ = connection.set_timeout(Some(QUIT_TIMEOUT));
    let _ = connection.quit();
}

/// Sends recipients and text. An error says at which step it failed.
fn hand_over(
    connection: &mut SmtpConnection,
    envelope: &Envelope,
    mail: &[u8],
) -> Result<Response, (&'static str, Error)> {
    for recipient in envelope.to() {
        let recipient = Rcpt::new(recipient.clone(), Vec::new());
        connection
            .command(recipient)
            .map_err(|error| ("the connection was lost before the message was sent", error))?;
    }
    connection
        .command(Data)
        .map_err(|error| ("the connection was lost before the message was sent", error))?;
    connection.message(mail).map_err(|error| {
        let stage = "the server's response was lost, so the message may have arrived";
        (stage, error)
    })
}

fn answer_of(response: &Response) -> String {
    let lines: Vec<&str> = response.message().collect();
    format!("{} {}", response.code(), lines.join(" "))
        .trim_end()
        .to_owned()
}

fn tls_parameters(host: &str, ca: Option<&[u8]>) -> Result<TlsParameters, String> {
    let mut builder = TlsParameters::builder(host.to_owned());
    if let Some(pem) = ca {
        const MARK: &[u8] = b"-----BEGIN CERTIFICATE-----";
        // A file without any certificate would be silently ignored.
        let has_one = pem.windows(MARK.len()).any(|window| window == MARK);
        let certificate = Certificate::from_pem(pem).ok().filter(|_| has_one);
        builder =
            builder.add_root_certificate(certificate.ok_or("has a CA file without a certificate in PEM")?);
    }
    builder.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_their_protection() {
        for (text, port, security) in [
            ("smtps://u:p@mail.example.org", 465, "tls"),
            ("smtp://u:p@mail.example.org", 587, "starttls"),
            ("smtp://mail.example.org", 587, "opportunistic"),
            ("smtp://mail.example.org:25?tls=none", 25, "none"),
            ("smtp://localhost", 25, "none"),
            ("smtp://u:p@127.0.0.1:2525", 2525, "none"),
            ("smtp://localhost?tls=required", 587, "starttls"),
        ] {
            let smtp = Smtp::parse(text, None).unwrap();
            assert_eq!(smtp.port, port, "{text}");
            assert_eq!(smtp.security.word(), security, "{text}");
        }
        for bad in [
            "http://mail.example.org",
            "smtps://mail.example.org?tls=none",
            "smtp://mail.example.org?tls=maybe",
            "smtp://mail.example.org?ssl=1",
        ] {
            assert!(Smtp::parse(bad, None).is_err(), "{bad}");
        }
        assert!(Smtp::parse("smtps://mail.example.org", Some(b"no certificate")).is_err());
    }
}
