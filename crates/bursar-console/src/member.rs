//! Members' own pages, below `/m/`: by a link from a message, or by a mailed code.
//!
//! A link is put into a cookie and leaves the address at once, so that nothing passes it on. It shows the page, and lets its
//! holder pay by card and stop automatic payments. Everything else needs the code. A link that does not work gets the same
//! page, whatever is wrong with it.

mod autopay;
mod code;
mod home;
mod page;
mod pay;
mod transfer_code;

use std::net::IpAddr;

use bursar_app::{
    Act, AppError, DbError, Identity, NO_ORGANIZATION, Once, Output, Rule, View, Visit, Whole, member_access,
    member_page,
};
use bursar_domain::Refusal;
use bursar_domain::ids::{AutopayId, Id, MemberId, OnlinePaymentId, OrganizationId, ReceiptId, RequestId};
use bursar_domain::member_access::MemberLink;
use bursar_domain::sign_in::SecretHash;
use bursar_http::limits::{Bucket, Subject};
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderValue, SET_COOKIE};
use hyper::http::request::Parts;

use self::code::to_code;
use crate::acting::{OLD_FORM, is_key};
use crate::cookies::CookieName;
use crate::failure::{Failure, Problem};
use crate::forms::{Form, KEY};
use crate::reply::{Download, see_other};
use crate::serve::{Answer, Console};

const HOME: &str = "/m/";

pub(crate) fn is_path(path: &str) -> bool {
    path == "/m" || path.starts_with(member_access::PATH)
}

pub(crate) struct MemberCookies {
    link: CookieName,
    session: CookieName,
    code: CookieName,
    /// The organization of a session, to ask for another code when the session has ended. It is no secret.
    place: CookieName,
}

impl MemberCookies {
    pub(crate) fn new(base_url: &url::Url) -> Self {
        Self {
            link: CookieName::of_member_link(base_url),
            session: CookieName::of_member_session(base_url),
            code: CookieName::of_member_code(base_url),
            place: CookieName::of_member_place(base_url),
        }
    }
}

/// A browser that shows a member's page.
#[derive(Clone, Copy)]
struct Known {
    who: Identity,
    request: RequestId,
    organization: OrganizationId,
    session: Option<SecretHash>,
}

/// What a browser presents.
enum Presented {
    Known(Known),
    /// An address that several members have, and none was chosen yet.
    Undecided(SecretHash),
    Nothing,
}

