//! Disks that are full, read-only or slow, and files of a lake that are damaged.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use super::running::{Place, brokers, refused};

/// A small file system of its own, unmounted when it goes.
struct Disk(tempfile::TempDir);

impl Disk {
    /// None where this user may not mount one.
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "hypercane"]).arg(folder.path());
        if !mount.output().is_ok_and(|output| output.status.success()) {
            println!("skipped: no file system can be mounted here");
            return None;
        }
        Some(Self(folder))
    }

    fn remount(&self, mode: &str) {
        let options = format!("remount,{mode}");
        assert!(Command::new("mount").args(["-o", &options]).arg(self.0.path()).status().unwrap().success());
    }

    fn lake(&self) -> PathBuf {
        self.0.path().join("lake")
    }

    /// Takes all the room that is left.
    fn fill(&self) -> PathBuf {
        let file = self.0.path().join("filler");
        let _ = Command::new("dd").args(["if=/dev/zero", &format!("of={}", file.display()), "bs=1k"]).output();
        file
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

/// A folder that can't be written until this goes. A whole file system that is in use can't be made so.
struct ReadOnly(PathBuf);

impl ReadOnly {
    fn make(folder: &Path) -> Self {
        for options in ["bind", "remount,bind,ro"] {
            assert!(Command::new("mount").args(["-o", options]).args([folder, folder]).status().unwrap().success());
        }
        Self(folder.to_owned())
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_or_read_only_disk_stops_reading_until_there_is_room_and_no_table_is_corrupt() {
    let Some(brokers) = brokers() else { return };
    let Some(disk) = Disk::mount("24m") else { return };
    let place = Place::with_lake(&brokers, disk.lake());
    place.create_topics();
    let mut run = place.run(&[], &[]);
    place.send_documents(1..=2);
    place.wait_for_documents(2);

    println!("\nThe disk is full:");
    let filler = disk.fill();
    place.send_documents(3..=4);
    run.says("the lake can't be written; reading stops until it can");
    run.says("the disk is full: free some space, then it goes on");
    assert_eq!(place.documents().len(), 2, "what is committed stays readable");
    println!("\nThere is room again:");
    fs::remove_file(filler).unwrap();
    run.says("the lake can be written again");
    place.wait_for_documents(4);

    println!("\nA part of the lake becomes read-only:");
    let read_only = ReadOnly::make(&disk.lake().join("commits"));
    place.send_documents(5..=5);
    run.says("the file system is read-only");
    println!("\nIt is writable again:");
    drop(read_only);
    run.says_times("the lake can be written again", 2);
    place.wait_for_documents(5);
    run.stops();
    place.verify();

    println!("\nThe lake is read-only at the start:");
    disk.remount("ro");
    refused(place.run_to_end(&[], &[]), &["can't write to", &disk.lake().to_string_lossy(), "mount it writable"]);
    disk.remount("rw");
    assert_eq!(place.run_to_end(&[], &[]).0, Some(0));
    place.verify();
}

#[test]
fn a_slow_lake_holds_the_source_back_and_memory_stays_flat() {
    let Some(brokers) = brokers() else { return };
    let place = Place::new(&brokers);
    place.create_topics();
    let run = place.run(&[], &[("HYPERCANE_FAULT", "slow:400")]);
    place.send_documents(1..=1);
    place.wait_for_documents(1);
    let before = run.resident_kib();
    // Several times what the buffers hold; rejects, so that nothing of it stays in memory by right.
    let (n_records, n_bytes) = (24_000, 25_000);
    place.send((0..n_records).map(|number| (format!("bad/{number}"), noise(number, n_bytes))));
    let (last, mut peaks) = (1 + n_records as i64, [0, 0]);
    let began = Instant::now();
    loop {
        let committed = place.committed();
        let half = usize::from(committed > last / 2);
        peaks[half] = peaks[half].max(run.resident_kib());
        if committed == last {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(180), "{committed} of {last} records are committed");
        thread::sleep(Duration::from_millis(200));
    }
    let [first, second] = peaks.map(|peak: u64| peak.saturating_sub(before) >> 10);
    let (n_mib, took) = ((n_records * n_bytes) >> 20, began.elapsed());
    println!("\n{n_mib} MiB went through in {took:.0?}; memory grew by {first} MiB, in the second half by {second}");
    run.stops();
    assert_eq!(place.rejects().len(), n_records);
    // Held as rows of a table, in base64, it would be 760 MiB beside what the buffers and the commit under way hold.
    assert!(second < 500, "memory grew by {first}, then by {second} MiB");
    place.verify();
}

/// Bytes that do not compress and are no JSON.
fn noise(seed: usize, n_bytes: usize) -> Vec<u8> {
    let mut state = seed as u64 * 2 + 1;
    (0..n_bytes)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            b'a' + (state >> 33) as u8 % 26
        })
        .collect()
}

/// The first file of a folder with an ending.
fn file(folder: &Path, ending: &str) -> PathBuf {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(ending));
    files.sort();
    files.remove(0)
}

#[test]
fn a_damaged_file_of_the_lake_is_named_by_the_commands_that_meet_it() {
    let Some(brokers) = brokers() else { return };
    let place = Place::new(&brokers);
    place.create_topics();
    place.send_documents(1..=2);
    assert_eq!(place.run_to_end(&[], &[]).0, Some(0));
    let damaged = [
        file(&place.lake.join("documents"), ".parquet"),
        file(&place.lake.join("model_outputs"), ".parquet"),
        file(&place.lake.join("hyperedges/_delta_log"), ".json"),
        file(&place.lake.join("commits/_delta_log"), "01.json"),
    ];
    for damaged in damaged {
        let whole = fs::read(&damaged).unwrap();
        fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
        let name = damaged.file_name().unwrap().to_string_lossy().into_owned();
        println!("\n{} is cut in the middle:", damaged.strip_prefix(&place.lake).unwrap().display());
        refused(place.run_to_end(&[], &[]), &[&name, "damaged", "restore it from a copy"]);
        fs::write(&damaged, whole).unwrap();
    }
    let text = file(&place.lake.join("documents"), ".parquet");
    fs::remove_file(&text).unwrap();
    println!("\nA file is missing:");
    let name = text.file_name().unwrap().to_string_lossy().into_owned();
    refused(place.run_to_end(&[], &[]), &[&name, "the file is missing"]);
}
