//! The hypergraph of a set of documents, built at once in memory with the kernels of the dataflow.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hypercane_operators::{
    assertion::Assertion,
    domain::Domain,
    extract::{Extracted, read},
    extraction::{Mention, Product},
    kernel::{
        self, PrecedenceRules, State,
        link::{AliasKey, ScopeKey, alias_keys, edge_scope_keys},
        unify,
    },
};
use hypercane_schemas::{Category, Cell, ContentHash, Document, EntityKey, GroupKey, Hyperedge, HyperedgeId, Vector};
use jiff::Timestamp;

use super::{Embed, Error};

/// An alias of an entity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alias {
    /// The alias.
    pub name: String,
    /// Whether it is the entity's own name.
    pub is_name: bool,
    /// The entity.
    pub entity: EntityKey,
    /// Its type.
    pub kind: String,
}

/// Everything that retrieval needs.
#[derive(Debug, Default)]
pub struct Hypergraph {
    /// Hyperedges, by id.
    pub edges: Vec<Hyperedge>,
    /// The vector of each.
    pub vectors: Vec<Vector>,
    /// Hyperedges under each scope key.
    pub scopes: HashMap<ScopeKey, Vec<u32>>,
    /// Aliases under each key.
    pub aliases: HashMap<AliasKey, Vec<Alias>>,
    /// All cells of precedence.
    pub cells: Vec<Cell>,
    /// When each document was issued.
    pub issued: BTreeMap<String, Timestamp>,
    /// Documents that gave no fact, with the reason.
    pub rejected: Vec<(String, String)>,
    /// The distinct texts that were embedded.
    pub texts: Vec<String>,
}

/// Builds the hypergraph: grammars, corrections in place of what they correct, one key a storm, facts merged by id,
/// changes between neighbouring states.
pub fn build(documents: &[Document], domain: &Domain, embed: Embed<'_>) -> Result<Hypergraph, Error> {
    let mut graph = Hypergraph::default();
    let mut extracted: Vec<(&Document, Extracted)> = Vec::new();
    for (document, outcome) in documents.iter().zip(extract_all(documents, domain)) {
        match outcome {
            Ok(found) => {
                let issued = found.extraction.issued_at.or(document.issued_at);
                graph.issued.extend(issued.map(|at| (document.key.0.clone(), at)));
                if found.extraction.facts.is_empty() {
                    graph.rejected.push((document.key.0.clone(), "no facts".into()));
                }
                extracted.push((document, found));
            }
            Err(reason) => graph.rejected.push((document.key.0.clone(), reason)),
        }
    }
    drop_corrected(&mut extracted);
    let assertions = unified(assert_all(&extracted, domain));
    let mut by_id: BTreeMap<HyperedgeId, Vec<&Assertion>> = BTreeMap::new();
    for assertion in &assertions {
        by_id.entry(assertion.id).or_default().push(assertion);
    }
    let facts: Vec<Assertion> = by_id.into_values().map(kernel::merge).collect();
    let mut texts: BTreeMap<ContentHash, String> = BTreeMap::new();
    for text in facts.iter().flat_map(|fact| kernel::texts_to_embed(fact, domain)) {
        texts.insert(kernel::embedded_as(&text), text);
    }
    add_aliases(&mut graph, &facts, domain);
    graph.edges = facts.into_iter().map(|fact| fact.hyperedge).collect();
    graph.edges.extend(changes(&graph.edges, domain));
    graph.edges.sort_by_key(|edge| edge.id);
    embed_all(&mut graph, texts, embed)?;
    let rules = PrecedenceRules::from(domain);
    let cells: BTreeSet<Cell> = graph.edges.iter().filter_map(|edge| rules.cell_of(edge)).collect();
    graph.cells = cells.into_iter().collect();
    for (at, edge) in graph.edges.iter().enumerate() {
        for key in edge_scope_keys(edge) {
            graph.scopes.entry(key).or_default().push(at as u32);
        }
    }
    Ok(graph)
}

/// Runs a function over parts of a list on all cores and joins the results in order.
fn on_all_cores<T: Sync, R: Send>(items: &[T], run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = items.len().div_ceil(n_threads).max(1);
    let run = &run;
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            items.chunks(size).map(|part| scope.spawn(move || part.iter().map(run).collect::<Vec<_>>())).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, Vec<R>>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().flat_map(join).collect()
    })
}

fn extract_all(documents: &[Document], domain: &Domain) -> Vec<Result<Extracted, String>> {
    on_all_cores(documents, |document| {
        read(document, domain).map_err(|failure| format!("line {}: {}", failure.line, failure.reason))
    })
}

