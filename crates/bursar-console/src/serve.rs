//! The way of a request through the console: what it may be, who asks, where, for which page.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bursar_app::online::Teller;
use bursar_app::sign_in::passkey::Passkeys;
use bursar_app::sign_in::{self, Oneself};
use bursar_app::{App, AppError, DbError, Identity, NO_ORGANIZATION, Whole};
use bursar_domain::Refusal;
use bursar_domain::ids::{Id, IdSource, OrganizationId, RequestId};
use bursar_domain::sign_in::{ENTROPY_BYTES, SecretHash, secret};
use bursar_domain::zone::Zone;
use bursar_http::address::{TrustedProxies, client_address};
use bursar_http::body::{self, BadBody, FormParts};
use bursar_http::framing::BadHeader;
use bursar_http::limits::{Bucket, Limiter, Subject};
use bursar_http::listen::catch_panic;
use bursar_http::reply::{Reply, stamp, strip_body};
use bursar_http::request_log::{RequestLine, RequestLog};
use hyper::body::Incoming;
use hyper::header::{HeaderMap, HeaderValue, ORIGIN, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use hyper::{Method, StatusCode};
use tokio::time::timeout;

use crate::acting::{check_role, no_form};
use crate::asking::Asking;
use crate::assets;
use crate::cookies::CookieName;
use crate::failure::{Failure, Problem, sentence};
use crate::forms::Form;
use crate::frame::{Frame, Place, Webhooks};
use crate::member::{self, MemberCookies};
use crate::oidc::{OidcSettings, Provider};
use crate::pages;
use crate::reply::{allow_forms_to, compressed, html, is_part, lead_to, see_other};
use crate::routes::{self, Route};
use crate::sign_in::query_of_page;

/// The files of one form, with what is around them.
const UPLOAD_BYTES_MAX: usize = (10 << 20) + (64 << 10);

/// Who is signed out already has what they asked for.
const SIGN_OUT: &str = "/console/sign-out";

pub struct Options {
    pub app: App,
    pub base_url: url::Url,
    /// Who else signs people in.
    pub oidc: Option<OidcSettings>,
    pub ids: IdSource,
    /// Fails where the system has no randomness.
    pub entropy: fn() -> Result<[u8; ENTROPY_BYTES], String>,
    pub webhooks: Webhooks,
    /// Where messages go as files if no server sends them.
    pub outbox: PathBuf,
    pub body_limit: usize,
    pub request_timeout: Duration,
    /// How long a form's key is remembered.
    pub key_seconds: i64,
    pub request_log: RequestLog,
    pub limiter: Arc<Limiter>,
    pub trusted_proxies: TrustedProxies,
    /// Whether this is the demonstration, which also has a page of all parts.
    pub is_demo: bool,
    /// Asks the payment providers of organizations.
    pub teller: Teller,
    /// Called when something was added to the outbox.
    pub on_queued: Arc<dyn Fn() + Send + Sync>,
}

pub struct Console {
    pub(crate) app: App,
    pub(crate) cookie: CookieName,
    pub(crate) code_cookie: CookieName,
    pub(crate) ceremony_cookie: CookieName,
    pub(crate) login_cookie: CookieName,
    pub(crate) member_cookies: MemberCookies,
    /// `None` where the address has no name.
    pub(crate) passkeys: Option<Arc<Passkeys>>,
    pub(crate) oidc: Option<Arc<Provider>>,
    /// What mail calls this place.
    pub(crate) site: String,
    pub(crate) entropy: fn() -> Result<[u8; ENTROPY_BYTES], String>,
    pub(crate) webhooks: Arc<Webhooks>,
    outbox: PathBuf,
    origin: String,
    /// Cookies would travel in the clear otherwise.
    is_safe: bool,
    /// The address is of this machine alone.
    is_here: bool,
    ids: Mutex<IdSource>,
    body_limit: usize,
    request_timeout: Duration,
    pub(crate) key_seconds: i64,
    request_log: RequestLog,
    limiter: Arc<Limiter>,
    trusted_proxies: TrustedProxies,
    pub(crate) is_demo: bool,
    pub teller: Teller,
    pub(crate) on_queued: Arc<dyn Fn() + Send + Sync>,
}

/// A page, or where to go.
pub(crate) enum Answer {
    Page(StatusCode, String),
    /// A page with a form that leads to this origin.
    Leading(StatusCode, String, String),
    Reply(Reply),
}

/// What was seen of a request before it was answered.
#[derive(Default)]
struct Seen {
    route: Option<&'static Route>,
    /// What was typed.
    form: Form,
}

/// A request whose session is known.
pub(crate) struct Signed {
    pub(crate) session: SecretHash,
    pub(crate) oneself: Oneself,
    pub(crate) request: RequestId,
}

impl Signed {
    /// The clocks of the first place where the person has a role.
    pub(crate) fn zone(&self) -> Zone {
        let first = self.oneself.places.first();
        first.map_or_else(Zone::default, |(organization, _)| organization.time_zone.clone())
    }
}

impl Console {
    pub fn new(options: Options) -> Self {
        let provider = |settings| Arc::new(Provider::new(settings, &options.base_url));
        let oidc = options.oidc.map(provider);
        if let Some(provider) = &oidc {
            provider.ask_soon();
        }
        Self {
            oidc,
            cookie: CookieName::of_session(&options.base_url),
            code_cookie: CookieName::of_code(&options.base_url),
            ceremony_cookie: CookieName::of_ceremony(&options.base_url),
            login_cookie: CookieName::of_login(&options.base_url),
            member_cookies: MemberCookies::new(&options.base_url),
            passkeys: Passkeys::of(&options.base_url).map(Arc::new),
            site: options.base_url.authority().to_owned(),
            origin: options.base_url.origin().ascii_serialization(),
            is_safe: options.base_url.scheme() == "https" || is_loopback(&options.base_url),
            is_here: is_loopback(&options.base_url),
            app: options.app,
            entropy: options.entropy,
            webhooks: Arc::new(options.webhooks),
            outbox: options.outbox,
            ids: Mutex::new(options.ids),
            body_limit: options.body_limit,
            request_timeout: options.request_timeout,
            key_seconds: options.key_seconds,
            request_log: options.request_log,
            limiter: options.limiter,
            trusted_proxies: options.trusted_proxies,
            is_demo: options.is_demo,
            teller: options.teller,
            on_queued: options.on_queued,
        }
    }

    /// Whether a path is the console's or a member's.
    pub fn is_path(path: &str) -> bool {
        path == "/console" || path.starts_with("/console/") || member::is_path(path)
    }

    /// Handles a request of a path of the console.
    pub async fn call(
        self: &Arc<Self>,
        parts: Parts,
        mut incoming: Incoming,
        peer: SocketAddr,
        framing: Result<(), BadHeader>,
    ) -> Reply {
        let started = Instant::now();
        let now = self.app.now();
        let request: RequestId = self.ids.lock().unwrap_or_else(PoisonError::into_inner).next(now);
        let mut seen = Seen::default();
        let answered = match framing {
            Err(BadHeader(name, rule)) => {
                Err(Failure::Bad(StatusCode::BAD_REQUEST, format!("{name} {rule}")))
            }
            Ok(()) => {
                let address = client_address(peer.ip(), &parts.headers, &self.trusted_proxies);
                let work = pin!(self.answer(&parts, address, &mut incoming, request, &mut seen));
                // Files take their time on a slow line.
                let patience = match body::is_multipart(&parts.headers) {
                    true => self.request_timeout * 4,
                    false => self.request_timeout,
                };
                match catch_panic(pin!(timeout(patience, work))).await {
                    Ok(Ok(answered)) => answered,
                    Ok(Err(_)) => Err(Failure::TooSlow),
                    Err(panicked) => Err(DbError::Internal(panicked.to_string()).into()),
                }
            }
        };
        let wait_seconds = match &answered {
            Err(Failure::TooMany(seconds)) => Some(*seconds),
            Ok(_) | Err(_) => None,
        };
        let answer = answered.unwrap_or_else(|failure| self.failed(&failure, &parts, &seen.form, request));
        let mut reply = match answer {
            Answer::Page(status, page) => {
                let reply = html(status, page.clone());
                compressed(reply, &page, &parts.headers)
            }
            Answer::Leading(status, page, origin) => {
                let reply = html(status, page.clone());
                let mut reply = compressed(reply, &page, &parts.headers);
                allow_forms_to(&mut reply, &origin);
                reply
            }
            Answer::Reply(reply) => reply,
        };
        let id_text = request.to_string();
        let route = match seen.route {
            Some(Route { path: "", .. }) => "/console/{organization}".to_owned(),
            Some(Route { path, .. }) => format!("/console/{{organization}}/{path}"),
            None if member::is_path(parts.uri.path()) => "/m".to_owned(),
            None => "/console".to_owned(),
        };
        if let Some(seconds) = wait_seconds {
            reply
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        stamp(&mut reply, &id_text);
        self.request_log.write(&RequestLine {
            at: &self.app.now(),
            request_id: &id_text,
            method: parts.method.as_str().get(..16).unwrap_or(parts.method.as_str()),
            route: &route,
            status: reply.status().as_u16(),
            took: started.elapsed(),
            organization: None,
            token: None,
        });
        body::discard(&mut incoming, &parts.headers).await;
        match parts.method == Method::HEAD {
            true => strip_body(reply),
            false => reply,
        }
    }

    async fn answer(
        &self,
        parts: &Parts,
        address: IpAddr,
        incoming: &mut Incoming,
        request: RequestId,
        seen: &mut Seen,
    ) -> Result<Answer, Failure> {
        if !self.is_safe {
            return Err(Failure::Unsafe);
        }
        let path = parts.uri.path();
        if let Some(reply) = path
            .starts_with(assets::PATH)
            .then(|| assets::answer(path, &parts.headers))
            .flatten()
        {
            return Ok(Answer::Reply(reply));
        }
        // Files are read when it is known who sends them, and that the page takes them.
        let has_files = body::is_multipart(&parts.headers);
        let form = match parts.method {
            Method::GET | Method::HEAD => None,
            Method::POST => {
                self.check_site(&parts.headers)?;
                Some(match has_files {
                    true => String::new(),
                    false => body::read_form(incoming, &parts.headers, self.body_limit)
                        .await
                        .map_err(unread)?,
                })
            }
            _ => {
                let rule = "this page is opened by GET, and its form is sent by POST";
                return Err(Failure::Bad(StatusCode::METHOD_NOT_ALLOWED, rule.to_owned()));
            }
        };
        Form::parse(parts.uri.query().unwrap_or("")).check()?;
        seen.form = Form::parse(form.as_deref().unwrap_or(""));
        seen.form.check()?;
        if member::is_path(path) {
            return self
                .member(parts, address, request, form.is_some().then_some(&seen.form))
                .await;
        }
        let end = path.trim_end_matches('/').strip_prefix("/console").unwrap_or("");
        let end = end.strip_prefix('/').unwrap_or(end);
        if let Some(answer) = self.outside(parts, address, end, form.as_deref()).await? {
            return Ok(answer);
        }
        let session = self.cookie.read(&parts.headers).ok_or(Failure::SignedOut)?;
        let oneself = self.recognise(session, address).await?;
        let bucket = match form {
            None => Bucket::Read,
            Some(_) => Bucket::Write,
        };
        self.charge(Subject::Person(oneself.user.id.to_bytes()), bucket)
            .await?;
        let signed = Signed {
            session,
            oneself,
            request,
        };
        if let Some(answer) = self.account(&signed, parts, end, form.as_deref()).await? {
            return Ok(answer);
        }
        let (place, rest) = end.split_once('/').unwrap_or((end, ""));
        let place = self.place(&signed, place)?;
        let missing = || Refusal::missing("there is no such page; use the menu");
        let (route, params) = routes::find(rest).ok_or_else(missing)?;
        seen.route = Some(route);
        let mut frame = Frame::new(
            &signed.oneself,
            place,
            route.here,
            self.new_key()?,
            Arc::clone(&self.webhooks),
        );
        (frame.origin, frame.entropy) = (self.origin.clone(), self.entropy);
        frame.outbox.clone_from(&self.outbox);
        let mut asking = Asking::new(frame, params, parts.uri.query().unwrap_or(""));
        asking.is_part = is_part(&parts.headers);
        match form {
            None => match (route.file, route.logged) {
                (Some(make), _) => self.download(&signed, make, asking).await,
                (None, Some(log)) => self.logged(&signed, log, asking).await,
                (None, None) => self.open(&signed, route, asking, Form::default()).await,
            },
            Some(_) if has_files => {
                let mut given = FormParts::default();
                let read = self.receive(parts, incoming, (route, &asking), &mut given);
                let read = read.await;
                let form = Form::of_parts(given);
                match read.and_then(|()| form.check()) {
                    Ok(()) => self.send(&signed, route, asking, path, form).await,
                    Err(failure) => self.again(&signed, route, asking, form, failure).await,
                }
            }
            Some(text) => {
                let form = Form::parse(&text);
                self.send(&signed, route, asking, path, form).await
            }
        }
    }

    /// Reads a form with files, from somebody who may send it.
    async fn receive(
        &self,
        parts: &Parts,
        incoming: &mut Incoming,
        (route, asking): (&'static Route, &Asking),
        given: &mut FormParts,
    ) -> Result<(), Failure> {
        let (rule, _) = route.send.ok_or_else(no_form)?;
        check_role(asking, rule)?;
        if !route.takes_files {
            let rule = "This form accepts no files. Open the page again and send it from there.";
            return Err(Problem::new(rule).into());
        }
        let read = body::read_parts(incoming, &parts.headers, UPLOAD_BYTES_MAX, given).await;
        // The form is shown again, with what was typed.
        read.map_err(|bad| match unread(bad) {
            Failure::Bad(_, rule) => Problem::new(sentence(&rule)).into(),
            other => other,
        })
    }

    /// A place where the person has a role; anything else does not exist for them.
    fn place(&self, signed: &Signed, text: &str) -> Result<Place, Failure> {
        let id: Option<OrganizationId> = Id::parse(text);
        let found = signed
            .oneself
            .places
            .iter()
            .find(|(organization, _)| Some(organization.id) == id);
        let missing = || Refusal::missing("there is no such organization, or you have no role in it");
        let (organization, role) = found.ok_or_else(missing)?;
        Ok(Place {
            organization: organization.clone(),
            role: *role,
        })
    }

    /// Who has this session. A cookie of no session is charged to its address, so that guesses are bounded.
    async fn recognise(&self, session: SecretHash, address: IpAddr) -> Result<Oneself, Failure> {
        let found = self.oneself(session).await;
        if matches!(found, Err(Failure::SignedOut)) {
            self.charge(Subject::SignIn(address), Bucket::Read).await?;
        }
        found
    }

    pub(crate) async fn charge(&self, subject: Subject, bucket: Bucket) -> Result<(), Failure> {
        let quota = match self.limiter.charge_now(subject, bucket, 1) {
            Some(quota) => quota,
            None => self.limiter.charge(subject, bucket, 1).await,
        };
        match quota.allowed {
            true => Ok(()),
            false => Err(Failure::TooMany(quota.reset_seconds)),
        }
    }

    async fn oneself(&self, session: SecretHash) -> Result<Oneself, Failure> {
        let look = move |whole: &mut Whole<'_, '_>| sign_in::oneself(whole, &session);
        let oneself = self.app.look(Identity::Session(session), look).await?;
        let now = self.app.now();
        if oneself.session.must_be_seen(now) {
            let seen = move |whole: &mut Whole<'_, '_>| sign_in::seen(whole, &session);
            // Nothing depends on it: the next request stores it if this one does not.
            let stored: Result<(), AppError> = self
                .app
                .change(Identity::Session(session), NO_ORGANIZATION, seen)
                .await;
            if let Err(error) = stored {
                tracing::debug!(%error, "the time of a session's last use was not stored");
            }
        }
        Ok(oneself)
    }

    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// A write must come from a page of ours. Browsers say so; one that says neither is not one.
    fn check_site(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_own = match text("sec-fetch-site") {
            Some(site) => site == "same-origin",
            None => text(ORIGIN.as_str()).is_some_and(|origin| self.is_own(origin)),
        };
        match is_own {
            true => Ok(()),
            false => Err(Failure::CrossSite),
        }
    }

    /// On this machine itself, its name and its number are one place.
    fn is_own(&self, origin: &str) -> bool {
        let named = |text: &str| text.replacen("://127.0.0.1", "://localhost", 1);
        origin == self.origin || (self.is_here && named(origin) == named(&self.origin))
    }

    pub(crate) fn new_key(&self) -> Result<String, Failure> {
        let entropy = (self.entropy)().map_err(DbError::Unavailable)?;
        Ok(secret(&entropy)[..32].to_owned())
    }

    fn failed(&self, failure: &Failure, parts: &Parts, form: &Form, request: RequestId) -> Answer {
        if let Some(cause) = failure.cause() {
            tracing::error!(request_id = %request, cause, "a page failed");
        }
        if member::is_path(parts.uri.path()) {
            return self.failed_member(failure, &parts.headers, request);
        }
        let to = query_of_page(&parts.uri);
        if matches!(failure, Failure::SignedOut) && parts.uri.path() == SIGN_OUT {
            return Answer::Reply(see_other("/console/sign-in"));
        }
        let is_open = parts.method == Method::GET;
        let way = match failure {
            Failure::SignedOut => Some(format!("/console/sign-in?{to}")),
            Failure::App(AppError::Stale) => Some(format!("/console/confirm?{to}")),
            _ => None,
        };
        let (status, title, text) = failure.told();
        let page = match way {
            Some(way) if is_part(&parts.headers) => return Answer::Reply(lead_to(status, &way)),
            Some(way) if is_open => return Answer::Reply(see_other(&way)),
            Some(way) => {
                let action = parts
                    .uri
                    .path_and_query()
                    .map_or("/console", PathAndQuery::as_str);
                let has_files = body::is_multipart(&parts.headers);
                pages::kept::page((title, &text), way, action, form, has_files)
            }
            None => pages::problem::page(title, &text, request),
        };
        Answer::Page(status, page)
    }
}

fn unread(bad: BadBody) -> Failure {
    match bad {
        // The form is shown again, with what was typed.
        BadBody::TooLarge(UPLOAD_BYTES_MAX) => Problem::new(
            "The files are larger than 10 MB in total. Choose smaller ones, or send them one by one.",
        )
        .into(),
        BadBody::TooLarge(limit) => Failure::Bad(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("The form is larger than {limit} bytes."),
        ),
        BadBody::OtherType(rule) => Failure::Bad(StatusCode::UNSUPPORTED_MEDIA_TYPE, rule.to_owned()),
        BadBody::Broken(rule) => Failure::Bad(StatusCode::BAD_REQUEST, rule.to_owned()),
    }
}

pub(crate) fn is_loopback(url: &url::Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
