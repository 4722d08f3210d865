//! `bursar clock`: shows whether automatic work trusts this machine's clock, and lets the operator confirm it.

use bursar_app::worker_clock::{self, Known, Seen};
use bursar_app::{App, AppError, Identity, NO_ORGANIZATION, Opening};
use bursar_worker::guard::{self, Doubt, TOLERANCE_SECONDS};
use clap::Args;
use serde_json::json;

use super::{Globals, Outcome, output};
use crate::ambient;

#[derive(Debug, Args)]
pub(crate) struct ClockArgs {
    /// Confirm that this machine's clock is right, so that automatic work resumes
    #[arg(long)]
    accept: bool,
}

pub(crate) fn run(globals: &Globals, args: &ClockArgs) -> Outcome {
    let app = globals.open(Opening::Require)?;
    let known = app.survey::<_, AppError>(Identity::Operator, worker_clock::known)?;
    match args.accept {
        true => accept(globals, &app, &known),
        false => show(globals, &known),
    }
}

fn show(globals: &Globals, known: &Known) -> Outcome {
    let now = ambient::now();
    let doubt = guard::doubt(now, None, known, TOLERANCE_SECONDS);
    let seen = known.seen.map(|seen| seen.at);
    if globals.json {
        return output::json(&json!({
            "now": now, "serverNow": known.server_now, "seenAt": seen, "isTrusted": doubt.is_none(),
            "doubt": doubt.map(|doubt| doubt.to_string()),
        }));
    }
    output::say(&format!("this machine: {now}"));
    if let Some(server) = known.server_now {
        output::say(&format!("database server: {server}"));
    }
    output::say(&match seen {
        Some(seen) => format!("last seen by a worker: {seen}"),
        None => "no worker has run on this database yet".to_owned(),
    });
    output::say(&match doubt {
        None => "a worker that starts now trusts the clock".to_owned(),
        Some(doubt) => format!("a worker that starts now does not trust the clock: {doubt}"),
    });
    Ok(())
}

fn accept(globals: &Globals, app: &App, known: &Known) -> Outcome {
    let at = ambient::now();
    if let Some(Doubt::Server(server)) = guard::doubt(at, None, known, TOLERANCE_SECONDS) {
        return Err(format!(
            "this machine says {at} and the database server {server}; set one of the clocks, or start the worker with a \
             larger --clock-tolerance"
        )
        .into());
    }
    let seen = Seen { at, steady_since: at };
    let trusted = app.change::<_, AppError>(Identity::Operator, NO_ORGANIZATION, move |whole| {
        worker_clock::trust(whole, seen)
    });
    trusted.wait()?;
    if globals.json {
        return output::json(&json!({"seenAt": at}));
    }
    output::say(&format!(
        "Accepted {at} as the time. Waiting workers resume within seconds."
    ));
    Ok(())
}
