//! The OpenID Connect provider: what it publishes about itself, and what its answers prove.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bursar_app::sign_in::login::Begun;
use bursar_domain::Timestamp;
use bursar_domain::sign_in::login::Proven;
use chrono::{DateTime, Utc};
use openidconnect::core::{
    CoreAuthPrompt, CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdToken,
    CoreIdTokenVerifier, CoreJwsSigningAlgorithm, CoreProviderMetadata,
};
use openidconnect::http::{Method, Response};
use openidconnect::{
    AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken, HttpRequest,
    HttpResponse, IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError,
    Scope, SignatureVerificationError, TokenResponse as _,
};
use tokio::sync::Semaphore;
use ureq::Agent;
use url::Url;

use crate::serve::is_loopback;

/// For one request and its response.
const TIMEOUT: Duration = Duration::from_secs(8);
const RESPONSE_BYTES_MAX: u64 = 256 * 1024;
/// How long what the provider publishes is used without asking again.
const KNOWN_FOR: Duration = Duration::from_secs(5 * 60);
/// A key that is not known may be new, unless the keys were just read.
const KEYS_FOR: Duration = Duration::from_secs(1);
/// A provider that failed is left alone for so long.
const FAILED_FOR: Duration = Duration::from_secs(5);
/// Requests to the provider at the same time.
const REQUESTS_MAX: usize = 16;
/// The provider may remember people for so long. Naming a time makes it say when they proved who they are.
const REMEMBERED_FOR: Duration = Duration::from_secs(30 * 86_400);
/// Signatures by a key that only the provider has.
const ALGORITHMS: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// What the operator says about the provider.
#[derive(Clone)]
pub struct OidcSettings {
    issuer: IssuerUrl,
    client_id: String,
    client_secret: String,
    /// What people call it.
    name: String,
}

impl OidcSettings {
    /// `name` is the host's if there is none. The error is about the issuer.
    pub fn new(
        issuer: &str,
        client_id: String,
        client_secret: String,
        name: Option<String>,
    ) -> Result<Self, String> {
        let rule = "must be the provider's address, such as https://login.example.org (http:// only on this machine)";
        let issuer = IssuerUrl::new(issuer.to_owned()).map_err(|_| rule.to_owned())?;
        let url = issuer.url();
        let host = url.host_str().filter(|_| is_safe(url)).ok_or(rule)?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        if !is_plain || url.query().is_some() || url.fragment().is_some() {
            return Err(format!("{rule}, without user, ? and #"));
        }
        let name = name.unwrap_or_else(|| host.to_owned());
        Ok(Self {
            issuer,
            client_id,
            client_secret,
            name,
        })
    }
}

pub(crate) struct Provider {
    settings: OidcSettings,
    redirect: RedirectUrl,
    agent: Agent,
    room: Arc<Semaphore>,
    known: Mutex<Option<Arc<Known>>>,
    /// Held by whoever asks. When it last failed, and why.
    asking: tokio::sync::Mutex<Option<(Instant, String)>>,
}

/// What the provider publishes, with its keys.
pub(crate) struct Known {
    metadata: CoreProviderMetadata,
    read_at: Instant,
}

/// Why nobody was signed in. The text is for the log.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It does not answer, or not as a provider does.
    Unreachable(String),
    /// It answers, but does not prove who it is about.
    Unproven(String),
}

impl Known {
    /// Where its sign-in page is.
    pub(crate) fn origin(&self) -> String {
        let endpoint = self.metadata.authorization_endpoint().url();
        endpoint.origin().ascii_serialization()
    }
}

