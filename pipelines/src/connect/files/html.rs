//! Pages as plain text: their main content, without menus, scripts and footers.

use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};

use super::content::Readable;

/// Elements that no reader of a page's text reads.
const NO_TEXT: &str = "script, style, noscript, template, svg, iframe, object, button, select, textarea, head";
/// Elements around the content. An article may have a header and a footer of its own.
const AROUND: &str = "nav, aside, body > header, body > footer, body > div > header, body > div > footer, \
    [role=navigation], [role=banner], [role=contentinfo], [hidden]";
/// Of the text that is not around it, the main content must have this share; else the page is a list or a notice, and what
/// was taken for its content is one of many parts, or more than it.
const MAIN_SHARE: std::ops::RangeInclusive<f64> = 0.25..=1.0;

/// Elements inside each other, at most. Readers of pages take time by the square of it, and no page that people write comes
/// near.
const DEEPEST: usize = 1000;
/// Elements that need no end tag, or have none.
const WITHOUT_END: [&str; 29] = [
    "p", "li", "td", "th", "tr", "dt", "dd", "tbody", "thead", "tfoot", "option", "optgroup", "colgroup", "html",
    "head", "body", "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];

/// The text of a page's main content, and its title.
///
/// # Errors
/// It is no page that can be read, for a person.
pub(super) fn read(html: &str) -> Result<Readable, String> {
    let depth = depth(html);
    if depth > DEEPEST {
        return Err(format!(
            "the page has {depth} elements inside each other, and {DEEPEST} are read: close what it opens"
        ));
    }
    let page = Document::from(html);
    let heading = |selector: &str| Some(page.select_single(selector).formatted_text().trim().to_owned());
    let own_title = heading("title").filter(|t| !t.is_empty()).or_else(|| heading("h1").filter(|t| !t.is_empty()));
    let all = without(&page, AROUND);
    let config = Config { text_mode: TextMode::Formatted, ..Config::default() };
    let article = Readability::new(html, None, Some(config)).and_then(|mut page| page.parse());
    let (title, text) = match article {
        Ok(article) if MAIN_SHARE.contains(&(article.text_content.len() as f64 / all.len() as f64)) => (
            Some(article.title.trim().to_owned()).filter(|title| !title.is_empty()).or(own_title),
            article.text_content.to_string(),
        ),
        _ => (own_title, all),
    };
    Ok(Readable { title, text })
}

/// About how many elements are open at once, at most.
fn depth(html: &str) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let (closes, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let end = tag.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = &tag[..end];
        if name.is_empty() || WITHOUT_END.iter().any(|other| name.eq_ignore_ascii_case(other)) {
            continue;
        }
        open = if closes { open.saturating_sub(1) } else { open + 1 };
        deepest = deepest.max(open);
    }
    deepest
}

/// All text of a piece of a page; a piece that can't be read stays as it is.
pub(super) fn text(html: &str) -> String {
    if depth(html) > DEEPEST {
        return html.to_owned();
    }
    Document::fragment(html).formatted_text().to_string()
}

/// The text of a page without some of its elements; with them where there is none.
fn without(page: &Document, around: &str) -> String {
    page.select(NO_TEXT).remove();
    let all = page.formatted_text().to_string();
    page.select(around).remove();
    let content = page.formatted_text().to_string();
    if content.trim().is_empty() { all } else { content }
}

#[cfg(test)]
mod tests {
    use super::{read, text};

    const MENU: &str = "<nav><ul><li><a href=/a>Home</a></li><li><a href=/b>Products</a></li></ul></nav>";

    #[test]
    fn a_page_is_its_main_content() {
        let paragraph = "The harbour was dredged in 1908, and ships of greater draught have called since. ".repeat(6);
        let page = format!(
            "<!doctype html><html><head><title>The Harbour</title><style>p {{}}</style></head><body>{MENU}\
             <script>track('x')</script><article><h1>The Harbour</h1><p>{paragraph}</p><h2>Ships</h2><p>{paragraph}</p>\
             </article><footer>Copyright, imprint</footer></body></html>"
        );
        let read = read(&page).unwrap();
        assert_eq!(read.title.as_deref(), Some("The Harbour"));
        assert_eq!(read.text.matches("dredged in 1908").count(), 12, "{}", read.text);
        assert!(read.text.contains("\n\nShips\n\n"), "{}", read.text);
        for noise in ["Products", "track", "Copyright", "p {}"] {
            assert!(!read.text.contains(noise), "{noise} is in {}", read.text);
        }
    }

    #[test]
    fn a_short_page_is_kept_without_what_is_around() {
        let read = |page: &str| read(page).unwrap();
        let notice =
            format!("<title> Notice </title>{MENU}<p>The port is <b>closed</b>.<p>Since noon.<footer>x</footer>");
        let notice = read(&notice);
        assert_eq!(notice.title.as_deref(), Some("Notice"));
        assert_eq!(notice.text.trim(), "The port is closed.\n\nSince noon.");
        assert_eq!(read("<h1>Only this</h1>").title.as_deref(), Some("Only this"));
        let form =
            "<body><form><header>x</header><article><header><h1>A port</h1></header>It is open.</article></form>";
        assert!(read(form).text.contains("A port\n\nIt is open."), "{:?}", read(form));
        assert_eq!(read("<nav>Only a menu</nav>").text.trim(), "Only a menu");
        for nothing in ["", "<html></html>", "<script>x()</script>", "<p> &nbsp; </p>"] {
            assert_eq!(read(nothing).text.trim(), "", "{nothing}");
        }
    }

    #[test]
    fn no_bytes_stop_the_reading() {
        let nested = |depth: usize| "<div>".repeat(depth) + "ground" + &"</div>".repeat(depth);
        assert!(read(&nested(900)).unwrap().text.contains("ground"));
        assert!(read(&nested(200_000)).unwrap_err().contains("200000 elements inside each other"));
        assert!(text(&nested(200_000)).contains("ground"));
        let list = "<ul><li>one<li>two<br></ul><p>and<p>so on<img src=x>".repeat(5000);
        assert!(super::depth(&list) < 5);
        for odd in ["<", "<p", "</p></p>", "<table><p>x<tr>", "<a<b<c>", "&#x110000; &#0;", "<svg><title>x</svg>y"] {
            let _ = (read(odd), text(odd));
        }
    }
}
