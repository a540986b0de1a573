//! What a commit costs, how that grows with the number of commits, and how fast rows are laid out and read back.
//!
//! `cargo bench --workspace --bench lake [-- FOLDER]`; the lake is left in FOLDER for a look with other tools.

use std::{
    error::Error,
    time::{Duration, Instant},
};

use hypercane::connect::lake::{CommitBatch, Lake, Options, decode, encode};
use hypercane_schemas::{
    AnswerStep, Attribute, Cell, ContentHash, Degree, Diff, Document, DocumentKey, Entity, EntityKey, Epoch, Fixed,
    GroupKey, Hyperedge, HyperedgeId, Incidence, Member, Origin, Precedence, Provenance, QueryId, Record, Reject, Rule,
    Span, Stage, StepScore,
};
use jiff::Timestamp;

const COMMITS: u64 = 1000;
const ROWS_A_TABLE: u64 = 125;

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    formats()?;
    let kept = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let temporary = std::env::temp_dir().join(format!("hypercane-bench-{}", std::process::id()));
    let folder = kept.clone().unwrap_or_else(|| temporary.display().to_string());
    commits(&folder).await?;
    if kept.is_none() {
        std::fs::remove_dir_all(temporary)?;
    }
    Ok(())
}

fn formats() -> Result<(), Box<dyn Error>> {
    report("hyperedges", &rows(1, 20_000, hyperedge))?;
    report("answers", &rows(1, 20_000, answer))?;
    report("incidence", &rows(1, 100_000, incidence))
}

fn report<R: Record>(name: &str, rows: &[(R, Epoch, Diff)]) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let batch = encode(rows)?;
    let encoded = started.elapsed();
    let started = Instant::now();
    let back = decode::<R>(&batch)?;
    let decoded = started.elapsed();
    assert!(back == rows, "rows came back changed");
    let rate = |took: Duration| rows.len() as f64 / took.as_secs_f64();
    println!("{name}: {:.0} rows/s encoded, {:.0} rows/s decoded", rate(encoded), rate(decoded));
    Ok(())
}

async fn commits(folder: &str) -> Result<(), Box<dyn Error>> {
    let lake = Lake::open(folder, "bench", Options::default()).await?;
    let mut taken = Vec::new();
    for epoch in 1..=COMMITS {
        let mut batch = CommitBatch { epoch, ..CommitBatch::default() };
        batch.offsets.insert(("documents".into(), 0), epoch as i64);
        batch.add(&rows(epoch, ROWS_A_TABLE, document))?;
        batch.add(&rows(epoch, ROWS_A_TABLE, entity))?;
        batch.add(&rows(epoch, ROWS_A_TABLE, hyperedge))?;
        batch.add(&rows(epoch, ROWS_A_TABLE, incidence))?;
        batch.add(&rows(epoch, ROWS_A_TABLE, degree))?;
        batch.add(&rows(epoch, ROWS_A_TABLE, precedence))?;
        batch.add(&rows(epoch, ROWS_A_TABLE, answer))?;
        batch.add(&rows(epoch, ROWS_A_TABLE, reject))?;
        taken.push(lake.commit(batch).await?.took);
        if epoch.is_multiple_of(COMMITS / 10) {
            let mut last = taken.split_off(taken.len() - COMMITS as usize / 10);
            last.sort();
            let (middle, most) = (last[last.len() / 2], last[last.len() - 1]);
            println!("commits up to {epoch}: p50 {middle:.1?}, longest {most:.1?} (1,000 rows, 8 tables)");
            taken.clear();
        }
    }
    lake.close().await;
    let started = Instant::now();
    let lake = Lake::open(folder, "bench", Options::default()).await?;
    lake.recover().await?;
    println!("open and recover after {COMMITS} commits: {:.1?}", started.elapsed());
    let started = Instant::now();
    let n_rows = lake.read::<Hyperedge>(None).await?.len();
    println!("read {n_rows} hyperedges from {COMMITS} files: {:.1?}", started.elapsed());
    Ok(())
}

