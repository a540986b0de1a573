//! Which files are meant: a root folder, and patterns of paths below it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use glob::{MatchOptions, Pattern};

use super::Error;

/// What is taken from a folder that is named without a pattern, beside files without an ending.
const DEFAULT_PATTERNS: [&str; 9] = [
    "**/*.txt",
    "**/*.md",
    "**/*.markdown",
    "**/*.html",
    "**/*.htm",
    "**/*.xhtml",
    "**/*.jsonl",
    "**/*.ndjson",
    "**/*.csv",
];

/// Some files below a root folder; keys are paths relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    root: PathBuf,
    patterns: Vec<Pattern>,
    /// Whether it is a folder as such: then files without an ending are taken too.
    whole_folder: bool,
}

/// A file that is selected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// The path relative to the root, with `/`.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

impl Selection {
    /// The files below a root whose relative paths match one of the globs, such as `nhc/**/tcm_*.txt`.
    pub fn new<P: AsRef<str>>(root: impl Into<PathBuf>, patterns: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        let compile = |pattern: P| {
            let pattern = pattern.as_ref();
            Pattern::new(pattern)
                .map_err(|e| Error::lasting(format!("the glob `{pattern}` is not well formed")).because(e))
        };
        let patterns = patterns.into_iter().map(compile).collect::<Result<_, _>>()?;
        Ok(Self { root: root.into(), patterns, whole_folder: false })
    }

    /// Reads what a user writes: a folder (its files of kinds that are known), a file, or a glob.
    pub fn parse(path: &str) -> Result<Self, Error> {
        let plain = Path::new(path);
        if plain.is_dir() {
            return Ok(Self { whole_folder: true, ..Self::new(plain, DEFAULT_PATTERNS)? });
        }
        if plain.is_file() || !path.contains(['*', '?', '[']) {
            let root = plain.parent().filter(|root| !root.as_os_str().is_empty()).unwrap_or(Path::new("."));
            let name = plain.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            return Self::new(root, [Pattern::escape(&name)]);
        }
        // The root ends at the last separator before the first wildcard.
        let wildcard = path.find(['*', '?', '[']).unwrap_or(path.len());
        let cut = path[..wildcard].rfind('/').map_or(0, |idx| idx + 1);
        let root = if cut == 0 { "." } else { &path[..cut] };
        Self::new(root, [&path[cut..]])
    }

    /// The folder that the keys are relative to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it selects anything that is there.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !self.root.is_dir() {
            return Err(Error::lasting(format!("there is no folder {}", self.root.display())));
        }
        let (found, other) = self.listed()?;
        if found.is_empty() {
            let patterns: Vec<&str> = self.patterns.iter().map(Pattern::as_str).collect();
            tracing::warn!(root = %self.root.display(), ?patterns, "no file is selected");
        }
        if self.whole_folder && !other.is_empty() {
            let endings: BTreeSet<String> = other.iter().map(|name| ending(name)).collect();
            tracing::warn!(root = %self.root.display(), files = other.len(), ?endings, "files of these kinds are not read");
        }
        Ok(())
    }

    /// The selected files, ordered by name. Hidden ones and what is behind links to folders are left out.
    pub(super) fn files(&self) -> Result<Vec<Found>, Error> {
        Ok(self.listed()?.0)
    }

    /// The selected files, and the names of the others.
    fn listed(&self) -> Result<(Vec<Found>, Vec<String>), Error> {
        let (mut found, mut other) = (Vec::new(), Vec::new());
        self.list(&self.root, "", &mut found, &mut other)?;
        found.sort();
        Ok((found, other))
    }

    fn list(&self, folder: &Path, prefix: &str, found: &mut Vec<Found>, other: &mut Vec<String>) -> Result<(), Error> {
        let failed = |e| Error::transient(format!("can't list the folder {}", folder.display())).because(e);
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            let (path, name) = (entry.path(), format!("{prefix}{name}"));
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.list(&path, &format!("{name}/"), found, other)?;
            } else if !path.is_file() {
                continue;
            } else if self.selects(&name) {
                found.push(Found { name, path });
            } else {
                other.push(name);
            }
        }
        Ok(())
    }

    fn selects(&self, name: &str) -> bool {
        let options =
            MatchOptions { require_literal_separator: true, case_sensitive: !self.whole_folder, ..MatchOptions::new() };
        self.whole_folder && Path::new(name).extension().is_none()
            || self.patterns.iter().any(|pattern| pattern.matches_with(name, options))
    }
}

fn ending(name: &str) -> String {
    Path::new(name).extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(selection: &Selection) -> Vec<String> {
        selection.files().unwrap().into_iter().map(|found| found.name).collect()
    }

    #[test]
    fn folders_files_and_globs_select_in_the_order_of_paths() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for name in ["b/2.txt", "b/1.txt", "a.txt", "b/c/x.jsonl", "b/skip.xml", ".git/y.txt", "b/p.HTML", "n"] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "x").unwrap();
        }
        let parse = |path: &str| Selection::parse(&format!("{}{path}", root.display())).unwrap();
        assert_eq!(names(&parse("")), ["a.txt", "b/1.txt", "b/2.txt", "b/c/x.jsonl", "b/p.HTML", "n"]);
        assert_eq!(names(&parse("/b/2.txt")), ["2.txt"]);
        assert_eq!(names(&parse("/b/*.txt")), ["1.txt", "2.txt"]);
        assert_eq!(names(&parse("/*/?.txt")), ["b/1.txt", "b/2.txt"]);
        assert_eq!(names(&Selection::new(root, ["**/*.xml", "a.*"]).unwrap()), ["a.txt", "b/skip.xml"]);
    }

    #[test]
    fn a_wrong_path_or_glob_is_named() {
        assert!(Selection::parse("nowhere/at/all").unwrap().check().unwrap_err().to_string().contains("nowhere/at"));
        assert!(Selection::parse("a/[").unwrap_err().to_string().contains("`[`"));
    }
}
