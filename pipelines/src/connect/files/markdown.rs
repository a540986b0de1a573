//! Markdown as plain text: what a reader sees, each block in lines of its own, headings among them.

use pulldown_cmark::{Event, MetadataBlockKind, Options, Parser, Tag, TagEnd};
use saphyr_parser::{Event as Yaml, Parser as YamlParser};

use super::{content::Readable, html};

/// The text, and the title of the front matter, else of the first heading.
pub(super) fn read(markdown: &str) -> Readable {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
        | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let mut writer = Writer::default();
    Parser::new_ext(markdown, options).for_each(|event| writer.take(event));
    let Writer { text, front_matter, heading, .. } = writer;
    let title = front_matter.and_then(|(kind, text)| title_of(kind, &text)).or(heading);
    Readable { title: title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty()), text }
}

#[derive(Default)]
struct Writer {
    text: String,
    /// The block before the text, where there is one.
    front_matter: Option<(MetadataBlockKind, String)>,
    in_front_matter: bool,
    /// Where the text of a heading starts that may become the title.
    heading_at: Option<usize>,
    heading: Option<String>,
    /// A block of HTML comes line by line.
    html: Option<String>,
}

impl Writer {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::MetadataBlock(kind)) => {
                self.front_matter = Some((kind, String::new()));
                self.in_front_matter = true;
            }
            Event::End(TagEnd::MetadataBlock(_)) => self.in_front_matter = false,
            Event::Text(text) if self.in_front_matter => {
                if let Some((_, front_matter)) = &mut self.front_matter {
                    front_matter.push_str(&text);
                }
            }
            Event::Start(Tag::HtmlBlock) => self.html = Some(String::new()),
            Event::Html(line) => self.html.get_or_insert_default().push_str(&line),
            Event::End(TagEnd::HtmlBlock) => {
                if let Some(block) = self.html.take() {
                    self.paragraph();
                    self.text.push_str(html::text(&block).trim());
                    self.paragraph();
                }
            }
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Code(text) => self.text.push_str(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text.push_str(&text),
            Event::SoftBreak => self.text.push(' '),
            Event::HardBreak => self.line(),
            Event::Rule => self.paragraph(),
            Event::InlineHtml(_) | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.paragraph();
                self.heading_at.get_or_insert(self.text.len());
            }
            Tag::Item | Tag::TableRow | Tag::TableHead => {
                self.line();
                if *tag == Tag::Item {
                    self.text.push_str("- ");
                }
            }
            Tag::Paragraph if self.text.ends_with("- ") => {}
            Tag::Paragraph | Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::Table(_) | Tag::FootnoteDefinition(_) => {
                self.paragraph();
            }
            Tag::List(_) => self.line(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                if let Some(start) = self.heading_at.filter(|_| self.heading.is_none()) {
                    let heading = self.text[start..].trim();
                    self.heading = (!heading.is_empty()).then(|| heading.to_owned());
                    self.heading_at = self.heading.is_some().then_some(start);
                }
                self.paragraph();
            }
            TagEnd::TableCell => self.text.push_str("   "),
            TagEnd::TableRow | TagEnd::TableHead => {
                self.text.truncate(self.text.trim_end_matches(' ').len());
                self.line();
            }
            TagEnd::Item => self.line(),
            TagEnd::Paragraph
            | TagEnd::BlockQuote(_)
            | TagEnd::CodeBlock
            | TagEnd::Table
            | TagEnd::List(_)
            | TagEnd::FootnoteDefinition => self.paragraph(),
            _ => {}
        }
    }

    /// Ends the line.
    fn line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Leaves a line empty.
    fn paragraph(&mut self) {
        self.line();
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

/// The title that front matter gives; one that can't be read gives none.
fn title_of(kind: MetadataBlockKind, text: &str) -> Option<String> {
    match kind {
        MetadataBlockKind::YamlStyle => yaml_title(text),
        MetadataBlockKind::PlusesStyle => Some(text.parse::<toml::Table>().ok()?.get("title")?.as_str()?.to_owned()),
    }
}

/// The text under `title` in the outermost mapping.
fn yaml_title(text: &str) -> Option<String> {
    let (mut depth, mut is_value, mut is_title) = (0, false, false);
    for event in YamlParser::new_from_str(text) {
        match event.ok()?.0 {
            Yaml::Scalar(value, ..) if depth == 1 => {
                if is_value && is_title {
                    return Some(value.into_owned());
                }
                is_title = !is_value && value == "title";
                is_value = !is_value;
            }
            Yaml::MappingStart(..) | Yaml::SequenceStart(..) => depth += 1,
            Yaml::MappingEnd | Yaml::SequenceEnd => {
                depth -= 1;
                // A value that is itself a mapping or a sequence is over.
                is_value &= depth != 1;
            }
            Yaml::Alias(_) if depth == 1 => is_value = !is_value,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_reader_of_the_text_sees_what_a_reader_of_the_page_sees() {
        let markdown = "Before.\n\n# The *Port* of `X`\n\nIt has [two\nberths](http://x/y) &amp; a **crane**.[^1]\n\n\
            - one\n- two\n  1. inner\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> Said.\n\n```sh\nmake all\n```\n\n\
            <div>Plain <b>words</b></div>\n\n## Later\n\n[^1]: A note.\n";
        let read = read(markdown);
        assert_eq!(read.title.as_deref(), Some("The Port of X"));
        let expected = "Before.\n\nThe Port of X\n\nIt has two berths & a crane.\n\n- one\n- two\n- inner\n\n\
            a   b\n1   2\n\nSaid.\n\nmake all\n\nPlain words\n\nLater\n\nA note.\n\n";
        assert_eq!(read.text, expected);
    }

    #[test]
    fn front_matter_gives_the_title_and_is_no_text() {
        let yaml = read(
            "---\ntags: [title, x]\nof: {title: no}\ntitle: \"Tides: a guide\"\ndate: 2020-01-01\n---\n# Heading\n\nText.\n",
        );
        assert_eq!((yaml.title.as_deref(), yaml.text.as_str()), (Some("Tides: a guide"), "Heading\n\nText.\n\n"));
        let toml = read("+++\ntitle = \"Locks\"\n+++\nText.\n");
        assert_eq!((toml.title.as_deref(), toml.text.as_str()), (Some("Locks"), "Text.\n\n"));
        let neither = read("---\n: [\n---\n# Heading\n");
        assert_eq!(neither.title.as_deref(), Some("Heading"));
        assert_eq!(read("Only text.\n").title, None);
        assert_eq!(read("").text, "");
    }
}
