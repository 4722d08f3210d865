//! Who may use what: the direction of dependencies, and what the sources of each crate must not contain.

use std::fs;
use std::path::{Path, PathBuf};

/// The crates, and which of the others each may use.
const CRATES: [(&str, &[&str]); 11] = [
    ("bursar-domain", &[]),
    ("bursar-statements", &[]),
    ("bursar-documents", &[]),
    ("bursar-db", &["bursar-domain"]),
    (
        "bursar-app",
        &[
            "bursar-domain",
            "bursar-db",
            "bursar-statements",
            "bursar-documents",
        ],
    ),
    ("bursar-http", &[]),
    ("bursar-worker", &["bursar-domain", "bursar-app"]),
    ("bursar-stripe", &["bursar-domain", "bursar-app"]),
    ("bursar-api", &["bursar-domain", "bursar-app", "bursar-http"]),
    ("bursar-console", &["bursar-domain", "bursar-app", "bursar-http"]),
    (
        "bursar",
        &[
            "bursar-domain",
            "bursar-app",
            "bursar-http",
            "bursar-worker",
            "bursar-stripe",
            "bursar-api",
            "bursar-console",
        ],
    ),
];

/// What tests share. No program is built with it: `bursar-db` names it for a feature that only tests ask for.
const TESTING: &str = "bursar-testing";

/// A source file in its parts. Comments are in neither.
struct Source {
    /// `bursar-app/src/check.rs`.
    name: String,
    /// Everything outside of strings.
    code: String,
    /// What is in each string.
    strings: Vec<String>,
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources(of: &str) -> Vec<Source> {
    let mut folders = vec![crates().join(of).join("src")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(crates()).unwrap().display().to_string();
                let (code, strings) = parts(&fs::read_to_string(&path).unwrap());
                found.push(Source { name, code, strings });
            }
        }
    }
    assert!(!found.is_empty(), "{of} has sources");
    found
}

/// Tells code from strings and leaves comments out.
fn parts(source: &str) -> (String, Vec<String>) {
    let (mut code, mut strings) = (String::new(), Vec::new());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            rest = &rest[rest.find("*/").map_or(rest.len(), |end| end + 2)..];
        } else if let Some((inside, after)) = raw_string(rest, &code).or_else(|| string(rest)) {
            strings.push(inside.to_owned());
            code.push_str("\"\"");
            rest = after;
        } else if let Some(after) = quote(rest) {
            code.push(' ');
            rest = after;
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    (code, strings)
}

/// `"…"`: what is inside, and what comes after.
fn string(rest: &str) -> Option<(&str, &str)> {
    let inside = rest.strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((&inside[..end], &inside[end + 1..]))
}

/// `r"…"` and `r#"…"#`; not a word that ends with r.
fn raw_string<'a>(rest: &'a str, code: &str) -> Option<(&'a str, &'a str)> {
    if code.ends_with(|c: char| c.is_alphanumeric() && c != 'b' || c == '_') {
        return None;
    }
    let after = rest.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let inside = after[hashes..].strip_prefix('"')?;
    let end = inside.find(&format!("\"{}", "#".repeat(hashes)))?;
    Some((&inside[..end], &inside[end + 1 + hashes..]))
}

/// A character in quotes, which may be a quotation mark; a lifetime is not one.
fn quote(rest: &str) -> Option<&str> {
    let inside = rest.strip_prefix('\'')?;
    let mut characters = inside.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        let end = inside[2..].find('\'')?;
        return Some(&inside[2 + end + 1..]);
    }
    let (end, second) = characters.next()?;
    (second == '\'').then(|| &inside[end + 1..])
}

#[test]
fn code_strings_and_comments_are_told_apart() {
    let source = r##"
        // SELECT in a comment
        let a = "one \" two"; /* async */ let b = '"'; let c = '\''; fn f<'a>(x: &'a str) {}
        let d = r#"three "four""#; let e = b"five"; let f = br"six"; let var = "seven // eight";
    "##;
    let (code, strings) = parts(source);
    for word in ["SELECT", "async", "one", "four", "five", "six", "eight"] {
        assert!(!code.contains(word), "{word}\n{code}");
    }
    for word in ["let b", "let c", "fn f<'a>(x: &'a str) {}", "let var"] {
        assert!(code.contains(word), "{word}\n{code}");
    }
    assert_eq!(
        strings,
        ["one \\\" two", "three \"four\"", "five", "six", "seven // eight"]
    );
}

/// Where the text has the word, with nothing of a name before or after it.
fn has_word(text: &str, word: &str) -> bool {
    let of_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        !of_name(text[..at].chars().next_back()) && !of_name(text[at + word.len()..].chars().next())
    })
}

/// Every place where one of the words stands in the code of a crate.
fn uses(of: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources(of) {
        let used = words.iter().filter(|word| has_word(&source.code, word));
        found.extend(used.map(|word| format!("{}: {word}", source.name)));
    }
    found.sort();
    found
}

/// The tables of a manifest whose names pass, with the names of what they hold.
fn dependencies(of: &str, table: &str) -> Vec<String> {
    let manifest = fs::read_to_string(crates().join(of).join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            inside = header == table;
            // `[dependencies.name]` and what only some machines need would be a way around this test.
            let is_other =
                header.contains("dependencies") && !["dependencies", "dev-dependencies"].contains(&header);
            assert!(!is_other, "{of}: [{header}] is not read here");
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            names.push(line.split(['.', '=', ' ']).next().unwrap().to_owned());
        }
    }
    names
}

