use bursar_app::{App, Identity, NO_ORGANIZATION, Opening, sign_in};
use clap::Args;
use serde_json::json;

use super::url::parse_base_url;
use super::{Failure, Globals, Outcome, output};
use crate::ambient;

#[derive(Debug, Args)]
pub(crate) struct SignInLinkArgs {
    /// The person's e-mail address
    #[arg(long, value_name = "EMAIL")]
    user: String,
    /// Base of the link: the address that people open the server at
    #[arg(long, value_name = "URL", default_value = "http://localhost:8080", value_parser = parse_base_url)]
    base_url: String,
}

pub(crate) fn link(globals: &Globals, args: &SignInLinkArgs) -> Outcome {
    globals.for_operator()?;
    let app = globals.open(Opening::Require)?;
    let secret = make(&app, &args.user)?;
    let link = format!("{}/console/sign-in/{secret}", args.base_url.trim_end_matches('/'));
    match globals.json {
        true => output::json(&json!({ "link": link })),
        false => {
            output::say(&link);
            Ok(())
        }
    }
}

/// The end of a link that signs this person in once.
pub(crate) fn make(app: &App, email: &str) -> Result<String, Failure> {
    let (email, entropy) = (email.to_owned(), ambient::entropy()?);
    let made = app.change(Identity::Operator, NO_ORGANIZATION, move |whole| {
        sign_in::make_link(whole, &email, &entropy)
    });
    let (_, secret) = made.wait()?;
    Ok(secret)
}
