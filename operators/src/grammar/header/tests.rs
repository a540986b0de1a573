//! Heads of all decades, and what is wrong with broken ones.

use super::*;

#[test]
fn titles_of_all_products() {
    let numbered = title("TROPICAL STORM OPAL SPECIAL FORECAST/ADVISORY NUMBER   1").unwrap();
    assert_eq!((numbered.kind, numbered.number, numbered.special), (TitleKind::ForecastAdvisory, Some(1), true));
    let letter = title("Hurricane Opal Intermediate Advisory Number 19A...Corrected").unwrap();
    assert_eq!((letter.letter, letter.intermediate, letter.corrected), (Some('A'), true, true));
    assert_eq!((letter.class.as_str(), letter.name.as_str()), ("Hurricane", "Opal"));
    let potential = title("Potential Tropical Cyclone Twenty-One Advisory Number 2").unwrap();
    assert_eq!(potential.name, "Twenty-One");
    let remnants = title("REMNANTS OF OPAL FORECAST/ADVISORY NUMBER  36").unwrap();
    assert_eq!((remnants.class.as_str(), remnants.name.as_str()), ("Remnants of", "Opal"));
    assert_eq!(title("Hurricane Opal Tropical Cyclone Update").unwrap().number, None);
    assert_eq!(title("Tropical Storm Opal Wind Speed Probabilities Number   9").unwrap().kind.code(), "pws");
    assert!(title("HURRICANE OPAL FORECAST/ADVISORY NUMBER  44 CORRECTED").unwrap().corrected);
    assert_eq!(title("Tropical cyclone updates at 200 AM and 300 AM EDT."), None);
    assert_eq!(title("the next advisory number 3 will be issued later"), None);
}

fn sample(title: &str, office: &str, time: &str) -> String {
    format!("ZCZC MIATCMAT4 ALL\nTTAA00 KNHC DDHHMM CCB\n\n{title}\n{office}\n{time}\n\nbody\n")
}

#[test]
fn a_head_gives_storm_number_and_time() {
    let text = sample("HURRICANE OPAL FORECAST/ADVISORY\nNUMBER  9", "NWS MIAMI FL  AL172005", "0300Z MON OCT 03 2005");
    let head = header(&text).unwrap();
    assert_eq!(head.product().name, "AL172005:009");
    assert_eq!((head.correction, head.office.as_str(), head.body), (2, "NWS MIAMI FL", 7));
    let broken = sample("POTENTIAL TROPICAL CYCLONE TEN\nFORECAST/ADVISORY NUMBER 4", "NWS", "0300Z MON OCT 03 2005");
    let head = header(&broken).unwrap();
    assert_eq!((head.titled_name().as_str(), head.storm_id().as_str()), ("Potential Tropical Cyclone Ten", "AL102005"));
}

#[test]
fn old_ids_become_long_ones() {
    let text = sample("TROPICAL STORM OPAL ADVISORY NUMBER 1", "NWS MIAMI FL  AL0198", "1500Z MON JUL 27 1998");
    assert_eq!(header(&text).unwrap().storm_id(), "AL011998");
    let none = sample("TROPICAL STORM OPAL ADVISORY NUMBER 1", "NWS MIAMI FL", "2200Z WED JUL 03 1991");
    assert_eq!(header(&none).unwrap().storm_id(), "OPAL_1991");
    let central =
        "WTPA23 PHNL 222100\nTROPICAL DEPRESSION THREE-C ADVISORY NUMBER 1\nHONOLULU\n2100Z SAT OCT 22 1994\n";
    assert_eq!(header(central).unwrap().storm_id(), "CP031994");
}

#[test]
fn what_is_wrong_names_its_line() {
    let text = sample("HURRICANE OPAL ADVISORY NUMBER 1", "NWS", "0300 UTC FRI FEB 31 2017");
    assert_eq!(header(&text).unwrap_err(), Failure { line: 6, reason: "FEB 2017 has no day 31".into() });
    assert_eq!(header("\n\nhello\n").unwrap_err().line, 3);
    assert_eq!(header(" \n").unwrap_err().reason, "the text is empty");
}
