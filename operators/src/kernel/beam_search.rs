//! Order-aware beam search (OKH-RAG Algorithm 1), with a diversity penalty.
//!
//! The score that guides the search adds precedence and continuity step by step, as printed, and so is not the objective
//! of eq. 5; what is returned carries the parts of eq. 5 beside it.

use super::objective::{Parts, Trellis, Weights, objective};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamSettings {
    /// Beams kept at each length, B; single steps are cut to 2B.
    pub width: usize,
    /// Steps in a trajectory, L.
    pub length: usize,
    /// Trajectories returned, N.
    pub trajectories: usize,
    /// Weights of the terms.
    pub weights: Weights,
    /// Taken off a beam's score when beams are chosen, times its largest overlap (Jaccard, of hyperedges) with a beam
    /// already chosen. It decides what is kept and in which order, and is no part of the score.
    pub diversity_penalty: f64,
}

/// A trajectory that the search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Its candidates, first to last.
    pub steps: Vec<usize>,
    /// Its score in Algorithm 1.
    pub score: f64,
    /// Its parts of eq. 5.
    pub parts: Parts,
}

/// A sequence under construction.
#[derive(Clone, Debug)]
pub(crate) struct Beam {
    pub(crate) steps: Vec<usize>,
    pub(crate) score: f64,
    phases: u64,
}

/// A beam and one more step, before it is made.
#[derive(Clone, Copy, Debug)]
struct Extension {
    score: f64,
    parent: u32,
    step: u32,
}

/// The best N trajectories of L steps without repeats; shorter ones when the candidates run out. In the order in which
/// they are chosen: by score (equal scores by the sequence of indices) less the diversity penalty.
pub fn beam_search(trellis: &Trellis, settings: &BeamSettings) -> Vec<Trajectory> {
    search(trellis, settings, |_| ())
}

/// The search, with a look at the beams that each length keeps.
pub(crate) fn search(trellis: &Trellis, settings: &BeamSettings, mut observe: impl FnMut(&[Beam])) -> Vec<Trajectory> {
    let mut beams = singletons(trellis, settings);
    observe(&beams);
    for _ in 2..=settings.length.min(trellis.len()) {
        beams = lengthen(trellis, settings, beams);
        observe(&beams);
    }
    beams.truncate(settings.trajectories);
    let finish = |beam: Beam| {
        let parts = objective(trellis, settings.weights, &beam.steps);
        Trajectory { steps: beam.steps, score: beam.score, parts }
    };
    beams.into_iter().map(finish).collect()
}

/// The 2B best single steps, by Rel alone.
fn singletons(trellis: &Trellis, settings: &BeamSettings) -> Vec<Beam> {
    if settings.length == 0 {
        return Vec::new();
    }
    let score = |at: usize| positive_zero(trellis.relevance()[at]);
    let mut order: Vec<usize> = (0..trellis.len()).collect();
    order.sort_unstable_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    order.truncate(settings.width.saturating_mul(2));
    order.into_iter().map(|at| Beam { steps: vec![at], score: score(at), phases: trellis.covers()[at] }).collect()
}

/// The B best beams of one more step.
fn lengthen(trellis: &Trellis, settings: &BeamSettings, mut beams: Vec<Beam>) -> Vec<Beam> {
    // All sequences have one length, so (place of the parent, step) orders extensions as their sequences would.
    beams.sort_unstable_by(|a, b| a.steps.cmp(&b.steps));
    let extensions = extend(trellis, settings.weights, &beams);
    let chosen = if settings.diversity_penalty > 0.0 {
        choose_diverse(settings, &beams, &extensions, trellis.len())
    } else {
        choose_best(settings.width, extensions)
    };
    let make = |extension: Extension| {
        let parent = &beams[extension.parent as usize];
        let step = extension.step as usize;
        let mut steps = Vec::with_capacity(settings.length);
        steps.extend_from_slice(&parent.steps);
        steps.push(step);
        Beam { steps, score: extension.score, phases: parent.phases | trellis.covers()[step] }
    };
    chosen.into_iter().map(make).collect()
}

