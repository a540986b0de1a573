//! Mode `prove`: passages by the best of their facts, as HyperProve proves hop by hop.

use std::{cell::Cell, time::Instant};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use hypercane_operators::kernel::{
    Proof, ProofSettings, Reached, Spoken, by_best_part, extract_answer, passages::AskedWords, sub_queries,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    Facts, Index, QuestionFacts, Ranked, Watch,
    index::vectors,
    measure::{milliseconds, with_fused},
};
use crate::connect::{
    self,
    embed::Recorded,
    language_model::{self, Reasoner},
};

/// How a proof is looked for: as published, or with one thing changed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProofRun {
    /// The settings.
    pub settings: ProofSettings,
    /// Whether facts that speak of synonyms share them.
    pub synonyms: bool,
    /// Whether a sub-query is asked with the answers before; else every hop asks the question.
    pub carries_answers: bool,
    /// Weight of the passage's fused score; none as published.
    pub fused_weight: f64,
}

impl Default for ProofRun {
    fn default() -> Self {
        Self { settings: ProofSettings::default(), synonyms: true, carries_answers: true, fused_weight: 0.0 }
    }
}

/// The models that a proof asks.
#[derive(Clone, Copy)]
pub struct Models<'a> {
    /// The embedding model.
    pub recorded: &'a Recorded,
    /// The language model that splits questions and answers hops; where there is none, and where it gives nothing that can be
    /// used, rules and the extractive reader do.
    pub reasoner: Option<&'a Reasoner>,
    /// Hears how many texts are embedded.
    pub watch: &'a Watch,
    /// Hears how many questions of a hop the language model was asked.
    pub asked: &'a Watch,
}

impl Models<'_> {
    /// The sub-queries of questions, as far as the language model gives them.
    async fn splits(
        &self,
        questions: &[QuestionFacts],
        most: usize,
    ) -> Result<Vec<Option<Vec<String>>>, connect::Error> {
        let Some(reasoner) = self.reasoner else { return Ok(vec![None; questions.len()]) };
        self.all(reasoner, questions.iter().map(|question| reasoner.sub_queries(&question.text, most))).await
    }

    /// Gives the last hop of these proofs the language model's answer, where it gives one that can be used.
    async fn answer(
        &self,
        open: Vec<usize>,
        proofs: &mut [(Proof<u32>, f64)],
        facts: &Facts,
    ) -> Result<(), connect::Error> {
        let Some(reasoner) = self.reasoner else { return Ok(()) };
        let asked: Vec<(usize, String, Vec<&str>)> = open
            .into_iter()
            .filter_map(|at| {
                let hop = proofs[at].0.hops().last()?;
                let evidence = hop.hop.evidence().iter().map(|reached| &*facts.texts[reached.fact as usize]);
                Some((at, hop.query.clone(), evidence.collect()))
            })
            .collect();
        let answers = asked.iter().map(|(_, query, evidence)| reasoner.answer(query, evidence));
        let answers: Vec<Option<Option<String>>> = self.all(reasoner, answers).await?;
        for ((at, ..), answer) in asked.iter().zip(answers) {
            if let Some(answer) = answer {
                proofs[*at].0.answer_last(answer);
            }
        }
        Ok(())
    }

    /// What the language model gives to all of these, as many at a time as it may be asked.
    async fn all<T>(
        &self,
        reasoner: &Reasoner,
        asked: impl ExactSizeIterator<Item = impl Future<Output = Result<T, language_model::Error>>>,
    ) -> Result<Vec<T>, connect::Error> {
        let (done, all) = (Cell::new(0), asked.len());
        let answers = stream::iter(asked).buffered(reasoner.concurrency()).inspect(|_| {
            done.set(done.get() + 1);
            (self.asked)(done.get(), all);
        });
        Ok(answers.try_collect().await?)
    }
}

