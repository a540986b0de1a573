//! The command, as users run it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::OnceLock,
};

/// The checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Where the command is. It is built first, so that a test never meets an older one.
pub fn path() -> &'static Path {
    static COMMAND: OnceLock<PathBuf> = OnceLock::new();
    COMMAND.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--release", "--quiet", "--workspace", "--bins"]).current_dir(root());
        // What cargo tells this test of its package would make build scripts run again, and with them half the dependencies.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                cargo.env_remove(&*name);
            }
        }
        let built = cargo.status().expect("cargo runs");
        assert!(built.success(), "the command can't be built");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
        target.join("release/hypercane")
    })
}

/// Runs it in the checkout.
pub fn hypercane(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let command = path();
    Command::new(command)
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(root())
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", command.display()))
}

/// Runs it for a reader who is gone before the first line.
pub fn unread(arguments: &[&str]) -> Output {
    let mut command = Command::new(path());
    command.args(arguments).current_dir(root()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    child.wait_with_output().unwrap()
}
