//! Where vectors are kept: the interface, one in memory, and one that is a file to which is only added.

use std::{
    collections::HashMap,
    fmt,
    fs::{self, File, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use hypercane_schemas::{ContentHash, Vector};
use xxhash_rust::xxh3::xxh3_64;

use super::Error;

/// The vectors of one model, by the hash of their text.
pub trait VectorStore: fmt::Debug + Send + Sync + 'static {
    /// What is known of these texts, in their order.
    fn get(&self, inputs: &[ContentHash]) -> Result<Vec<Option<Vector>>, Error>;

    /// Keeps vectors; they are on the record when this returns. A text that is known already keeps its first vector.
    fn put(&self, rows: &[(ContentHash, Vector)]) -> Result<(), Error>;
}

/// A store that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    vectors: Mutex<HashMap<ContentHash, Vector>>,
}

impl VectorStore for MemoryStore {
    fn get(&self, inputs: &[ContentHash]) -> Result<Vec<Option<Vector>>, Error> {
        let vectors = locked(&self.vectors);
        Ok(inputs.iter().map(|input| vectors.get(input).cloned()).collect())
    }

    fn put(&self, rows: &[(ContentHash, Vector)]) -> Result<(), Error> {
        let mut vectors = locked(&self.vectors);
        for (input, vector) in rows {
            vectors.entry(*input).or_insert_with(|| vector.clone());
        }
        Ok(())
    }
}

/// A store in one file. A record is the text's hash (16 bytes), the number of dimensions (4), the dimensions (4 each) and
/// a checksum (8), all little-endian; before the first comes the model's id. A record that a crash cut short is dropped
/// when the file is opened.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    vectors: MemoryStore,
    file: Mutex<File>,
}

const MAGIC: &[u8; 8] = b"hcvec01\n";

impl FileStore {
    /// Opens or makes the file for a model; the file of another model is refused.
    pub fn open(path: &Path, model: &str) -> Result<Self, Error> {
        let failed =
            |e: std::io::Error| Error::lasting(format!("can't use the vector file {}", path.display())).because(e);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        let bytes = fs::read(path).map_err(failed)?;
        let header = [MAGIC.as_slice(), &(model.len() as u32).to_le_bytes(), model.as_bytes()].concat();
        let vectors = MemoryStore::default();
        let mut end = header.len();
        if bytes.starts_with(&header) {
            let mut known = locked(&vectors.vectors);
            while let Some((input, vector, n_bytes)) = parse(&bytes[end..]) {
                known.entry(input).or_insert(vector);
                end += n_bytes;
            }
        } else if header.starts_with(&bytes) {
            // Empty, or cut short within the header: nothing can have followed it.
            file.set_len(0).map_err(failed)?;
            file.write_all(&header).map_err(failed)?;
        } else {
            return Err(Error::lasting(format!(
                "the file {} does not hold vectors of the model {model}; give another path or remove it",
                path.display()
            )));
        }
        if bytes.len() > end {
            tracing::warn!(path = %path.display(), n_bytes = bytes.len() - end, "dropped a record that was cut short");
        }
        file.set_len(end as u64).map_err(failed)?;
        file.seek(SeekFrom::Start(end as u64)).map_err(failed)?;
        Ok(Self { path: path.to_owned(), vectors, file: Mutex::new(file) })
    }

    /// How many vectors it holds.
    pub fn len(&self) -> usize {
        locked(&self.vectors.vectors).len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl VectorStore for FileStore {
    fn get(&self, inputs: &[ContentHash]) -> Result<Vec<Option<Vector>>, Error> {
        self.vectors.get(inputs)
    }

    fn put(&self, rows: &[(ContentHash, Vector)]) -> Result<(), Error> {
        let mut file = locked(&self.file);
        let mut bytes = Vec::new();
        {
            let known = locked(&self.vectors.vectors);
            for (input, vector) in rows.iter().filter(|(input, _)| !known.contains_key(input)) {
                render(*input, vector, &mut bytes);
            }
        }
        file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(|e| {
            Error::lasting(format!("can't write to the vector file {}", self.path.display())).because(e)
        })?;
        self.vectors.put(rows)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The maps are changed by single inserts, so they are whole even if a thread died while it held the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn render(input: ContentHash, vector: &Vector, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend(input.0.to_le_bytes());
    out.extend((vector.0.len() as u32).to_le_bytes());
    out.extend(vector.0.iter().flat_map(|x| x.to_le_bytes()));
    let checksum = xxh3_64(&out[start..]);
    out.extend(checksum.to_le_bytes());
}

fn parse(bytes: &[u8]) -> Option<(ContentHash, Vector, usize)> {
    let (input, rest) = bytes.split_first_chunk::<16>()?;
    let (n_dimensions, rest) = rest.split_first_chunk::<4>()?;
    let n_bytes = (u32::from_le_bytes(*n_dimensions) as usize).checked_mul(4)?;
    let (dimensions, rest) = rest.split_at_checked(n_bytes)?;
    let (checksum, _) = rest.split_first_chunk::<8>()?;
    let body = 16 + 4 + n_bytes;
    if xxh3_64(&bytes[..body]) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let vector = dimensions.chunks_exact(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect();
    Some((ContentHash(u128::from_le_bytes(*input)), Vector(vector), body + 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(n: u8) -> (ContentHash, Vector) {
        (ContentHash(n.into()), Vector([f32::from(n), -0.0, 1.0 / 3.0].into()))
    }

    #[test]
    fn vectors_survive_a_restart_and_a_torn_write() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model/vectors");
        let store = FileStore::open(&path, "m@1").unwrap();
        store.put(&[row(1), row(2)]).unwrap();
        store.put(&[row(2), row(3)]).unwrap();
        let n_bytes = fs::metadata(&path).unwrap().len();
        drop(store);

        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(n_bytes - 1).unwrap();
        let store = FileStore::open(&path, "m@1").unwrap();
        assert_eq!(store.len(), 2, "the third record was cut");
        store.put(&[row(3)]).unwrap();
        let store = FileStore::open(&path, "m@1").unwrap();
        let inputs = [1, 2, 3, 4].map(|n| row(n).0);
        assert_eq!(store.get(&inputs).unwrap(), [Some(row(1).1), Some(row(2).1), Some(row(3).1), None]);
    }

    #[test]
    fn the_file_of_another_model_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vectors");
        FileStore::open(&path, "m@1").unwrap().put(&[row(1)]).unwrap();
        assert!(FileStore::open(&path, "m@2").unwrap_err().to_string().contains("m@2"));
        assert_eq!(FileStore::open(&path, "m@1").unwrap().len(), 1);
    }
}