impl Console {
    /// `form` is what was sent, if something was.
    pub(crate) async fn member(
        &self,
        parts: &Parts,
        address: IpAddr,
        request: RequestId,
        form: Option<&Form>,
    ) -> Result<Answer, Failure> {
        let path = parts.uri.path();
        let end = path.strip_prefix(HOME).unwrap_or("").trim_end_matches('/');
        // Links are guessed, and codes are mailed, from an address.
        let (bucket, is_outside) = match (end.split('/').next(), form) {
            (Some("l"), _) => (Bucket::Read, true),
            (Some("in" | "code"), Some(_)) => (Bucket::Messaging, true),
            (Some("in"), None) => (Bucket::Read, true),
            (_, None) => (Bucket::Read, false),
            (_, Some(_)) => (Bucket::Write, false),
        };
        if is_outside {
            self.charge(Subject::SignIn(address), bucket).await?;
        }
        if let Some(link) = end.strip_prefix("l/") {
            return self.open_member_link(link).await;
        }
        if let Some(organization) = end.strip_prefix("in/") {
            return self.member_entrance(organization, form).await;
        }
        if end == "code/enter" {
            return self.member_code(parts, request, form).await;
        }
        let known = match self.presented(&parts.headers, request).await? {
            Presented::Known(known) => known,
            Presented::Undecided(session) => return self.choose_member(session, form).await,
            Presented::Nothing => {
                if !is_outside {
                    self.charge(Subject::SignIn(address), bucket).await?;
                }
                return self.signed_out_member(&parts.headers);
            }
        };
        if !is_outside {
            let subject = Subject::Person(known.key());
            self.charge(subject, bucket).await?;
        }
        let asked = Form::parse(parts.uri.query().unwrap_or(""));
        match (end, form) {
            ("", None) => {
                let ready = home::Paper::parse(asked.get("ready"));
                self.member_home(known, (asked.get("said"), ready), &Form::default())
                    .await
            }
            ("pay", Some(form)) => self.pay(known, form).await,
            ("autopay", None) => self.autopay_page(known, None).await,
            ("autopay", Some(form)) => self.start_autopay(known, form).await,
            ("autopay/stop", Some(_)) => self.stop_autopay(known).await,
            ("statement", None) => self.member_statement(known, asked.get("year")).await,
            ("contact", None) => self.member_contact(known, &Form::default()).await,
            ("contact", Some(form)) => self.set_member_contact(known, form).await,
            ("code", None) => self.offer_code(known, asked.get("to")).await,
            ("code", Some(form)) => self.mail_member_code(known, form).await,
            ("choose", form) => match known.session {
                Some(session) => self.choose_member(session, form).await,
                None => Ok(Answer::Reply(see_other(HOME))),
            },
            ("leave", Some(_)) => self.leave(known).await,
            (end, None) => match end.split_once('/') {
                Some(("receipts", id)) => {
                    let receipt = ReceiptId::parse(id).ok_or_else(no_page)?;
                    self.member_receipt(known, receipt).await
                }
                Some(("paid", id)) => {
                    let payment = OnlinePaymentId::parse(id).ok_or_else(no_page)?;
                    self.paid(known, payment).await
                }
                Some(("autopay", id)) => {
                    let autopay = AutopayId::parse(id).ok_or_else(no_page)?;
                    self.lead_to_card_page(known, autopay).await
                }
                Some(("card", id)) => {
                    let autopay = AutopayId::parse(id).ok_or_else(no_page)?;
                    self.card_saved(known, autopay).await
                }
                Some(("pay", id)) => {
                    let payment = OnlinePaymentId::parse(id).ok_or_else(no_page)?;
                    self.lead_to_provider(known, payment).await
                }
                _ => Err(no_page()),
            },
            (_, Some(_)) => Err(no_page()),
        }
    }

    /// A session in force, else a link in force.
    async fn presented(&self, headers: &HeaderMap, request: RequestId) -> Result<Presented, Failure> {
        if let Some(session) = self.member_cookies.session.read(headers) {
            let look = move |whole: &mut Whole<'_, '_>| member_access::choice(whole, &session);
            let choice: Result<_, AppError> = self.app.look(Identity::Visitor, look).await;
            if let Some(choice) = choice? {
                return Ok(match choice.chosen {
                    Some(_) => Presented::Known(Known {
                        who: Identity::MemberSession(session),
                        request,
                        organization: choice.organization.id,
                        session: Some(session),
                    }),
                    None => Presented::Undecided(session),
                });
            }
        }
        let link = self.member_cookies.link.secret(headers);
        let Some(link) = link.and_then(MemberLink::parse) else {
            return Ok(Presented::Nothing);
        };
        Ok(match self.is_member_link(link).await? {
            true => Presented::Known(Known {
                who: Identity::Link(link),
                request,
                organization: link.organization,
                session: None,
            }),
            false => Presented::Nothing,
        })
    }