impl Provider {
    pub(crate) fn new(settings: OidcSettings, base_url: &Url) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would send the secret to another server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(TIMEOUT))
            .user_agent(concat!("bursar/", env!("CARGO_PKG_VERSION")))
            .proxy(None)
            .build();
        let mut redirect = base_url.clone();
        redirect.set_path("/console/sign-in/oidc/callback");
        Self {
            settings,
            redirect: RedirectUrl::from_url(redirect),
            agent: config.new_agent(),
            room: Arc::new(Semaphore::new(REQUESTS_MAX)),
            known: Mutex::default(),
            asking: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.settings.name
    }

    /// Whether an answer that names its sender is from this provider.
    pub(crate) fn is_issuer(&self, text: &str) -> bool {
        text == self.settings.issuer.as_str()
    }

    /// Where a form of ours may lead. Until the provider has said, its sign-in page is taken to be where it is itself.
    pub(crate) fn origin(&self) -> String {
        match self.remembered() {
            Some(known) => known.origin(),
            None => self.settings.issuer.url().origin().ascii_serialization(),
        }
    }

    /// Asks the provider in the background, unless it was asked lately.
    pub(crate) fn ask_soon(self: &Arc<Self>) {
        let is_known = self
            .remembered()
            .is_some_and(|known| known.read_at.elapsed() < KNOWN_FOR);
        let is_asked = self.asking.try_lock().is_err();
        if is_known || is_asked {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let provider = Arc::clone(self);
            runtime.spawn(async move {
                if let Err(Fault::Unreachable(cause) | Fault::Unproven(cause)) = provider.known().await {
                    tracing::warn!(cause, "the OpenID Connect provider cannot be reached");
                }
            });
        }
    }

    /// What the provider publishes, at most some minutes old.
    pub(crate) async fn known(self: &Arc<Self>) -> Result<Arc<Known>, Fault> {
        self.known_for(KNOWN_FOR).await
    }

    async fn known_for(self: &Arc<Self>, age: Duration) -> Result<Arc<Known>, Fault> {
        let young = || self.remembered().filter(|known| known.read_at.elapsed() < age);
        if let Some(known) = young() {
            return Ok(known);
        }
        let mut failed = self.asking.lock().await;
        // Somebody may have asked meanwhile.
        if let Some(known) = young() {
            return Ok(known);
        }
        if let Some((at, why)) = &*failed
            && at.elapsed() < FAILED_FOR
        {
            return Err(Fault::Unreachable(why.clone()));
        }
        match self.apart(Self::discover).await {
            Ok(known) => {
                let known = Arc::new(known);
                *failed = None;
                *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&known));
                Ok(known)
            }
            Err(Fault::Unreachable(why) | Fault::Unproven(why)) => {
                *failed = Some((Instant::now(), why.clone()));
                Err(Fault::Unreachable(why))
            }
        }
    }

    /// The address at the provider to which somebody is sent.
    pub(crate) fn address(&self, known: &Known, state: &str, begun: &Begun) -> Url {
        let client = CoreClient::from_provider_metadata(
            known.metadata.clone(),
            ClientId::new(self.settings.client_id.clone()),
            None,
        )
        .set_redirect_uri(self.redirect.clone());
        let verifier = PkceCodeVerifier::new(begun.verifier.clone());
        let (state, nonce) = (CsrfToken::new(state.to_owned()), Nonce::new(begun.nonce.clone()));
        let asked = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                move || state,
                move || nonce,
            )
            .add_scope(Scope::new("email".to_owned()))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&verifier));
        let asked = match begun.is_again {
            true => asked
                .add_prompt(CoreAuthPrompt::Login)
                .set_max_age(Duration::ZERO),
            false => asked.set_max_age(REMEMBERED_FOR),
        };
        asked.url().0
    }

    /// Whose login it is, from the code in the provider's answer, and when they proved it if the provider says so.
    pub(crate) async fn prove(
        self: &Arc<Self>,
        code: String,
        begun: &Begun,
        now: Timestamp,
    ) -> Result<(Proven, Option<Timestamp>), Fault> {
        let known = self.known().await?;
        let (asked, verifier) = (Arc::clone(&known), begun.verifier.clone());
        let token = self
            .apart(move |provider| provider.redeem(&asked, code, verifier))
            .await?;
        let checked = self.check(&known, &token, &begun.nonce, now);
        let checked = match checked {
            Err(ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey,
            )) => {
                let known = self.known_for(KEYS_FOR).await?;
                self.check(&known, &token, &begun.nonce, now)
            }
            other => other,
        };
        let (subject, email, proved_at) = checked.map_err(|error| Fault::Unproven(causes(&error)))?;
        let proven =
            Proven::new(&self.settings.issuer, &subject, email.as_deref()).map_err(Fault::Unproven)?;
        Ok((proven, proved_at))
    }

    fn remembered(&self) -> Option<Arc<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs what waits for the provider on a thread of its own.
    async fn apart<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let unreachable = |why: String| Fault::Unreachable(why);
        let room = Arc::clone(&self.room).try_acquire_owned();
        let room = room.map_err(|_| unreachable(format!("{REQUESTS_MAX} requests to it are under way")))?;
        let provider = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&provider);
            drop(room);
            done
        });
        done.await.map_err(|error| unreachable(error.to_string()))?
    }

    fn discover(&self) -> Result<Known, Fault> {
        let fetch = |request| self.fetch(request);
        let found = CoreProviderMetadata::discover(&self.settings.issuer, &fetch);
        let metadata = found.map_err(|error| Fault::Unreachable(causes(&error)))?;
        let token_endpoint = metadata.token_endpoint().map(|endpoint| endpoint.url());
        let is_whole =
            token_endpoint.is_some_and(is_safe) && is_safe(metadata.authorization_endpoint().url());
        match is_whole {
            true => Ok(Known {
                metadata,
                read_at: Instant::now(),
            }),
            false => Err(Fault::Unreachable(
                "it names no token endpoint or authorization endpoint with https".to_owned(),
            )),
        }
    }

    fn redeem(&self, known: &Known, code: String, verifier: String) -> Result<CoreIdToken, Fault> {
        let secret = ClientSecret::new(self.settings.client_secret.clone());
        let client = CoreClient::from_provider_metadata(
            known.metadata.clone(),
            ClientId::new(self.settings.client_id.clone()),
            Some(secret),
        )
        .set_redirect_uri(self.redirect.clone())
        .set_auth_type(how_to_authenticate(&known.metadata));
        let asked = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|error| Fault::Unreachable(error.to_string()))?
            .set_pkce_verifier(PkceCodeVerifier::new(verifier));
        let fetch = |request| self.fetch(request);
        let tokens = asked.request(&fetch).map_err(|error| match error {
            RequestTokenError::Request(error) => Fault::Unreachable(causes(&error)),
            other => Fault::Unproven(causes(&other)),
        })?;
        let missing = || Fault::Unproven("its response has no ID token".to_owned());
        tokens.id_token().cloned().ok_or_else(missing)
    }

    /// The subject, the address and the time that an ID token states, if it is the provider's, for us, in time, and for
    /// this sign-in.
    fn check(
        &self,
        known: &Known,
        token: &CoreIdToken,
        nonce: &str,
        now: Timestamp,
    ) -> Result<(String, Option<String>, Option<Timestamp>), ClaimsVerificationError> {
        let verifier = CoreIdTokenVerifier::new_public_client(
            ClientId::new(self.settings.client_id.clone()),
            self.settings.issuer.clone(),
            known.metadata.jwks().clone(),
        )
        .set_allowed_algs(ALGORITHMS)
        .set_time_fn(move || moment(now));
        let claims = token.claims(&verifier, &Nonce::new(nonce.to_owned()))?;
        let proved_at = claims.auth_time();
        Ok((
            claims.subject().to_string(),
            claims.email().map(|email| email.to_string()),
            proved_at.map(|at| Timestamp::from_micros(at.timestamp_micros())),
        ))
    }

    fn fetch(&self, request: HttpRequest) -> Result<HttpResponse, ureq::Error> {
        let (head, body) = request.into_parts();
        let address = head.uri.to_string();
        if !address.parse().is_ok_and(|url| is_safe(&url)) {
            return Err(ureq::Error::BadUri(format!("{address} is not https")));
        }
        let response = match head.method {
            Method::GET => {
                let asked = self.agent.get(head.uri);
                let with = |asked: ureq::RequestBuilder<_>, (name, value)| asked.header(name, value);
                head.headers.iter().fold(asked, with).call()?
            }
            _ => {
                let asked = self.agent.post(head.uri);
                let with = |asked: ureq::RequestBuilder<_>, (name, value)| asked.header(name, value);
                head.headers.iter().fold(asked, with).send(&body[..])?
            }
        };
        let (head, mut body) = response.into_parts();
        let body = body.with_config().limit(RESPONSE_BYTES_MAX).read_to_vec()?;
        Ok(Response::from_parts(head, body))
    }
}

