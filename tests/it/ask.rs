//! A question asked once gets the answer that it would have standing.

use std::{sync::Arc, time::Duration};

use hypercane::{
    ask::{Answer, ask_lake, await_answer},
    connect::{
        embed::{Hashed, MemoryStore, Model as _},
        lake::{self, Lake},
        memory,
        transport::Limits,
    },
    pipeline::Pipeline,
    vectors::recorded_vectors,
};
use hypercane_schemas::{AnswerStep, Epoch, Part, QueryId};
use tokio::runtime::Runtime;

use crate::lakes::{advisory, asked, domain, landfall, question, recorded, write};

fn ask(runtime: &Runtime, lake: &Lake, epoch: Option<Epoch>) -> Answer {
    runtime.block_on(async {
        let vectors = recorded_vectors(lake, Hashed.id()).await.unwrap();
        let recorded = recorded(Arc::new(vectors));
        ask_lake(lake, epoch, question("once"), &domain(), recorded, 1, |_| ()).await.unwrap()
    })
}

fn standing(runtime: &Runtime, lake: &Lake, epoch: Epoch) -> Vec<AnswerStep> {
    let rows = runtime.block_on(lake.read::<AnswerStep>(Some(epoch))).unwrap();
    let mut steps: Vec<AnswerStep> = rows.into_iter().map(|(step, _)| step).collect();
    steps.iter_mut().for_each(|step| step.query = QueryId("once".into()));
    steps.sort_by_key(|step| (step.rank, step.step));
    steps
}

#[test]
fn a_lake_answers_as_it_did_when_the_question_stood() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let epochs = write(
        &runtime,
        folder.path(),
        vec![vec![asked("q"), advisory(1, 5)], vec![landfall(), advisory(2, 9)], vec![advisory(3, 2)]],
    );
    let lake = runtime.block_on(Lake::view(&folder.path().to_string_lossy(), lake::Options::default())).unwrap();
    for epoch in &epochs {
        let wanted = standing(&runtime, &lake, *epoch);
        assert!(!wanted.is_empty(), "the question has an answer");
        assert_eq!(ask(&runtime, &lake, Some(*epoch)).steps, wanted, "epoch {epoch}");
    }
    let answer = ask(&runtime, &lake, None);
    assert_eq!(answer.steps, standing(&runtime, &lake, epochs[2]));
    let text = answer.text(&domain());
    for part in ["Path 1 (score ", "[Step 1] [T-", "Entities: ", "Sources:\n  [Step 1] tcm_00", " bytes "] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn a_running_pipeline_answers_through_its_topic_of_results() {
    let runtime = Runtime::new().unwrap();
    let stepped = runtime.block_on(async {
        let recorded = recorded(Arc::new(MemoryStore::default()));
        let mut pipeline = Pipeline::start(1, domain(), recorded, None).await.unwrap();
        pipeline.step(vec![advisory(1, 5), asked("another")]).await.unwrap();
        pipeline.step(vec![asked("once"), advisory(2, 6)]).await.unwrap()
    });
    let (mut writer, feed) = memory::topics(Limits::default());
    let mut wanted = Vec::new();
    for event in &stepped.results {
        let payload = serde_json::to_vec(event).unwrap();
        assert!(writer.send("results", &event.part.query().0, Some(&payload)));
        if event.part.query().0 == "once" {
            let Part::Step(step) = &event.part else { panic!("a trajectory has steps") };
            wanted.push(step.clone());
        }
    }
    assert!(stepped.results.len() > wanted.len() && !wanted.is_empty());
    let answer = await_answer(&feed, &question("once"), Duration::from_secs(20)).unwrap();
    assert_eq!(answer.map(|answer| answer.steps), Some(wanted));
    assert_eq!(await_answer(&feed, &question("never"), Duration::from_millis(10)).unwrap(), None);
}