    async fn is_member_link(&self, link: MemberLink) -> Result<bool, Failure> {
        let look = |_: &mut View<'_, '_>| Ok(());
        let found: Result<(), AppError> = self.app.view(Identity::Link(link), link.organization, look).await;
        match found {
            Ok(()) => Ok(true),
            Err(AppError::Unrecognised) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }

    /// Changes nothing, because mail programs open links too.
    async fn open_member_link(&self, text: &str) -> Result<Answer, Failure> {
        let link = MemberLink::parse(text);
        let link = match link {
            Some(link) if self.is_member_link(link).await? => link,
            _ => return ended(),
        };
        let mut reply = see_other(HOME);
        let cookies = [
            self.member_cookies.link.set(&link.to_string()),
            // The link counts from now on, not whoever was signed in before.
            self.member_cookies.session.clear(),
            self.member_cookies.place.clear(),
        ];
        set(reply.headers_mut(), cookies);
        Ok(Answer::Reply(reply))
    }

    /// For a browser that presents nothing in force: its session has ended, or it never had a link that works.
    fn signed_out_member(&self, headers: &HeaderMap) -> Result<Answer, Failure> {
        let place = self.member_cookies.place.secret(headers);
        match place.and_then(OrganizationId::parse) {
            Some(place) => page::session_ended(place),
            None => ended(),
        }
    }

    pub(crate) fn failed_member(&self, failure: &Failure, headers: &HeaderMap, request: RequestId) -> Answer {
        if matches!(failure, Failure::SignedOut)
            && let Ok(answer) = self.signed_out_member(headers)
        {
            return answer;
        }
        let (status, title, text) = failure.told();
        Answer::Page(status, page::problem(title, &text, request))
    }

    async fn choose_member(&self, session: SecretHash, form: Option<&Form>) -> Result<Answer, Failure> {
        let member: Option<MemberId> = form.and_then(|form| Id::parse(form.get("member")));
        let Some(member) = member else {
            let look = move |whole: &mut Whole<'_, '_>| member_access::choice(whole, &session);
            let choice: Result<_, AppError> = self.app.look(Identity::Visitor, look).await;
            return match choice? {
                Some(choice) => page::choose(&choice),
                None => Err(Failure::SignedOut),
            };
        };
        let choose = move |whole: &mut Whole<'_, '_>| member_access::choose(whole, &session, member);
        let chosen: Result<(), AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, choose).await;
        chosen?;
        Ok(Answer::Reply(see_other(HOME)))
    }

    async fn member_home(
        &self,
        known: Known,
        (said, ready): (&str, Option<home::Paper>),
        form: &Form,
    ) -> Result<Answer, Failure> {
        let shown: Result<_, AppError> = self
            .app
            .view(known.who, known.organization, member_page::read)
            .await;
        let sharing = match known.session {
            Some(session) => {
                let look = move |whole: &mut Whole<'_, '_>| member_access::choice(whole, &session);
                let choice: Result<_, AppError> = self.app.look(Identity::Visitor, look).await;
                choice?.map_or(0, |choice| choice.members.len())
            }
            None => 0,
        };
        home::home(&shown?, (self.new_key()?, sharing > 1), (said, ready), form)
    }

    async fn member_statement(&self, known: Known, year: &str) -> Result<Answer, Failure> {
        let days = page::days_of(year)?;
        let read = move |view: &mut View<'_, '_>| member_page::statement(view, days);
        let statement: Result<_, AppError> = self.app.view(known.who, known.organization, read).await;
        let statement = match statement {
            Err(AppError::Stale) => {
                let paper = match year {
                    "" => "statement".to_owned(),
                    year => format!("statement/{year}"),
                };
                return Ok(Answer::Reply(see_other(&to_code(&paper))));
            }
            statement => statement?,
        };
        let name = format!("Statement {} to {}.pdf", statement.from, statement.until);
        let body = bursar_app::member_statement::pdf(&statement).map_err(unset)?;
        Ok(Answer::Reply(Download::pdf(name, body).reply()))
    }

    async fn member_receipt(&self, known: Known, receipt: ReceiptId) -> Result<Answer, Failure> {
        let read = move |view: &mut View<'_, '_>| member_page::receipt(view, receipt);
        let own: Result<_, AppError> = self.app.view(known.who, known.organization, read).await;
        let own = match own {
            Err(AppError::Stale) => {
                return Ok(Answer::Reply(see_other(&to_code(&format!("receipts/{receipt}")))));
            }
            own => own?,
        };
        let name = format!("Receipt {}.pdf", own.recorded.receipt.date);
        let body = member_page::receipt_pdf(&own).map_err(unset)?;
        Ok(Answer::Reply(Download::pdf(name, body).reply()))
    }

