//! The address of the database: a file or a server.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use bursar_domain::text::percent_decoded;
use postgres::config::Host;

use crate::error::DbError;

#[derive(Clone)]
pub enum DatabaseUrl {
    Sqlite(PathBuf),
    Postgres(PostgresUrl),
}

/// Includes the password, but is displayed without it.
#[derive(Clone)]
pub struct PostgresUrl {
    pub(super) config: Box<postgres::Config>,
    pub(super) tls: TlsMode,
    pub(super) root_certificate: Option<PathBuf>,
    is_remote: bool,
}

/// As PostgreSQL's `sslmode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsMode {
    Disable,
    /// Encrypted if the server offers it, without checking the server.
    Prefer,
    /// Encrypted, without checking the server.
    Require,
    /// Encrypted, with a certificate of a known authority.
    VerifyCa,
    /// The same, and the certificate must match the host.
    VerifyFull,
}

impl FromStr for DatabaseUrl {
    type Err = DbError;

    fn from_str(text: &str) -> Result<Self, DbError> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            if path.is_empty() || path == ":memory:" || path.starts_with("//") {
                return Err(DbError::BadUrl(
                    "the database sqlite: needs a file, for example sqlite:bursar.db or sqlite:/var/lib/bursar/bursar.db"
                        .to_owned(),
                ));
            }
            return Ok(DatabaseUrl::Sqlite(PathBuf::from(path)));
        }
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return PostgresUrl::parse(text).map(DatabaseUrl::Postgres);
        }
        // The text is not repeated: it may contain a password.
        Err(DbError::BadUrl(
            "the database must be sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE".to_owned(),
        ))
    }
}

impl PostgresUrl {
    fn parse(text: &str) -> Result<Self, DbError> {
        check_password(text)?;
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let mut tls = None;
        let mut root_certificate = None;
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "sslmode" => tls = Some(TlsMode::parse(value)?),
                "sslrootcert" => {
                    let path = percent_decoded(value).ok_or_else(|| {
                        DbError::BadUrl(
                            "the database URL: sslrootcert is not a valid percent-encoded path".to_owned(),
                        )
                    })?;
                    root_certificate = Some(PathBuf::from(path.into_owned()));
                }
                _ => others.push(pair),
            }
        }
        let rest = if others.is_empty() {
            base.to_owned()
        } else {
            format!("{base}?{}", others.join("&"))
        };
        let mut config: postgres::Config = rest.parse().map_err(|error: postgres::Error| {
            DbError::BadUrl(format!(
                "the database URL: {}",
                super::fault::with_sources(&error)
            ))
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host("localhost");
        }
        let is_remote = is_remote(&config);
        let tls = match tls {
            // As in libpq: whoever names a root certificate wants the server's to be checked against it.
            Some(TlsMode::Require) if root_certificate.is_some() => TlsMode::VerifyCa,
            Some(tls) => tls,
            // The password must not go to whoever answers there. Anything weaker must be asked for by name.
            None if is_remote || root_certificate.is_some() => TlsMode::VerifyFull,
            None => TlsMode::Prefer,
        };
        Ok(PostgresUrl {
            config: Box::new(config),
            tls,
            root_certificate,
            is_remote,
        })
    }

    pub fn is_remote(&self) -> bool {
        self.is_remote
    }

    pub fn tls_mode(&self) -> TlsMode {
        self.tls
    }

    pub(super) fn server(&self) -> String {
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) if host.contains(':') => format!("[{host}]:{port}"),
            Some(Host::Tcp(host)) => format!("{host}:{port}"),
            #[cfg(unix)]
            Some(Host::Unix(folder)) => format!("{}:{port}", folder.display()),
            None => {
                let address = self.config.get_hostaddrs().first();
                address.map_or_else(
                    || "localhost".to_owned(),
                    |ip| std::net::SocketAddr::new(*ip, port).to_string(),
                )
            }
        }
    }
}

impl TlsMode {
    pub fn name(self) -> &'static str {
        match self {
            TlsMode::Disable => "disable",
            TlsMode::Prefer => "prefer",
            TlsMode::Require => "require",
            TlsMode::VerifyCa => "verify-ca",
            TlsMode::VerifyFull => "verify-full",
        }
    }

    fn parse(text: &str) -> Result<Self, DbError> {
        match text {
            "disable" => Ok(TlsMode::Disable),
            "allow" | "prefer" => Ok(TlsMode::Prefer),
            "require" => Ok(TlsMode::Require),
            "verify-ca" => Ok(TlsMode::VerifyCa),
            "verify-full" => Ok(TlsMode::VerifyFull),
            other => Err(DbError::BadUrl(format!(
                "the database URL: sslmode must be disable, prefer, require, verify-ca or verify-full, got {other}"
            ))),
        }
    }
}

/// A password with a character that ends a part of the URL would be taken for a host or an option, and shown in an error.
fn check_password(text: &str) -> Result<(), DbError> {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, after) = rest.split_at(end);
    let before_options = after.split('?').next().unwrap_or_default();
    let option_names = after.split(['?', '&']).skip(1);
    let is_late = before_options.contains('@')
        || option_names
            .map(|pair| pair.split('=').next().unwrap_or_default())
            .any(|name| name.contains('@'));
    match authority.matches('@').count() {
        0 if is_late => Err(DbError::BadUrl(
            "the database URL: write a / in the password as %2F, a ? as %3F and a # as %23".to_owned(),
        )),
        0 | 1 => Ok(()),
        _ => Err(DbError::BadUrl(
            "the database URL: write an @ in the user or the password as %40".to_owned(),
        )),
    }
}

