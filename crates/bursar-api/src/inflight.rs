//! Keys whose first request is still running in this process.
//!
//! A second request with the same key waits a little for the first, so that it can replay its answer; then it is
//! told to come back. Across processes the organization's clock puts the two in order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// How long a second request waits for the first.
const WAIT: Duration = Duration::from_secs(2);

/// A key of a principal in an organization.
type Name = ([u8; 16], [u8; 16], String);

/// The keys in use.
#[derive(Clone, Debug, Default)]
pub struct InFlight(Arc<Mutex<HashMap<Name, watch::Receiver<()>>>>);

/// Holds a key until it is dropped.
#[derive(Debug)]
pub struct Held {
    all: InFlight,
    name: Name,
    /// Dropping it wakes those who wait.
    _running: watch::Sender<()>,
}

impl InFlight {
    /// Takes the key; `None` when another request holds it and goes on doing so.
    pub async fn take(&self, organization: [u8; 16], principal: [u8; 16], key: &str) -> Option<Held> {
        let name = (organization, principal, key.to_owned());
        let waiting = async {
            loop {
                let mut other = match self.try_take(&name) {
                    Ok(held) => return held,
                    Err(other) => other,
                };
                // It ends when the other request's sender is dropped.
                while other.changed().await.is_ok() {}
            }
        };
        timeout(WAIT, waiting).await.ok()
    }

    fn try_take(&self, name: &Name) -> Result<Held, watch::Receiver<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = all.get(name) {
            return Err(other.clone());
        }
        let (running, waiting) = watch::channel(());
        all.insert(name.clone(), waiting);
        Ok(Held {
            all: self.clone(),
            name: name.clone(),
            _running: running,
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.name);
    }
}
