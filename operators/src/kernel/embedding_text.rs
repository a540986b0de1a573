//! The text under which a fact is embedded, with numbers and times folded.

/// The relation's words and the evidence, each word with a digit replaced by `#`, runs of them by one.
pub fn embedding_text(relation: &str, evidence: &str) -> String {
    let mut text = relation.replace('_', " ");
    text.push(':');
    let mut folded = false;
    for word in evidence.split_whitespace() {
        if word.bytes().any(|b| b.is_ascii_digit()) {
            if !folded {
                text.push_str(" #");
            }
            folded = true;
        } else {
            text.push(' ');
            text.push_str(word);
            folded = false;
        }
    }
    text
}
