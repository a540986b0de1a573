//! The hypergraph of a set of documents, built at once in memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hypercane_operators::{
    domain::Domain,
    extraction::{Extraction, Fact, Product},
    grammar,
    kernel::{
        self, Named,
        link::{AliasKey, ScopeKey, alias_keys, edge_scope_keys, storm_year, unify_storms},
    },
};
use hypercane_schemas::{
    Category, Cell, ContentHash, Document, EntityKey, GroupKey, Hyperedge, HyperedgeId, Member, Provenance, Vector,
    text,
};
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

/// Builds the hypergraph: grammars, corrections in place of what they correct, one key a storm, facts merged by id.
pub fn build(documents: &[Document], domain: &Domain, embed: Embed<'_>) -> Result<Hypergraph, Error> {
    let mut graph = Hypergraph::default();
    let mut extracted: Vec<(&Document, Extraction)> = Vec::new();
    for (document, outcome) in documents.iter().zip(extract_all(documents, domain)) {
        match outcome {
            Ok(extraction) => {
                let issued = extraction.issued_at.or(document.issued_at);
                graph.issued.extend(issued.map(|at| (document.key.0.clone(), at)));
                if extraction.facts.is_empty() {
                    graph.rejected.push((document.key.0.clone(), "no facts".into()));
                }
                extracted.push((document, extraction));
            }
            Err(reason) => graph.rejected.push((document.key.0.clone(), reason)),
        }
    }
    drop_corrected(&mut extracted);
    let same = same_storms(&extracted);
    let mut edges: BTreeMap<HyperedgeId, Hyperedge> = BTreeMap::new();
    let mut aliases: BTreeSet<Alias> = BTreeSet::new();
    let mut names: BTreeMap<EntityKey, (String, String)> = BTreeMap::new();
    for (document, extraction) in &extracted {
        for fact in &extraction.facts {
            for mention in &fact.mentions {
                let entity = same.get(&mention.entity).unwrap_or(&mention.entity).clone();
                names.entry(entity.clone()).or_insert_with(|| (mention.name.clone(), mention.kind.clone()));
                if domain.category_of(&mention.kind) == Category::Persistent {
                    let alias = |name: &String, is_name| Alias {
                        name: name.clone(),
                        is_name,
                        entity: entity.clone(),
                        kind: mention.kind.clone(),
                    };
                    aliases.insert(alias(&mention.name, true));
                    aliases.extend(mention.aliases.iter().map(|name| alias(name, false)));
                }
            }
            if let Some(edge) = hyperedge(document, extraction, fact, &same, domain) {
                edges.entry(edge.id).and_modify(|known| merge(known, &edge)).or_insert(edge);
            }
        }
    }
    graph.edges = edges.into_values().collect();
    embed_all(&mut graph, &names, embed)?;
    let rules = kernel::precedence_rules(domain);
    let cells: BTreeSet<Cell> = graph.edges.iter().filter_map(|edge| kernel::cell_of(&rules, edge)).collect();
    graph.cells = cells.into_iter().collect();
    for (at, edge) in graph.edges.iter().enumerate() {
        for key in edge_scope_keys(edge) {
            graph.scopes.entry(key).or_default().push(at as u32);
        }
    }
    for alias in aliases {
        for key in alias_keys(&alias.name) {
            graph.aliases.entry(key).or_default().push(alias.clone());
        }
    }
    Ok(graph)
}