#[test]
fn crates_use_only_those_they_may() {
    for (name, may_use) in CRATES {
        for table in ["dependencies", "dev-dependencies"] {
            for used in dependencies(name, table) {
                let is_allowed = !used.starts_with("bursar")
                    || may_use.contains(&used.as_str())
                    || used == TESTING && (table == "dev-dependencies" || name == "bursar-db")
                    // A crate's tests may ask for a feature of its own.
                    || used == name && table == "dev-dependencies";
                assert!(is_allowed, "{name} must not use {used}");
            }
        }
    }
    assert!(
        !dependencies(TESTING, "dependencies")
            .iter()
            .any(|used| used.starts_with("bursar"))
    );
    let workspace = fs::read_to_string(crates().parent().unwrap().join("Cargo.toml")).unwrap();
    for entry in fs::read_dir(crates()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            name == TESTING || CRATES.iter().any(|(known, _)| *known == name),
            "{name} is not among the crates"
        );
        assert!(workspace.contains(&format!("\"crates/{name}\"")), "{name}");
    }
}

#[test]
fn only_the_app_is_on_the_database() {
    for (name, may_use) in CRATES {
        if name != "bursar-db" && !may_use.contains(&"bursar-db") {
            // The second is where the app has the database for tests.
            assert_eq!(uses(name, &["Tx", "bursar_db", "bursar_app::testing"]), [""; 0]);
        }
    }
}

#[test]
fn only_the_database_crate_has_a_driver_and_sql() {
    for (name, _) in CRATES.iter().filter(|(name, _)| *name != "bursar-db") {
        for driver in ["rusqlite", "postgres", "postgres-protocol", "sqlx", "diesel"] {
            assert!(
                !dependencies(name, "dependencies")
                    .iter()
                    .any(|used| used == driver),
                "{name} has {driver}"
            );
        }
        for source in sources(name) {
            let is_sql = |text: &str| {
                let pairs = [
                    ("SELECT", "FROM"),
                    ("INSERT", "INTO"),
                    ("DELETE", "FROM"),
                    ("UPDATE", "SET"),
                ];
                pairs
                    .iter()
                    .any(|(verb, with)| has_word(text, verb) && has_word(text, with))
                    || [
                        "PRAGMA",
                        "VACUUM",
                        "CREATE TABLE",
                        "CREATE INDEX",
                        "BEGIN IMMEDIATE",
                    ]
                    .iter()
                    .any(|word| has_word(text, word))
                    || text.trim_start().starts_with("SELECT ")
            };
            let found = source.strings.iter().find(|string| is_sql(string));
            assert!(
                found.is_none(),
                "{}: {}",
                source.name,
                found.map_or("", String::as_str)
            );
        }
    }
    let has_sql = sources("bursar-db")
        .iter()
        .any(|source| source.strings.iter().any(|string| string.contains("SELECT ")));
    assert!(has_sql, "this test knows SQL when it sees it");
}

#[test]
fn business_code_is_synchronous() {
    let awaiting = [
        "async",
        "await",
        "Future",
        "Poll",
        "Waker",
        "spawn_blocking",
        "block_on",
    ];
    for name in [
        "bursar-domain",
        "bursar-statements",
        "bursar-documents",
        "bursar-app",
    ] {
        assert_eq!(uses(name, &awaiting), [""; 0]);
        assert_eq!(uses(name, &["tokio"]), [""; 0]);
    }
    // The reply to a job can be awaited by the edge, and nothing else there knows of it.
    let found = uses("bursar-db", &awaiting);
    let elsewhere: Vec<_> = found
        .iter()
        .filter(|use_| !use_.starts_with("bursar-db/src/engine/reply.rs: "))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    assert!(
        !found
            .iter()
            .any(|use_| use_.ends_with(": async") || use_.ends_with(": await")),
        "{found:?}"
    );
}

#[test]
fn time_randomness_and_the_environment_are_passed_in() {
    let ambient = [
        "SystemTime",
        "Instant",
        "std::env",
        "env::var",
        "env::args",
        "getrandom",
        "Zoned::now",
        "Timestamp::now",
        "Rng::new",
        "fastrand::u64",
        "fastrand::u32",
        "RandomState",
        "thread_rng",
        "option_env",
    ];
    for name in [
        "bursar-domain",
        "bursar-statements",
        "bursar-documents",
        "bursar-app",
    ] {
        assert_eq!(uses(name, &ambient), [""; 0], "{name}");
    }
    let acting = [
        "std::fs",
        "std::net",
        "std::io",
        "std::process",
        "std::thread",
        "File",
        "println",
        "eprintln",
    ];
    for name in ["bursar-domain", "bursar-statements"] {
        assert_eq!(uses(name, &acting), [""; 0], "{name} decides and never acts");
    }
    // Only the command line's configuration reads the environment.
    for name in [
        "bursar-db",
        "bursar-http",
        "bursar-worker",
        "bursar-stripe",
        "bursar-api",
        "bursar-console",
    ] {
        let found = uses(name, &["std::env", "env::var", "env::var_os"]);
        let in_tests = |place: &&String| place.starts_with("bursar-db/src/testing.rs: ");
        assert_eq!(
            found.iter().filter(|place| !in_tests(place)).collect::<Vec<_>>(),
            [""; 0]
        );
    }
}

#[test]
fn store_means_the_shop() {
    for name in ["bursar-domain", "bursar-db", "bursar-app"] {
        for source in sources(name) {
            for word in ["Store", "DataStore", "datastore"] {
                assert!(
                    !has_word(&source.code, word),
                    "{}: {word}; the database is `db`",
                    source.name
                );
            }
        }
    }
}
