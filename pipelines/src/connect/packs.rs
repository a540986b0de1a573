//! Domain packs: read from a folder, or from the packs that ship inside the program.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::models::load_language;
use hypercane_operators::{
    domain::{DOMAIN_FILE, Domain, DomainError},
    kernel::PrecedenceRules,
    language_model::{HopPrompts, Prompt},
};

/// Where a pack has the prompt for extraction.
const PROMPT_FILE: &str = "prompts/extract.md";
/// Where it has those for the hops of a question.
const SPLIT_FILE: &str = "prompts/split.md";
const HOP_FILE: &str = "prompts/hop.md";

/// A pack that can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither a folder nor a pack that ships.
    #[error("there is no domain pack {name:?}: it is no folder, and the packs that ship are: cyclone, general")]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// A file can't be read.
    #[error("{path:?} of the domain pack can't be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// Its language model can't be loaded.
    #[error("the domain pack {name:?} reads texts with a language model")]
    Language {
        /// The pack.
        name: String,
        /// Why.
        #[source]
        cause: super::Error,
    },
    /// The pack is wrong.
    #[error(transparent)]
    Wrong(#[from] DomainError),
    /// It does not say how a language model is asked.
    #[error(
        "the domain pack {name:?} has no {file}, which says how a language model is asked; add it, or use the pack \"general\""
    )]
    NoPrompt {
        /// The pack.
        name: String,
        /// The file.
        file: &'static str,
    },
    /// Its prompt can't be used.
    #[error("{file} of the domain pack {name:?} is wrong: {reason}")]
    Prompt {
        /// The pack.
        name: String,
        /// The file.
        file: &'static str,
        /// Why.
        reason: String,
    },
    /// Its rules of precedence contradict each other.
    #[error("the domain pack {name:?} can't order its facts: {reason}")]
    Rules {
        /// The pack.
        name: String,
        /// Why.
        reason: String,
    },
}

/// Loads a pack: a folder with `domain.toml` and its tables, or the name of a pack that ships.
///
/// # Errors
/// There is none of that name, or it can't be read, or it is wrong.
pub fn load(name: &str) -> Result<Domain, Error> {
    let domain = read(name)?;
    let rules = PrecedenceRules::from(&domain);
    rules.validate().map_err(|reason| Error::Rules { name: name.into(), reason })?;
    Ok(domain)
}

/// Loads a pack with its language model, where it has one: from the folder of its name in that of the models.
///
/// # Errors
/// As [`load`], and the language model is not there or is none.
pub fn load_with_models(name: &str, models: &Path) -> Result<Domain, Error> {
    let domain = load(name)?;
    let Some(language) = domain.language_name() else { return Ok(domain) };
    let language =
        load_language(&models.join(language)).map_err(|cause| Error::Language { name: name.into(), cause })?;
    Ok(domain.with_language(Arc::new(language)))
}

fn read(name: &str) -> Result<Domain, Error> {
    let folder = Path::new(name);
    if folder.is_dir() {
        return load_folder(folder);
    }
    match name {
        "cyclone" => {
            let tables = [
                ("ports.csv", include_str!("../../../data/domains/cyclone/ports.csv")),
                ("sectors.csv", include_str!("../../../data/domains/cyclone/sectors.csv")),
                ("questions.toml", include_str!("../../../data/domains/cyclone/questions.toml")),
            ];
            let tables = tables.map(|(file, text)| (file.to_owned(), text.to_owned())).into();
            Ok(Domain::parse(include_str!("../../../data/domains/cyclone/domain.toml"), &tables)?)
        }
        "general" => Ok(Domain::parse(include_str!("../../../data/domains/general/domain.toml"), &BTreeMap::new())?),
        _ => Err(Error::Unknown { name: name.into() }),
    }
}

