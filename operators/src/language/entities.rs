//! Named entities: a transition parser that goes through the tokens once and decides for each whether it begins, continues,
//! ends or alone is an entity, or is none.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{
    LanguageError,
    features::Features,
    products::Dense,
    tok2vec::Tok2Vec,
    weights::{Layers, message_pack},
};

/// The weights of the parser, with vectors of its own.
pub(super) const WEIGHTS_FILE: &str = "ner/model";
/// The parser's moves and labels.
pub(super) const MOVES_FILE: &str = "ner/moves";

/// Tokens that a state looks at: the next one, the first of the open entity, and the last of it.
const LOOKED_AT: usize = 3;
/// How many outputs compete for each number of a state.
const PIECES: usize = 2;

/// Finds entities.
pub(super) struct EntityParser {
    tok2vec: Tok2Vec,
    /// Narrows the vectors.
    narrow: Dense,
    /// What each token adds to a state, for each role in which it is looked at.
    roles: Dense,
    /// What is added for a role that no token has.
    absent: Vec<f32>,
    bias: Vec<f32>,
    scores: Dense,
    moves: Moves,
}

/// The moves in the order of their scores, each with the place of its label.
struct Moves {
    moves: Vec<(Move, usize)>,
    labels: Vec<String>,
}

/// What is decided for a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Begin,
    Continue,
    End,
    Alone,
    Outside,
}

/// An entity over tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenRange<'a> {
    /// The first token.
    pub(super) start: usize,
    /// One past the last token.
    pub(super) end: usize,
    pub(super) label: &'a str,
}

#[derive(Deserialize)]
struct StoredMoves {
    /// JSON: for each kind of move, the labels with how often they occurred in training.
    moves: String,
}

impl EntityParser {
    /// From the files of its weights and moves.
    ///
    /// # Errors
    /// They are damaged or of another kind.
    pub(super) fn parse(weights: &[u8], moves: &[u8]) -> Result<Self, LanguageError> {
        let moves = Moves::parse(moves)?;
        let layers = Layers::parse(WEIGHTS_FILE, weights)?;
        let tok2vec = Tok2Vec::parse(&layers)?;
        // The layer of the scores comes before the one that narrows the vectors.
        let linear = layers.named("linear", 2)?;
        let state = layers.named("precomputable_affine", 1)?[0];
        let (shape, role_weights) = state.array("W")?;
        let (width, narrowed) = match *shape.as_slice() {
            [LOOKED_AT, width, PIECES, narrowed] if width > 0 && narrowed > 0 => (width, narrowed),
            _ => {
                return Err(state.unfit(&format!("has weights of shape {shape:?}, not of three roles and two pieces")));
            }
        };
        let n_outputs = width * PIECES;
        let narrow =
            Dense::new(&linear[1].array_of("W", &[narrowed, tok2vec.width()])?, &linear[1].array_of("b", &[narrowed])?);
        let scores = Dense::new(
            &linear[0].array_of("W", &[moves.moves.len(), width])?,
            &linear[0].array_of("b", &[moves.moves.len()])?,
        );
        Ok(Self {
            tok2vec,
            narrow,
            roles: Dense::new(&role_weights, &vec![0.0; LOOKED_AT * n_outputs]),
            absent: state.array_of("pad", &[1, LOOKED_AT, width, PIECES])?,
            bias: state.array_of("b", &[width, PIECES])?,
            scores,
            moves,
        })
    }

