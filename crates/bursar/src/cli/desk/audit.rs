//! `bursar report audit`: the books of a year in one archive.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use bursar_app::export::ExportError;
use bursar_app::{audit, private};
use bursar_domain::ids::OrganizationId;
use clap::Args;
use serde_json::json;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::super::door::Door;
use super::super::{Failure, Outcome, output};
use super::member_statement::not_written;

#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Calendar year
    #[arg(long)]
    year: i16,
    /// Write the archive to this new file
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(door: &Door<'_>, org: OrganizationId, args: &AuditArgs) -> Outcome {
    let file = private::create_new(&args.output).map_err(|error| not_written(&args.output, &error))?;
    let packed = pack(door, org, args.year, file);
    if packed.is_err() {
        // Half an archive is worth nothing.
        let _ = std::fs::remove_file(&args.output);
    }
    let files = packed?;
    if door.globals.json {
        let listed: Vec<_> = files
            .iter()
            .map(|(name, sum)| json!({"name": name, "sha256": sum}))
            .collect();
        return output::json(
            &json!({"file": args.output.display().to_string(), "year": args.year, "files": listed}),
        );
    }
    output::say(&format!(
        "{}: the books of {} in {} files",
        args.output.display(),
        args.year,
        files.len()
    ));
    Ok(())
}

/// The names of the files with their checksums.
fn pack(
    door: &Door<'_>,
    org: OrganizationId,
    year: i16,
    file: File,
) -> Result<Vec<(String, String)>, Failure> {
    let mut archive = Archive {
        zip: ZipWriter::new(file),
        folder: format!("audit-{year}"),
    };
    let mut files = Vec::new();
    let packed = door.app.survey(door.who, |whole| {
        whole.view(org, |view| {
            audit::pack(view, year, &mut |name, bytes| {
                archive.add(name, bytes).map_err(ExportError::Output)?;
                files.push((name.to_owned(), sha256(bytes)));
                Ok(())
            })
        })
    });
    match packed {
        Ok(()) => {}
        Err(ExportError::App(error)) => return Err(error.into()),
        Err(ExportError::Output(error)) => return Err(error.into()),
    }
    let sums: String = files
        .iter()
        .map(|(name, sum)| format!("{sum}  {name}\n"))
        .collect();
    archive.add("SHA256SUMS", sums.as_bytes())?;
    archive.zip.finish().map_err(std::io::Error::from)?.sync_all()?;
    Ok(files)
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

struct Archive {
    zip: ZipWriter<File>,
    folder: String,
}

impl Archive {
    /// The same files are always the same archive: it keeps no time and no owner.
    fn add(&mut self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o600);
        self.zip.start_file(format!("{}/{name}", self.folder), options)?;
        self.zip.write_all(bytes)
    }
}
