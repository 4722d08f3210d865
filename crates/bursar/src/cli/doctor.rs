//! `bursar doctor`.

use clap::Args;

use super::serve::ServeArgs;
use super::{Failure, Outcome, Session, output};
use crate::ambient;
use crate::doctor::{Setup, Status, examine};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    serve: ServeArgs,
}

pub(crate) fn run(session: &Session, args: &DoctorArgs) -> Outcome {
    let findings = examine(&Setup {
        database: session.database(),
        serve: &args.serve,
        now: ambient::now(),
    });
    let count = |status| findings.iter().filter(|finding| finding.status == status).count();
    if session.json {
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
        let told = [
            (Status::Ok, "ok"),
            (Status::NotConfigured, "not set"),
            (Status::Warning, "warnings"),
            (Status::Problem, "problems"),
        ];
        let told = told.map(|(status, word)| format!("{} {word}", count(status)));
        output::say(&told.join(", "));
    }
    match count(Status::Problem) {
        0 => Ok(()),
        1 => Err(Failure::new("1 problem found".to_owned())),
        n => Err(Failure::new(format!("{n} problems found"))),
    }
}