/// The prompt by which a language model extracts: `prompts/extract.md` of a pack.
///
/// # Errors
/// The pack has none, or it can't be read, or it is wrong.
pub fn extraction_prompt(name: &str) -> Result<Prompt, Error> {
    let text = prompt_file(name, PROMPT_FILE, include_str!("../../../data/domains/general/prompts/extract.md"))?;
    Prompt::parse(&text).map_err(|reason| Error::Prompt { name: name.into(), file: PROMPT_FILE, reason })
}

/// The prompts by which a language model splits questions and answers their hops: `prompts/split.md` and `prompts/hop.md`.
///
/// # Errors
/// The pack has one of them not, or it can't be read, or it is wrong.
pub fn hop_prompts(name: &str) -> Result<HopPrompts, Error> {
    let split = prompt_file(name, SPLIT_FILE, include_str!("../../../data/domains/general/prompts/split.md"))?;
    let hop = prompt_file(name, HOP_FILE, include_str!("../../../data/domains/general/prompts/hop.md"))?;
    let wrong = |file| move |reason| Error::Prompt { name: name.into(), file, reason };
    Ok(HopPrompts {
        split: HopPrompts::parse_split(&split).map_err(wrong(SPLIT_FILE))?,
        answer: HopPrompts::parse_answer(&hop).map_err(wrong(HOP_FILE))?,
    })
}

fn prompt_file(name: &str, file: &'static str, of_general: &str) -> Result<String, Error> {
    let path = Path::new(name).join(file);
    match name {
        _ if path.is_file() => fs::read_to_string(&path).map_err(|cause| Error::Read { path, cause }),
        "general" => Ok(of_general.to_owned()),
        _ => Err(Error::NoPrompt { name: name.into(), file }),
    }
}

fn load_folder(folder: &Path) -> Result<Domain, Error> {
    let read = |path: PathBuf| fs::read_to_string(&path).map_err(|cause| Error::Read { path, cause });
    let domain_toml = read(folder.join(DOMAIN_FILE))?;
    let mut tables = BTreeMap::new();
    let entries = fs::read_dir(folder).map_err(|cause| Error::Read { path: folder.into(), cause })?;
    for entry in entries {
        let path = entry.map_err(|cause| Error::Read { path: folder.into(), cause })?.path();
        if path.extension().is_some_and(|extension| extension == "csv" || extension == "toml")
            && let Some(file) = path.file_name().and_then(|file| file.to_str())
            && file != DOMAIN_FILE
        {
            tables.insert(file.to_owned(), read(path.clone())?);
        }
    }
    Ok(Domain::parse(&domain_toml, &tables)?)
}

#[cfg(test)]
mod tests {
    use super::{extraction_prompt, load, load_with_models};

    #[test]
    fn the_packs_that_ship_load_from_anywhere() {
        for name in ["cyclone", "general"] {
            assert_eq!(load(name).unwrap().name(), name);
        }
    }

    #[test]
    fn a_pack_without_its_language_model_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let error = anyhow::Error::from(load_with_models("general", folder.path()).unwrap_err());
        assert!(format!("{error:#}").contains("make models"), "{error:#}");
        assert!(load_with_models("cyclone", folder.path()).is_ok());
    }

    #[test]
    fn a_pack_says_how_a_language_model_is_asked_or_that_it_does_not() {
        let shipped = extraction_prompt("general").unwrap();
        assert!(extraction_prompt("cyclone").unwrap_err().to_string().contains("prompts/extract.md"));
        let pack = tempfile::tempdir().unwrap();
        let file = pack.path().join("prompts/extract.md");
        std::fs::create_dir(pack.path().join("prompts")).unwrap();
        let prompt = || extraction_prompt(pack.path().to_str().unwrap());
        std::fs::write(&file, "# System\nRead.\n# User\n{text}\n# Repair\nAgain: {reason}\n").unwrap();
        assert_ne!(prompt().unwrap().hash(), shipped.hash());
        std::fs::write(&file, "# System\nRead.\n").unwrap();
        assert!(prompt().unwrap_err().to_string().contains("# User"));
    }

    #[test]
    fn an_unknown_pack_says_which_there_are() {
        assert!(load("no_such_pack").unwrap_err().to_string().contains("cyclone"));
    }
}
