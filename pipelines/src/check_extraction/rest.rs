//! Every text is parsed or rejected with a reason; none is lost.

use std::path::Path;

use hypercane_operators::domain::Domain;
use hypercane_operators::grammar;
use hypercane_schemas::Document;

use super::Error;
use super::numbers::moment;
use super::report::{Rejected, Report};
use super::table::{self, cell};

/// Counts the texts of all folders.
pub(super) fn count(dir: &Path, domain: &Domain, report: &mut Report) -> Result<(), Error> {
    for storm in table::folders(&dir.join("nhc"))? {
        for kind in ["tcm", "tcp", "tcu", "tce"] {
            let of_kind = |name: &str| name.starts_with(kind) && name.ends_with(".txt");
            for path in table::files(&storm, of_kind)? {
                count_file(dir, &path, &format!("nhc {kind}"), domain, report)?;
            }
        }
    }
    for storm in table::folders(&dir.join("cyportqa"))? {
        for kind in ["tcp", "pws"] {
            for path in table::files(&storm, |name| name.starts_with(kind) && name.ends_with(".txt"))? {
                count_file(dir, &path, &format!("cyportqa {kind}"), domain, report)?;
            }
        }
    }
    for folder in ["nhc_odd", "wire", "other_basins", "feeds", "ports/msib"] {
        for path in table::files(&dir.join(folder), |name| !name.to_uppercase().starts_with("README"))? {
            count_file(dir, &path, folder, domain, report)?;
        }
    }
    for path in table::files(&dir.join("ports"), |name| name.ends_with(".csv"))? {
        let rows = table::rows(&path)?;
        let file = table::shown(dir, &path);
        for (idx, row) in rows.iter().enumerate() {
            if !row.contains_key("text") {
                continue;
            }
            let id = if cell(row, "id").is_empty() { (idx + 1).to_string() } else { cell(row, "id").to_owned() };
            let mut document = Document::plain(format!("{file}#id={id}"), cell(row, "text"));
            document.source_kind = Some("port_post".into());
            document.issued_at = post_time(cell(row, "time_utc"));
            count_document(&document, &format!("posts in {file}"), domain, report);
        }
    }
    Ok(())
}

/// `11/4/2024 23:34`, month first, UTC.
fn post_time(cell: &str) -> Option<jiff::Timestamp> {
    let local = jiff::civil::DateTime::strptime("%m/%d/%Y %H:%M", cell.trim()).ok();
    local.and_then(|local| jiff::tz::Offset::UTC.to_timestamp(local).ok()).or_else(|| moment(cell))
}

fn count_file(dir: &Path, path: &Path, name: &str, domain: &Domain, report: &mut Report) -> Result<(), Error> {
    let document = Document::plain(table::shown(dir, path), table::text(path)?);
    count_document(&document, name, domain, report);
    Ok(())
}

fn count_document(document: &Document, name: &str, domain: &Domain, report: &mut Report) {
    let outcome = grammar::extract(document, domain);
    let file = &document.key.0;
    let entry = report.folder(name);
    entry.texts += 1;
    match outcome {
        Ok(extraction) => {
            entry.parsed += 1;
            entry.facts += extraction.facts.len();
            entry.failures.extend(extraction.failures.into_iter().map(|failure| Rejected {
                file: file.clone(),
                line: failure.line,
                reason: failure.reason,
            }));
        }
        Err(failure) => {
            entry.rejected.push(Rejected { file: file.clone(), line: failure.line, reason: failure.reason });
        }
    }
}
