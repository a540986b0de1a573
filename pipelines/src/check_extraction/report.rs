//! What a check found.

use std::fmt;

use serde::Serialize;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// One entry a field, in the order of checking.
    pub fields: Vec<Field>,
    /// One entry a folder: texts parsed or rejected.
    pub folders: Vec<Folder>,
}

/// A field that has right answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    /// What is compared.
    pub name: String,
    /// How often both agree.
    pub right: usize,
    /// How often they were compared.
    pub total: usize,
    /// Where they differ.
    pub wrong: Vec<Wrong>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wrong {
    /// The text.
    pub file: String,
    /// Its line, where the fact stands; 1 where there is no fact.
    pub line: u32,
    /// What the table says.
    pub expected: String,
    /// What was extracted.
    pub found: String,
}

/// The texts of one folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Folder {
    /// Its name and what is counted there.
    pub name: String,
    /// Texts in it.
    pub texts: usize,
    /// Texts that gave facts.
    pub parsed: usize,
    /// Facts of all of them.
    pub facts: usize,
    /// Texts that were rejected.
    pub rejected: Vec<Rejected>,
    /// Parts of parsed texts that could not be read.
    pub failures: Vec<Rejected>,
}

/// A text, or a part of one, that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rejected {
    /// The text.
    pub file: String,
    /// The line.
    pub line: u32,
    /// Why.
    pub reason: String,
}

impl Report {
    /// Adds one comparison; `wrong` is the difference, if there is one.
    pub(super) fn compare(&mut self, name: &str, wrong: Option<Wrong>) {
        let field = match self.fields.iter_mut().position(|field| field.name == name) {
            Some(idx) => &mut self.fields[idx],
            None => {
                self.fields.push(Field { name: name.into(), right: 0, total: 0, wrong: Vec::new() });
                let last = self.fields.len() - 1;
                &mut self.fields[last]
            }
        };
        field.total += 1;
        match wrong {
            Some(wrong) => field.wrong.push(wrong),
            None => field.right += 1,
        }
    }

    /// The entry of a folder.
    pub(super) fn folder(&mut self, name: &str) -> &mut Folder {
        let idx = self.folders.iter().position(|folder| folder.name == name).unwrap_or_else(|| {
            self.folders.push(Folder { name: name.into(), ..Folder::default() });
            self.folders.len() - 1
        });
        &mut self.folders[idx]
    }

    /// Whether nothing differs.
    pub fn all_right(&self) -> bool {
        self.fields.iter().all(|field| field.wrong.is_empty())
    }
}

impl fmt::Display for Report {
    /// One line a field, its differences under it; then one line a folder, its rejects under it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for field in &self.fields {
            writeln!(f, "{:<44} {:>6}/{}", field.name, field.right, field.total)?;
            for wrong in &field.wrong {
                let Wrong { file, line, expected, found } = wrong;
                writeln!(f, "    {file}:{line}: the table has {expected}, the text gave {found}")?;
            }
        }
        for folder in &self.folders {
            let Folder { name, texts, parsed, facts, rejected, failures } = folder;
            writeln!(
                f,
                "{name:<32} {texts:>5} texts: {parsed} parsed ({facts} facts), {} rejected, {} parts not read",
                rejected.len(),
                failures.len()
            )?;
            for (what, all) in [("rejected", rejected), ("not read", failures)] {
                for Rejected { file, line, reason } in all {
                    writeln!(f, "    {what} {file}:{line}: {reason}")?;
                }
            }
        }
        Ok(())
    }
}
