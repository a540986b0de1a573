//! A model that is never asked, for what must follow from the record alone.

use hypercane_schemas::Vector;

use super::{Error, Model};

/// Stands for the model whose outputs are on record. To ask it is an error.
#[derive(Clone, Debug)]
pub struct RecordOnly {
    id: String,
}

impl RecordOnly {
    /// For the outputs of the model of that id.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into() }
    }
}

impl Model for RecordOnly {
    fn id(&self) -> &str {
        &self.id
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vector>, Error> {
        let first = texts.first().map_or("", String::as_str);
        Err(Error::lasting(format!(
            "the lake has no vector of model {} for {} of the texts that its documents ask for, the first being {first:?}: \
             rows of table model_outputs are lost, or another version of the program wrote them",
            self.id,
            texts.len()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::{Model, RecordOnly};

    #[test]
    fn to_ask_it_is_an_error_that_names_model_and_text() {
        let error = RecordOnly::new("some-model").embed(&["winds of 50 kt".to_owned()]).unwrap_err();
        let told = error.to_string();
        assert!(told.contains("some-model") && told.contains("winds of 50 kt") && !error.is_transient(), "{told}");
    }
}
