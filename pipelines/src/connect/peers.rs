//! The other processes of a cluster: one TCP connection to each, made before the dataflow starts.
//!
//! Process `i` listens at the `i`-th address and calls every process before it. A call says which cluster it means, so that
//! a process with another configuration is told so, and a stranger at the port is sent away.

use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream, ToSocketAddrs},
    thread,
    time::{Duration, Instant},
};

use hypercane_schemas::ContentHash;

use super::Error;

/// The first bytes of a call.
const MAGIC: [u8; 8] = *b"hycane01";
/// How long to wait before calling again, or looking again for calls.
const PAUSE: Duration = Duration::from_millis(50);
/// How often a wait that goes on is mentioned.
const MENTION_AGAIN: Duration = Duration::from_secs(10);
/// How long a caller may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who belongs together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// What all processes have to agree on, besides the addresses: the pipeline's id, the number of workers.
    pub name: String,
    /// Which process this is, from 0.
    pub process: usize,
    /// Where each process listens, `host:port`.
    pub hosts: Vec<String>,
}

impl Cluster {
    fn fingerprint(&self) -> [u8; 16] {
        let parts = [&self.name].into_iter().chain(&self.hosts).map(String::as_str);
        ContentHash::of_parts(parts.collect::<Vec<_>>()).0.to_be_bytes()
    }

    fn host(&self, process: usize) -> &str {
        &self.hosts[process]
    }
}

/// Connects with all other processes, and waits until each is there. The stream to process `i` stands at place `i`; there
/// is none at the own place.
///
/// # Errors
/// The own address can't be listened at, or a process was started with another configuration.
pub fn connect(cluster: &Cluster) -> Result<Vec<Option<TcpStream>>, Error> {
    let listener = listen(cluster)?;
    thread::scope(|scope| {
        let answered = scope.spawn(|| answer(cluster, &listener));
        let called: Result<Vec<_>, Error> = (0..cluster.process).map(|other| call(cluster, other).map(Some)).collect();
        let answered = answered.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut streams = called?;
        streams.push(None);
        streams.extend(answered?.into_iter().map(Some));
        Ok(streams)
    })
}

fn listen(cluster: &Cluster) -> Result<TcpListener, Error> {
    let host = cluster.host(cluster.process);
    let failed = |e: std::io::Error| {
        let what = format!("process {} of the cluster can't listen at {host}", cluster.process);
        Error::lasting(what).because(e)
    };
    let listener = TcpListener::bind(host).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Calls a process until it answers.
fn call(cluster: &Cluster, other: usize) -> Result<TcpStream, Error> {
    let host = cluster.host(other);
    if let Err(e) = host.to_socket_addrs() {
        return Err(Error::lasting(format!("the address {host} of process {other} is none")).because(e));
    }
    let mut waiting = Waiting::new();
    loop {
        match introduce(cluster, host) {
            Ok(Some(stream)) => return Ok(stream),
            Ok(None) => {
                return Err(Error::lasting(format!(
                    "process {other} at {host} was started with another configuration: all processes need the same \
                     hosts in the same order, the same number of workers and the same pipeline id"
                )));
            }
            Err(error) => waiting.mention(|| format!("process {other} at {host}: {error}")),
        }
        thread::sleep(PAUSE);
    }
}

/// One call; `None` when the other side wants nothing of us.
fn introduce(cluster: &Cluster, host: &str) -> std::io::Result<Option<TcpStream>> {
    let mut stream = TcpStream::connect(host)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut call = [0; CALL_BYTES];
    call[..8].copy_from_slice(&MAGIC);
    call[8..24].copy_from_slice(&cluster.fingerprint());
    call[24..].copy_from_slice(&(cluster.process as u64).to_be_bytes());
    stream.write_all(&call)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    stream.set_read_timeout(None)?;
    Ok((answer == [WELCOME]).then_some(stream))
}

const CALL_BYTES: usize = 32;
const WELCOME: u8 = 1;
const REFUSED: u8 = 0;

/// Waits for the calls of all processes after this one.
fn answer(cluster: &Cluster, listener: &TcpListener) -> Result<Vec<TcpStream>, Error> {
    let first = cluster.process + 1;
    let mut streams: Vec<Option<TcpStream>> = (first..cluster.hosts.len()).map(|_| None).collect();
    let mut waiting = Waiting::new();
    while streams.iter().any(Option::is_none) {
        match listener.accept() {
            Ok((stream, from)) => match welcome(cluster, stream) {
                Ok((process, stream)) => streams[process - first] = Some(stream),
                Err(reason) => tracing::warn!(%from, %reason, "a call that is none of the cluster's"),
            },
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                waiting.mention(|| {
                    let missing = streams.iter().enumerate().filter(|(_, stream)| stream.is_none());
                    let missing: Vec<String> = missing.map(|(idx, _)| (first + idx).to_string()).collect();
                    format!("the calls of processes {}", missing.join(", "))
                });
                thread::sleep(PAUSE);
            }
            Err(error) => tracing::warn!(%error, "a call failed"),
        }
    }
    Ok(streams.into_iter().flatten().collect())
}

