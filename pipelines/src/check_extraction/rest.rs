//! Every text is parsed or rejected with a reason; none is lost.

use std::path::Path;

use hypercane_operators::domain::Domain;
use hypercane_operators::grammar;
use hypercane_schemas::{Document, Reject};

use super::Error;
use super::report::{Rejected, Report};
use super::table;
use crate::connect::files::{Selection, documents};

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
    count_posts(dir, domain, report)
}

/// The rows of every table of posts; a table of something else is none.
fn count_posts(dir: &Path, domain: &Domain, report: &mut Report) -> Result<(), Error> {
    if !dir.join("ports").is_dir() {
        return Ok(());
    }
    let (posts, rejects) = documents(Selection::new(dir, ["ports/*.csv"])?)?;
    let table = |key: &str| key.split_once('#').map(|(file, _)| format!("posts in {file}"));
    for post in &posts {
        if let Some(table) = table(&post.key.0) {
            count_document(post, &table, domain, report);
        }
    }
    for Reject { key, line, reason, .. } in rejects {
        if let Some(table) = table(&key) {
            let entry = report.folder(&table);
            entry.texts += 1;
            entry.rejected.push(Rejected { file: key, line: line.unwrap_or(1), reason });
        }
    }
    Ok(())
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