impl ProofRun {
    /// Asks every question, a hop of all questions at a time. No time of a question counts what the models take.
    ///
    /// # Errors
    /// A model, or the record of its outputs, fails.
    pub async fn ranked(
        &self,
        index: &Index,
        facts: &Facts,
        models: Models<'_>,
    ) -> Result<Vec<Ranked>, connect::Error> {
        let proofs = self.proofs(facts, &facts.questions, models).await?;
        let of = |((proof, query_ms), question): (&(Proof<u32>, f64), &QuestionFacts)| {
            let began = Instant::now();
            let passages = by_best_part(proof.ranking().into_iter().map(|fact| facts.passages[fact as usize]));
            let passages = with_fused(passages, index, question, self.fused_weight);
            Ranked { passages, query_ms: query_ms + milliseconds(began) }
        };
        Ok(proofs.par_iter().zip(&facts.questions).map(of).collect())
    }

    /// The proofs of questions, each with the milliseconds that it took.
    pub(super) async fn proofs(
        &self,
        facts: &Facts,
        questions: &[QuestionFacts],
        models: Models<'_>,
    ) -> Result<Vec<(Proof<u32>, f64)>, connect::Error> {
        let splits = models.splits(questions, self.settings.sub_queries).await?;
        let begin = |(question, split): (&QuestionFacts, Option<Vec<String>>)| {
            let began = Instant::now();
            let by_rule = || {
                let analysis = facts.domain.language().map(|language| language.analyse(&question.text));
                let split = |analysis| sub_queries(&question.text, &analysis, self.settings.sub_queries);
                analysis.map(split).unwrap_or_else(|| vec![question.text.clone()])
            };
            let mut sub_queries = split.unwrap_or_else(by_rule);
            if !self.carries_answers {
                sub_queries.iter_mut().for_each(|query| query.clone_from(&question.text));
            }
            (Proof::new(sub_queries), milliseconds(began))
        };
        let mut proofs: Vec<(Proof<u32>, f64)> = questions.par_iter().zip(splits).map(begin).collect();
        loop {
            let asking = |(at, (proof, _)): (usize, &(Proof<u32>, f64))| Some((at, proof.next_query()?));
            let (open, queries): (Vec<usize>, Vec<String>) = proofs.iter().enumerate().filter_map(asking).unzip();
            if open.is_empty() {
                return Ok(proofs);
            }
            let vectors = vectors(models.recorded, &queries, models.watch).await?;
            let mut next = vec![None; proofs.len()];
            open.iter().zip(queries.into_iter().zip(vectors)).for_each(|(at, asked)| next[*at] = Some(asked));
            proofs.par_iter_mut().zip(next).for_each(|((proof, took), next)| {
                if let Some((query, vector)) = next {
                    let began = Instant::now();
                    self.advance(facts, proof, &query, &vector.0);
                    *took += milliseconds(began);
                }
            });
            models.answer(open, &mut proofs, facts).await?;
        }
    }

    fn advance(&self, facts: &Facts, proof: &mut Proof<u32>, query: &str, vector: &[f32]) {
        let cosines = facts.fact_cosines(vector);
        let seeds = self.settings.seeds(&cosines, || facts.lexical.scores(&AskedWords::of(query)));
        let walk = if self.synonyms { &facts.walk } else { &facts.walk_of_names };
        let kinds = facts.domain.asked_types(query);
        let read = |query: &str, evidence: &[Reached<u32>]| {
            let spoken = |reached: &Reached<u32>| {
                let of = facts.spoken[reached.fact as usize].iter();
                (reached.score, of.map(|(_, name, kind)| Spoken { name, kind }).collect())
            };
            extract_answer(query, &kinds, evidence.iter().map(spoken)).map(str::to_owned)
        };
        // Every fact shares its document with itself, so facts are numbered alike in the walk.
        proof.advance(walk, &seeds, |fact| cosines[fact as usize], read, &self.settings);
    }
}
