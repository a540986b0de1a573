//! Whole storms: advisories against the tables beside them.

use std::path::Path;

use hypercane_operators::domain::Domain;
use hypercane_operators::extraction::{Extraction, Fact};
use hypercane_operators::grammar;
use hypercane_schemas::Document;
use jiff::Timestamp;

use super::numbers::{CLOSE, Place, given, moment, value};
use super::table::{self, Row, cell, number};
use super::{Error, Report};

/// Half of the five knots to which winds are rounded, in both units.
const WIND_ROUNDING: f64 = 2.6;
const QUADRANTS: [&str; 4] = ["NE", "SE", "SW", "NW"];

/// Checks one storm's folder.
pub(super) fn check(dir: &Path, storm: &Path, domain: &Domain, report: &mut Report) -> Result<(), Error> {
    let advisories = table::rows(&storm.join("parsed_adv.csv"))?;
    let tables = Tables {
        forecasts: table::rows(&storm.join("parsed_fcst.csv"))?,
        radii: table::rows(&storm.join("parsed_wr.csv"))?,
        forecast_radii: table::rows(&storm.join("parsed_fcst_wr.csv"))?,
    };
    for row in &advisories {
        let Some(number) = number(row, "Adv") else {
            continue;
        };
        for kind in ["tcm", "tcp"] {
            let path = storm.join(format!("{kind}_{number:03}.txt"));
            if !path.is_file() {
                continue;
            }
            let text = table::text(&path)?;
            let file = table::shown(dir, &path);
            let extraction = grammar::extract(&Document::plain(&file, &text), domain).unwrap_or_default();
            let advisory = Advisory { file: &file, text: &text, extraction: &extraction, row };
            if kind == "tcm" {
                advisory.forecast_advisory(&tables, report);
            } else {
                advisory.public_advisory(report);
            }
        }
    }
    Ok(())
}

struct Tables {
    forecasts: Vec<Row>,
    radii: Vec<Row>,
    forecast_radii: Vec<Row>,
}

struct Advisory<'a> {
    file: &'a str,
    text: &'a str,
    extraction: &'a Extraction,
    row: &'a Row,
}