    /// The entities of a sentence, in its order. None overlap.
    pub(super) fn entities(&self, tokens: &[Features]) -> Vec<TokenRange<'_>> {
        let vectors = self.tok2vec.vectors(tokens);
        let narrowed = self.narrow.apply(&vectors, self.tok2vec.width(), tokens.len());
        let roles = self.roles.apply(&narrowed, self.narrow.n_outputs(), tokens.len());
        let mut found = Vec::new();
        let mut open = None;
        for token in 0..tokens.len() {
            let looked_at = [Some(token), open.map(|(start, _)| start), open.map(|_| token - 1)];
            let scores = self.scores(&roles, looked_at);
            let is_last = token + 1 == tokens.len();
            let (decided, label) = self.moves.best(&scores, open.map(|(_, label)| label), is_last);
            let name = self.moves.labels[label].as_str();
            match (decided, open) {
                (Move::Begin, _) => open = Some((token, label)),
                (Move::End, Some((start, _))) => {
                    found.push(TokenRange { start, end: token + 1, label: name });
                    open = None;
                }
                (Move::Alone, _) => found.push(TokenRange { start: token, end: token + 1, label: name }),
                _ => {}
            }
        }
        found
    }

    /// The scores of all moves in a state.
    fn scores(&self, roles: &[f32], looked_at: [Option<usize>; LOOKED_AT]) -> Vec<f32> {
        let n_outputs = self.bias.len();
        let mut sums = self.bias.clone();
        for (role, token) in looked_at.into_iter().enumerate() {
            let (row, of) = token.map_or((0, &self.absent[..]), |token| (token, roles));
            let added = &of[(row * LOOKED_AT + role) * n_outputs..][..n_outputs];
            sums.iter_mut().zip(added).for_each(|(sum, number)| *sum += number);
        }
        let (pairs, _) = sums.as_chunks::<PIECES>();
        let state: Vec<f32> = pairs.iter().map(|[first, second]| first.max(*second)).collect();
        self.scores.apply(&state, state.len(), 1)
    }
}

impl Moves {
    /// From the file of moves.
    fn parse(bytes: &[u8]) -> Result<Self, LanguageError> {
        let stored: StoredMoves = message_pack(MOVES_FILE, bytes)?;
        let by_kind: BTreeMap<u8, BTreeMap<String, i64>> = serde_json::from_str(&stored.moves).map_err(|error| {
            LanguageError::Damaged { file: MOVES_FILE, reason: format!("its moves are no such JSON: {error}") }
        })?;
        let mut moves = Vec::new();
        let mut labels: Vec<String> = Vec::new();
        for (kind, counts) in by_kind {
            let kind = match kind {
                1 => Move::Begin,
                2 => Move::Continue,
                3 => Move::End,
                4 => Move::Alone,
                5 => Move::Outside,
                _ if counts.is_empty() => continue,
                _ => return Err(LanguageError::Unfit { file: MOVES_FILE, reason: format!("it has a move {kind}") }),
            };
            let mut counts: Vec<_> = counts.into_iter().map(|(label, count)| (count, label)).collect();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            for (_, label) in counts {
                let place = labels.iter().position(|known| *known == label).unwrap_or_else(|| {
                    labels.push(label);
                    labels.len() - 1
                });
                moves.push((kind, place));
            }
        }
        // Without these a sentence could come to a state from which no move is possible.
        let has = |kind, label| moves.contains(&(kind, label));
        let can_end = moves.iter().all(|(kind, label)| *kind != Move::Begin || has(Move::End, *label));
        if !can_end || !moves.iter().any(|(kind, _)| *kind == Move::Outside) {
            let reason = "it lacks the move that leaves a token out, or one that ends what another begins".into();
            return Err(LanguageError::Unfit { file: MOVES_FILE, reason });
        }
        Ok(Self { moves, labels })
    }

    /// The best of the moves that are possible; of equal ones the first.
    fn best(&self, scores: &[f32], open: Option<usize>, is_last: bool) -> (Move, usize) {
        let mut best: Option<(f32, (Move, usize))> = None;
        for (score, (kind, label)) in scores.iter().zip(&self.moves) {
            let is_named = !self.labels[*label].is_empty();
            let is_possible = match kind {
                Move::Begin => open.is_none() && !is_last && is_named,
                Move::Continue => open == Some(*label) && !is_last,
                Move::End => open == Some(*label),
                Move::Alone => open.is_none() && is_named,
                Move::Outside => open.is_none(),
            };
            if is_possible && best.is_none_or(|(highest, _)| *score > highest) {
                best = Some((*score, (*kind, *label)));
            }
        }
        best.expect("an open entity can end, and where none is open, a token can be none").1
    }
}
