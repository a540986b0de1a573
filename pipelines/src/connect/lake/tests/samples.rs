//! One value or more of every record kind, with every optional part present in one and absent in another.

use std::sync::Arc;

use hypercane_schemas::{
    AnswerStep, Attribute, Category, Cell, Conflict, ConflictKind, ConflictSide, ContentHash, Degree, DirectedRelation,
    Document, DocumentKey, Entity, EntityKey, Fixed, GroupKey, HorizonUpdate, Hyperedge, HyperedgeId, Incidence,
    Member, Mode, ModelOutput, Origin, Precedence, Provenance, Query, QueryId, QueryParameters, Reject, Rule, Span,
    Stage, StepScore, Value, Vector,
};
use jiff::Timestamp;

pub(super) fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn entity(key: &str) -> EntityKey {
    EntityKey(key.into())
}

fn group() -> GroupKey {
    GroupKey("AL092017:houston_tx".into())
}

fn hash(text: &str) -> ContentHash {
    ContentHash::of_parts([text])
}

fn provenance() -> Vec<Provenance> {
    let at = |document: &str, chunk, start, end| Provenance {
        document: DocumentKey(document.into()),
        chunk,
        span: Span { start, end },
    };
    vec![at("a/tcm 19.txt", 0, 0, 80), at("b", 3, 4_000_000_000, u32::MAX)]
}

pub(super) fn documents() -> Vec<Document> {
    let full = Document {
        key: DocumentKey("nhc/al09/019".into()),
        source_kind: Some("tcm".into()),
        title: Some("HARVEY \"19\"\n".into()),
        text: "Zeile eins\r\nligne deux, été \u{1f300}\0".into(),
        issued_at: Some(moment("2017-08-25T03:00:00.123456Z")),
        group: Some(group()),
        horizon_hours: Some(48),
        reliability: Fixed::from_f64(0.123456789),
        supersedes: Some(DocumentKey("nhc/al09/018".into())),
    };
    vec![full, Document::plain("", "")]
}

pub(super) fn horizons() -> Vec<HorizonUpdate> {
    vec![HorizonUpdate {
        group: group(),
        reference_event: "landfall".into(),
        reference_at: moment("2017-08-26T03:00:00Z"),
        issued_at: moment("0001-01-01T00:00:00Z"),
    }]
}

pub(super) fn queries() -> Vec<Query> {
    let plain = Query {
        id: QueryId("q1".into()),
        question: "Which ports close?".into(),
        mode: Mode::Trajectory,
        group: None,
        as_of: None,
        parameters: QueryParameters::default(),
    };
    let parameters = QueryParameters { lambda: Fixed(-1), length: u16::MAX, ..QueryParameters::default() };
    let as_of = Some(moment("2017-08-25T03:00:00Z"));
    vec![plain.clone(), Query { group: Some(group()), as_of, parameters, id: QueryId("q2".into()), ..plain }]
}

pub(super) fn entities() -> Vec<Entity> {
    let storm = Entity {
        key: entity("storm:AL092017"),
        name: "Harvey".into(),
        kind: "cyclone".into(),
        category: Category::Persistent,
        description: String::new(),
        aliases: vec!["AL092017".into(), "Hurricane Harvey".into()],
        confidence: Fixed::from_f64(0.95),
        support: 12,
    };
    let time = entity("time:2017-08-25T03:00Z");
    let anchor = Entity { key: time, category: Category::Anchor, aliases: vec![], support: 0, ..storm.clone() };
    let state = entity("state:AL092017:@2017-08-25T03:00Z");
    vec![storm.clone(), anchor, Entity { key: state, category: Category::Transient, support: u32::MAX, ..storm }]
}

pub(super) fn hyperedges() -> Vec<Hyperedge> {
    let members = ["place:houston_tx", "storm:AL092017"];
    let full = Hyperedge {
        id: HyperedgeId::of("forecasts_track", members, "at 20.0N 80.0W"),
        relation: "forecasts_track".into(),
        family: 2,
        base_family: 255,
        text: "Hurricane Harvey: 85 MPH".into(),
        members: members.map(|key| Member { entity: entity(key), role: "role".into() }).to_vec(),
        attributes: vec![
            Attribute::number("latitude", -27.125, "degree", "27.1S"),
            Attribute::number("advisory_number", 19.0, "", "19"),
            Attribute::text("status", "Hurricane"),
            Attribute::time("next_advisory", moment("2017-08-25T09:00:00Z"), "25/0900Z"),
        ],
        group: group(),
        horizon_hours: Some(-6),
        issued_at: Some(moment("2017-08-25T03:00:00Z")),
        valid_at: Some(moment("2017-08-26T00:00:00Z")),
        confidence: Fixed::ONE,
        relations: vec![DirectedRelation {
            from: entity(members[1]),
            to: entity(members[0]),
            label: "approaches".into(),
            confidence: Fixed::from_f64(0.5),
        }],
        provenance: provenance(),
        origin: Origin::Synthesized,
        position: 17,
        embedded_as: ContentHash(1),
    };
    let bare = Hyperedge {
        id: HyperedgeId(ContentHash(u128::MAX)),
        attributes: vec![],
        horizon_hours: None,
        issued_at: None,
        valid_at: None,
        relations: vec![],
        origin: Origin::Derived,
        ..full.clone()
    };
    vec![full, bare]
}

