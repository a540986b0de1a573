//! The pack in the repository, and packs that are wrong.

use std::collections::{BTreeMap, BTreeSet};

use hypercane_schemas::Category;
use proptest::prelude::*;

use super::*;

/// The smallest pack, and so one without phases.
const SMALL: &str = "name = \"small\"\nhub_degree = 3\nfuzzy_threshold = 0.85\nopen_family = 1\n\n[[families]]\nnumber = 1\n\
                     name = \"Facts\"\nrelations = [\"states\"]\n";

fn error(toml: &str, tables: &[(&str, &str)]) -> String {
    let tables = tables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    Domain::parse(toml, &tables).unwrap_err().to_string()
}

#[test]
fn the_families_are_those_of_table_3_in_phase_order() {
    let domain = cyclone();
    let numbers: Vec<u8> = domain.families().iter().map(|family| family.number).collect();
    assert_eq!(numbers, (1..=13).collect::<Vec<u8>>());
    for family in domain.families() {
        assert_eq!(domain.phase_rank(family.number), Some(family.number), "{}", family.name);
    }
    let relations: Vec<&String> = domain.families().iter().flat_map(|family| &family.relations).collect();
    assert_eq!(relations.len(), 25);
    assert_eq!(relations.iter().collect::<BTreeSet<_>>().len(), 25);
    assert_eq!(domain.phase(13), "cross_horizon");
    assert_eq!(domain.coverage_phases().len(), 6);
    assert_eq!(domain.causal_rules().len(), 4);
    assert_eq!(domain.change_relation(5), Some("changes_probability_to"));
    assert_eq!(domain.change_relation(1), Some("forecast_updates_to"));
}

#[test]
fn labels_are_matched_exactly_then_by_alias_then_by_likeness() {
    let domain = cyclone();
    let cases = [
        ("has_motion", "has_motion", MatchedBy::Exact),
        ("  Has-Cyclone  State ", "has_cyclone_state", MatchedBy::Exact),
        ("closes_port", "has_operation_status", MatchedBy::Alias),
        ("Closes Port", "has_operation_status", MatchedBy::Alias),
        ("has_cyclone_states", "has_cyclone_state", MatchedBy::Fuzzy),
        ("forcasts_landfall", "forecasts_landfall", MatchedBy::Fuzzy),
    ];
    for (label, relation, by) in cases {
        let family = domain.family_of(relation).unwrap().number;
        assert_eq!(domain.relation(label), Some(RelationMatch { relation: relation.into(), family, by }), "{label}");
    }
    for label in ["", " _ ", "likes", "has_status"] {
        assert_eq!(domain.relation(label), None, "{label}");
    }
}

#[test]
fn the_ports_are_many_and_on_earth_and_none_stands_on_another() {
    let domain = cyclone();
    assert!(domain.ports().iter().filter(|port| port.country == "US").count() >= 145);
    for (idx, port) in domain.ports().iter().enumerate() {
        let us = port.country == "US" && !["GU", "MP", "AS"].contains(&port.state.as_str());
        assert!(!us || (17.0..72.0).contains(&port.latitude) && (-170.0..-64.0).contains(&port.longitude), "{port:?}");
        let (north, east) = (port.latitude, port.longitude);
        let here = |other: &Port| other.latitude == north && other.longitude == east;
        assert!(!domain.ports()[idx + 1..].iter().any(here), "{port:?}");
        assert_eq!(domain.port(&port.slug), Some(port));
    }
}

#[test]
fn every_sector_has_ports_and_no_port_two_sectors() {
    let domain = cyclone();
    let governed: Vec<&String> = domain.sectors().iter().flat_map(|sector| &sector.ports).collect();
    assert!(domain.sectors().iter().all(|sector| !sector.ports.is_empty()));
    assert_eq!(governed.iter().collect::<BTreeSet<_>>().len(), governed.len());
    assert_eq!(domain.sector_of("lake_charles_la").unwrap().slug, "port_arthur");
    assert_eq!(domain.sector_named("COTP Houston-Galveston").unwrap().slug, "houston_galveston");
}

#[test]
fn every_name_that_is_declared_ambiguous_is() {
    let domain = cyclone();
    for name in &domain.pack.ambiguous_names {
        assert!(domain.ports_named(name).len() > 1, "{name}");
    }
}

#[test]
fn ports_are_found_under_the_names_people_write() {
    let domain = cyclone();
    let cases = [
        ("Port Arthur", "port_arthur_tx"),
        ("PORT ARTHUR TX", "port_arthur_tx"),
        ("the Port of New Orleans", "new_orleans_la"),
        ("New Orleans, Louisiana", "new_orleans_la"),
        ("Wilmington NC", "wilmington_nc"),
        ("#KeyWest", "key_west_fl"),
        ("PortofMiami", "miami_fl"),
        ("Port-au-Prince", "port_au_prince_ht"),
        ("St. John's, NL", "st_johns_nl"),
        ("Kalaeloa", "kalaeloa_barbers_point_hi"),
    ];
    for (name, slug) in cases {
        assert_eq!(domain.port_named(name).map(|port| port.slug.as_str()), Some(slug), "{name}");
    }
    assert_eq!(domain.port_named("Wilmington"), None);
    let both: Vec<&str> = domain.ports_named("wilmington").iter().map(|port| port.slug.as_str()).collect();
    assert_eq!(both, ["wilmington_de", "wilmington_nc"]);
    assert!(domain.ports_named("Atlantis").is_empty());
}

