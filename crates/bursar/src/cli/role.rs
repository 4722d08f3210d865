use bursar_app::roles;
use bursar_domain::access::Role;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::door::Door;
use super::{Globals, Outcome, output};

#[derive(Debug, Subcommand)]
pub(crate) enum RoleCommand {
    /// Give a person a role
    Set(SetArgs),
    /// Remove a person from the organization and revoke their personal tokens there
    Remove(PersonArgs),
    /// List people and their roles
    List,
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
    /// The person's address
    #[arg(long, value_name = "EMAIL")]
    user: String,
}

pub(crate) fn parse_role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| "must be one of viewer, editor, admin".to_owned())
}

pub(crate) fn run(globals: &Globals, command: RoleCommand) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    match command {
        RoleCommand::Set(SetArgs { person, role }) => {
            let holder = door.act(org, move |act| roles::set(act, &person.user, role))?;
            if globals.json {
                return output::json(&as_json(&holder));
            }
            let name = door.name_of(org)?;
            output::say(&format!("{} is now {role} in {name} ({org})", holder.user.email));
        }
        RoleCommand::Remove(person) => {
            let name = door.name_of(org)?;
            let user = door.act(org, move |act| roles::remove(act, &person.user))?;
            if globals.json {
                return output::json(&json!({ "userId": user.id, "email": user.email }));
            }
            output::say(&format!(
                "Removed {} from {name} ({org}); their personal tokens there are revoked",
                user.email
            ));
        }
        RoleCommand::List => {
            let holders = door.view(org, roles::list)?;
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
