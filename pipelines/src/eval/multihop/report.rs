//! The figures of an evaluation, as a table and as JSON.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

use super::{Ablation, Measured, Mode};

/// All figures.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Report {
    /// By set and mode.
    pub sets: BTreeMap<String, BTreeMap<Mode, Measured>>,
    /// What each part of a mode is worth, by set, where that was asked for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ablations: BTreeMap<String, Vec<Ablation>>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = table(&["set", "mode", "R@2", "R@5", "all@5", "R@10", "ms a query", "index CPU s"]);
        for (set, modes) in &self.sets {
            for (mode, m) in modes {
                let mut row = vec![set.clone(), mode.name().to_owned()];
                row.extend(figures(m));
                row.extend([format!("{:.2}", m.query_ms), format!("{:.1}", m.index_cpu_s)]);
                table.add_row(row);
            }
        }
        writeln!(f, "{table}")?;
        if self.ablations.is_empty() {
            return Ok(());
        }
        let mut table = self::table(&["set", "mode", "change", "R@2", "R@5", "all@5", "R@10"]);
        for (set, ablations) in &self.ablations {
            for Ablation { mode, change, measured } in ablations {
                let mut row = vec![set.clone(), mode.name().to_owned(), (*change).to_owned()];
                row.extend(figures(measured));
                table.add_row(row);
            }
        }
        writeln!(f, "\n{table}")
    }
}

fn table(header: &[&str]) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(header);
    table
}

fn figures(m: &Measured) -> [String; 4] {
    [m.recall_2, m.recall_5, m.all_5, m.recall_10].map(|share| format!("{share:.1}"))
}
