//! What the token is and may do, as the server tells.

use bursar_domain::access::{Scope, ScopeSet};
use serde::Deserialize;

use super::{Client, RequestError, Waits};

/// The response of `GET /v1/token`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Token {
    pub(crate) organization_id: String,
    pub(crate) expires_at: String,
    effective_scopes: Vec<String>,
}

impl Token {
    pub(crate) fn ask(client: &mut Client, waits: &mut Waits<'_>) -> Result<Self, String> {
        match client.get("/v1/token", waits) {
            Ok(token) => Ok(token),
            Err(RequestError::NotFound(_)) => Err(format!(
                "{} has no /v1/token: is it a bursar server, and its address without /v1?",
                client.url()
            )),
            Err(refusal) => Err(refusal.to_string()),
        }
    }

    /// Scopes unknown to this program are ignored.
    pub(crate) fn scopes(&self) -> ScopeSet {
        let known = self.effective_scopes.iter();
        let known: Vec<Scope> = known.filter_map(|scope| Scope::parse(scope)).collect();
        ScopeSet::of(&known)
    }
}
