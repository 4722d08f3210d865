//! What `bursar demo` prints once its server is up.

use bursar_domain::Date;
use bursar_domain::ids::OrganizationId;
use serde_json::{Value, json};

use super::data::OFFICER;
use crate::cli::output;

pub(super) struct Welcome {
    pub(super) token: String,
    /// The end of a link that signs in once.
    pub(super) sign_in: String,
    pub(super) organization: OrganizationId,
    pub(super) name: String,
    pub(super) database: String,
    pub(super) base_url: Option<String>,
    pub(super) contents: String,
    /// Whether this run created the data.
    pub(super) is_new: bool,
    /// The `updatedSince` of the example.
    pub(super) since: Date,
}

/// Commands to paste.
struct Lines {
    list: String,
    sync: String,
    create: String,
}

/// A passkey cannot belong to an IP address, so links for browsers have the machine's name.
fn by_name(url: &str) -> String {
    url.replace("//127.0.0.1:", "//localhost:")
        .replace("//[::1]:", "//localhost:")
}

impl Welcome {
    /// A server that listens on all addresses is called on loopback.
    fn base(&self, address: &str) -> String {
        match &self.base_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => address
                .replace("//0.0.0.0:", "//127.0.0.1:")
                .replace("//[::]:", "//[::1]:"),
        }
    }

    fn console(&self, base: &str) -> String {
        format!("{}/console/sign-in/{}", by_name(base), self.sign_in)
    }

    fn lines(&self, base: &str) -> Lines {
        let curl = format!("curl -H 'Authorization: Bearer {}'", self.token);
        Lines {
            list: format!("{curl} '{base}/v1/members?limit=2'"),
            sync: format!(
                "{curl} '{base}/v1/payments?updatedSince={}T00:00:00Z'",
                self.since
            ),
            create: format!(
                "{curl} -H 'Idempotency-Key: first-try' -H 'Content-Type: application/json' \
                 -d '{{\"name\":\"Night rowers\",\"description\":\"With lights.\"}}' {base}/v1/groups"
            ),
        }
    }

    /// With a member's name and a link to their page, if there is one.
    pub(super) fn for_machines(&self, address: &str, member: Option<&(String, String)>) -> Value {
        let base = self.base(address);
        let lines = self.lines(&base);
        json!({
            "address": address, "console": self.console(&base), "docs": format!("{base}/docs"), "token": self.token,
            "member": member.map(|(_, link)| link),
            "organizationId": self.organization, "database": self.database, "isNew": self.is_new,
            "curl": lines.list, "curlSync": lines.sync, "curlCreate": lines.create,
        })
    }

    pub(super) fn show(&self, address: &str, member: Option<&(String, String)>) {
        let base = self.base(address);
        let lines = self.lines(&base);
        // As it was called, so that the command works even if the program is not on the path.
        let program = std::env::args().next().unwrap_or_else(|| "bursar".to_owned());
        let of_old = if self.is_new {
            ""
        } else {
            ", as an earlier run left them"
        };
        let say = output::say;
        let head = output::say_bold;
        say("");
        head(&self.name);
        say(&format!("{}{of_old}, in {}", self.contents, self.database));
        say("");
        say(&format!("  Console  {}", self.console(&base)));
        say("           signs in as the treasurer, once, within 15 minutes");
        if let Some((name, link)) = member {
            say(&format!("  Member   {}", by_name(link)));
            say(&format!(
                "           is the page of {name}, who can pay there by card: test cards, no real money"
            ));
        }
        say(&format!("  API      {base}/v1"));
        say(&format!("  Docs     {base}/docs"));
        say(&format!("  Token    {}", self.token));
        say(&format!(
            "           acts as {OFFICER}, with every scope, for 7 days"
        ));
        for (title, line) in [
            ("Read a list", &lines.list),
            ("See what has changed in a week", &lines.sync),
            (
                "Create a group; paste it twice, and there is still one",
                &lines.create,
            ),
            (
                "Look at it from the other side",
                &format!(
                    "{program} --database '{}' report chapters --organization {}",
                    self.database, self.organization
                ),
            ),
        ] {
            say("");
            head(title);
            say(&format!("  {line}"));
        }
        say("");
        say(&format!("listening on {address}"));
    }
}
