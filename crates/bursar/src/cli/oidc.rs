//! Sign-in to the console with an OpenID Connect provider.

use std::path::PathBuf;

use bursar_console::OidcSettings;
use clap::Args;

#[derive(Clone, Debug, Args)]
pub(crate) struct OidcArgs {
    /// OpenID Connect provider that signs people in to the console, such as https://login.example.org
    #[arg(long, value_name = "URL")]
    oidc_issuer: Option<String>,
    /// Client id of this server at the provider
    #[arg(long, value_name = "ID")]
    oidc_client_id: Option<String>,
    /// Client secret at the provider. Other users of this machine can see command arguments; prefer
    /// BURSAR_OIDC_CLIENT_SECRET or --oidc-client-secret-file
    #[arg(long, value_name = "SECRET", hide_env_values = true)]
    oidc_client_secret: Option<String>,
    /// File with the client secret; overrides --oidc-client-secret
    #[arg(long, value_name = "FILE")]
    oidc_client_secret_file: Option<PathBuf>,
    /// What the sign-in page calls the provider, such as "Club login"; its host name by default
    #[arg(long, value_name = "NAME")]
    oidc_name: Option<String>,
}

impl OidcArgs {
    /// All that is needed, or nothing. Errors never contain the secret.
    pub(crate) fn settings(&self) -> Result<Option<OidcSettings>, String> {
        let secret = self.secret()?;
        let given = [
            ("--oidc-issuer", self.oidc_issuer.is_some()),
            ("--oidc-client-id", self.oidc_client_id.is_some()),
            (
                "a client secret (--oidc-client-secret-file, or the variable BURSAR_OIDC_CLIENT_SECRET)",
                secret.is_some(),
            ),
        ];
        let (Some(issuer), Some(client_id), Some(secret)) = (&self.oidc_issuer, &self.oidc_client_id, secret)
        else {
            let is_asked = given.iter().any(|(_, is_given)| *is_given) || self.oidc_name.is_some();
            let missing: Vec<&str> = given
                .iter()
                .filter(|(_, is_given)| !is_given)
                .map(|(flag, _)| *flag)
                .collect();
            return match is_asked {
                true => Err(format!(
                    "sign-in with OpenID Connect also needs {}",
                    missing.join(" and ")
                )),
                false => Ok(None),
            };
        };
        if client_id.trim().is_empty() {
            return Err("--oidc-client-id must not be empty".to_owned());
        }
        let name = self
            .oidc_name
            .as_deref()
            .map(str::trim)
            .filter(|name| !name.is_empty());
        if name.is_some_and(|name| name.chars().count() > 40 || name.chars().any(char::is_control)) {
            return Err("--oidc-name must have at most 40 characters".to_owned());
        }
        let made = OidcSettings::new(
            issuer,
            client_id.trim().to_owned(),
            secret,
            name.map(str::to_owned),
        );
        made.map(Some).map_err(|rule| format!("--oidc-issuer {rule}"))
    }

    /// From the file if one is given.
    fn secret(&self) -> Result<Option<String>, String> {
        let text = match (&self.oidc_client_secret_file, &self.oidc_client_secret) {
            (Some(file), _) => std::fs::read_to_string(file).map_err(|error| {
                format!(
                    "--oidc-client-secret-file {} cannot be read: {error}",
                    file.display()
                )
            })?,
            (None, Some(secret)) => secret.clone(),
            (None, None) => return Ok(None),
        };
        match text.trim() {
            "" => Err("the OpenID Connect client secret is empty".to_owned()),
            secret => Ok(Some(secret.to_owned())),
        }
    }
}
