//! Codes that prove a member's address: asking for one, entering it, and where it leads.

use bursar_app::member_access::{self, Entry};
use bursar_app::{Act, AppError, Identity, NO_ORGANIZATION, Whole, member_page};
use bursar_domain::ids::{Id, OrganizationId, RequestId};
use bursar_domain::organization::Organization;
use bursar_domain::sign_in::{SecretHash, secret};
use hyper::http::request::Parts;

use super::{HOME, Known, Presented, home, no_page, page, set, with};
use crate::failure::Failure;
use crate::forms::Form;
use crate::pages::signing::tries_left;
use crate::reply::see_other;
use crate::serve::{Answer, Console};

impl Console {
    pub(super) async fn member_entrance(
        &self,
        organization: &str,
        form: Option<&Form>,
    ) -> Result<Answer, Failure> {
        let organization: OrganizationId = Id::parse(organization).ok_or_else(no_page)?;
        let look = move |whole: &mut Whole<'_, '_>| member_access::entrance(whole, organization);
        let own: Result<Organization, AppError> = self.app.look(Identity::Visitor, look).await;
        let own = own?;
        let Some(form) = form else {
            return page::ask(&own, &Form::default());
        };
        let (browser, entropy) = (secret(&self.entropy()?), self.entropy()?);
        let (email, kept) = (form.get("email").to_owned(), browser.clone());
        let ask =
            move |whole: &mut Whole<'_, '_>| member_access::ask(whole, organization, &email, &kept, &entropy);
        let asked: Result<(), AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, ask).await;
        if let Err(error) = asked {
            let failure = Failure::from(error);
            let problem = failure.problem().ok_or(failure)?;
            return page::ask(&own, &with(form, problem));
        }
        Ok(self.code_on_its_way(&browser, organization, HOME))
    }

    /// The address has the organization, because the browser forgets the code after ten minutes.
    fn code_on_its_way(&self, browser: &str, organization: OrganizationId, to: &str) -> Answer {
        (self.on_queued)();
        let mut reply = see_other(&format!("/m/code/enter?to={to}&in={organization}"));
        set(reply.headers_mut(), [self.member_cookies.code.set(browser)]);
        Answer::Reply(reply)
    }

    pub(super) async fn offer_code(&self, known: Known, to: &str) -> Result<Answer, Failure> {
        let shown: Result<_, AppError> = self
            .app
            .view(known.who, known.organization, member_page::read)
            .await;
        page::offer(&shown?, inside(to), None)
    }

    pub(super) async fn mail_member_code(&self, known: Known, form: &Form) -> Result<Answer, Failure> {
        let (browser, entropy) = (secret(&self.entropy()?), self.entropy()?);
        let kept = browser.clone();
        let ask = move |act: &mut Act<'_, '_>| member_access::ask_own(act, &kept, &entropy);
        let asked: Result<String, AppError> = self.app.act(known.visit(), known.organization, ask).await;
        let to = inside(form.get("to"));
        match asked {
            Ok(_) => Ok(self.code_on_its_way(&browser, known.organization, to)),
            Err(error) => {
                let failure = Failure::from(error);
                let problem = failure.problem().ok_or(failure)?;
                let read = member_page::read;
                let shown: Result<_, AppError> = self.app.view(known.who, known.organization, read).await;
                page::offer(&shown?, to, Some(&problem.message))
            }
        }
    }

    pub(super) async fn member_code(
        &self,
        parts: &Parts,
        request: RequestId,
        form: Option<&Form>,
    ) -> Result<Answer, Failure> {
        let asked = Form::parse(parts.uri.query().unwrap_or(""));
        let given = form.unwrap_or(&asked);
        let to = inside(given.get("to")).to_owned();
        let place: Option<OrganizationId> = Id::parse(given.get("in"));
        // Whoever has a link is mailed another code at once; others enter their address again.
        let again = match (self.presented(&parts.headers, request).await?, place) {
            (Presented::Known(_), _) => Some(format!("/m/code?to={to}")),
            (_, Some(place)) => Some(format!("/m/in/{place}")),
            (_, None) => None,
        };
        let again = again.as_deref();
        let Some(browser) = self.member_cookies.code.secret(&parts.headers) else {
            return page::code_ended(again);
        };
        let browser = browser.to_owned();
        let Some(form) = form else {
            return self.code_page(&browser, &to, again, "").await;
        };
        let (cookie, typed, kept) = (
            secret(&self.entropy()?),
            form.get("code").to_owned(),
            browser.clone(),
        );
        let session = SecretHash::of(&cookie);
        let enter = move |whole: &mut Whole<'_, '_>| member_access::enter(whole, &kept, &typed, session);
        let entered: Result<_, AppError> = self.app.change(Identity::Visitor, NO_ORGANIZATION, enter).await;
        match entered? {
            Entry::In => {
                let mut reply = see_other(&after_code(&to));
                let cookies = [
                    place.and_then(|place| self.member_cookies.place.set(&place.to_string())),
                    self.member_cookies.session.set(&cookie),
                    self.member_cookies.code.clear(),
                ];
                set(reply.headers_mut(), cookies);
                Ok(Answer::Reply(reply))
            }
            Entry::Wrong(left) => self.code_page(&browser, &to, again, &tries_left(left)).await,
            Entry::Ended => page::code_ended(again),
        }
    }

    async fn code_page(
        &self,
        browser: &str,
        to: &str,
        again: Option<&str>,
        wrong: &str,
    ) -> Result<Answer, Failure> {
        let hash = SecretHash::of(browser);
        let look = move |whole: &mut Whole<'_, '_>| member_access::asked(whole, &hash);
        let asked: Result<_, AppError> = self.app.look(Identity::Visitor, look).await;
        match asked? {
            Some((organization, email)) => page::code(&organization, &email, (to, again), wrong),
            None => page::code_ended(again),
        }
    }
}

