//! The structured context of an answer (HyCE-RAG eq. 41): supporting evidence, then weaker or divergent evidence, with its
//! entities, relations and scores.

use std::fmt::Write;

use hypercane_schemas::text;

/// A directed relation, as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct ContextRelation<'a> {
    /// Name of what it goes out from.
    pub head: &'a str,
    /// What it says.
    pub relation: &'a str,
    /// Name of what it goes to.
    pub tail: &'a str,
    /// Its confidence.
    pub confidence: f64,
}

/// An evidence path, as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct ContextPath<'a> {
    /// The document that it is from.
    pub source: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Names of its retained entities.
    pub entities: &'a [&'a str],
    /// Its directed relations.
    pub relations: &'a [ContextRelation<'a>],
    /// S(p).
    pub score: f64,
    /// gamma.
    pub confidence: f64,
}

/// The context as text: line feeds between lines, none at the end, white space of texts folded. At most `segments` paths are
/// shown (HyCE-RAG appendix C: six), best first. Where some diverge, one segment of several is kept for the best of
/// these, however many support: eq. 41 shows them "when available". Cost: the length of what is shown.
pub fn context(
    question: &str,
    supporting: &[ContextPath<'_>],
    divergent: &[ContextPath<'_>],
    segments: usize,
) -> String {
    let reserved = usize::from(!divergent.is_empty() && segments > 1);
    let supporting = &supporting[..supporting.len().min(segments - reserved)];
    let divergent = &divergent[..divergent.len().min(segments - supporting.len())];
    let mut out = format!("Question: {}", text::canonical(question));
    let parts = [("Supporting evidence:", supporting), ("Weaker or divergent evidence:", divergent)];
    let mut number = 0;
    for (title, paths) in parts.into_iter().filter(|(_, paths)| !paths.is_empty()) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{title}");
        for path in paths {
            number += 1;
            show(&mut out, number, path);
        }
    }
    out
}

fn show(out: &mut String, number: usize, path: &ContextPath<'_>) {
    let ContextPath { source, score, confidence, .. } = path;
    let _ = write!(out, "\n[{number}] score {score:.3}, extraction confidence {confidence:.3}, source {source}");
    if !path.entities.is_empty() {
        let _ = write!(out, "\n  Entities: {}", path.entities.join("; "));
    }
    let _ = write!(out, "\n  Evidence: {}", text::canonical(path.text));
    for ContextRelation { head, relation, tail, confidence } in path.relations {
        let _ = write!(out, "\n  Relation: {head} | {relation} | {tail} ({confidence:.3})");
    }
}

#[cfg(test)]
mod tests {
    use super::{ContextPath, ContextRelation, context};

    fn path(text: &str, score: f64) -> ContextPath<'_> {
        ContextPath { source: "wiki/1", text, entities: &["Milwaukee Deep"], relations: &[], score, confidence: 0.9 }
    }

    #[test]
    fn shows_what_supports_then_what_diverges() {
        let relations =
            [ContextRelation { head: "Milwaukee Deep", relation: "is part of", tail: "Atlantic", confidence: 0.75 }];
        let best = ContextPath { relations: &relations, ..path("It is\n the deepest point.", 0.8125) };
        assert_eq!(
            context("How  deep?", &[best], &[path("It may be elsewhere.", 0.25)], 6),
            "Question: How deep?\n\
             Supporting evidence:\n\
             [1] score 0.812, extraction confidence 0.900, source wiki/1\n  \
               Entities: Milwaukee Deep\n  \
               Evidence: It is the deepest point.\n  \
               Relation: Milwaukee Deep | is part of | Atlantic (0.750)\n\
             Weaker or divergent evidence:\n\
             [2] score 0.250, extraction confidence 0.900, source wiki/1\n  \
               Entities: Milwaukee Deep\n  \
               Evidence: It may be elsewhere."
        );
        assert_eq!(context("Why?", &[], &[], 6), "Question: Why?");
    }

    #[test]
    fn keeps_to_the_segments_and_keeps_one_for_what_diverges() {
        let (supporting, divergent) = ([path("yes", 0.5); 8], [path("no", 0.25); 8]);
        let shown = |n_supporting: usize, n_divergent: usize, segments| {
            let text = context("?", &supporting[..n_supporting], &divergent[..n_divergent], segments);
            (text.matches("yes").count(), text.matches("no").count())
        };
        assert_eq!(shown(8, 8, 6), (5, 1));
        assert_eq!(shown(8, 0, 6), (6, 0));
        assert_eq!(shown(2, 8, 6), (2, 4));
        assert_eq!(shown(1, 1, 1), (1, 0));
        assert_eq!(shown(1, 1, 0), (0, 0));
    }
}
