//! The mail server and the SMS provider, asked as for a message; none is sent.

use std::time::Duration;

use super::{Finding, Setup};
use crate::cli::Failure;

const TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn check(setup: &Setup<'_>) -> Vec<Finding> {
    let mut findings = vec![mail(setup)];
    findings.extend(sender(setup));
    findings.push(sms(setup));
    findings
}

fn mail(setup: &Setup<'_>) -> Finding {
    const CHECK: &str = "mail";
    match setup.serve.send.smtp() {
        Err(Failure { message: why, .. }) => {
            Finding::problem(CHECK, why, "correct it: a server does not start with it")
        }
        Ok(None) => Finding::not_configured(
            CHECK,
            format!("e-mail goes to files in {}", setup.outbox().display()),
        ),
        Ok(Some(smtp)) => match smtp.with_timeout(TIMEOUT).check() {
            Ok(found) => Finding::ok(CHECK, found),
            Err(why) => Finding::problem(
                CHECK,
                why,
                "correct --smtp-url, or the server; queued messages are retried",
            ),
        },
    }
}

/// Most servers refuse a sender address that nobody can reply to.
fn sender(setup: &Setup<'_>) -> Option<Finding> {
    let send = &setup.serve.send;
    let is_sent = matches!(send.smtp(), Ok(Some(_)));
    (is_sent && send.mail_from.domain().ends_with("localdomain")).then(|| {
        Finding::warning(
            "mail",
            format!("it is from {}, which other servers refuse", send.mail_from),
            "give --mail-from an address of your domain",
        )
    })
}

fn sms(setup: &Setup<'_>) -> Finding {
    const CHECK: &str = "sms";
    let sms = match setup.serve.send.sms() {
        Err(Failure { message: why, .. }) => {
            return Finding::problem(CHECK, why, "correct it: a server does not start with it");
        }
        Ok(None) => {
            return Finding::not_configured(
                CHECK,
                format!("SMS go to files in {}", setup.outbox().display()),
            );
        }
        Ok(Some(sms)) => sms,
    };
    match sms.check() {
        Ok(401 | 403) => Finding::problem(
            CHECK,
            "the provider refuses the account or its token",
            "correct the account and the token in --sms-url",
        ),
        Ok(status @ 500..) => Finding::warning(
            CHECK,
            format!("the provider responds with {status}"),
            "look at its status page; queued messages are retried",
        ),
        Ok(200..300) => Finding::ok(CHECK, "the provider knows the account"),
        // Not every compatible provider has this endpoint.
        Ok(status) => Finding::ok(
            CHECK,
            format!("the provider responds, with {status} for the account"),
        ),
        Err(why) => Finding::problem(
            CHECK,
            format!("the provider cannot be reached: {why}"),
            "correct --sms-url, or let this machine through to it",
        ),
    }
}
