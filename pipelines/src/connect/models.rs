//! The language model: read from its folder.

use std::{collections::BTreeMap, fs, path::Path};

use hypercane_operators::language::Language;

use super::Error;

/// Loads the language model from a folder, as `make models` lays it down.
///
/// # Errors
/// A file can't be read, or is none of such a model; trying again won't help.
pub fn load_language(folder: &Path) -> Result<Language, Error> {
    let mut files = BTreeMap::new();
    for name in Language::FILES {
        let path = folder.join(name);
        let bytes = fs::read(&path).map_err(|cause| {
            let what = format!("can't read the language model's file {}; `make models` fetches it", path.display());
            Error::lasting(what).because(cause)
        })?;
        files.insert(name.to_owned(), bytes);
    }
    Language::parse(&files).map_err(|cause| {
        let what = format!("{} holds no language model that fits; `make models` fetches one", folder.display());
        Error::lasting(what).because(cause)
    })
}

#[cfg(test)]
mod tests {
    use super::load_language;

    #[test]
    fn a_missing_file_is_named_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let error = load_language(folder.path()).err().unwrap().to_string();
        assert!(error.contains("tokenizer") && error.contains("make models"), "{error}");
    }

    #[test]
    fn a_damaged_model_is_named_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        for name in hypercane_operators::language::Language::FILES {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"\xc1").unwrap();
        }
        let error = load_language(folder.path()).err().unwrap();
        assert!(error.to_string().contains("make models"), "{error}");
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("tokenizer") && cause.contains("damaged"), "{cause}");
    }
}