fn extract_all(documents: &[Document], domain: &Domain) -> Vec<Result<Extraction, String>> {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = documents.len().div_ceil(n_threads).max(1);
    let read = |document: &Document| {
        grammar::extract(document, domain).map_err(|failure| format!("line {}: {}", failure.line, failure.reason))
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            documents.chunks(size).map(|part| scope.spawn(move || part.iter().map(read).collect::<Vec<_>>())).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Keeps, of each product, the documents with its last correction.
fn drop_corrected(extracted: &mut Vec<(&Document, Extraction)>) {
    let name = |product: &Product| (product.kind.clone(), product.name.clone());
    let mut last: HashMap<(String, String), u8> = HashMap::new();
    for product in extracted.iter().filter_map(|(_, e)| e.product.as_ref()) {
        let known = last.entry(name(product)).or_default();
        *known = (*known).max(product.correction);
    }
    extracted.retain(|(_, e)| e.product.as_ref().is_none_or(|p| last.get(&name(p)) == Some(&p.correction)));
}

/// The ATCF key of each storm that is also known by name and year.
fn same_storms(extracted: &[(&Document, Extraction)]) -> BTreeMap<EntityKey, EntityKey> {
    let mentions = extracted.iter().flat_map(|(_, e)| &e.facts).flat_map(|f| &f.mentions);
    let storms: BTreeSet<(&EntityKey, &str)> =
        mentions.filter(|m| storm_year(&m.entity).is_some()).map(|m| (&m.entity, m.name.as_str())).collect();
    unify_storms(storms)
}

fn hyperedge(
    document: &Document,
    extraction: &Extraction,
    fact: &Fact,
    same: &BTreeMap<EntityKey, EntityKey>,
    domain: &Domain,
) -> Option<Hyperedge> {
    let relation = domain.relation(&fact.relation)?;
    let mut members: Vec<Member> = fact
        .mentions
        .iter()
        .map(|m| Member { entity: same.get(&m.entity).unwrap_or(&m.entity).clone(), role: m.role.clone() })
        .collect();
    members.sort();
    members.dedup_by(|a, b| a.entity == b.entity);
    let id = HyperedgeId::of(&relation.relation, members.iter().map(|m| m.entity.0.as_str()), &fact.text);
    let mut attributes = fact.attributes.clone();
    attributes.sort();
    Some(Hyperedge {
        id,
        family: relation.family,
        base_family: relation.family,
        relation: relation.relation,
        text: text::canonical(&fact.text),
        members,
        attributes,
        group: fact.group.clone(),
        horizon_hours: document.horizon_hours.map(i32::from),
        issued_at: extraction.issued_at.or(document.issued_at),
        valid_at: fact.valid_at,
        confidence: fact.confidence,
        relations: Vec::new(),
        provenance: vec![Provenance { document: document.key.clone(), chunk: 0, span: fact.span }],
        origin: fact.origin,
        position: fact.span.start,
        embedded_as: ContentHash::default(),
    })
}

fn merge(known: &mut Hyperedge, other: &Hyperedge) {
    known.provenance.extend(other.provenance.iter().cloned());
    known.provenance.sort();
    known.provenance.dedup();
    known.horizon_hours = known.horizon_hours.max(other.horizon_hours);
    known.issued_at = known.issued_at.max(other.issued_at);
    known.confidence = known.confidence.max(other.confidence);
    known.position = known.position.min(other.position);
}

fn embed_all(
    graph: &mut Hypergraph,
    names: &BTreeMap<EntityKey, (String, String)>,
    embed: Embed<'_>,
) -> Result<(), Error> {
    let mut texts: BTreeMap<ContentHash, (usize, String)> = BTreeMap::new();
    for edge in &mut graph.edges {
        let named: Vec<Named<'_>> =
            edge.members.iter().filter_map(|m| names.get(&m.entity)).map(|(name, kind)| Named { name, kind }).collect();
        let text = kernel::embedding_text(&edge.relation, &edge.text, named);
        edge.embedded_as = ContentHash::of_parts([text::canonical(&text).as_str()]);
        texts.entry(edge.embedded_as).or_insert((0, text));
    }
    for (at, entry) in texts.values_mut().enumerate() {
        entry.0 = at;
    }
    let list: Vec<String> = texts.values().map(|(_, text)| text.clone()).collect();
    let vectors = embed(&list).map_err(Error::Embed)?;

    graph.texts = list;
    let vector = |edge: &Hyperedge| texts.get(&edge.embedded_as).and_then(|(at, _)| vectors.get(*at)).cloned();
    graph.vectors = graph
        .edges
        .iter()
        .map(vector)
        .collect::<Option<_>>()
        .ok_or_else(|| Error::Embed("a vector is missing".into()))?;
    Ok(())
}

/// The group that a storm's own facts belong to.
pub(super) fn storm_group(storm: &EntityKey) -> Option<GroupKey> {
    storm.0.strip_prefix("storm:").map(|id| GroupKey(id.to_owned()))
}
