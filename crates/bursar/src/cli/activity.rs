use std::collections::HashMap;

use bursar_app::activity::{self, Line, PAGE_MAX, Query, Record};
use bursar_domain::ids::OrganizationId;
use bursar_domain::{Date, Timestamp};
use clap::Args;

use super::door::Door;
use super::{Failure, Globals, Outcome, output};

/// The lines are held in memory to print one JSON array.
const LINES_MAX: u64 = 100_000;

#[derive(Debug, Args)]
pub(crate) struct ActivityArgs {
    /// Start at this time (2026-11-15T01:39:08Z) or UTC day (2026-11-15)
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    since: Option<Timestamp>,
    /// Only lines by this actor: operator, worker, token, user, member, an id (tok_…, usr_…, mem_…) or an e-mail address
    #[arg(long)]
    actor: Option<String>,
    /// Only this action, or actions that start with it: token, role.set
    #[arg(long)]
    action: Option<String>,
    /// Maximum number of lines [default: 50, with --json all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=LINES_MAX))]
    limit: Option<u64>,
}

pub(super) fn parse_since(text: &str) -> Result<Timestamp, String> {
    Date::parse(text)
        .map(Date::start)
        .or_else(|| Timestamp::parse_since(text))
        .ok_or_else(|| {
            "must be a day such as 2026-11-15 or a time with an offset such as 2026-11-15T01:39:08Z"
                .to_owned()
        })
}

type Page = (Vec<Line>, HashMap<String, String>);

pub(crate) fn run(globals: &Globals, args: &ActivityArgs) -> Outcome {
    let door = Door::open(globals)?;
    let organization = door.organization()?;
    let mut query = Query {
        since: args.since,
        actor: args.actor.clone(),
        action: args.action.clone(),
        request: None,
        before: None,
        limit: 0,
    };
    let mut left = usize::try_from(globals.limit(args.limit, LINES_MAX))?;
    let mut records: Vec<Record> = Vec::new();
    let mut said = false;
    while left > 0 {
        query.limit = left.min(PAGE_MAX);
        let (lines, names) = page(&door, organization, query.clone())?;
        let is_last = lines.len() < query.limit;
        left -= lines.len();
        query.before = lines.last().map(|line| line.id);
        if globals.json {
            records.extend(lines.into_iter().map(Record::from));
        } else {
            said |= !lines.is_empty();
            for line in &lines {
                let sentence = activity::sentence(line, organization, &names);
                output::say(&format!("{}  {sentence}", to_the_second(line.at)));
            }
        }
        if is_last {
            break;
        }
    }
    if globals.json {
        return output::json(&records);
    }
    if !said {
        output::say("no lines in the activity log match");
    }
    Ok(())
}

fn page(door: &Door<'_>, organization: OrganizationId, query: Query) -> Result<Page, Failure> {
    door.view(organization, move |view| {
        let lines = activity::list(view, &query)?;
        let names = activity::names(view, &lines)?;
        Ok((lines, names))
    })
}

/// `2026-11-15 01:39:08Z`
fn to_the_second(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} {}Z", &text[..10], &text[11..19])
}
