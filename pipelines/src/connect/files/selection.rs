//! Which files are meant: a root folder, and patterns of paths below it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use glob::{MatchOptions, Pattern};

use super::Error;

/// What is taken from a folder that is named without a pattern.
const DEFAULT_PATTERNS: [&str; 4] = ["**/*.txt", "**/*.jsonl", "**/*.ndjson", "**/*.csv"];

/// Some files below a root folder; keys are paths relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    root: PathBuf,
    patterns: Vec<Pattern>,
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
        Ok(Self { root: root.into(), patterns: patterns.into_iter().map(compile).collect::<Result<_, _>>()? })
    }

    /// Reads what a user writes: a folder (its texts, JSON Lines and CSV files), a file, or a glob.
    pub fn parse(path: &str) -> Result<Self, Error> {
        let plain = Path::new(path);
        if plain.is_dir() {
            return Self::new(plain, DEFAULT_PATTERNS);
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
        if self.files()?.is_empty() {
            let patterns: Vec<&str> = self.patterns.iter().map(Pattern::as_str).collect();
            tracing::warn!(root = %self.root.display(), ?patterns, "no file is selected");
        }
        Ok(())
    }

    /// The selected files, ordered by name. Hidden ones and what is behind links to folders are left out.
    pub(super) fn files(&self) -> Result<Vec<Found>, Error> {
        let mut found = Vec::new();
        self.list(&self.root, "", &mut found)?;
        found.sort();
        Ok(found)
    }

    fn list(&self, folder: &Path, prefix: &str, found: &mut Vec<Found>) -> Result<(), Error> {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
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
                self.list(&path, &format!("{name}/"), found)?;
            } else if self.patterns.iter().any(|pattern| pattern.matches_with(&name, options)) && path.is_file() {
                found.push(Found { name, path });
            }
        }
        Ok(())
    }
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
        for name in ["b/2.txt", "b/1.txt", "a.txt", "b/c/x.jsonl", "b/skip.xml", ".git/y.txt"] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "x").unwrap();
        }
        let parse = |path: &str| Selection::parse(&format!("{}{path}", root.display())).unwrap();
        assert_eq!(names(&parse("")), ["a.txt", "b/1.txt", "b/2.txt", "b/c/x.jsonl"]);
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
