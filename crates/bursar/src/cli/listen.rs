use std::time::Duration;

use bursar_domain::Timestamp;
use bursar_domain::access::Scope;
use bursar_domain::event::EventType;
use bursar_domain::webhook::signing::Secret;
use clap::Args;
use serde_json::json;
use url::{Position, Url};

use super::activity::parse_since;
use super::server::ServerArgs;
use super::{Globals, Outcome, output};
use crate::ambient;
use crate::remote::{Follower, Forwarded, Forwarder, RequestError, Token, Told};

/// Between two looks at the list of events.
const POLL: Duration = Duration::from_secs(1);
/// A server that is being restarted comes back: an hour, at the longest pause.
const ATTEMPTS: u32 = 120;

#[derive(Debug, Args)]
pub(crate) struct ListenArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Where to send events, such as http://localhost:3000/webhooks
    #[arg(long, value_name = "URL", value_parser = parse_receiver)]
    forward_to: String,
    /// Only these types of events, such as payment.paid; by default all that the token may read
    #[arg(long, value_name = "TYPE", value_delimiter = ',', value_parser = parse_type)]
    types: Vec<EventType>,
    /// Start with events from this time (2026-11-15T01:39:08Z) or UTC day (2026-11-15); by default from now
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    since: Option<Timestamp>,
    /// Secret to sign with (whsec_…); by default a new one each time. Repeatable: several sign as during a rotation
    #[arg(long, value_name = "SECRET", value_delimiter = ',', hide_env_values = true, value_parser = Secret::parse)]
    secret: Vec<Secret>,
}

/// Any address: it is the user's own choice, unlike that of a webhook on a server.
fn parse_receiver(text: &str) -> Result<String, String> {
    let rule = "must be an address such as http://localhost:3000/webhooks, without a user or password";
    let is_plain = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url[Position::BeforeUsername..Position::BeforeHost].is_empty()
            && url.fragment().is_none()
    };
    match Url::parse(text) {
        Ok(url) if is_plain(&url) => Ok(url.into()),
        _ => Err(rule.to_owned()),
    }
}

fn parse_type(text: &str) -> Result<EventType, String> {
    EventType::parse(text)
        .ok_or_else(|| "must be a type of event such as payment.paid; the API reference lists all".to_owned())
}

/// Ends only with an error, or by a signal.
pub(crate) fn run(globals: &Globals, args: &ListenArgs) -> Outcome {
    let mut client = args.server.client("listen", false, ATTEMPTS)?;
    let mut waits = |pause: Duration, why: &str| {
        output::complain(&format!("{why}; retrying in {:.1} s", pause.as_secs_f64()));
    };
    let token = Token::ask(&mut client, &mut waits)?;
    let needed = Scope::EventsRead;
    if !token.scopes().has(needed) {
        return Err(
            format!("the token lacks {needed}; `bursar token explain` says what withholds it").into(),
        );
    }
    let now = client.server_time();
    let (since, mut follower) = match args.since {
        Some(since) => (since, Follower::from(Some(since.to_string()))),
        // The server tells its time to the second, and events may be kept from later in that second on: an import
        // has just ended.
        None => (
            now,
            Follower::from_kept(Some(now.to_string()), &mut client, &mut waits)
                .map_err(|error| error.to_string())?,
        ),
    };
    let secrets = match args.secret.is_empty() {
        false => args.secret.clone(),
        true => vec![Secret::new(ambient::entropy()?)],
    };
    greet(globals, args, &token, since, &secrets)?;
    let forwarder = Forwarder::new(&args.forward_to, secrets);
    loop {
        let read = follower.read(&mut client, &mut waits, &mut |told| {
            let is_wanted = |known: &EventType| known.name == told.envelope.event_type;
            if args.types.is_empty() || args.types.iter().any(is_wanted) {
                tell(globals, told, &forwarder.send(told, ambient::now()))?;
            }
            Ok(())
        });
        match read {
            // The place has moved with every event, so a new walk goes on there.
            Ok(()) | Err(RequestError::Cursor) => {}
            Err(RequestError::Behind(why)) => {
                return Err(format!("{why}; choose a later time with --since").into());
            }
            Err(error) => return Err(error.to_string().into()),
        }
        std::thread::sleep(POLL);
    }
}

fn greet(
    globals: &Globals,
    args: &ListenArgs,
    token: &Token,
    since: Timestamp,
    secrets: &[Secret],
) -> Outcome {
    let organization = &token.organization_id;
    let texts: Vec<String> = secrets.iter().map(Secret::text).collect();
    if globals.json {
        return output::json(&json!({
            "forwardTo": args.forward_to, "organizationId": organization, "since": since, "secret": texts.join(" "),
        }));
    }
    output::say(&format!(
        "Forwarding events of {organization} from {since} on to {}",
        args.forward_to
    ));
    output::say(&format!("Signing secret: {}", texts.join(" ")));
    output::say("Failures are not retried. Press Ctrl-C to stop.");
    Ok(())
}

fn tell(globals: &Globals, told: &Told<'_>, forwarded: &Forwarded) -> Result<(), String> {
    let (id, event_type) = (&told.envelope.id, &told.envelope.event_type);
    let milliseconds = forwarded.took.as_millis();
    if globals.json {
        let line = json!({
            "id": id, "type": event_type, "status": forwarded.status.as_ref().ok(),
            "error": forwarded.status.as_ref().err(), "durationMs": milliseconds,
        });
        return output::json(&line).map_err(|failure| failure.message);
    }
    let what = match &forwarded.status {
        Ok(status) => status.to_string(),
        Err(why) => format!("no response ({why})"),
    };
    output::say(&format!("{event_type} {id}: {what} in {milliseconds} ms"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers() {
        for (text, url) in [
            ("http://localhost:3000", Some("http://localhost:3000/")),
            (
                "https://example.org/hook?key=1",
                Some("https://example.org/hook?key=1"),
            ),
            ("localhost:3000", None),
            ("ftp://localhost", None),
            ("http://me@localhost", None),
            ("http://localhost#x", None),
        ] {
            assert_eq!(parse_receiver(text).ok().as_deref(), url, "{text}");
        }
    }
}
