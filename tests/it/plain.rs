//! The hypergraph by its definition: computed from the documents and horizons that stand, with loops and maps, and
//! without a dataflow.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use hypercane_operators::{
    Candidate, Embedded, LinkedQuery, PlacedPassage, Shared,
    assertion::Assertion,
    domain::Domain,
    evidence_rows,
    extract::{Extracted, read},
    fact,
    kernel::{
        self,
        facts::AskedName,
        link,
        passages::{Asked, First, Passage, PassageIndex, PassageSettings, Scratch},
        synonyms::{EntityName, may_have_synonyms, may_link},
    },
    mentioned, named, question_embedded_as, ranked_passage,
};
use hypercane_schemas::{
    AnswerStep, Category, Cell, Conflict, ContentHash, Degree, Document, DocumentKey, Entity, EntityKey, EvidenceRow,
    Fixed, GroupKey, HorizonUpdate, Hyperedge, HyperedgeId, Incidence, Mode, Precedence, Provenance, Query, QueryId,
    RankedPassage, Synonym, Vector,
};
use jiff::Timestamp;

use crate::harness::vector;

/// The rows of every record kind that follows from documents and horizons, each with its multiplicity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub documents: BTreeMap<Document, isize>,
    pub horizons: BTreeMap<HorizonUpdate, isize>,
    pub hyperedges: BTreeMap<Hyperedge, isize>,
    pub incidence: BTreeMap<Incidence, isize>,
    pub degrees: BTreeMap<Degree, isize>,
    pub synonyms: BTreeMap<Synonym, isize>,
    pub entities: BTreeMap<Entity, isize>,
    pub conflicts: BTreeMap<Conflict, isize>,
    pub precedence: BTreeMap<Precedence, isize>,
    pub rejects: BTreeMap<(String, String), isize>,
    pub answers: BTreeMap<AnswerStep, isize>,
    pub rankings: BTreeMap<RankedPassage, isize>,
    pub evidence: BTreeMap<EvidenceRow, isize>,
}

/// The state that follows from what stands.
pub fn state(
    documents: &BTreeMap<DocumentKey, Document>,
    horizons: &BTreeMap<GroupKey, HorizonUpdate>,
    queries: &BTreeMap<QueryId, Query>,
    domain: &Domain,
) -> State {
    let mut state = State::default();
    let mut extracted: Vec<(DocumentKey, Extracted)> = Vec::new();
    for (key, document) in documents {
        *state.documents.entry(document.clone()).or_default() += 1;
        for chunk in read(document, domain) {
            match chunk {
                Ok(chunk) => extracted.push((key.clone(), chunk)),
                Err(failure) => *state.rejects.entry((key.0.clone(), failure.reason)).or_default() += 1,
            }
        }
    }
    for horizon in horizons.values() {
        *state.horizons.entry(horizon.clone()).or_default() += 1;
    }
    for (key, document) in &extracted {
        for failure in &document.extraction.failures {
            *state.rejects.entry((key.0.clone(), failure.reason.clone())).or_default() += 1;
        }
    }

    let counted = uncorrected(&extracted);
    let mut assertions: Vec<Assertion> = Vec::new();
    for (key, document) in counted {
        for fact in &document.extraction.facts {
            match kernel::canonicalize(key, document, fact, domain) {
                Ok(assertion) => assertions.push(assertion),
                Err(reason) => *state.rejects.entry((key.0.clone(), reason)).or_default() += 1,
            }
        }
    }
    let assertions = unified(assertions);

    let mut by_id: BTreeMap<HyperedgeId, Vec<Assertion>> = BTreeMap::new();
    for assertion in &assertions {
        by_id.entry(assertion.id).or_default().push(assertion.clone());
    }
    let facts: Vec<Assertion> = by_id.values().map(kernel::merge).collect();

    let references = reference_times(horizons, &assertions);
    let stated: Vec<Hyperedge> = facts.iter().map(|fact| labelled(fact, &references)).collect();
    let changes = changes(&stated, domain);
    for hyperedge in stated.iter().chain(&changes) {
        *state.hyperedges.entry(hyperedge.clone()).or_default() += 1;
        for member in &hyperedge.members {
            let row = Incidence { hyperedge: hyperedge.id, entity: member.entity.clone(), role: member.role.clone() };
            *state.incidence.entry(row).or_default() += 1;
        }
    }
    let rules = kernel::PrecedenceRules::from(domain);
    let cells: BTreeSet<Cell> = state.hyperedges.keys().filter_map(|hyperedge| rules.cell_of(hyperedge)).collect();
    let cells: Vec<Cell> = cells.into_iter().collect();
    state.precedence = rules.covering(&cells).into_iter().map(|step| (step, 1)).collect();
    let mut degrees: BTreeMap<&EntityKey, u32> = BTreeMap::new();
    for row in state.incidence.keys() {
        *degrees.entry(&row.entity).or_default() += 1;
    }
    for (entity, degree) in degrees {
        let expands = !entity.is_anchor() && degree <= domain.hub_degree();
        state.degrees.insert(Degree { entity: entity.clone(), degree, expands }, 1);
    }
    for entity in entities(&facts, domain) {
        state.entities.insert(entity, 1);
    }
    state.synonyms = synonyms(state.entities.keys(), domain).into_iter().map(|link| (link, 1)).collect();
    for conflict in value_conflicts(&stated, domain) {
        *state.conflicts.entry(conflict).or_default() += 1;
    }
    for fact in &facts {
        let conflict =
            references.get(&fact.hyperedge.group).and_then(|at| kernel::order_contradiction(&fact.hyperedge, *at));
        if let Some(conflict) = conflict {
            *state.conflicts.entry(conflict).or_default() += 1;
        }
    }
    for query in queries.values().filter(|query| query.mode == Mode::Trajectory) {
        for step in answer(query, &state, domain) {
            *state.answers.entry(step).or_default() += 1;
        }
    }
    let passages = placed_passages(&uncorrected(&extracted));
    for query in queries.values().filter(|query| query.mode == Mode::Spread) {
        for passage in ranking(query, &passages, domain) {
            *state.rankings.entry(passage).or_default() += 1;
        }
    }
    let reasoned: Vec<&Query> = queries.values().filter(|query| query.mode == Mode::Evidence).collect();
    for path in reasoned.iter().flat_map(|query| evidence(query, &state, domain)).collect::<Vec<_>>() {
        *state.evidence.entry(path).or_default() += 1;
    }
    state
}