/// The secret goes into a header unless the provider takes it in the form only.
fn how_to_authenticate(metadata: &CoreProviderMetadata) -> AuthType {
    let methods = metadata.token_endpoint_auth_methods_supported();
    let takes = |method| methods.is_some_and(|methods| methods.contains(&method));
    match takes(CoreClientAuthMethod::ClientSecretPost) && !takes(CoreClientAuthMethod::ClientSecretBasic) {
        true => AuthType::RequestBody,
        false => AuthType::BasicAuth,
    }
}

fn is_safe(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

fn moment(at: Timestamp) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(at.micros()).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// An error with what is behind it.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_https_or_here() {
        let made = |issuer: &str| OidcSettings::new(issuer, "id".into(), "secret".into(), None);
        for (issuer, name) in [
            ("https://login.example.org", "login.example.org"),
            ("https://login.example.org/tenant/v2.0/", "login.example.org"),
            ("http://localhost:4000", "localhost"),
            ("http://127.0.0.1:4000/x", "127.0.0.1"),
        ] {
            let made = made(issuer).map_err(|rule| format!("{issuer} {rule}")).unwrap();
            assert_eq!((made.issuer.as_str(), made.name.as_str()), (issuer, name));
        }
        for issuer in [
            "login.example.org",
            "http://login.example.org",
            "http://localhost.example.org",
            "https://me@login.example.org",
            "https://login.example.org?x",
            "https://login.example.org#x",
            "ftp://localhost",
            "",
        ] {
            assert!(made(issuer).is_err(), "{issuer}");
        }
    }
}
