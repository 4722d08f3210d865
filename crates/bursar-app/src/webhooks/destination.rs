//! Where deliveries may go, as this operator allows it: resolves a host and checks every address that it has.

use std::fmt;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use bursar_domain::Refusal;
use bursar_domain::webhook::address::{Allowed, Target};

/// For the look-up when an endpoint is made or changed. Short, because the console holds a reader meanwhile.
const RESOLVE_MAX: Duration = Duration::from_secs(3);

/// Returns the addresses of a host.
pub type Resolver = Arc<dyn Fn(&str, u16) -> std::io::Result<Vec<IpAddr>> + Send + Sync>;

#[derive(Clone)]
pub struct Reach {
    allowed: Allowed,
    resolver: Resolver,
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reach")
            .field("allowed", &self.allowed)
            .finish_non_exhaustive()
    }
}

/// A URL whose addresses were checked just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub(super) url: String,
}

impl Reach {
    /// With the resolver of the system.
    pub fn new(allowed: Allowed) -> Self {
        let resolver = |host: &str, port: u16| {
            let found = (host, port).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        };
        Self::with_resolver(allowed, Arc::new(resolver))
    }

    pub fn with_resolver(allowed: Allowed, resolver: Resolver) -> Self {
        Self { allowed, resolver }
    }

    /// Checks a URL that somebody gave.
    pub fn destination(&self, url: &str) -> Result<Destination, Refusal> {
        self.check(url).map_err(|rule| Refusal::invalid("url", rule))
    }

    /// The message is the rule and reads on after a name for the URL.
    pub fn check(&self, url: &str) -> Result<Destination, String> {
        let target = Target::parse(url)?;
        self.addresses(&target, RESOLVE_MAX)?;
        Ok(Destination {
            url: target.url().to_owned(),
        })
    }

    /// The addresses to connect to, all of them checked. The message reads on after a field's name.
    pub fn addresses(&self, target: &Target, within: Duration) -> Result<Vec<IpAddr>, String> {
        let addresses = match target.literal() {
            Some(address) => vec![address],
            None => self.resolve(target, within)?,
        };
        self.allowed
            .check(target, &addresses)
            .map_err(|error| error.to_string())?;
        Ok(addresses)
    }

    /// On a thread of its own, because the system's resolver cannot be told when to end.
    fn resolve(&self, target: &Target, within: Duration) -> Result<Vec<IpAddr>, String> {
        let (resolver, host, port) = (Arc::clone(&self.resolver), target.host(), target.port());
        let (sender, receiver) = mpsc::channel();
        let name = host.clone();
        let look_up = move || drop(sender.send(resolver(&name, port)));
        let cannot =
            |why: &dyn fmt::Display| format!("must name a host that can be resolved; {host} cannot: {why}");
        thread::Builder::new()
            .name("bursar-resolve".into())
            .spawn(look_up)
            .map_err(|error| cannot(&error))?;
        match receiver.recv_timeout(within) {
            Ok(found) => {
                let mut found = found.map_err(|error| cannot(&error))?;
                let mut seen = std::collections::HashSet::new();
                found.retain(|address| seen.insert(*address));
                Ok(found)
            }
            Err(_) => Err(cannot(&"it took too long")),
        }
    }
}