/// The links between the names of entities: each pair looked at.
fn synonyms<'a>(entities: impl Iterator<Item = &'a Entity>, domain: &Domain) -> Vec<Synonym> {
    let Some(eta) = domain.synonym_cosine() else { return Vec::new() };
    let names: Vec<(EntityName, Vector)> =
        entities.map(|entity| (EntityName::from(entity), vector(kernel::embedded_as(&entity.name)))).collect();
    let mut links = Vec::new();
    for (at, (a, of_a)) in names.iter().enumerate() {
        for (b, of_b) in names[..at].iter().filter(|(b, _)| may_link(a, b)) {
            let cosine = kernel::relevance(&of_a.0, &of_b.0);
            if cosine > eta {
                let (a, b) = if a.entity < b.entity { (a, b) } else { (b, a) };
                let cosine = Fixed::from_f64(cosine);
                let why = format!("the names \"{}\" and \"{}\" have cosine {cosine}, above {eta}", a.name, b.name);
                links.push(Synonym { a: a.entity.clone(), b: b.entity.clone(), cosine, why });
            }
        }
    }
    links
}

/// The evidence of a question, over all facts at once.
fn evidence(query: &Query, state: &State, domain: &Domain) -> Vec<EvidenceRow> {
    let embedded = state.hyperedges.keys().map(|hyperedge| {
        let vector = Some(vector(hyperedge.embedded_as));
        Embedded::new(Shared::new(hyperedge.clone()), vector, domain)
    });
    let facts = embedded.map(|embedded| (embedded.hyperedge.id, Shared::new(fact(&embedded)))).collect();
    let vector_of = |name: &str| domain.synonym_cosine().is_some().then(|| vector(kernel::embedded_as(name)));
    let names = state
        .entities
        .keys()
        .map(|entity| (entity.key.clone(), Shared::new(named(entity, vector_of(&entity.name)))))
        .collect();
    let mention = |(entity, name): (EntityKey, String)| AskedName {
        vector: vector_of(&name).filter(|_| may_have_synonyms(&entity, &name)),
        entity,
        name,
    };
    let asked = kernel::facts::Asked {
        vector: Some(vector(question_embedded_as(&query.question))),
        mentions: mentioned(&query.question, domain).into_iter().map(mention).collect(),
        as_of: query.as_of,
    };
    let hub = domain.hub_degree() as usize;
    let lifted = kernel::ChainSettings::lifted();
    let synonym_cosine = domain.synonym_cosine().unwrap_or(lifted.synonym_cosine);
    let settings = kernel::ChainSettings { synonym_cosine, ..lifted };
    let chain = kernel::facts::evidence(&facts, &names, &asked, hub, &settings);
    let by_id: BTreeMap<HyperedgeId, &Hyperedge> = state.hyperedges.keys().map(|fact| (fact.id, fact)).collect();
    evidence_rows(&query.id, &chain, |id| by_id.get(&id).map(|fact| Shared::new((*fact).clone())))
}

