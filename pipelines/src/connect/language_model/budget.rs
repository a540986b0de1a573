//! What a run may spend.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::Error;

/// What was spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Calls that reached the model, or may have.
    pub calls: u64,
    /// Tokens of their prompts and answers: as the endpoint counted them, or as estimated where it did not.
    pub tokens: u64,
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} calls, {} tokens", self.calls, self.tokens)
    }
}

/// The bounds of a run, and what of them is used.
#[derive(Debug)]
pub(super) struct Budget {
    calls: Option<u64>,
    tokens: Option<u64>,
    spent: Mutex<Spent>,
}

impl Budget {
    pub(super) fn new(calls: Option<u64>, tokens: Option<u64>) -> Self {
        Self { calls, tokens, spent: Mutex::default() }
    }

    pub(super) fn spent(&self) -> Spent {
        *self.locked()
    }

    /// Sets aside what a call may need. What is set aside counts as used until the call is done.
    pub(super) fn reserve(&self, tokens: u64) -> Result<Reservation<'_>, Error> {
        let mut spent = self.locked();
        let wanted = [("calls", self.calls, spent.calls, 1), ("tokens", self.tokens, spent.tokens, tokens)];
        for (what, budget, used, wanted) in wanted {
            if let Some(budget) = budget.filter(|budget| used.saturating_add(wanted) > *budget) {
                return Err(Error::Budget { what, used, budget });
            }
        }
        spent.calls += 1;
        spent.tokens += tokens;
        Ok(Reservation { budget: self, tokens, is_spent: false })
    }

    fn locked(&self) -> MutexGuard<'_, Spent> {
        // Two numbers that are changed together, so they are right even if a thread died while it held the lock.
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is set aside for one call. It is given back if the call is never sent.
#[derive(Debug)]
pub(super) struct Reservation<'a> {
    budget: &'a Budget,
    tokens: u64,
    is_spent: bool,
}

impl Reservation<'_> {
    /// The call is sent: from here on it counts, even if nobody waits for its end.
    pub(super) fn send(&mut self) {
        self.is_spent = true;
    }

    /// The call did not reach the model.
    pub(super) fn give_back(mut self) {
        self.is_spent = false;
    }

    /// The call took so many tokens.
    pub(super) fn settle(self, tokens: u64) {
        let mut spent = self.budget.locked();
        spent.tokens = spent.tokens - self.tokens + tokens;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.is_spent {
            let mut spent = self.budget.locked();
            spent.calls -= 1;
            spent.tokens -= self.tokens;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Error, Spent};

    #[test]
    fn what_is_set_aside_counts_until_it_is_given_back() {
        let budget = Budget::new(Some(2), Some(100));
        let mut first = budget.reserve(60).unwrap();
        assert_eq!(budget.reserve(50).unwrap_err(), Error::Budget { what: "tokens", used: 60, budget: 100 });
        first.send();
        first.settle(70);
        drop(budget.reserve(30).unwrap());
        assert_eq!(budget.spent(), Spent { calls: 1, tokens: 70 });
        let mut turned_away = budget.reserve(30).unwrap();
        turned_away.send();
        turned_away.give_back();
        let mut lost = budget.reserve(30).unwrap();
        lost.send();
        drop(lost);
        let told = budget.reserve(0).unwrap_err().to_string();
        assert!(told.contains("2 of 2 calls") && told.contains("budget_calls"), "{told}");
    }
}
