//! The server that a command talks to, and the token for it.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use super::output;
use super::url::{is_in_the_clear, parse_base_url};
use crate::ambient;
use crate::remote::{Client, Settings};

#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// The server, such as https://dues.example.org
    #[arg(long, value_name = "URL", value_parser = parse_server)]
    url: String,
    /// Access token. Other users of this machine can see command arguments; prefer BURSAR_TOKEN or --token-file
    #[arg(long, value_name = "TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// File with the access token, or - for standard input; overrides --token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// PEM file of the certificate authority to trust instead of the public ones
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl ServerArgs {
    /// Warns if the token would cross the network unencrypted.
    pub(super) fn client(
        &self,
        command: &'static str,
        can_resume: bool,
        attempts: u32,
    ) -> Result<Client, String> {
        if is_in_the_clear(&self.url) {
            output::complain(&format!(
                "warning: {} is not https, so that the token crosses the network in the clear",
                self.url
            ));
        }
        let ca = self.ca.as_deref().map(|file| {
            std::fs::read(file).map_err(|error| format!("--ca {} cannot be read: {error}", file.display()))
        });
        Client::new(Settings {
            command,
            can_resume,
            url: self.url.clone(),
            token: self.read_token()?,
            attempts,
            ca: ca.transpose()?,
            random: fastrand::Rng::with_seed(u64::from_le_bytes(ambient::entropy()?)),
            clock: ambient::now,
        })
    }

    /// From the file if one is given. Errors never contain the token.
    fn read_token(&self) -> Result<String, String> {
        let text = match (&self.token_file, &self.token) {
            (Some(file), _) => read_file(file)
                .map_err(|error| format!("--token-file {} cannot be read: {error}", file.display()))?,
            (None, Some(token)) => token.clone(),
            (None, None) => {
                return Err(
                    "a token is needed: --token-file FILE, or the variable BURSAR_TOKEN; `bursar token create` creates one"
                        .to_owned(),
                );
            }
        };
        let token = text.trim();
        let is_plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        match is_plain {
            true => Ok(token.to_owned()),
            false => Err("the token must be one word of letters, digits and signs".to_owned()),
        }
    }
}

fn parse_server(text: &str) -> Result<String, String> {
    let url = parse_base_url(text)?;
    // The URL is shown in messages and stored in folders.
    if url.contains('@') {
        return Err("must not hold a password: give the token with --token-file".to_owned());
    }
    let url = url.trim_end_matches('/');
    Ok(url.strip_suffix("/v1").unwrap_or(url).to_owned())
}

fn read_file(file: &Path) -> std::io::Result<String> {
    if file != Path::new("-") {
        return std::fs::read_to_string(file);
    }
    let mut text = String::new();
    std::io::stdin().lock().take(4_096).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers() {
        for (text, url) in [
            ("https://dues.example.org/", Some("https://dues.example.org")),
            ("https://example.org/dues/v1/", Some("https://example.org/dues")),
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080")),
            ("https://user:secret@example.org", None),
            ("example.org", None),
            ("https://example.org?x=1", None),
        ] {
            assert_eq!(parse_server(text).ok().as_deref(), url, "{text}");
        }
    }
}