/// The places of a text: its words, and what they stand for.
fn places<'a>(domain: &'a Domain, text: &'a str) -> Vec<(&'a str, Vec<&'a str>)> {
    let slugs = |place: &Place<'a>| match place {
        Place::Ports(ports) => ports.iter().map(|port| port.slug.as_str()).collect(),
        Place::Sector(sector) => vec![sector.name.as_str()],
    };
    domain.places_in(text).iter().map(|found| (found.span.of(text).unwrap(), slugs(&found.place))).collect()
}

#[test]
fn names_in_running_text_keep_their_bytes() {
    let domain = cyclone();
    let text =
        "Café note: the Ports of Lake Charles, LA and Port Arthur are closed; mobile cranes stay in Mobile. #KeyWest";
    let expected = [
        ("Lake Charles, LA", vec!["lake_charles_la"]),
        ("Port Arthur", vec!["port_arthur_tx"]),
        ("Mobile", vec!["mobile_al"]),
        ("KeyWest", vec!["key_west_fl"]),
    ];
    assert_eq!(places(&domain, text), expected);
}

#[test]
fn a_sector_is_not_the_port_in_its_name() {
    let domain = cyclone();
    let text = "Sector Key West closed Key West";
    assert_eq!(places(&domain, text), [("Sector Key West", vec!["Key West"]), ("Key West", vec!["key_west_fl"])]);
    assert_eq!(places(&domain, "Ponce, Puerto Rico"), [("Ponce, Puerto Rico", vec!["ponce_pr"])]);
}

#[test]
fn the_states_around_settle_an_ambiguous_name() {
    let domain = cyclone();
    let first = |text: &str| places(&domain, text)[0].1.join(" ");
    assert_eq!(first("Wilmington and Morehead City are closed"), "wilmington_nc");
    assert_eq!(first("Wilmington is closed, says the governor of Delaware"), "wilmington_de");
    assert_eq!(first("Freeport, Galveston and Houston"), "freeport_tx");
    assert_eq!(first("Wilmington is closed"), "wilmington_de wilmington_nc");
}

#[test]
fn questions_name_attributes_and_horizons() {
    let domain = cyclone();
    assert_eq!(domain.attributes_asked("What was the central pressure?")[0], "pressure");
    assert!(domain.attributes_asked("Which condition is Port Arthur in?").contains(&"condition"));
    let at = |text: &str| domain.anchors().find(text).map(|found| (found.hours, found.event));
    let landfall = Some("landfall".to_owned());
    assert_eq!(at("T-48 hours before expected landfall:"), Some((48, landfall.clone())));
    assert_eq!(at("How strong was it two days before landfall?"), Some((48, landfall)));
    assert_eq!(at("the forecast 24 hours out"), Some((24, None)));
    assert_eq!(at("at T-96, what was forecast"), Some((96, None)));
    assert_eq!(at("two days after landfall"), None);
}

#[test]
fn classes_stand_in_order_of_strength() {
    let domain = cyclone();
    let rank = |text: &str| domain.status_class(text).map(|(rank, _)| rank);
    assert!(rank("TROPICAL STORM") < rank("hurricane"));
    assert!(rank("Hurricane") < rank("Major Hurricane"));
    assert!(rank("Post-Tropical Cyclone").is_some());
    assert_eq!(rank("Zephyr"), None);
}

#[test]
fn types_have_their_category_and_anchors_carry_no_expansion() {
    let domain = cyclone();
    assert_eq!(domain.category_of("cyclone"), Category::Persistent);
    assert_eq!(domain.category_of("cyclone_state"), Category::Transient);
    assert_eq!(domain.category_of("moment"), Category::Anchor);
    assert_eq!(domain.category_of("never heard of"), Category::Concept);
    assert!(domain.expands("port") && domain.expands("never heard of"));
    assert!(!domain.expands("cyclone") && !domain.expands("moment") && !domain.expands("advisory"));
}

#[test]
fn a_pack_without_phases_takes_any_label() {
    let domain = Domain::parse(SMALL, &BTreeMap::new()).unwrap();
    assert_eq!(domain.phase_rank(1), None);
    let found = domain.relation("Was Born In").unwrap();
    assert_eq!((found.relation.as_str(), found.family, found.by), ("was_born_in", 1, MatchedBy::Open));
    assert!(domain.ports().is_empty());
}

#[test]
fn the_first_cue_of_a_question_says_what_may_answer_it() {
    let pack = format!(
        "{SMALL}\n[entity_types]\nperson = {{ category = \"persistent\", expands = true, cues = [\"who\", \"owner\"] }}\n\
         org = {{ category = \"persistent\", expands = true, cues = [\"owner\"] }}\n"
    );
    let domain = Domain::parse(&pack, &BTreeMap::new()).unwrap();
    assert_eq!(domain.asked_types("Who is the owner?"), ["person"]);
    assert_eq!(domain.asked_types("the owner of whoever"), ["org", "person"]);
    assert!(domain.asked_types("How deep is it?").is_empty());
}

