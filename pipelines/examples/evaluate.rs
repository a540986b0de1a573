//! Runs the evaluation of the cyclone questions in memory: `evaluate DIR PACK [QUESTIONS] [--verbose]`.

use std::{collections::BTreeMap, path::PathBuf};

use hypercane::eval::{Report, build, evaluate, read_corpus, read_domain, read_questions};
use hypercane_schemas::{ContentHash, Vector};

fn hashed(texts: &[String]) -> Result<Vec<Vector>, String> {
    let vector = |text: &String| {
        let mut sum = vec![0f32; 256];
        for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
            let bits = ContentHash::of_parts([word]).0;
            sum[(bits % 256) as usize] += if bits >> 64 & 1 == 0 { 1.0 } else { -1.0 };
        }
        Vector(sum.into())
    };
    Ok(texts.iter().map(vector).collect())
}

fn main() -> anyhow::Result<()> {
    let (flags, paths): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
    let [dir, pack, rest @ ..] = paths.as_slice() else { anyhow::bail!("evaluate DIR PACK [QUESTIONS] [--verbose]") };
    let file = rest.first().cloned().unwrap_or_else(|| dir.join("questions.jsonl"));
    let domain = read_domain(pack)?;
    let documents = read_corpus(dir)?;
    let started = std::time::Instant::now();
    let graph = build(&documents, &domain, &hashed)?;
    eprintln!(
        "{} documents, {} rejected, {} hyperedges, {} texts, {} cells, {:?}",
        documents.len(),
        graph.rejected.len(),
        graph.edges.len(),
        graph.texts.len(),
        graph.cells.len(),
        started.elapsed()
    );
    if flags.iter().any(|f| f == "--texts") {
        let mut seen = std::collections::BTreeSet::new();
        for text in &graph.texts {
            let relation = text.split('.').next().unwrap_or_default().to_owned();
            if seen.insert(text.clone()) {
                println!("{relation}\t{text}");
            }
        }
        return Ok(());
    }
    let questions = read_questions(&file)?;
    let started = std::time::Instant::now();
    let outcomes = evaluate(&graph, &questions, &domain, &hashed)?;
    eprintln!("{} questions in {:?}", questions.len(), started.elapsed());
    if flags.iter().any(|f| f == "--verbose") {
        for o in outcomes.iter().filter(|o| o.evidence < 1.0 || !o.late.is_empty() || !o.in_order) {
            println!(
                "{} {} {:.2} order {} candidates {}",
                o.question.id, o.question.template, o.evidence, o.in_order, o.n_candidates
            );
            println!("  {}", o.question.question);
            println!("  needs {:?} late {:?}", o.question.ordered_evidence, o.late);
            println!("  cited {:?}", o.cited);
            println!("  {:?}", o.links);
        }
    }
    if flags.iter().any(|f| f == "--templates") {
        let mut by: BTreeMap<&str, (f64, usize, usize)> = BTreeMap::new();
        for o in &outcomes {
            let entry = by.entry(&o.question.template).or_default();
            entry.0 += o.evidence;
            entry.1 += 1;
            entry.2 += usize::from(o.in_order);
        }
        for (template, (sum, n, order)) in by {
            println!("{template:<18} {n:>4} {:.2} {:.2}", sum / n as f64, order as f64 / n as f64);
        }
    }
    print!("{}", Report::of(&outcomes));
    Ok(())
}
