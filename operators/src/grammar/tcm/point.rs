//! A forecast point with the wind and the radii under it.

use hypercane_schemas::{Attribute, Span};
use jiff::Timestamp;

use crate::grammar::facts::{Draft, Notes, current_state, forecast_state, plain, spoken_position, state};
use crate::grammar::moment::{minute_form, spoken_form};
use crate::grammar::units::Quadrants;

/// A point of the forecast track, while its lines come in.
#[derive(Clone, Debug)]
pub struct Point {
    /// When it is valid.
    pub valid_at: Timestamp,
    position: Option<(f64, f64)>,
    remark: String,
    outlook: bool,
    span: Span,
    wind: Option<(f64, Option<f64>)>,
    radii: Vec<(f64, Quadrants, Span)>,
}

impl Point {
    /// A point from its first line.
    pub fn new(valid_at: Timestamp, position: Option<(f64, f64)>, remark: String, outlook: bool, span: Span) -> Self {
        Self { valid_at, position, remark, outlook, span, wind: None, radii: Vec::new() }
    }

    /// Adds its wind line.
    pub fn wind(&mut self, wind: f64, gusts: Option<f64>, span: Span) {
        if self.wind.is_none() {
            self.wind = Some((wind, gusts));
            self.span = self.span.cover(span);
        }
    }

    /// Adds a line of radii.
    pub fn radii(&mut self, threshold: f64, quadrants: Quadrants, span: Span) {
        self.radii.push((threshold, quadrants, span));
    }

    /// Writes it as facts.
    pub fn write(self, notes: &mut Notes<'_>) {
        let header = notes.header;
        let hours = (self.valid_at.as_second() - header.issued_at.as_second()) as f64 / 3600.0;
        let what = if self.outlook { "outlook" } else { "forecast" };
        let mut words = vec![format!("{what} valid {}", spoken_form(self.valid_at))];
        if let Some((latitude, longitude)) = self.position {
            words.push(format!("position {}", spoken_position(latitude, longitude)));
        }
        if !self.remark.is_empty() {
            words.push(self.remark.to_lowercase());
        }
        if let Some((wind, gusts)) = self.wind {
            let gusts = gusts.map_or(String::new(), |gusts| format!(" with gusts to {} kt", plain(gusts)));
            words.push(format!("maximum wind {} kt{gusts}", plain(wind)));
        }
        let mut fact = Draft::new("forecasts_track", words.join(", "), self.span)
            .mention(forecast_state(header, self.valid_at))
            .number("forecast_hour", hours, "h", format!("{} h", plain(hours)))
            .valid(self.valid_at);
        if let Some((latitude, longitude)) = self.position {
            let given = spoken_position(latitude, longitude);
            fact = fact.number("latitude", latitude, "degree", &given).number("longitude", longitude, "degree", given);
        }
        if let Some((wind, gusts)) = self.wind {
            fact = fact.number("max_wind", wind, "kt", format!("{} KT", plain(wind)));
            if let Some(gusts) = gusts {
                fact = fact.number("gusts", gusts, "kt", format!("{} KT", plain(gusts)));
            }
        }
        if !self.remark.is_empty() {
            fact = fact.text("remark", &self.remark);
        }
        notes.add(fact);
        for (threshold, quadrants, span) in self.radii {
            write_radii(threshold, &quadrants, Some(self.valid_at), span, notes);
        }
    }
}

fn spoken_quadrants(quadrants: &Quadrants) -> String {
    let names = ["NE", "SE", "SW", "NW"];
    let parts = quadrants.radii.iter().zip(names);
    parts.filter_map(|(radius, name)| Some(format!("{} nm {name}", plain((*radius)?)))).collect::<Vec<_>>().join(", ")
}

fn quadrant_attributes(prefix: &str, quadrants: &Quadrants) -> Vec<Attribute> {
    let parts = quadrants.radii.iter().zip(Quadrants::NAMES);
    parts
        .filter_map(|(radius, name)| {
            let radius = (*radius)?;
            let given = format!("{}{}", plain(radius), name.to_ascii_uppercase());
            Some(Attribute::number(&format!("{prefix}_{name}"), radius, "nm", given))
        })
        .collect()
}

/// Writes the radii of a wind threshold, now or at a forecast time.
pub fn write_radii(threshold: f64, quadrants: &Quadrants, valid: Option<Timestamp>, span: Span, notes: &mut Notes<'_>) {
    let header = notes.header;
    let knots = plain(threshold);
    let (when, detail, words) = match valid {
        Some(at) => (at, minute_form(at), format!(" forecast for {}", spoken_form(at))),
        None => (header.issued_at, "now".into(), String::new()),
    };
    let relation = if valid.is_some() { "forecasts_hazard_at_horizon" } else { "observes_hazard_at_horizon" };
    let name = format!("{knots} kt wind radii of {}{words}", header.title.name);
    let sentence = format!("{knots} kt wind radii{words}: {}", spoken_quadrants(quadrants));
    let about = match valid {
        Some(at) => forecast_state(header, at),
        None => current_state(header),
    };
    let fact = Draft::new(relation, sentence, span)
        .mention(state(header, "radii", &format!("{knots}:{detail}"), name, "wind_radii"))
        .mention(about)
        .number("threshold", threshold, "kt", format!("{knots} KT"))
        .attributes(quadrant_attributes("radius", quadrants))
        .valid(when);
    notes.add(fact);
}

/// Writes the radii of high seas, now or at a forecast time.
pub fn write_seas(height: f64, quadrants: &Quadrants, valid: Option<Timestamp>, span: Span, notes: &mut Notes<'_>) {
    let header = notes.header;
    let feet = plain((height * 10.0).round() / 10.0);
    let (when, words) = match valid {
        Some(at) => (at, format!(" forecast for {}", spoken_form(at))),
        None => (header.issued_at, String::new()),
    };
    let detail = valid.map_or("now".into(), minute_form);
    let relation = if valid.is_some() { "forecasts_hazard_at_horizon" } else { "observes_hazard_at_horizon" };
    let name = format!("{feet} ft seas of {}{words}", header.title.name);
    let sentence = format!("{feet} ft seas{words}: {}", spoken_quadrants(quadrants));
    let fact = Draft::new(relation, sentence, span)
        .mention(state(header, "hazard", &format!("seas:{detail}"), name, "hazard_forecast"))
        .number("seas_height", height, "ft", format!("{feet} FT"))
        .attributes(quadrant_attributes("seas", quadrants))
        .valid(when);
    notes.add(fact);
}
