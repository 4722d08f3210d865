//! Gives the program its version: the package's, and the commit it is built from where that is known.

use std::path::Path;
use std::process::Command;

#[expect(
    clippy::disallowed_methods,
    reason = "cargo speaks to a build script in variables"
)]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=BURSAR_COMMIT");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // A build outside of a checkout, as in a container, says the commit itself.
    let named = std::env::var("BURSAR_COMMIT")
        .ok()
        .filter(|name| !name.is_empty());
    let version = match named.or_else(commit) {
        Some(commit) => format!("{version} ({})", &commit[..commit.len().min(12)]),
        None => version,
    };
    println!("cargo:rustc-env=BURSAR_VERSION={version}");
}

/// The commit of the checkout that this is, and not of one that it merely lies in.
fn commit() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .ok()?;
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root {
        return None;
    }
    // What moves when the commit does. In a worktree these are in folders of their own, which git knows. A path that
    // does not exist would run this script at every build.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "logs/HEAD", "packed-refs"]
        .into_iter()
        .chain(branch.as_deref())
    {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", name])
            && Path::new(&path).exists()
        {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "HEAD"]).filter(|hash| hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// What git says; nothing without git or a checkout.
fn git(args: &[&str]) -> Option<String> {
    let said = Command::new("git")
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()
        .filter(|said| said.status.success())?;
    Some(String::from_utf8(said.stdout).ok()?.trim().to_owned())
}
