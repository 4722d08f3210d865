use bursar_app::policy::{self, Cap, PolicyChange};
use bursar_domain::access::{Policy, Scope, ScopeSet, unknown_scope};
use bursar_domain::ids::OrganizationId;
use bursar_domain::organization::TOKEN_DAYS_MAX;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::door::Door;
use super::{Failure, Globals, Outcome, output};

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Show the token policy
    Show,
    /// Block or allow scopes, and cap the lifetime of new tokens
    Set(SetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Block a scope for all tokens; repeatable
    #[arg(long, value_name = "SCOPE", value_delimiter = ',', value_parser = parse_scope)]
    block_scope: Vec<Scope>,
    /// Allow a blocked scope again; repeatable
    #[arg(long, value_name = "SCOPE", value_delimiter = ',', value_parser = parse_scope)]
    allow_scope: Vec<Scope>,
    /// Maximum lifetime of new tokens, 1 to 365 days; `none` removes the cap
    #[arg(long, value_name = "N", value_parser = parse_cap, allow_negative_numbers = true)]
    max_token_days: Option<Cap>,
}

fn parse_scope(text: &str) -> Result<Scope, String> {
    Scope::parse(text.trim()).ok_or_else(|| unknown_scope(text))
}

fn parse_cap(text: &str) -> Result<Cap, String> {
    match text {
        "none" => Ok(Cap::None),
        days => days
            .parse()
            .map(Cap::Days)
            .map_err(|_| format!("must be 1 to {TOKEN_DAYS_MAX} whole days, or none to lift the cap")),
    }
}

pub(crate) fn run(globals: &Globals, command: PolicyCommand) -> Outcome {
    match command {
        PolicyCommand::Show => show(globals),
        PolicyCommand::Set(args) => set(globals, &args),
    }
}

fn show(globals: &Globals) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let found = door.view(org, policy::show)?;
    present(globals, org, found)
}

fn set(globals: &Globals, args: &SetArgs) -> Outcome {
    let change = PolicyChange {
        block: ScopeSet::of(&args.block_scope),
        allow: ScopeSet::of(&args.allow_scope),
        cap: args.max_token_days,
    };
    if change == PolicyChange::default() {
        return Err(Failure::new(
            "say what to change: --block-scope, --allow-scope or --max-token-days".to_owned(),
        ));
    }
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let after = door.act(org, move |act| policy::set(act, &change))?;
    present(globals, org, after)
}

fn present(globals: &Globals, org: OrganizationId, found: Policy) -> Outcome {
    if globals.json {
        return output::json(&as_json(org, found));
    }
    output::say(&match found.blocked_scopes.is_empty() {
        true => "no scope is blocked".to_owned(),
        false => format!("blocked for all tokens: {}", found.blocked_scopes),
    });
    output::say(&match found.max_token_days {
        None => format!("new tokens live at most {TOKEN_DAYS_MAX} days; no lower cap is set"),
        Some(days) => format!("new tokens live at most {}", output::many(days.into(), "day")),
    });
    Ok(())
}

fn as_json(org: OrganizationId, found: Policy) -> Value {
    json!({ "organizationId": org, "blockedScopes": found.blocked_scopes, "maxTokenDays": found.max_token_days })
}
