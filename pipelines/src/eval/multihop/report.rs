//! The figures of an evaluation, as a table and as JSON.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

use super::{Measured, Mode};

/// All figures.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Report {
    /// By set and mode.
    pub sets: BTreeMap<String, BTreeMap<Mode, Measured>>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::ASCII_MARKDOWN);
        table.set_header(["set", "mode", "R@2", "R@5", "all@5", "R@10", "ms a query", "index CPU s"]);
        for (set, modes) in &self.sets {
            for (mode, m) in modes {
                let percent = |share: f64| format!("{share:.1}");
                let mut row = vec![set.clone(), mode.name().to_owned()];
                row.extend([m.recall_2, m.recall_5, m.all_5, m.recall_10].map(percent));
                row.extend([format!("{:.2}", m.query_ms), format!("{:.1}", m.index_cpu_s)]);
                table.add_row(row);
            }
        }
        writeln!(f, "{table}")
    }
}
