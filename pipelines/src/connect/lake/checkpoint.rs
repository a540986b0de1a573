//! Checkpoints are written beside the commits, one after the other: they shorten what readers have to read, and nothing
//! depends on them, so a failure is only told.

use std::time::Duration;

use tokio::{
    sync::Mutex,
    task::{JoinError, JoinHandle},
};

use super::{
    Lake,
    table::{Checkpoint, Table},
};

/// The checkpoint that is being written, which waits for the one before it.
#[derive(Default)]
pub(super) struct Checkpoints(Mutex<Option<JoinHandle<()>>>);

impl Lake {
    /// Lets go of the lake after what is still being written in the background is done.
    pub async fn close(self) {
        self.maintenance.finish().await;
        if let Some(Err(error)) = self.checkpoints.finish().await {
            tracing::warn!(%error, "no checkpoint was written");
        }
    }

    /// Starts a checkpoint if it is the table's turn.
    pub(super) async fn checkpoint(&self, table: &Table) {
        if let Some(checkpoint) = table.due_checkpoint(self.options.checkpoint_interval) {
            self.checkpoints.start(checkpoint, self.options.retention).await;
        }
    }
}

impl Checkpoints {
    pub(super) async fn start(&self, checkpoint: Checkpoint, retention: Duration) {
        let mut running = self.0.lock().await;
        let before = running.take();
        *running = Some(tokio::spawn(async move {
            if let Some(before) = before
                && let Err(error) = before.await
            {
                tracing::warn!(%error, "no checkpoint was written");
            }
            if let Err(error) = checkpoint.write(retention).await {
                tracing::warn!(%error, "no checkpoint was written");
            }
        }));
    }

    pub(super) async fn finish(&self) -> Option<Result<(), JoinError>> {
        let running = self.0.lock().await.take()?;
        Some(running.await)
    }
}
