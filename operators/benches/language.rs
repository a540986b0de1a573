//! The language model on one thread, in tokens a second: from a sentence to its tokens with tags, named entities and phrases.
//! Without the model's files (`make models`) it says that it skipped.

use std::path::Path;

use divan::{Bencher, black_box, counter::ItemsCount};
use hypercane_operators::language::{Language, noun_phrases};

const SENTENCES: [&str; 4] = [
    "Marie Curie, born in Warsaw on 7 November 1867, was the first woman who won a Nobel Prize.",
    "The company said that it would open 120 new stores in Germany, France and Italy by the end of 2025.",
    "Cells of the immune system don't always recognise a tumour, so well-known drugs help them to find it.",
    "In the 1990s the city's population grew from 340,000 to about half a million, according to the U.S. Census Bureau.",
];

fn main() {
    divan::main();
}

fn language() -> Option<Language> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/models/en_core_web_sm");
    let read = |name: &str| Some((name.to_owned(), std::fs::read(folder.join(name)).ok()?));
    let Some(files) = Language::FILES.into_iter().map(read).collect::<Option<_>>() else {
        println!("skipped: no language model in {}; `make models` fetches it", folder.display());
        return None;
    };
    Some(Language::parse(&files).expect("the model that was fetched can be read"))
}

#[divan::bench]
fn analyse(bencher: Bencher<'_, '_>) {
    let Some(language) = language() else { return };
    let n_tokens: usize = SENTENCES.iter().map(|sentence| language.analyse(sentence).tokens.len()).sum();
    bencher.counter(ItemsCount::new(n_tokens)).bench_local(|| {
        for sentence in SENTENCES {
            let analysis = language.analyse(black_box(sentence));
            black_box(noun_phrases(sentence, &analysis));
        }
    });
}
