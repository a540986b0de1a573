//! Grammars for the texts of the trade, one module each, chosen by the document's source kind.
