//! `bursar completions` and `bursar man`: files that a package installs beside the program.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::{Failure, Outcome, definition, output};

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Command to show, such as `token create`; an overview by default
    command: Vec<String>,
    /// Write all pages to this directory; created if missing
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    to: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut definition(), "bursar", &mut script);
    output::write(&script);
    Ok(())
}

pub(crate) fn man(args: &ManArgs) -> Outcome {
    let mut command = definition();
    // Gives every page its full name, such as bursar-token-create.
    command.build();
    if let Some(folder) = &args.to {
        return write_pages(command, folder);
    }
    for name in &args.command {
        command = command
            .find_subcommand(name)
            .ok_or_else(|| Failure::missing(format!("there is no command {}", args.command.join(" "))))?
            .clone();
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    output::write(&page);
    Ok(())
}

fn write_pages(command: clap::Command, folder: &std::path::Path) -> Outcome {
    let unwritable = |error| Failure::new(format!("{} cannot be written: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(unwritable)?;
    let mut left = vec![command];
    while let Some(command) = left.pop() {
        left.extend(
            command
                .get_subcommands()
                .filter(|sub| sub.get_name() != "help" && !sub.is_hide_set())
                .cloned(),
        );
        let page = clap_mangen::Man::new(command);
        let mut file = std::fs::File::create(folder.join(page.get_filename())).map_err(unwritable)?;
        let mut text = Vec::new();
        page.render(&mut text)?;
        file.write_all(&text).map_err(unwritable)?;
    }
    Ok(())
}