/// Every passage once, with all documents that have it.
fn placed_passages(extracted: &[&(DocumentKey, Extracted)]) -> BTreeMap<ContentHash, PlacedPassage> {
    let mut passages: BTreeMap<ContentHash, PlacedPassage> = BTreeMap::new();
    for (document, chunk) in extracted {
        let Some((passage, span)) = &chunk.passage else { continue };
        let place = Provenance { document: (*document).clone(), chunk: chunk.chunk, span: *span };
        let id = ContentHash::of_parts([&*passage.title, &*passage.text]);
        let mut passage = Passage::clone(passage);
        let vector_of = |text: &str| Some(vector(kernel::embedded_as(text)));
        passage.vector = vector_of(&passage.whole());
        passage.facts.iter_mut().for_each(|fact| fact.vector = vector_of(&fact.text));
        let passage = Shared::new(passage);
        passages.entry(id).or_insert(PlacedPassage { passage, provenance: Vec::new() }).provenance.push(place);
    }
    passages.values_mut().for_each(|placed| placed.provenance.sort());
    passages
}

/// The first passages for a question, from an index that is made for it.
fn ranking(query: &Query, passages: &BTreeMap<ContentHash, PlacedPassage>, domain: &Domain) -> Vec<RankedPassage> {
    let mut index = PassageIndex::new(domain.common_words().iter().cloned());
    for (id, placed) in passages {
        index.apply([], [(*id, placed.passage.clone())]);
    }
    let question_vector = Some(vector(question_embedded_as(&query.question)));
    let asked = Asked::new(&query.question, question_vector.clone(), query.as_of);
    let (settings, n) = (PassageSettings::default(), usize::from(query.parameters.passages));
    let first = First::new(&index, &asked, &settings, settings.n_first(n));
    let ranking = index.rank(&asked, &first, &settings, n, &mut Scratch::default());
    let linked =
        LinkedQuery { links: link::Links::default(), vector: question_vector, query: Shared::new(query.clone()) };
    let rows = ranking.ranked.iter().zip(1..);
    rows.map(|(ranked, rank)| ranked_passage(&linked, rank, ranked, &passages[&ranked.id])).collect()
}