/// Every beam with every candidate that it does not hold yet, lines 5 to 8 of Algorithm 1; in the order of sequences.
fn extend(trellis: &Trellis, weights: Weights, beams: &[Beam]) -> Vec<Extension> {
    let n = trellis.len();
    let mut extensions = Vec::with_capacity(beams.len() * n);
    let mut held = vec![false; n];
    for (parent, beam) in (0u32..).zip(beams) {
        let Some(&last) = beam.steps.last() else { continue };
        beam.steps.iter().for_each(|&step| held[step] = true);
        let (log_p, overlap) = (trellis.log_p().row(last), trellis.overlap().row(last));
        let precedes = trellis.precedes_row(last);
        let covered = trellis.share_covered(beam.phases);
        for step in (0..n).filter(|&step| !held[step]) {
            let mut gain = trellis.relevance()[step] + weights.lambda * log_p[step];
            gain += if precedes[step] { weights.mu } else { 0.0 };
            gain += weights.nu * overlap[step];
            gain += weights.rho * (trellis.share_covered(beam.phases | trellis.covers()[step]) - covered);
            extensions.push(Extension { score: positive_zero(beam.score + gain), parent, step: step as u32 });
        }
        beam.steps.iter().for_each(|&step| held[step] = false);
    }
    extensions
}

/// The best `width` extensions, best first; only these are sorted.
fn choose_best(width: usize, mut extensions: Vec<Extension>) -> Vec<Extension> {
    let by_score =
        |a: &Extension, b: &Extension| b.score.total_cmp(&a.score).then((a.parent, a.step).cmp(&(b.parent, b.step)));
    if width == 0 {
        return Vec::new();
    }
    if extensions.len() > width {
        extensions.select_nth_unstable_by(width - 1, by_score);
        extensions.truncate(width);
    }
    extensions.sort_unstable_by(by_score);
    extensions
}

/// Chooses one extension after the other, each the best by its score less the penalty. `extensions` are in the order of
/// sequences, so the first of equals is the least.
fn choose_diverse(
    settings: &BeamSettings,
    beams: &[Beam],
    extensions: &[Extension],
    n_candidates: usize,
) -> Vec<Extension> {
    let mut chosen: Vec<Extension> = Vec::with_capacity(settings.width.min(extensions.len()));
    let mut largest_overlap = vec![0.0f64; extensions.len()];
    let mut taken = vec![false; extensions.len()];
    let mut held = vec![false; n_candidates];
    let mut overlap = vec![[0.0f64; 2]; beams.len()];
    while chosen.len() < settings.width {
        let mut best: Option<(f64, usize)> = None;
        for (at, extension) in extensions.iter().enumerate().filter(|&(at, _)| !taken[at]) {
            let penalised = extension.score - settings.diversity_penalty * largest_overlap[at];
            if best.is_none_or(|(score, _)| penalised > score) {
                best = Some((penalised, at));
            }
        }
        let Some((_, at)) = best else { break };
        taken[at] = true;
        chosen.push(extensions[at]);
        // A sequence overlaps with the chosen one by what its parent shares, and by one more where its last step is shared.
        let Extension { parent, step, .. } = extensions[at];
        let kept = &beams[parent as usize].steps;
        kept.iter().for_each(|&step| held[step] = true);
        held[step as usize] = true;
        let n_steps = kept.len() + 1;
        let jaccard = |shared: usize| shared as f64 / (2 * n_steps - shared) as f64;
        for (overlap, beam) in overlap.iter_mut().zip(beams) {
            let shared = beam.steps.iter().filter(|&&step| held[step]).count();
            *overlap = [jaccard(shared), jaccard(shared + 1)];
        }
        for (extension, largest) in extensions.iter().zip(&mut largest_overlap) {
            let adds = usize::from(held[extension.step as usize]);
            *largest = largest.max(overlap[extension.parent as usize][adds]);
        }
        kept.iter().for_each(|&step| held[step] = false);
        held[step as usize] = false;
    }
    chosen
}

/// Minus zero becomes zero, since the total order of floats would tell them apart before the ids do.
fn positive_zero(score: f64) -> f64 {
    if score == 0.0 { 0.0 } else { score }
}