pub(super) fn to_code(to: &str) -> String {
    format!("/m/code?to=/m/{to}")
}

/// Where an entered code leads. A download is offered on the member's page: a redirect into it would leave the browser on
/// the form of the code.
fn after_code(to: &str) -> String {
    match to.strip_prefix(HOME) {
        Some(paper) if home::Paper::parse(paper).is_some() => format!("{HOME}?ready={paper}"),
        _ => to.to_owned(),
    }
}

/// Only a page of the member's: nobody is sent elsewhere after a code.
fn inside(to: &str) -> &str {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_');
    match to.strip_prefix(HOME) {
        Some(end) if !end.starts_with('/') && end.chars().all(is_plain) && end.len() <= 60 => to,
        _ => HOME,
    }
}

#[cfg(test)]
mod tests {
    use bursar_domain::ids::ReceiptId;

    use super::*;

    #[test]
    fn a_code_offers_a_download_on_the_page() {
        let receipt = ReceiptId::from_bits(1);
        for (to, expected) in [
            ("/m/statement", "/m/?ready=statement".to_owned()),
            ("/m/statement/2025", "/m/?ready=statement/2025".to_owned()),
            ("/m/statement/x", "/m/statement/x".to_owned()),
            (
                &format!("/m/receipts/{receipt}"),
                format!("/m/?ready=receipts/{receipt}"),
            ),
            ("/m/contact", "/m/contact".to_owned()),
            (HOME, HOME.to_owned()),
        ] {
            assert_eq!(after_code(inside(to)), expected, "{to}");
        }
    }

    #[test]
    fn a_code_leads_nowhere_else() {
        for (to, expected) in [
            ("/m/contact", "/m/contact"),
            ("/m/receipts/rcp_01", "/m/receipts/rcp_01"),
            ("/m/", HOME),
            ("", HOME),
            ("/m//elsewhere.example.org", HOME),
            ("//elsewhere.example.org", HOME),
            ("/console", HOME),
            ("/m/../console", HOME),
            ("/m/x?y", HOME),
            ("/m/a\r\nSet-Cookie: x", HOME),
        ] {
            assert_eq!(inside(to), expected, "{to}");
        }
    }
}