/// The answer to a query: links by looking at every name, candidates by looking at every hyperedge.
fn answer(query: &Query, state: &State, domain: &Domain) -> Vec<AnswerStep> {
    let slots = link::read_question(&query.question, domain, query.as_of);
    let mut matches = BTreeSet::new();
    for (at, mention) in slots.mentions.iter().enumerate() {
        let keys = link::keys_of(&mention.form);
        for entity in state.entities.keys().filter(|entity| entity.category == Category::Persistent) {
            let names = std::iter::once((&entity.name, true)).chain(entity.aliases.iter().map(|alias| (alias, false)));
            for (name, is_name) in names {
                let meets = link::alias_keys(name).iter().any(|key| keys.contains(key));
                if let Some(how) = meets.then(|| link::verify(&mention.form, name, is_name)).flatten() {
                    let (entity, kind) = (entity.key.clone(), entity.kind.clone());
                    matches.insert(link::AliasMatch { mention: at as u32, entity, kind, how });
                }
            }
        }
    }
    let matches: Vec<_> = matches.into_iter().collect();
    let linked = LinkedQuery {
        links: link::resolve(&slots, &matches, domain),
        vector: Some(vector(question_embedded_as(&query.question))),
        query: Shared::new(query.clone()),
    };

    let asked = &linked.links.scope;
    let nearest = nearest(&linked, state);
    let mut candidates: Vec<Candidate> = Vec::new();
    for hyperedge in state.hyperedges.keys() {
        let in_scope = link::edge_scope_keys(hyperedge, domain.questions()).iter().any(|key| asked.contains(key));
        let near = asked.is_empty() && nearest.contains(&hyperedge.embedded_as);
        if in_scope || near {
            let vector = Some(vector(hyperedge.embedded_as));
            let embedded = Shared::new(Embedded::new(Shared::new(hyperedge.clone()), vector, domain));
            candidates.extend(Candidate::of(&linked, &embedded, domain));
        }
    }
    candidates.sort();
    let groups: BTreeSet<&GroupKey> = candidates.iter().map(|candidate| &candidate.embedded.hyperedge.group).collect();
    let rules = kernel::PrecedenceRules::from(domain);
    let cells: BTreeSet<Cell> = state.hyperedges.keys().filter_map(|hyperedge| rules.cell_of(hyperedge)).collect();
    let cells: Vec<Cell> = cells.into_iter().filter(|cell| groups.contains(&cell.group)).collect();
    let candidates: Vec<&Candidate> = candidates.iter().collect();
    let reach = Rc::new(kernel::Reach::new(&rules, &cells));
    hypercane_operators::answer(&query.id, &linked, &candidates, &|_| Some(Rc::clone(&reach)), domain)
}

/// The texts nearest to a question, as many as it wants seeds.
fn nearest(query: &LinkedQuery, state: &State) -> BTreeSet<ContentHash> {
    let texts: BTreeSet<ContentHash> = state.hyperedges.keys().map(|hyperedge| hyperedge.embedded_as).collect();
    let question = query.vector.as_ref().map_or(&[][..], |vector| &vector.0);
    let cosine = |text: &ContentHash| Fixed::from_f64(kernel::relevance(question, &vector(*text).0));
    let mut ranked: Vec<(Reverse<Fixed>, ContentHash)> =
        texts.iter().map(|text| (Reverse(cosine(text)), *text)).collect();
    ranked.sort();
    ranked.into_iter().take(usize::from(query.query.parameters.seeds)).map(|(_, text)| text).collect()
}

/// Without the documents that a later correction, or another document by name, replaces.
fn uncorrected(extracted: &[(DocumentKey, Extracted)]) -> Vec<&(DocumentKey, Extracted)> {
    let named: BTreeSet<&DocumentKey> = extracted
        .iter()
        .filter_map(|(key, document)| document.supersedes.as_ref().filter(|named| *named != key))
        .collect();
    let counts = |(key, document): &&(DocumentKey, Extracted)| {
        let corrected = document.extraction.product.as_ref().is_some_and(|product| {
            extracted.iter().any(|(_, other)| {
                other.extraction.product.as_ref().is_some_and(|other| {
                    (&other.kind, &other.name) == (&product.kind, &product.name)
                        && other.correction > product.correction
                })
            })
        });
        !corrected && !named.contains(key)
    };
    extracted.iter().filter(counts).collect()
}

fn unified(assertions: Vec<Assertion>) -> Vec<Assertion> {
    let mut names: BTreeMap<EntityKey, BTreeSet<EntityKey>> = BTreeMap::new();
    for mention in assertions.iter().flat_map(|assertion| &assertion.mentions) {
        if let Some(provisional) = kernel::unify::answers_to(mention) {
            names.entry(provisional).or_default().insert(mention.entity.clone());
        }
    }
    let rename = |assertion: Assertion| match kernel::unify::provisional(&assertion) {
        Some(from) => match names.get(&from).map(|keys| keys.iter().collect::<Vec<_>>()).as_deref() {
            Some([to]) => kernel::unify::renamed(&assertion, &from, to),
            _ => assertion,
        },
        None => assertion,
    };
    assertions.into_iter().map(rename).collect()
}