/// Hears who calls.
fn welcome(cluster: &Cluster, mut stream: TcpStream) -> Result<(usize, TcpStream), String> {
    let failed = |e: std::io::Error| e.to_string();
    // A socket that is accepted takes its mode from the listener on some systems.
    stream.set_nonblocking(false).map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    let mut call = [0; CALL_BYTES];
    stream.read_exact(&mut call).map_err(failed)?;
    if call[..8] != MAGIC {
        return Err("it does not speak this protocol".into());
    }
    let process = call[24..].iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
    let is_expected = process > cluster.process && process < cluster.hosts.len();
    if call[8..24] != cluster.fingerprint() || !is_expected {
        stream.write_all(&[REFUSED]).map_err(failed)?;
        return Err(format!("process {process} was started with another configuration"));
    }
    stream.write_all(&[WELCOME]).map_err(failed)?;
    stream.set_read_timeout(None).map_err(failed)?;
    Ok((process, stream))
}

/// A wait that is mentioned now and then.
struct Waiting {
    since: Instant,
    mentioned: Option<Instant>,
}

impl Waiting {
    fn new() -> Self {
        Self { since: Instant::now(), mentioned: None }
    }

    fn mention(&mut self, what: impl FnOnce() -> String) {
        let last = self.mentioned.unwrap_or(self.since);
        let due = if self.mentioned.is_none() { Duration::from_secs(1) } else { MENTION_AGAIN };
        if last.elapsed() >= due {
            tracing::warn!(waited = ?self.since.elapsed(), "waiting for {}", what());
            self.mentioned = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
        thread,
    };

    use super::{Cluster, connect};

    fn free_hosts(n: usize) -> Vec<String> {
        let listeners: Vec<_> = (0..n).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        listeners.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect()
    }

    fn cluster(name: &str, process: usize, hosts: &[String]) -> Cluster {
        Cluster { name: name.into(), process, hosts: hosts.to_vec() }
    }

    #[test]
    fn each_process_is_connected_with_each_other_also_beside_a_stranger() {
        let hosts = free_hosts(3);
        let threads: Vec<_> = [2, 0, 1]
            .into_iter()
            .map(|process| {
                let cluster = cluster("one", process, &hosts);
                thread::spawn(move || {
                    let mut streams = connect(&cluster).unwrap();
                    for stream in streams.iter_mut().flatten() {
                        stream.write_all(&[process as u8]).unwrap();
                    }
                    let mut heard = Vec::new();
                    for stream in &mut streams {
                        let mut byte = [0];
                        heard.push(stream.as_mut().map(|stream| {
                            stream.read_exact(&mut byte).unwrap();
                            byte[0] as usize
                        }));
                    }
                    (process, heard)
                })
            })
            .collect();
        if let Ok(mut stranger) = TcpStream::connect(&hosts[0]) {
            let _ = stranger.write_all(b"GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n");
        }
        for thread in threads {
            let (process, heard) = thread.join().unwrap();
            let wanted: Vec<_> = (0..3).map(|other| (other != process).then_some(other)).collect();
            assert_eq!(heard, wanted);
        }
    }

    #[test]
    fn a_process_with_another_configuration_is_told_so() {
        let hosts = free_hosts(2);
        // The first goes on waiting for the right one; it ends with the test.
        let first = cluster("two workers", 0, &hosts);
        thread::spawn(move || connect(&first));
        let error = connect(&cluster("three workers", 1, &hosts)).unwrap_err().to_string();
        assert!(error.contains("process 0") && error.contains("another configuration"), "{error}");
    }

    #[test]
    fn an_address_in_use_is_named() {
        let hosts = free_hosts(1);
        let _held = TcpListener::bind(&hosts[0]).unwrap();
        let error = connect(&cluster("one", 0, &hosts)).unwrap_err().to_string();
        assert!(error.contains(&hosts[0]), "{error}");
    }
}
