//! PocketBase, where it is installed: the writes of `bench pgbench` as its own API has them.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::client::Requests;
use super::peer::{empty, files, free_address, installed, said};
use super::process::Server;
use super::scenario::{Client, body, head_lines};
use crate::Outcome;

pub(crate) struct PocketBase {
    pub(crate) server: Server,
    pub(crate) version: String,
    token: String,
}

impl PocketBase {
    /// `None` where it is not installed. Its settings are those it comes with.
    pub(crate) fn start(scratch: &Path) -> Outcome<Option<Self>> {
        let program = installed("pocketbase").join("bin/pocketbase");
        let Ok(version) = said(Command::new(&program).arg("--version")) else {
            eprintln!(
                "PocketBase is left out, as it is not installed: bench/peers/set-up pocketbase installs it"
            );
            return Ok(None);
        };
        let folder = empty(&scratch.join("pocketbase"))?;
        let address = free_address()?;
        let mut command = Command::new(program);
        command
            .args(["serve", "--http", &address.to_string(), "--dir"])
            .arg(folder.join("data"))
            .arg("--migrationsDir")
            .arg(files("pocketbase").join("pb_migrations"));
        let server = Server::start_at("pocketbase", &mut command, &folder.join("log"), address)?;
        let mut request = Vec::new();
        head_lines(
            &mut request,
            "POST",
            "/api/collections/users/auth-with-password",
            "",
        );
        let who = json!({ "identity": "officer@example.org", "password": "a-long-password" });
        body(&mut request, &who.to_string());
        let answer = Client::connect(address)?.call(&request)?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        let token = answer["token"]
            .as_str()
            .ok_or("PocketBase gave no token")?
            .to_owned();
        Ok(Some(Self {
            server,
            version,
            token,
        }))
    }

    /// A client changes one member, each its own.
    pub(crate) fn patches(&self, run: String) -> Requests {
        let token = self.token.clone();
        Box::new(move |client, n, out| {
            let member = format!("/api/collections/members/records/{client:015}");
            head_lines(out, "PATCH", &member, &token);
            body(out, &format!(r#"{{"firstName":"Name {run}{n}"}}"#));
        })
    }

    pub(crate) fn creates(&self) -> Requests {
        let token = self.token.clone();
        Box::new(move |_, _, out| {
            head_lines(out, "POST", "/api/collections/groups/records", &token);
            body(out, r#"{"name":"A committee"}"#);
        })
    }
}