pub(super) fn incidences() -> Vec<Incidence> {
    vec![Incidence { hyperedge: HyperedgeId(ContentHash(0)), entity: entity("port:houston_tx"), role: "port".into() }]
}

pub(super) fn degrees() -> Vec<Degree> {
    let degree = |key: &str, degree, expands| Degree { entity: entity(key), degree, expands };
    vec![degree("a", 1, true), degree("b", u32::MAX, false)]
}

pub(super) fn precedences() -> Vec<Precedence> {
    let cell = |sequence, by_horizon, phase| Cell { group: group(), sequence, by_horizon, phase, family: 3 };
    [Rule::PhaseOrder, Rule::FamilyEvolution, Rule::CausalChain, Rule::FamilyToChange]
        .map(|rule| Precedence { before: cell(-2880, true, 1), after: cell(25_000_000, false, u8::MAX), rule })
        .to_vec()
}

pub(super) fn conflicts() -> Vec<Conflict> {
    let side = |number: Option<f64>, issued_at: Option<&str>| ConflictSide {
        hyperedge: HyperedgeId(hash("side")),
        value: Value { number: number.map(Fixed::from_f64), unit: "kt".into(), time: None, given: "65 KT".into() },
        issued_at: issued_at.map(moment),
        provenance: provenance(),
    };
    let value = Conflict {
        kind: ConflictKind::Value,
        relation: "has_cyclone_state".into(),
        entity: entity("state:AL092017:@2017-08-25T03:00Z"),
        attribute: "max_wind".into(),
        leading: side(Some(65.0), Some("2017-08-25T03:00:00Z")),
        other: side(None, None),
    };
    vec![value.clone(), Conflict { kind: ConflictKind::Order, ..value }]
}

pub(super) fn model_outputs() -> Vec<ModelOutput> {
    let output = |input: &str, vector: &[f32]| ModelOutput {
        model: "all-MiniLM-L6-v2".into(),
        template: hash("template"),
        input: hash(input),
        vector: Vector(Arc::from(vector)),
    };
    vec![output("a", &[0.1, -1.5e-30, f32::MIN_POSITIVE, f32::MAX, 1.0 / 3.0]), output("b", &[])]
}

pub(super) fn answers() -> Vec<AnswerStep> {
    let score = StepScore {
        relevance: Fixed::from_f64(0.987654321),
        transition: Fixed::from_f64(-12.000000001),
        precedence: Fixed::from_f64(7.0 / 3.0),
        overlap: Fixed(1),
        coverage: Fixed(-1),
        total: Fixed::from_f64(1.0e6 + 1.0 / 3.0),
    };
    let step = AnswerStep {
        query: QueryId("q1".into()),
        rank: 1,
        step: u16::MAX,
        hyperedge: HyperedgeId(hash("edge")),
        relation: "has_operation_status".into(),
        phase: "operation".into(),
        horizon_hours: Some(12),
        issued_at: Some(moment("2017-08-25T03:00:00Z")),
        text: "Port condition ZULU".into(),
        relevance: Fixed::from_f64(0.1),
        score,
        provenance: provenance(),
    };
    let bare = AnswerStep { rank: 2, horizon_hours: None, issued_at: None, provenance: vec![], ..step.clone() };
    vec![step, bare]
}

pub(super) fn rejects() -> Vec<Reject> {
    let full = Reject {
        id: hash("reject"),
        topic: "documents".into(),
        partition: Some(i32::MAX),
        offset: Some(i64::MAX),
        key: "k".into(),
        stage: Stage::Extract,
        line: Some(7),
        reason: "line 7: expected a wind speed".into(),
        payload_base64: "AAEC".into(),
    };
    let bare = Reject { partition: None, offset: None, line: None, stage: Stage::Decode, ..full.clone() };
    let unknown = Reject { stage: Stage::Canonicalize, ..bare.clone() };
    let gap = Reject { stage: Stage::Gap, ..full.clone() };
    vec![full, bare, unknown, gap]
}
