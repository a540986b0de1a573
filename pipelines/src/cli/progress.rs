//! A line that says what is being done, once it takes longer than a moment.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::{runtime::Runtime, task::JoinHandle};

/// For so long nothing is shown.
const PATIENCE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(100);

/// A spinner on standard error that appears after two seconds, and never where that is no terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    appear: JoinHandle<()>,
}

impl Progress {
    /// Starts the clock.
    pub(super) fn start(runtime: &Runtime) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        let shown = bar.clone();
        let appear = runtime.spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            shown.set_draw_target(ProgressDrawTarget::stderr());
            shown.enable_steady_tick(TICK);
        });
        Self { bar, appear }
    }

    /// Says what is being done now.
    pub(super) fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.appear.abort();
        self.bar.finish_and_clear();
    }
}
