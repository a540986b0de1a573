//! Reading sets.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

use hypercane_schemas::Document;
use serde::{Deserialize, de::DeserializeOwned};

use crate::eval::Error;

const CORPUS: &str = "corpus.jsonl";
const QUESTIONS: &str = "questions.jsonl";
/// Passages that make a set harder: with them it is one more set.
const MORE: &str = "extra_distractors.jsonl";

/// Questions beside those that are measured, such as the case study of a paper.
const MORE_QUESTIONS: &str = "questions_extra.jsonl";

/// A corpus and its questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    /// The folder's name, with `+extra_distractors` where these are in it.
    pub name: String,
    /// The passages.
    pub passages: Vec<Passage>,
    /// The questions.
    pub questions: Vec<Question>,
}

/// A passage, as a line of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Passage {
    /// Its id.
    pub id: String,
    /// Its title.
    #[serde(default)]
    pub title: String,
    /// Its text.
    pub text: String,
    /// Who published it, where that is known.
    #[serde(default)]
    pub source: Option<String>,
}

impl Passage {
    /// The passage as a document under its id.
    pub fn document(&self) -> Document {
        Document { title: Some(self.title.clone()), ..Document::plain(&*self.id, self.text.clone()) }
    }
}

/// A question, as a line of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// The question.
    pub question: String,
    /// Ids of the passages that it needs.
    pub supporting: Vec<String>,
}

/// Reads the sets of a folder, or those that are named.
///
/// # Errors
/// A file can't be read, a line is none of its kind, a question needs a passage that is not there, there is no set, or none of
/// a name.
pub fn read_sets(folder: &Path, names: &[String]) -> Result<Vec<Set>, Error> {
    let unreadable = |source: io::Error| Error::Read { path: folder.to_owned(), source };
    let mut folders = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && path.join(CORPUS).is_file()
            && path.join(QUESTIONS).is_file()
        {
            folders.insert(name.to_owned(), path.clone());
        }
    }
    if let Some(name) = names.iter().find(|name| !folders.contains_key(base(name))) {
        return Err(Error::NoSet { folder: folder.to_owned(), name: Some(name.clone()) });
    }
    if folders.is_empty() {
        return Err(Error::NoSet { folder: folder.to_owned(), name: None });
    }
    let mut sets = Vec::new();
    for (name, path) in folders {
        let harder = format!("{name}+extra_distractors");
        let wanted = |name: &String| names.is_empty() || names.contains(name);
        let set = |name: String, passages: Vec<Passage>| -> Result<Set, Error> {
            let set = Set { name, passages: once(passages), questions: lines(&path.join(QUESTIONS))? };
            set.check(&path.join(QUESTIONS))?;
            Ok(set)
        };
        if wanted(&name) {
            sets.push(set(name.clone(), lines(&path.join(CORPUS))?)?);
        }
        if wanted(&harder) && path.join(MORE).is_file() {
            let mut passages = lines(&path.join(CORPUS))?;
            passages.extend(lines::<Passage>(&path.join(MORE))?);
            sets.push(set(harder, passages)?);
        }
    }
    Ok(sets)
}

/// The questions beside those of a set, where it has some.
///
/// # Errors
/// The file can't be read, or a line is no question.
pub fn extra_questions(folder: &Path, set: &str) -> Result<Vec<Question>, Error> {
    let path = folder.join(base(set)).join(MORE_QUESTIONS);
    if path.is_file() { lines(&path) } else { Ok(Vec::new()) }
}

/// The folder's name of a set.
fn base(name: &str) -> &str {
    name.split_once('+').map_or(name, |(base, _)| base)
}

impl Set {
    /// Every passage that a question needs must be there, or no ranking could be right.
    fn check(&self, path: &Path) -> Result<(), Error> {
        let ids: BTreeSet<&str> = self.passages.iter().map(|passage| passage.id.as_str()).collect();
        for question in &self.questions {
            if let Some(id) = question.supporting.iter().find(|id| !ids.contains(id.as_str())) {
                return Err(Error::NoPassage { path: path.to_owned(), question: question.id.clone(), id: id.clone() });
            }
        }
        Ok(())
    }
}

/// The first passage of each id.
fn once(mut passages: Vec<Passage>) -> Vec<Passage> {
    let mut seen = BTreeSet::new();
    passages.retain(|passage| seen.insert(passage.id.clone()));
    passages
}

fn lines<T: DeserializeOwned>(path: &PathBuf) -> Result<Vec<T>, Error> {
    let text = fs::read_to_string(path).map_err(|source| Error::Read { path: path.clone(), source })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = |(at, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|source| Error::Line { path: path.clone(), line: at + 1, source })
    };
    lines.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(questions: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("ports");
        fs::create_dir(&set).unwrap();
        fs::write(
            set.join(CORPUS),
            "{\"id\":\"a\",\"title\":\"A\",\"text\":\"one\"}\n\n{\"id\":\"a\",\"text\":\"two\"}\n",
        )
        .unwrap();
        fs::write(set.join(MORE), "{\"id\":\"b\",\"title\":\"B\",\"text\":\"three\"}\n").unwrap();
        fs::write(set.join(QUESTIONS), questions).unwrap();
        folder
    }

    #[test]
    fn a_folder_gives_its_sets_and_the_harder_ones() {
        let folder = folder("{\"id\":\"q\",\"question\":\"?\",\"supporting\":[\"a\"]}\n");
        let sets = read_sets(folder.path(), &[]).unwrap();
        let shown: Vec<_> = sets.iter().map(|set| (set.name.as_str(), set.passages.len())).collect();
        assert_eq!(shown, [("ports", 1), ("ports+extra_distractors", 2)]);
        assert_eq!(read_sets(folder.path(), &["ports".into()]).unwrap().len(), 1);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let wrong = |folder: &tempfile::TempDir, names: &[String]| {
            format!("{:#}", anyhow::Error::from(read_sets(folder.path(), names).unwrap_err()))
        };
        let missing = folder("{\"id\":\"q\",\"question\":\"?\",\"supporting\":[\"z\"]}\n");
        assert!(wrong(&missing, &[]).contains("\"z\""));
        let broken = folder("{\"id\":\"q\"}\n");
        assert!(wrong(&broken, &[]).contains("line 1"));
        assert!(wrong(&broken, &["bays".into()]).contains("bays"));
        let empty = tempfile::tempdir().unwrap();
        assert!(wrong(&empty, &[]).contains("corpus.jsonl"));
    }
}