fn assert_all(extracted: &[(&Document, Extracted)], domain: &Domain) -> Vec<Assertion> {
    let of_document = |(document, found): &(&Document, Extracted)| {
        let facts = found.extraction.facts.iter();
        facts.filter_map(|fact| kernel::canonicalize(&document.key, found, fact, domain).ok()).collect::<Vec<_>>()
    };
    on_all_cores(extracted, of_document).into_iter().flatten().collect()
}

/// Keeps, of each product, the documents with its last correction.
fn drop_corrected(extracted: &mut Vec<(&Document, Extracted)>) {
    let name = |product: &Product| (product.kind.clone(), product.name.clone());
    let mut last: HashMap<(String, String), u8> = HashMap::new();
    for product in extracted.iter().filter_map(|(_, e)| e.extraction.product.as_ref()) {
        let known = last.entry(name(product)).or_default();
        *known = (*known).max(product.correction);
    }
    let is_last = |product: &Product| last.get(&name(product)) == Some(&product.correction);
    extracted.retain(|(_, e)| e.extraction.product.as_ref().is_none_or(is_last));
}

/// The assertions with each provisional storm named by its identifier, where one storm bore the name in that year.
fn unified(assertions: Vec<Assertion>) -> Vec<Assertion> {
    let mut identified: BTreeMap<EntityKey, BTreeSet<EntityKey>> = BTreeMap::new();
    let mentions: BTreeSet<&Mention> = assertions.iter().flat_map(|a| &a.mentions).collect();
    for mention in mentions {
        if let Some(provisional) = unify::answers_to(mention) {
            identified.entry(provisional).or_default().insert(mention.entity.clone());
        }
    }
    let rename = |assertion: Assertion| {
        let provisional = unify::provisional(&assertion);
        let keys = provisional.as_ref().and_then(|key| identified.get(key));
        match (provisional.as_ref(), keys.filter(|keys| keys.len() == 1).and_then(BTreeSet::first)) {
            (Some(from), Some(to)) => unify::renamed(&assertion, from, to),
            _ => assertion,
        }
    };
    assertions.into_iter().map(rename).collect()
}

fn add_aliases(graph: &mut Hypergraph, facts: &[Assertion], domain: &Domain) {
    let mut aliases: BTreeSet<Alias> = BTreeSet::new();
    for mention in facts.iter().flat_map(|fact| &fact.mentions) {
        if domain.category_of(&mention.kind) != Category::Persistent {
            continue;
        }
        let alias = |name: &String, is_name| Alias {
            name: name.clone(),
            is_name,
            entity: mention.entity.clone(),
            kind: mention.kind.clone(),
        };
        aliases.insert(alias(&mention.name, true));
        aliases.extend(mention.aliases.iter().map(|name| alias(name, false)));
    }
    for alias in aliases {
        for key in alias_keys(&alias.name) {
            graph.aliases.entry(key).or_default().push(alias.clone());
        }
    }
}

/// The change hyperedges between neighbouring states of each thing.
fn changes(edges: &[Hyperedge], domain: &Domain) -> Vec<Hyperedge> {
    let mut things: BTreeMap<(&GroupKey, &str, u8, bool), Vec<State<'_>>> = BTreeMap::new();
    for edge in edges {
        let Some((by_horizon, sequence)) = kernel::sequence(edge) else { continue };
        for member in edge.members.iter().filter(|m| kernel::is_state(&m.entity)) {
            let thing = (&edge.group, member.entity.family(), edge.family, by_horizon);
            things.entry(thing).or_default().push(State { sequence, entity: &member.entity, hyperedge: edge });
        }
    }
    let made = things.into_iter().flat_map(|((_, entity_family, family, _), states)| {
        kernel::change_hyperedges(entity_family, family, states, domain)
    });
    let by_id: BTreeMap<HyperedgeId, Hyperedge> = made.map(|edge| (edge.id, edge)).collect();
    by_id.into_values().collect()
}

fn embed_all(graph: &mut Hypergraph, texts: BTreeMap<ContentHash, String>, embed: Embed<'_>) -> Result<(), Error> {
    let (keys, texts): (Vec<ContentHash>, Vec<String>) = texts.into_iter().unzip();
    let vectors = embed(&texts).map_err(Error::Embed)?;
    let by_key: HashMap<ContentHash, Vector> = keys.into_iter().zip(vectors).collect();
    let found = graph.edges.iter().map(|edge| by_key.get(&edge.embedded_as).cloned());
    graph.vectors =
        found.collect::<Option<_>>().ok_or_else(|| Error::Embed("the vector of a hyperedge is missing".into()))?;
    graph.texts = texts;
    Ok(())
}

/// The group that a storm's own facts belong to.
pub(super) fn storm_group(storm: &EntityKey) -> Option<GroupKey> {
    storm.0.strip_prefix("storm:").map(|id| GroupKey(id.to_owned()))
}
