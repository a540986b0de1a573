//! Trajectory: the ordered evidence that answers each query (OKH-RAG 3.2).
//!
//! As if its input never changed: for each query the best diverse trajectories among its candidates, by the plain
//! [`crate::kernel::retrieve`]. It keeps each query's candidates and the cells of their groups; a query is searched anew only
//! when one of these changes.

use std::{cell::RefCell, collections::HashMap, rc::Rc, sync::Arc};

use hypercane_schemas::{AnswerStep, Cell, Fixed, GroupKey, QueryId};
use serde::{Deserialize, Serialize};

use crate::{
    candidates::Candidate,
    collection::Collection,
    domain::Domain,
    kernel::{Asked, Laid, Offered, PrecedenceRules, Reach, ReachOf, retrieve},
    link::LinkedQuery,
    shared::Shared,
};

/// What a query is answered from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Part {
    Query(Shared<LinkedQuery>),
    Cells(GroupKey, Shared<Vec<Cell>>),
    Candidate(Candidate),
}

/// The steps of each query's trajectories.
pub fn trajectory<'scope>(
    queries: Collection<'scope, (QueryId, Shared<LinkedQuery>)>,
    candidates: Collection<'scope, (QueryId, Candidate)>,
    cells: Collection<'scope, Cell>,
    domain: Arc<Domain>,
) -> Collection<'scope, AnswerStep> {
    let groups = cells.map(|cell| (cell.group.clone(), cell)).reduce_named("Trajectory: cells", |_, cells, output| {
        let cells: Vec<Cell> = cells.iter().map(|(cell, _)| (*cell).clone()).collect();
        output.push((Shared::new(cells), 1));
    });
    let asked_groups = candidates
        .clone()
        .map(|(id, candidate)| (candidate.embedded.hyperedge.group.clone(), id))
        .distinct()
        .join_map(groups, |group, id, cells| (id.clone(), Part::Cells(group.clone(), cells.clone())));
    let closures = Closures::new(PrecedenceRules::from(&*domain));
    queries
        .map(|(id, query)| (id, Part::Query(query)))
        .concat(candidates.map(|(id, candidate)| (id, Part::Candidate(candidate))))
        .concat(asked_groups)
        .reduce_named("Trajectory", move |id, parts, output| {
            let mut query = None;
            let mut groups: HashMap<&GroupKey, &Shared<Vec<Cell>>> = HashMap::new();
            let mut candidates: Vec<&Candidate> = Vec::new();
            for (part, _) in parts {
                match part {
                    Part::Query(linked) => query = Some(linked),
                    Part::Cells(group, cells) => _ = groups.insert(group, cells),
                    Part::Candidate(candidate) => candidates.push(candidate),
                }
            }
            if let Some(query) = query {
                let reach_of = |group: &GroupKey| groups.get(group).map(|cells| closures.of(group, cells));
                let steps = answer(id, query, &candidates, &reach_of, &domain);
                output.extend(steps.into_iter().map(|step| (step, 1)));
            }
        })
        .map(|(_, step)| step)
}

/// The closures of groups that some query passed through lately, one a group: many queries ask for the same.
struct Closures {
    rules: PrecedenceRules,
    made: RefCell<HashMap<GroupKey, Made>>,
}

/// The cells of a group and the closure over them.
type Made = (Shared<Vec<Cell>>, Rc<Reach>);

impl Closures {
    fn new(rules: PrecedenceRules) -> Self {
        Self { rules, made: RefCell::default() }
    }

    /// The closure over these cells of a group, made anew when they are not those of the last time.
    fn of(&self, group: &GroupKey, cells: &Shared<Vec<Cell>>) -> Rc<Reach> {
        let mut made = self.made.borrow_mut();
        if let Some((known, reach)) = made.get(group)
            && known == cells
        {
            return Rc::clone(reach);
        }
        let reach = Rc::new(Reach::new(&self.rules, cells));
        made.insert(group.clone(), (cells.clone(), Rc::clone(&reach)));
        reach
    }
}

/// The answer to one query, from all that it may be answered from.
pub fn answer(
    id: &QueryId,
    query: &LinkedQuery,
    candidates: &[&Candidate],
    reach_of: ReachOf<'_>,
    domain: &Domain,
) -> Vec<AnswerStep> {
    let pool: Vec<Offered<'_>> = candidates
        .iter()
        .map(|candidate| Offered {
            edge: &candidate.embedded.hyperedge,
            shelf: candidate.embedded.shelf,
            points: candidate.points,
            relevance: candidate.relevance.to_f64(),
        })
        .collect();
    let asked = Asked { links: &query.links, group: query.query.group.as_ref(), parameters: &query.query.parameters };
    let laid = retrieve(&asked, &pool, reach_of, domain);
    let steps = laid.iter().enumerate().flat_map(|(rank, trajectory)| steps(id, rank, trajectory, candidates, domain));
    steps.collect()
}

fn steps(id: &QueryId, rank: usize, trajectory: &Laid, candidates: &[&Candidate], domain: &Domain) -> Vec<AnswerStep> {
    let step = |(at, step): (usize, &crate::kernel::Step)| {
        let hyperedge = &candidates[step.candidate].embedded.hyperedge;
        AnswerStep {
            query: id.clone(),
            rank: rank as u16 + 1,
            step: at as u16 + 1,
            hyperedge: hyperedge.id,
            relation: hyperedge.relation.clone(),
            phase: domain.phase(hyperedge.family).to_owned(),
            horizon_hours: hyperedge.horizon_hours,
            issued_at: hyperedge.issued_at,
            text: hyperedge.text.clone(),
            relevance: Fixed::from_f64(step.relevance),
            score: trajectory.score,
            provenance: hyperedge.provenance.clone(),
        }
    };
    trajectory.steps.iter().enumerate().map(step).collect()
}