impl<'a> Advisory<'a> {
    fn fact(&self, relation: &str, passes: impl Fn(&Fact) -> bool) -> Option<&'a Fact> {
        self.extraction.facts.iter().find(|fact| fact.relation == relation && passes(fact))
    }

    fn place(&self, fact: Option<&'a Fact>) -> Place<'a> {
        Place { file: self.file, text: self.text, fact }
    }

    fn rows_of<'t>(&self, table: &'t [Row]) -> impl Iterator<Item = &'t Row> {
        let number = cell(self.row, "Adv").to_owned();
        table.iter().filter(move |row| cell(row, "Adv") == number)
    }

    fn forecast_advisory(&self, tables: &Tables, report: &mut Report) {
        let row = self.row;
        let issued = self.extraction.issued_at.map_or("none".into(), |at| at.to_string());
        let expected = moment(cell(row, "Date")).map_or("none".into(), |at| at.to_string());
        report.compare("TCM issue time", self.place(None).words(expected, issued));
        let state = self.place(self.fact("has_cyclone_state", |_| true));
        report.compare(
            "TCM centre",
            state.numbers(&["latitude", "longitude"], &[number(row, "Lat"), number(row, "Lon")], CLOSE),
        );
        for (name, attribute, column) in [
            ("TCM wind", "max_wind", "Wind"),
            ("TCM gusts", "gusts", "Gust"),
            ("TCM pressure", "pressure", "Pressure"),
            ("TCM position accuracy", "position_accuracy", "PosAcc"),
            ("TCM eye diameter", "eye_diameter", "Eye"),
        ] {
            // The table misses some eyes of one digit.
            if column == "Eye" && number(row, column).is_none() {
                continue;
            }
            report.compare(name, state.numbers(&[attribute], &[number(row, column)], CLOSE));
        }
        let motion = self.fact("has_motion", |_| true);
        // The table leaves the speed of a stationary storm out.
        let speed = number(row, "FwdSpeed").or(motion.map(|_| 0.0));
        let expected = [number(row, "FwdDir"), speed];
        let motion = self.place(motion).numbers(&["motion_direction", "motion_speed"], &expected, CLOSE);
        report.compare("TCM motion", motion);
        let seas = self.fact("observes_hazard_at_horizon", |fact| value(fact, "seas_ne").is_some());
        let expected = QUADRANTS.map(|quadrant| number(row, &format!("Seas{quadrant}")));
        let names = ["seas_ne", "seas_se", "seas_sw", "seas_nw"];
        report.compare("TCM 12 ft seas", self.place(seas).numbers(&names, &expected, CLOSE));
        for row in self.rows_of(&tables.radii) {
            self.radii("TCM wind radii now", "observes_hazard_at_horizon", row, None, report);
        }
        for row in self.rows_of(&tables.forecasts) {
            self.forecast_point(row, report);
        }
        for row in self.rows_of(&tables.forecast_radii) {
            let valid = moment(cell(row, "FcstDate"));
            self.radii("TCM wind radii forecast", "forecasts_hazard_at_horizon", row, valid, report);
        }
    }

    fn radii(&self, name: &str, relation: &str, row: &Row, valid: Option<Timestamp>, report: &mut Report) {
        let threshold = number(row, "WindField");
        let fact = self.fact(relation, |fact| {
            let in_time = valid.is_none_or(|valid| fact.valid_at.is_some_and(|at| same_time(at, valid)));
            in_time && value(fact, "threshold") == threshold && value(fact, "radius_ne").is_some()
        });
        let expected = QUADRANTS.map(|quadrant| number(row, quadrant));
        let names = ["radius_ne", "radius_se", "radius_sw", "radius_nw"];
        report.compare(name, self.place(fact).numbers(&names, &expected, CLOSE));
    }

    fn forecast_point(&self, row: &Row, report: &mut Report) {
        let Some(valid) = moment(cell(row, "FcstDate")) else {
            return;
        };
        let on_day = |fact: &Fact| fact.valid_at.is_some_and(|at| same_time(at, valid));
        let fact = self.fact("forecasts_track", |fact| on_day(fact) && value(fact, "latitude").is_some());
        let place = self.place(fact);
        let position = [number(row, "Lat"), number(row, "Lon")];
        report.compare("TCM forecast position", place.numbers(&["latitude", "longitude"], &position, CLOSE));
        let wind = [number(row, "Wind"), number(row, "Gust")];
        report.compare("TCM forecast wind and gusts", place.numbers(&["max_wind", "gusts"], &wind, CLOSE));
        let found = fact.and_then(|fact| fact.valid_at);
        let time = match found {
            Some(at) if same_time(at, valid) => None,
            _ => place.words(valid.to_string(), found.map_or("no such point".into(), |at| at.to_string())),
        };
        report.compare("TCM forecast valid time", time);
    }

    fn public_advisory(&self, report: &mut Report) {
        let row = self.row;
        let issued = self.extraction.issued_at.map_or("none".into(), |at| at.to_string());
        let expected = moment(cell(row, "Date")).map_or("none".into(), |at| at.to_string());
        report.compare("TCP issue time", self.place(None).words(expected, issued));
        let state = self.place(self.fact("has_cyclone_state", |_| true));
        let centre = [number(row, "Lat"), number(row, "Lon")];
        report.compare("TCP centre", state.numbers(&["latitude", "longitude"], &centre, CLOSE));
        report.compare("TCP wind within rounding", state.numbers(&["max_wind"], &[number(row, "Wind")], WIND_ROUNDING));
        report.compare("TCP pressure", state.numbers(&["pressure"], &[number(row, "Pressure")], CLOSE));
        let status = state.fact.and_then(|fact| given(fact, "status")).unwrap_or_default();
        if !status.is_empty() && status.to_uppercase().starts_with("SUBTROPICAL") {
            // The table turns subtropical storms into tropical ones.
            return;
        }
        report.compare("TCP class", state.words(cell(row, "Status").to_lowercase(), status.to_lowercase()));
    }
}

/// Whether a time of a text is that of a table. Tables give some outlook points a wrong hour, 05:00, on the right day.
fn same_time(text: Timestamp, table: Timestamp) -> bool {
    let utc = |at| jiff::tz::Offset::UTC.to_datetime(at);
    let (in_text, in_table) = (utc(text), utc(table));
    text == table || (in_table.hour() == 5 && in_table.minute() == 0 && in_text.date() == in_table.date())
}