    async fn member_contact(&self, known: Known, form: &Form) -> Result<Answer, Failure> {
        let look = |view: &mut View<'_, '_>| {
            member_page::CONTACT.check(view.caller())?;
            member_page::read(view)
        };
        let shown: Result<_, AppError> = self.app.view(known.who, known.organization, look).await;
        match shown {
            Err(AppError::Stale) => Ok(Answer::Reply(see_other(&to_code("contact")))),
            shown => page::contact(&shown?, form),
        }
    }

    async fn set_member_contact(&self, known: Known, form: &Form) -> Result<Answer, Failure> {
        let (email, phone) = (form.get("email").to_owned(), form.some("phone"));
        let set = move |act: &mut Act<'_, '_>| member_page::set_contact(act, &email, phone.as_deref());
        let done: Result<_, AppError> = self.app.act(known.visit(), known.organization, set).await;
        match done {
            Ok(_) => {
                (self.on_queued)();
                Ok(Answer::Reply(see_other("/m/?said=contact")))
            }
            Err(AppError::Stale) => Ok(Answer::Reply(see_other(&to_code("contact")))),
            Err(error) => {
                let failure = Failure::from(error);
                let problem = failure.problem().ok_or(failure)?;
                self.member_contact(known, &with(form, problem)).await
            }
        }
    }

    /// Begins what a form asks for, once. `work` yields the id of what was begun. The same form sent again yields that id and
    /// true.
    async fn begin_once(
        &self,
        known: Known,
        (path, rule): (&str, &'static Rule),
        form: &Form,
        mut work: impl FnMut(&mut Act<'_, '_>) -> Result<String, AppError> + Send + 'static,
    ) -> Result<(String, bool), Failure> {
        let key = form.get(KEY).to_owned();
        if !is_key(&key) {
            return Err(Problem::new(OLD_FORM).into());
        }
        let fingerprint = form.fingerprint(path);
        let once = Once::of_browser(
            known.organization,
            known.key(),
            key,
            fingerprint,
            self.key_seconds,
        );
        let doing = self.app.once(known.visit(), rule, once, None, move |act| {
            let body = work(act)?;
            Ok::<_, Failure>(Output { status: 303, body })
        });
        let (output, is_again) = doing.reply.await?;
        Ok((output.body, is_again))
    }

    async fn leave(&self, known: Known) -> Result<Answer, Failure> {
        if let Some(session) = known.session {
            let end = move |whole: &mut Whole<'_, '_>| member_access::end(whole, &session);
            let ended: Result<(), AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, end).await;
            ended?;
        }
        let Answer::Page(_, page) = page::left()? else {
            return ended();
        };
        let mut reply = crate::reply::html(StatusCode::OK, page);
        let cookies = [
            self.member_cookies.link.clear(),
            self.member_cookies.session.clear(),
            self.member_cookies.place.clear(),
            self.member_cookies.code.clear(),
        ];
        set(reply.headers_mut(), cookies);
        Ok(Answer::Reply(reply))
    }
}

impl Known {
    /// For acts: their events and activity lines have the request's id.
    fn visit(&self) -> Visit {
        Visit {
            who: self.who,
            request: Some(self.request),
        }
    }

    /// Who is charged for requests.
    fn key(&self) -> [u8; 16] {
        let mut key = [0; 16];
        match self.who {
            Identity::Link(link) => key = link.member.to_bytes(),
            Identity::MemberSession(hash) => key.copy_from_slice(&hash.0[..16]),
            _ => {}
        }
        key
    }
}

fn with(form: &Form, problem: Problem) -> Form {
    let mut form = form.clone();
    form.problem = Some(problem);
    form
}

fn unset(error: impl std::fmt::Display) -> Failure {
    DbError::Internal(error.to_string()).into()
}

fn no_page() -> Failure {
    Refusal::missing("the address leads nowhere").into()
}

/// The same page for every link that does not work, and for a browser without one.
fn ended() -> Result<Answer, Failure> {
    page::ended()
}

fn set<const N: usize>(headers: &mut HeaderMap, cookies: [Option<HeaderValue>; N]) {
    for cookie in cookies.into_iter().flatten() {
        headers.append(SET_COOKIE, cookie);
    }
}