#[test]
fn errors_name_file_and_place() {
    let misspelt = SMALL.replace("hub_degree", "hub_degre");
    assert!(
        error(&misspelt, &[]).starts_with("domain.toml, line 2: unknown field `hub_degre`"),
        "{}",
        error(&misspelt, &[])
    );
    let twice = format!("{SMALL}[[families]]\nnumber = 2\nname = \"More\"\nrelations = [\"states\"]\n");
    assert_eq!(error(&twice, &[]), "domain.toml, families.2.relations: \"states\" is in family 1 too");
    let alias = format!("{SMALL}[relation_aliases]\nsays = \"tells\"\n");
    assert_eq!(error(&alias, &[]), "domain.toml, relation_aliases.says: \"tells\" is no relation");
    let ports = format!("{SMALL}[tables]\nports = \"p.csv\"\n");
    assert_eq!(error(&ports, &[]), "domain.toml, tables.ports: table \"p.csv\" was not given");
    let head = "slug,name,state,country,latitude,longitude,aliases\n";
    let table = |rows: &str| error(&ports, &[("p.csv", &format!("{head}{rows}"))]);
    assert_eq!(table("a,A,,US,95,0,\n"), "p.csv, line 2: 95, 0 is no place on Earth");
    assert!(table("a,A,,US,x,0,\n").starts_with("p.csv, line 2: "), "{}", table("a,A,,US,x,0,\n"));
    assert!(table("a,A,,US,1\n").starts_with("p.csv, line 2: "), "{}", table("a,A,,US,1\n"));
    assert!(table("a,A,ZZ,US,1,1,\n").contains("state \"ZZ\""));
    assert_eq!(table("a,A,,US,1,1,\na,B,,US,2,2,\n"), "p.csv, a: this slug is there twice");
    assert!(table("a,A,,US,1,1,\nb,a,,US,2,2,\n").contains("names a too"));
    let questions = format!("{SMALL}[tables]\nquestions = \"q.toml\"\n");
    let asked = |text: &str| error(&questions, &[("q.toml", text)]);
    assert!(asked("\nstop_word = []\n").starts_with("q.toml, line 2: unknown field `stop_word`"));
    assert_eq!(asked("[families]\n7 = [\"why\"]\n"), "q.toml, families.7: there is no family 7");
    assert_eq!(asked("[roles]\nwarnings = 4\n"), "q.toml, roles: there is no family 4");
    assert!(asked("[families]\nseven = []\n").contains("\"seven\" is no number of a family"));
    assert_eq!(asked("[types]\nplaces = [\"berth\"]\n"), "q.toml, types: there is no entity type \"berth\"");
    let product = "[[products]]\nkind = \"a\"\nwords = []\n";
    assert_eq!(asked(&product.repeat(2)), "q.toml, products.a: this product is there twice");
    assert_eq!(asked("[series]\nkinds = [\"b\"]\n"), "q.toml, series: there is no product \"b\"");
    let measure = "[[measures]]\nattribute = \"depth\"\ncrossing = \"up\"\n";
    assert_eq!(asked(measure), "q.toml, measures.depth: there is no attribute of that name");
}

/// Words of a question are compared in lower case, so a phrase with a capital would never be found.
#[test]
fn the_words_of_questions_are_in_lower_case_and_stand_once_in_their_list() {
    let domain = cyclone();
    let questions = domain.questions();
    let mut n_phrases = 0;
    for list in questions.phrases() {
        let distinct: BTreeSet<&String> = list.iter().collect();
        assert_eq!(distinct.len(), list.len(), "{list:?}");
        for phrase in list {
            assert_eq!(*phrase, phrase.to_lowercase());
            n_phrases += 1;
        }
    }
    assert!(n_phrases > 250, "{n_phrases}");
    assert!(questions.products.iter().all(|product| !product.words.is_empty()));
    assert!(questions.is_operation(10) && !questions.is_operation(5));
}

proptest! {
    #[test]
    fn no_text_makes_a_lookup_panic(text in "\\PC{0,60}") {
        let domain = Domain::parse(SMALL, &BTreeMap::new()).unwrap();
        domain.relation(&text);
        domain.anchors().find(&text);
        let names = [text.clone(), "Port Arthur".to_owned()];
        let whole = format!("{text} Port Arthur {text}");
        if let Ok(index) = NameIndex::build("p.csv", [("port_arthur_tx", &names[..])].into_iter(), &BTreeSet::new()) {
            for (span, _) in index.find_in(&whole) {
                prop_assert!(span.of(&whole).is_some());
            }
        }
    }

    #[test]
    fn forms_are_stable(text in "\\PC{0,40}") {
        prop_assert_eq!(label_form(&label_form(&text)), label_form(&text));
        prop_assert_eq!(name_form(&name_form(&text)), name_form(&text));
    }
}