fn rows<R>(epoch: Epoch, n_rows: u64, row: fn(u64) -> R) -> Vec<(R, Epoch, Diff)> {
    (0..n_rows).map(|i| (row(epoch * ROWS_A_TABLE + i), epoch, 1)).collect()
}

fn key(i: u64) -> EntityKey {
    EntityKey(format!("fcst:AL{:06}:2017-08-26T00:00Z:@2017-08-25T03:00Z", i % 100_000))
}

fn id(i: u64) -> HyperedgeId {
    HyperedgeId(ContentHash::of_parts([i.to_string().as_str()]))
}

fn moment(i: u64) -> Option<Timestamp> {
    Timestamp::from_second(1_503_630_000 + i as i64 * 60).ok()
}

fn text(i: u64) -> String {
    format!("Hurricane Harvey (AL092017), advisory {i}, issued 2017-08-25T03:00Z: maximum sustained winds 85 kt")
}

fn provenance(i: u64) -> Vec<Provenance> {
    vec![Provenance { document: DocumentKey(format!("nhc/al09/{i}")), chunk: 0, span: Span { start: 10, end: 90 } }]
}

fn document(i: u64) -> Document {
    Document { issued_at: moment(i), ..Document::plain(format!("nhc/al09/{i}"), text(i).repeat(10)) }
}

fn entity(i: u64) -> Entity {
    Entity {
        key: key(i),
        name: format!("Harvey {i}"),
        kind: "cyclone_forecast".into(),
        category: hypercane_schemas::Category::Transient,
        description: String::new(),
        aliases: vec!["Hurricane Harvey".into()],
        confidence: Fixed::ONE,
        support: 3,
    }
}

fn hyperedge(i: u64) -> Hyperedge {
    let member = |n: u64| Member { entity: key(i + n), role: "state".into() };
    Hyperedge {
        id: id(i),
        relation: "forecasts_track".into(),
        family: 2,
        base_family: 2,
        text: text(i),
        members: (0..4).map(member).collect(),
        attributes: ["latitude", "longitude", "max_wind", "gusts"]
            .map(|name| Attribute::number(name, i as f64 / 10.0, "kt", "85 KT"))
            .to_vec(),
        group: GroupKey("AL092017".into()),
        horizon_hours: Some(48),
        issued_at: moment(i),
        valid_at: moment(i + 600),
        confidence: Fixed::ONE,
        relations: vec![],
        provenance: provenance(i),
        origin: Origin::Extracted,
        position: 17,
        embedded_as: id(i).0,
    }
}

fn incidence(i: u64) -> Incidence {
    Incidence { hyperedge: id(i), entity: key(i), role: "state".into() }
}

fn degree(i: u64) -> Degree {
    Degree { entity: key(i), degree: (i % 50) as u32, expands: true }
}

fn precedence(i: u64) -> Precedence {
    let cell = |sequence| Cell { group: GroupKey("AL092017".into()), sequence, by_horizon: true, phase: 1, family: 2 };
    Precedence { before: cell(-(i as i64)), after: cell(i as i64), rule: Rule::CausalChain }
}

fn answer(i: u64) -> AnswerStep {
    AnswerStep {
        query: QueryId(format!("q{}", i % 200)),
        rank: 1,
        step: 2,
        hyperedge: id(i),
        relation: "forecasts_track".into(),
        phase: "track".into(),
        horizon_hours: None,
        issued_at: moment(i),
        text: text(i),
        relevance: Fixed::from_f64(1.0 / (i + 3) as f64),
        score: StepScore { relevance: Fixed::from_f64(0.7), total: Fixed::from_f64(1.1), ..StepScore::default() },
        provenance: provenance(i),
    }
}

fn reject(i: u64) -> Reject {
    Reject {
        id: id(i).0,
        topic: "documents".into(),
        partition: Some(0),
        offset: Some(i as i64),
        key: format!("nhc/al09/{i}"),
        stage: Stage::Extract,
        line: Some(7),
        reason: "line 7: expected a wind speed in knots".into(),
        payload_base64: String::new(),
    }
}
