//! Where a delivery may go: the rules of an endpoint's URL, and of the addresses that its host resolves to.
//!
//! Resolving a host is for others. They pass the addresses in, and connect to those alone that are returned.

use core::net::IpAddr;
use std::fmt;

/// Addresses with a common beginning.
pub use ipnet::IpNet as Block;
use url::{Host, ParseError, Url};

use super::reach::obstacle;

pub const URL_CHARS_MAX: usize = 2_000;
/// More addresses of one host are not looked at, and the host is refused.
pub const ADDRESSES_MAX: usize = 64;

/// The URL of an endpoint, whose form is right. Where it leads is checked with [`Allowed::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
}

impl Target {
    /// The rule reads on after the field's name.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > URL_CHARS_MAX {
            return Err(format!("must have at most {URL_CHARS_MAX} characters"));
        }
        // A parser for browsers repairs what it reads, and others read it differently.
        if let Some(odd) = text
            .chars()
            .find(|c| c.is_whitespace() || c.is_control() || *c == '\\')
        {
            return Err(format!("must not contain {odd:?}"));
        }
        let has_scheme = |scheme: &str| {
            text.get(..scheme.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        if !has_scheme("https://") && !has_scheme("http://") {
            return Err("must start with https://".into());
        }
        let url = Url::parse(text).map_err(|error| match error {
            ParseError::InvalidPort => "must have a port from 1 to 65535",
            ParseError::EmptyHost => "must name a host",
            _ => "must name a valid host",
        })?;
        if !url.username().is_empty() || url.password().is_some() || authority(text).contains('@') {
            return Err("must not contain a user or a password; deliveries are signed instead".into());
        }
        if url.fragment().is_some() {
            return Err("must not contain a fragment (#…), which is never sent".into());
        }
        if url.port() == Some(0) {
            return Err("must have a port from 1 to 65535".into());
        }
        Ok(Self { url })
    }

    /// As it is kept and requested.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    pub fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(443)
    }

    /// Without brackets.
    pub fn host(&self) -> String {
        match self.url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => String::new(),
        }
    }

    /// If the host is an address, nothing needs to be resolved.
    pub fn literal(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(IpAddr::V4(address)),
            Host::Ipv6(address) => Some(IpAddr::V6(address)),
        }
    }
}

/// Between `//` and the path.
fn authority(text: &str) -> &str {
    let rest = text.split_once("//").map_or("", |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// The addresses that the operator named: they may be private, and plain HTTP may go there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    blocks: Vec<Block>,
}

impl Allowed {
    pub fn new(blocks: Vec<Block>) -> Self {
        Self { blocks }
    }

    /// An address or a CIDR block. The rule reads on after the option's name.
    pub fn parse_block(text: &str) -> Result<Block, String> {
        let rule = "must be an address or a CIDR block such as 10.1.2.0/24 or fd00::/8";
        let block = match text.contains('/') {
            true => text.parse::<Block>().ok(),
            false => text.parse::<IpAddr>().ok().map(Block::from),
        };
        let block = block.ok_or_else(|| format!("{rule}, got {text}"))?;
        match block.trunc() == block {
            true => Ok(block),
            false => Err(format!(
                "{rule}; {text} has bits after its prefix, did you mean {}?",
                block.trunc()
            )),
        }
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.blocks.iter().any(|block| block.contains(&address))
    }

    /// Checks every address that the host resolved to. One wrong one is enough to refuse them all: which of them a
    /// connection uses is chance, or the choice of whoever runs the name.
    pub fn check(&self, target: &Target, addresses: &[IpAddr]) -> Result<(), Unsafe> {
        if addresses.is_empty() {
            return Err(Unsafe::Unresolved(target.host()));
        }
        if addresses.len() > ADDRESSES_MAX {
            return Err(Unsafe::TooMany(target.host()));
        }
        for address in addresses.iter().filter(|address| !self.contains(**address)) {
            if let Some(what) = obstacle(*address) {
                return Err(Unsafe::Unreachable {
                    host: target.host(),
                    address: *address,
                    what,
                });
            }
            if !target.is_https() {
                return Err(Unsafe::Plain);
            }
        }
        Ok(())
    }
}

/// Why nothing is delivered to a URL. Displayed, it is a rule that reads on after the field's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsafe {
    Unresolved(String),
    TooMany(String),
    Unreachable {
        host: String,
        address: IpAddr,
        what: &'static str,
    },
    Plain,
}

impl fmt::Display for Unsafe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unresolved(host) => write!(f, "must name a host that can be resolved; {host} has no address"),
            Self::TooMany(host) => {
                write!(f, "must name a host with at most {ADDRESSES_MAX} addresses; {host} has more")
            }
            Self::Unreachable { host, address, what } => {
                write!(f, "must lead to a public address; ")?;
                match host.parse() == Ok(*address) {
                    true => write!(f, "{address} is not public ({what})")?,
                    false => write!(f, "{host} is {address}, which is not public ({what})")?,
                }
                f.write_str(". The operator can allow it with --webhook-allow")
            }
            Self::Plain => f.write_str(
                "must start with https://; http:// is only for addresses that the operator named with --webhook-allow",
            ),
        }
    }
}

#[cfg(test)]
mod tests;
