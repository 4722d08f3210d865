use bursar_app::{AppError, Opening, roles};
use bursar_domain::access::Role;
use bursar_domain::ids::OrganizationId;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Globals, Outcome, output, parse_id};

#[derive(Debug, Subcommand)]
pub(crate) enum RoleCommand {
    /// Give a person a role
    Set(SetArgs),
    /// Remove a person from the organization and revoke their personal tokens there
    Remove(PersonArgs),
    /// List people and their roles
    List(ListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    #[command(flatten)]
    person: PersonArgs,
    /// viewer, editor or admin
    #[arg(long, value_parser = parse_role)]
    role: Role,
}

#[derive(Debug, Args)]
pub(crate) struct PersonArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<bursar_domain::ids::kind::Organization>)]
    organization: OrganizationId,
    /// The person's address
    #[arg(long, value_name = "EMAIL")]
    user: String,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<bursar_domain::ids::kind::Organization>)]
    organization: OrganizationId,
}

pub(crate) fn parse_role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| "must be one of viewer, editor, admin".to_owned())
}

pub(crate) fn run(globals: &Globals, command: RoleCommand) -> Outcome {
    let app = globals.open(Opening::Require)?;
    let who = globals.who(&app)?;
    match command {
        RoleCommand::Set(SetArgs { person, role }) => {
            let org = person.organization;
            let set = app.act::<_, AppError>(who, org, move |act| roles::set(act, &person.user, role));
            let holder = set.wait()?;
            if globals.json {
                return output::json(&as_json(&holder));
            }
            output::say(&format!("{} is now {role} in {org}", holder.user.email));
        }
        RoleCommand::Remove(person) => {
            let org = person.organization;
            let removed = app.act::<_, AppError>(who, org, move |act| roles::remove(act, &person.user));
            let user = removed.wait()?;
            if globals.json {
                return output::json(&json!({ "userId": user.id, "email": user.email }));
            }
            output::say(&format!(
                "{} has left {org}; their personal tokens there are revoked",
                user.email
            ));
        }
        RoleCommand::List(args) => {
            let holders = app
                .view::<_, AppError>(who, args.organization, roles::list)
                .wait()?;
            if globals.json {
                return output::json(&holders.iter().map(as_json).collect::<Vec<_>>());
            }
            let rows = holders.iter().map(|h| {
                [
                    h.user.id.to_string(),
                    h.user.email.clone(),
                    h.user.name.clone().unwrap_or_default(),
                    h.role.to_string(),
                ]
            });
            output::table(
                ["user", "email", "name", "role"],
                rows.collect(),
                "nobody has a role in this organization",
            );
        }
    }
    Ok(())
}

fn as_json(holder: &roles::Holder) -> Value {
    json!({ "userId": holder.user.id, "email": holder.user.email, "name": holder.user.name, "role": holder.role })
}
