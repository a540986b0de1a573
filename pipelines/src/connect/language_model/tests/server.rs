//! An endpoint on this machine that answers as a test wants, over real connections. The tests of the whole use it too.

// Each of the two uses a part of it.
#![allow(dead_code)]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::Instant,
};

/// What the endpoint does with a request.
pub(super) enum Reply {
    /// A completion with this text, 30 tokens in all.
    Says(String),
    /// The same after a while.
    Slowly(Duration, String),
    /// A status with a header and a body.
    Status(u16, String, String),
    /// These bytes, then the connection is closed.
    Raw(String),
    /// Nothing, while the connection stays open.
    Hangs,
}

impl Reply {
    pub(super) fn status(status: u16) -> Self {
        Self::Status(status, String::new(), String::new())
    }
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) head: String,
    pub(super) body: Value,
    pub(super) at: Instant,
}

impl Seen {
    /// The words of a message.
    pub(super) fn message(&self, idx: usize) -> &str {
        self.body["messages"][idx]["content"].as_str().unwrap_or_default()
    }
}

#[derive(Default)]
struct Notes {
    seen: Mutex<Vec<Seen>>,
    now: AtomicUsize,
    most: AtomicUsize,
}

/// The endpoint; it ends with this.
pub(super) struct Server {
    port: u16,
    notes: Arc<Notes>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts one. The reply may depend on the request's number, from zero, and on what it says.
    pub(super) async fn start(reply: impl Fn(usize, &Seen) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let notes = Arc::new(Notes::default());
        let (all, reply) = (Arc::clone(&notes), Arc::new(reply));
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (notes, reply) = (Arc::clone(&all), Arc::clone(&reply));
                connections.spawn(async move { serve(stream, &notes, &*reply).await });
            }
        });
        Self { port, notes, task }
    }

    /// Its address.
    pub(super) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1/", self.port)
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.notes.seen.lock().unwrap().clone()
    }

    pub(super) fn n_calls(&self) -> usize {
        self.notes.seen.lock().unwrap().len()
    }

    /// Most requests that were being answered at the same time.
    pub(super) fn most_at_once(&self) -> usize {
        self.notes.most.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, notes: &Notes, reply: &(dyn Fn(usize, &Seen) -> Reply + Send + Sync)) {
    let Some(seen) = request(&mut stream).await else { return };
    let number = {
        let mut all = notes.seen.lock().unwrap();
        all.push(seen.clone());
        all.len() - 1
    };
    let now = notes.now.fetch_add(1, Ordering::SeqCst) + 1;
    notes.most.fetch_max(now, Ordering::SeqCst);
    let completion = |text: &str| {
        let message = json!({"role": "assistant", "content": text});
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30});
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}).to_string()
    };
    let bytes = match reply(number, &seen) {
        Reply::Says(text) => http(200, "", &completion(&text)),
        Reply::Slowly(wait, text) => {
            tokio::time::sleep(wait).await;
            http(200, "", &completion(&text))
        }
        Reply::Status(status, header, body) => http(status, &header, &body),
        Reply::Raw(bytes) => bytes,
        Reply::Hangs => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            return;
        }
    };
    notes.now.fetch_sub(1, Ordering::SeqCst);
    let _ = stream.write_all(bytes.as_bytes()).await;
    let _ = stream.shutdown().await;
}

async fn request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let (head, body_at, n_body) = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        break (head, end + 4, length.unwrap_or(0));
    };
    while bytes.len() < body_at + n_body {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[body_at..body_at + n_body]).unwrap_or_default();
    Some(Seen { head, body, at: Instant::now() })
}

fn http(status: u16, header: &str, body: &str) -> String {
    let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
    format!(
        "HTTP/1.1 {status} Reason\r\ncontent-type: application/json\r\n{header}content-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}
