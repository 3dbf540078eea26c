//! The best mapping that a search has found.

use crate::state::SearchState;
use work::Mapping;

/// The best mapping so far: the least violation, then the least period.
pub(crate) struct Best {
    pub mapping: Mapping,
    pub period: f64,
    pub violation: f64,
}

impl Best {
    /// Takes the state's mapping where it is better.
    pub(crate) fn take(&mut self, state: &SearchState) -> bool {
        let (violation, period) = (state.violation(), state.period());
        let better = (violation, period) < (self.violation, self.period);
        if better {
            self.mapping.clone_from(&state.mapping);
            self.period = period;
            self.violation = violation;
        }
        better
    }
}
