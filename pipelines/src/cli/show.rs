//! Results for people: one line a step, its cause below.

use hypercane_schemas::{Change, DocumentKey, Part, Reject, ResultEvent};

/// One part of an answer that came, went or moved.
pub(super) fn event(event: &ResultEvent) -> String {
    let sign = match event.change {
        Change::Came => "+",
        Change::Went => "-",
        Change::Moved => "~",
    };
    let from = event.moved_from.map_or_else(String::new, |(rank, step)| format!(" (was {rank}.{step})"));
    let step = match &event.part {
        Part::Step(step) => step,
        Part::Passage(passage) => {
            let said = if passage.evidence.is_empty() { passage.text.trim() } else { &passage.evidence };
            let title = if passage.title.is_empty() { String::new() } else { format!("{}: ", passage.title) };
            return format!("{sign} {}  {title}{said}{from}", passage.rank);
        }
        Part::Evidence(path) => {
            let side = if path.supports { "" } else { "diverges: " };
            return format!("{sign} {}  {side}{}{from}", path.rank, path.text);
        }
    };
    let at = step.issued_at.map_or_else(String::new, |at| format!(" {}", at.strftime("%d %b %H:%MZ")));
    let horizon = step.horizon_hours.map_or_else(String::new, |hours| match hours {
        0.. => format!(" T-{hours}"),
        _ => format!(" T+{}", -hours),
    });
    format!("{sign} {}.{}{at}{horizon}  {}{from}", step.rank, step.step, step.text)
}

/// Why, in words.
pub(super) fn cause(event: &ResultEvent) -> String {
    let mut causes: Vec<String> = event.cause.documents.iter().map(|DocumentKey(key)| key.clone()).collect();
    causes.extend(event.cause.horizons.iter().map(|group| format!("the reference time of {}", group.0)));
    if event.cause.query_changed {
        causes.push("the question itself".into());
    }
    if causes.len() > 6 {
        let more = causes.len() - 5;
        causes.truncate(5);
        causes.push(format!("{more} more"));
    }
    causes.join(", ")
}

/// What could not be used, where, and why; its bytes are in the lake.
pub(super) fn reject(reject: &Reject) -> String {
    let line = reject.line.map_or_else(String::new, |line| format!(" line {line}"));
    format!("rejected: {}{line}: {}", reject.key, reject.reason)
}
