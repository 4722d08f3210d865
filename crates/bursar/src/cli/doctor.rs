use clap::Args;

use super::serve::ServeArgs;
use super::{Failure, Globals, Outcome, output};
use crate::ambient;
use crate::doctor::{Setup, Status, examine};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    serve: ServeArgs,
}

pub(crate) fn run(globals: &Globals, args: &DoctorArgs) -> Outcome {
    let findings = examine(&Setup {
        database: globals.database(),
        serve: &args.serve,
        now: ambient::now(),
    });
    let count = |status| findings.iter().filter(|finding| finding.status == status).count() as u64;
    if globals.json {
        output::json(&findings)?;
    } else {
        for finding in &findings {
            let found = finding.found.replace('\n', " ");
            output::say(&format!(
                "{:<9} {:<16} {found}",
                finding.status.word(),
                finding.check
            ));
            if let Some(advice) = &finding.advice {
                output::say(&format!("{:<9} {:<16} → {advice}", "", ""));
            }
        }
        output::say(&format!(
            "{} ok, {} not set, {}, {}",
            count(Status::Ok),
            count(Status::NotConfigured),
            output::many(count(Status::Warning), "warning"),
            output::many(count(Status::Problem), "problem"),
        ));
    }
    match count(Status::Problem) {
        0 => Ok(()),
        n => Err(Failure::new(format!("{} found", output::many(n, "problem")))),
    }
}
