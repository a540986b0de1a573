//! Compaction: many small files of a table become few. Rows, their epochs and their diffs stay as they are.
//!
//! Commits write a small file each. Files are merged in the order of their epochs, so that the bounds that the log keeps of
//! each stay narrow. A file that is much larger than all that came after it is left until these have grown, so a row is
//! written anew a few times only, whatever the table's size. Files of half the full size or more are done.

use std::time::Duration;

use deltalake_core::protocol::DeltaOperation;

use super::{
    COMMITS, Error, Lake,
    file::{FILE_BYTES, age_limit},
    read::{DataFile, Files},
};

/// Files below this are merged.
const SMALL_BYTES: u64 = (FILE_BYTES / 2) as u64;
/// A file this many times as large as all later ones together is left alone for now.
const MUCH_LARGER: u64 = 2;

/// When the small files of a table are merged.
#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    /// Where there are two.
    Always,
    /// Where there are more than so many, or some that are older.
    Due { more_than: usize, older_than: Duration },
}

impl Lake {
    /// Merges the small files of every table; gives for each where there was something to do how many. `dry_run` only looks.
    ///
    /// A table that can't be changed just now, since a commit has failed or another program changes it, is left as it is.
    pub async fn compact(&self, dry_run: bool) -> Result<Vec<(String, usize)>, Error> {
        let mut merged = Vec::new();
        for name in self.own_tables().await? {
            let n_files = match dry_run {
                true => match Files::of(&self.storage, &name).await? {
                    Some(files) => choose(&name, &files, When::Always).len(),
                    None => 0,
                },
                false => self.compact_table(&name, When::Always).await?.n_merged,
            };
            if n_files > 0 {
                merged.push((name, n_files));
            }
        }
        Ok(merged)
    }

    /// Merges small files of one table.
    pub(super) async fn compact_table(&self, name: &str, when: When) -> Result<Compacted, Error> {
        let Some(files) = self.committed_files(name).await? else { return Ok(Compacted::default()) };
        let n_small = files.all().filter(|file| file.n_bytes < SMALL_BYTES).count();
        let chosen = choose(name, &files, when);
        if chosen.is_empty() {
            return Ok(Compacted { n_merged: 0, n_small });
        }
        let n_merged = chosen.len();
        let rewrite = self.rewrite(name, &files, &chosen, &mut Ok).await?;
        let optimize = DeltaOperation::Optimize { predicate: None, target_size: FILE_BYTES as i64 };
        if !self.swap(name, rewrite, false, optimize, None).await? {
            tracing::info!(table = name, "the table changed meanwhile; its files are merged another time");
            return Ok(Compacted { n_merged: 0, n_small });
        }
        tracing::debug!(table = name, files = n_merged, "merged small files");
        Ok(Compacted { n_merged, n_small: n_small + 1 - n_merged })
    }
}

/// What a compaction did to a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compacted {
    /// How many files were merged.
    pub(super) n_merged: usize,
    /// How many small files there are now, about.
    pub(super) n_small: usize,
}

/// The files to merge, oldest first; none, or at least two.
fn choose<'a>(name: &str, files: &'a Files, when: When) -> Vec<&'a DataFile> {
    let n_files = files.all().len();
    // A start reads the newest commit, which is quick as long as it has a file of its own.
    let n_taken = if name == COMMITS { n_files.saturating_sub(1) } else { n_files };
    let small: Vec<&DataFile> = files.all().take(n_taken).filter(|file| file.n_bytes < SMALL_BYTES).collect();
    let start = match when {
        When::Always => 0,
        When::Due { .. } => first_to_merge(&small.iter().map(|file| file.n_bytes).collect::<Vec<_>>()),
    };
    let chosen = &small[start..];
    let is_due = match when {
        When::Always => true,
        When::Due { more_than, older_than } => {
            let limit = age_limit(older_than);
            small.len() > more_than || chosen.iter().any(|file| file.written_at < limit)
        }
    };
    if is_due && chosen.len() > 1 { chosen.to_vec() } else { Vec::new() }
}

/// The first file, by sizes from the oldest to the newest, that is not much larger than all after it.
fn first_to_merge(sizes: &[u64]) -> usize {
    let mut later: u64 = sizes.iter().sum();
    let large = sizes.iter().take_while(|&&size| {
        later -= size;
        size > later.saturating_mul(MUCH_LARGER)
    });
    large.count()
}

#[cfg(test)]
mod tests {
    use super::first_to_merge;

    #[test]
    fn a_file_much_larger_than_all_after_it_is_left_alone() {
        assert_eq!(first_to_merge(&[]), 0);
        assert_eq!(first_to_merge(&[1; 40]), 0);
        assert_eq!(first_to_merge(&[1000, 100, 10, 1, 1, 1, 1, 1, 1]), 2);
        assert_eq!(first_to_merge(&[100, 10, 49]), 0);
        assert_eq!(first_to_merge(&[7]), 1);
    }

    #[test]
    fn a_row_is_written_anew_a_few_times_however_long_it_goes_on() {
        let (mut sizes, mut n_written, mut most) = (Vec::new(), 0, 0);
        for _ in 0..100_000 {
            sizes.push(1);
            if sizes.len() > 32 {
                let rest = sizes.split_off(first_to_merge(&sizes));
                let merged: u64 = rest.iter().sum();
                n_written += merged;
                sizes.push(merged);
            }
            most = most.max(sizes.len());
        }
        assert!(n_written < 100_000 * 12, "{n_written}");
        assert_eq!(most, 32);
    }
}
