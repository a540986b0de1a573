//! Room to work in, used from question to question.

/// Numbers by place, of which few are not zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparse {
    values: Vec<u64>,
    touched: Vec<u32>,
}

impl Sparse {
    /// Makes room for so many places.
    pub(super) fn fit(&mut self, n_places: usize) {
        if self.values.len() < n_places {
            self.values.resize(n_places, 0);
        }
    }

    pub(super) fn add(&mut self, place: u32, value: u64) {
        let here = &mut self.values[place as usize];
        if *here == 0 && value > 0 {
            self.touched.push(place);
        }
        *here += value;
    }

    pub(super) fn get(&self, place: u32) -> u64 {
        self.values[place as usize]
    }

    /// The places that are not zero, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        self.touched.iter().map(|place| (*place, self.values[*place as usize]))
    }

    pub(super) fn most(&self) -> u64 {
        self.iter().map(|(_, value)| value).max().unwrap_or(0)
    }

    /// Multiplies every number, rounding down.
    pub(super) fn scale(&mut self, factor: f64) {
        let values = &mut self.values;
        self.touched.retain(|place| {
            let here = &mut values[*place as usize];
            *here = (*here as f64 * factor) as u64;
            *here > 0
        });
    }

    /// Sets every number to zero.
    pub(super) fn clear(&mut self) {
        self.touched.drain(..).for_each(|place| self.values[place as usize] = 0);
    }
}

/// What a ranking works with. It grows with the corpus and is worth keeping from question to question.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    pub(super) passages: Sparse,
    pub(super) next_passages: Sparse,
    pub(super) names: Sparse,
    pub(super) next_names: Sparse,
    /// What the first passages' names lead to.
    pub(super) step: Sparse,
}

impl Scratch {
    pub(super) fn fit(&mut self, n_passages: usize, n_names: usize) {
        for sparse in [&mut self.passages, &mut self.next_passages, &mut self.step] {
            sparse.fit(n_passages);
        }
        for sparse in [&mut self.names, &mut self.next_names] {
            sparse.fit(n_names);
        }
    }

    pub(super) fn clear(&mut self) {
        let Self { passages, next_passages, names, next_names, step } = self;
        for sparse in [passages, next_passages, names, next_names, step] {
            sparse.clear();
        }
    }
}