/// Whether any host is neither a socket nor this machine. A name with an address beside it is remote if either is: the
/// certificate must be the name's.
fn is_remote(config: &postgres::Config) -> bool {
    let is_remote_host = |host: &Host| match host {
        Host::Tcp(name) if name.eq_ignore_ascii_case("localhost") => false,
        Host::Tcp(name) => !name.parse().is_ok_and(is_loopback),
        #[cfg(unix)]
        Host::Unix(_) => false,
    };
    config.get_hosts().iter().any(is_remote_host)
        || config
            .get_hostaddrs()
            .iter()
            .any(|address| !is_loopback(*address))
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseUrl::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            DatabaseUrl::Postgres(url) => url.fmt(f),
        }
    }
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        write!(f, "{}/{}", self.server(), self.config.get_dbname().unwrap_or(""))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn postgres(text: &str) -> PostgresUrl {
        match text.parse().unwrap() {
            DatabaseUrl::Postgres(url) => url,
            DatabaseUrl::Sqlite(path) => panic!("not a server: {}", path.display()),
        }
    }

    #[test]
    fn a_file_is_taken_as_it_is_written() {
        let url: DatabaseUrl = "sqlite:some where/bursar.db?x".parse().unwrap();
        assert!(matches!(&url, DatabaseUrl::Sqlite(path) if path == "some where/bursar.db?x"));
        assert_eq!(url.to_string(), "sqlite:some where/bursar.db?x");
    }

    #[test]
    fn other_texts_are_refused_without_repeating_them() {
        for text in [
            "",
            "mysql://u:secret@h/d",
            "bursar.db",
            "sqlite:",
            "sqlite::memory:",
            "sqlite://x",
        ] {
            let error = text.parse::<DatabaseUrl>().unwrap_err();
            assert!(
                matches!(&error, DbError::BadUrl(line) if !line.contains("secret")),
                "{error:?}"
            );
        }
        let error = "postgres://u:secret@h/d?colour=red"
            .parse::<DatabaseUrl>()
            .unwrap_err();
        assert!(
            matches!(&error, DbError::BadUrl(line) if !line.contains("secret")),
            "{error:?}"
        );
        for (text, way) in [
            ("postgres://u:sec@ret@h/d", "%40"),
            ("postgres://u@x:secret@h:1/d?connect_timeout=3", "%40"),
            ("postgres://u:sec/ret@h/d", "%2F"),
            ("postgres://u:sec?ret@h/d", "%3F"),
            ("postgres://u:sec#ret@h/d", "%23"),
            ("postgres://u:sec?r&et@h/d?a=b", "%3F"),
        ] {
            let error = text.parse::<DatabaseUrl>().unwrap_err().to_string();
            assert!(error.contains(way) && !error.contains("ret"), "{text}: {error}");
        }
        for good in [
            "postgres://u:sec%40ret@h/d",
            "postgres://h/d?user=a@b",
            "postgres://u:p@h/d?application_name=a@b",
        ] {
            good.parse::<DatabaseUrl>().unwrap();
        }
        let error = "postgres://h/d?sslmode=maybe"
            .parse::<DatabaseUrl>()
            .unwrap_err()
            .to_string();
        assert!(error.contains("verify-full"), "{error}");
    }

    #[test]
    fn a_server_is_shown_without_its_password() {
        let url = postgres("postgresql://ann:secret@db.example.org:6432/books?connect_timeout=3");
        assert_eq!(url.to_string(), "postgres://ann@db.example.org:6432/books");
        assert_eq!(format!("{url:?}"), "postgres://ann@db.example.org:6432/books");
        assert_eq!(url.config.get_password(), Some(&b"secret"[..]));
        assert_eq!(
            url.config.get_connect_timeout(),
            Some(&std::time::Duration::from_secs(3))
        );
    }

    #[test]
    fn tls_settings_are_ours_and_a_root_certificate_asks_for_a_check() {
        assert_eq!(postgres("postgres://h/d?sslmode=disable").tls, TlsMode::Disable);
        assert_eq!(postgres("postgres://h/d?sslmode=prefer").tls, TlsMode::Prefer);
        assert_eq!(postgres("postgres://h/d?sslmode=require").tls, TlsMode::Require);
        assert_eq!(
            postgres("postgres://h/d?sslmode=verify-full").tls,
            TlsMode::VerifyFull
        );
        let url = postgres("postgres://h/d?sslmode=require&sslrootcert=/etc/my%20ca.pem");
        assert_eq!(url.tls, TlsMode::VerifyCa);
        assert_eq!(url.root_certificate, Some(PathBuf::from("/etc/my ca.pem")));
        let url = postgres("postgres://localhost/d?sslrootcert=ca.pem");
        assert_eq!(url.tls, TlsMode::VerifyFull);
    }

    #[test]
    fn a_remote_server_is_verified_unless_the_url_says_otherwise() {
        for remote in [
            "postgres://db.example.org/d",
            "postgres://ann:secret@10.0.0.5:6432/d",
            "postgres://[2001:db8::1]/d",
            "postgres://127.0.0.1,db.example.org/d",
            "postgres://db.example.org/d?hostaddr=127.0.0.1",
            "postgres://localhost/d?hostaddr=10.0.0.5",
            "postgres://localhost.example.org/d",
        ] {
            let url = postgres(remote);
            assert_eq!((url.tls, url.is_remote), (TlsMode::VerifyFull, true), "{remote}");
        }
        for local in [
            "postgres:///d",
            "postgres://localhost/d",
            "postgres://127.8.0.1:6432/d",
            "postgres://[::1]/d",
            "postgres://[::ffff:127.0.0.1]/d",
            "postgres://%2Fvar%2Frun%2Fpostgresql/d",
            "postgres://localhost,127.0.0.1/d",
        ] {
            let url = postgres(local);
            assert_eq!((url.tls, url.is_remote), (TlsMode::Prefer, false), "{local}");
        }
    }
}