fn reference_times(
    horizons: &BTreeMap<GroupKey, HorizonUpdate>,
    assertions: &[Assertion],
) -> BTreeMap<GroupKey, Timestamp> {
    let mut newest: BTreeMap<GroupKey, (Option<Timestamp>, Timestamp)> = BTreeMap::new();
    for assertion in assertions {
        let Some(reference_at) = assertion.reference_at else { continue };
        let statement = (assertion.hyperedge.issued_at, reference_at);
        let held = newest.entry(assertion.hyperedge.group.clone()).or_insert(statement);
        *held = (*held).max(statement);
    }
    let mut references: BTreeMap<GroupKey, Timestamp> =
        newest.into_iter().map(|(group, (_, at))| (group, at)).collect();
    references.extend(horizons.iter().map(|(group, horizon)| (group.clone(), horizon.reference_at)));
    references
}

fn labelled(fact: &Assertion, references: &BTreeMap<GroupKey, Timestamp>) -> Hyperedge {
    let hyperedge = &fact.hyperedge;
    let counted = || {
        let reference_at = references.get(&hyperedge.group)?;
        Some(kernel::hours_before(*reference_at, hyperedge.issued_at?))
    };
    kernel::with_horizon(hyperedge, hyperedge.horizon_hours.or_else(counted))
}

/// What has states: group, entity family, relation family, and whether the states are told apart by horizon.
type Thing = (GroupKey, String, u8, bool);

fn changes(stated: &[Hyperedge], domain: &Domain) -> Vec<Hyperedge> {
    let mut things: BTreeMap<Thing, Vec<(i64, kernel::State)>> = BTreeMap::new();
    for hyperedge in stated {
        let Some((by_horizon, sequence)) = kernel::sequence(hyperedge) else { continue };
        for member in hyperedge.members.iter().filter(|member| kernel::is_state(&member.entity)) {
            let family = member.entity.family().to_owned();
            let thing = (hyperedge.group.clone(), family, hyperedge.family, by_horizon);
            things.entry(thing).or_default().push((
                sequence,
                kernel::State { entity: member.entity.clone(), hyperedge: Shared::new(hyperedge.clone()) },
            ));
        }
    }
    let mut changes = Vec::new();
    for ((_, entity_family, family, _), states) in &things {
        let places: BTreeSet<i64> = states.iter().map(|(sequence, _)| *sequence).collect();
        for (before, after) in places.iter().zip(places.iter().skip(1)) {
            let at = |place: &i64| {
                let here = states.iter().filter(|(sequence, _)| sequence == place).map(|(_, state)| state.clone());
                let mut here: Vec<kernel::State> = here.collect();
                here.sort_by(|a, b| (&a.entity, a.hyperedge.id).cmp(&(&b.entity, b.hyperedge.id)));
                here
            };
            changes.extend(kernel::change_hyperedge(entity_family, *family, [&at(before), &at(after)], domain));
        }
    }
    changes
}

fn entities(facts: &[Assertion], domain: &Domain) -> Vec<Entity> {
    let mut mentions: BTreeMap<&EntityKey, Vec<kernel::EntityMention<'_>>> = BTreeMap::new();
    for fact in facts {
        for mention in &fact.mentions {
            mentions.entry(&mention.entity).or_default().push(kernel::EntityMention {
                name: &mention.name,
                kind: &mention.kind,
                description: &mention.description,
                aliases: &mention.aliases,
                confidence: fact.hyperedge.confidence,
                count: 1,
            });
        }
    }
    mentions.into_iter().map(|(key, all)| kernel::merge_entity(key, all, |kind| domain.category_of(kind))).collect()
}

fn value_conflicts(stated: &[Hyperedge], domain: &Domain) -> Vec<Conflict> {
    let mut claims: BTreeMap<(String, EntityKey, String), Vec<kernel::Claim>> = BTreeMap::new();
    for hyperedge in stated {
        for (key, claim) in kernel::claims(hyperedge, domain) {
            claims.entry(key).or_default().push(claim);
        }
    }
    let mut conflicts = Vec::new();
    for ((relation, entity, attribute), mut claims) in claims {
        claims.sort();
        let claims: Vec<&kernel::Claim> = claims.iter().collect();
        let tolerance = kernel::conflict_tolerance(domain, &attribute).unwrap_or(0.0);
        conflicts.extend(kernel::contradictions(&relation, &entity, &attribute, &claims, tolerance));
    }
    conflicts
}
