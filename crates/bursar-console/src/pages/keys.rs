//! The keys of the keyboard. The script opens the same list as a dialog.

use askama::Template;

use crate::assets;
use crate::failure::Failure;

/// What a key does everywhere.
const KEYS: [(&str, &str); 4] = [
    ("/", "Go to the search"),
    ("Ctrl K", "Go to the search, also while you type"),
    ("?", "Show this list"),
    ("Esc", "Close what is open"),
];

/// The second key after `g`, and the page that it opens. The script has the same.
const GO: [(&str, &str); 8] = [
    ("o", "Overview"),
    ("m", "Members"),
    ("g", "Groups"),
    ("c", "Charges"),
    ("i", "Money in"),
    ("b", "Bank"),
    ("j", "Journal"),
    ("r", "Reminders"),
];

#[derive(Template)]
#[template(path = "keys_part.html")]
struct Part;

#[derive(Template)]
#[template(path = "keys.html")]
struct Page {
    style: String,
    part: Part,
}

pub(crate) fn show(is_part: bool) -> Result<String, Failure> {
    Ok(match is_part {
        true => Part.render()?,
        false => Page {
            style: assets::style(),
            part: Part,
        }
        .render()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_goes_where_the_list_says() {
        let script = include_str!("../../assets/console.js");
        for (key, page) in GO {
            let said = format!("{key}: \"{page}\"");
            assert!(script.contains(&said), "{said}");
        }
        let line = script
            .lines()
            .find(|line| line.starts_with("const GO = "))
            .unwrap();
        assert_eq!(line.matches(": \"").count(), GO.len());
    }
}
