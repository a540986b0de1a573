//! Domain packs: read from a folder, or from the packs that ship inside the program.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use hypercane_operators::{
    domain::{DOMAIN_FILE, Domain, DomainError},
    kernel::PrecedenceRules,
};

/// A pack that can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither a folder nor a pack that ships.
    #[error("there is no domain pack {name:?}: it is no folder, and the packs that ship are: cyclone")]
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
    /// The pack is wrong.
    #[error(transparent)]
    Wrong(#[from] DomainError),
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
        _ => Err(Error::Unknown { name: name.into() }),
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
    use super::load;

    #[test]
    fn the_pack_that_ships_loads_from_anywhere() {
        assert_eq!(load("cyclone").unwrap().name(), "cyclone");
    }

    #[test]
    fn an_unknown_pack_says_which_there_are() {
        assert!(load("no_such_pack").unwrap_err().to_string().contains("cyclone"));
    }
}
