//! What can be asked of `place`.

use ground::options::Word;

/// What makes one mapping better than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Goal {
    /// The published model of `affinity-model`, for the rings of a Cell.
    Rings,
    /// The machine's limits: the time of each phase.
    #[default]
    Model,
    /// Bytes times distance.
    Distance,
    /// The time of the traffic on the simulated Cell.
    Simulated,
    /// The mean time of the traffic on this computer.
    Measured,
    /// The time on this computer that nine of ten runs stay below.
    Robust,
}

impl Word for Goal {
    const WORDS: &'static [(&'static str, Goal)] = &[
        ("rings", Goal::Rings),
        ("model", Goal::Model),
        ("distance", Goal::Distance),
        ("simulated", Goal::Simulated),
        ("measured", Goal::Measured),
        ("robust", Goal::Robust),
    ];
}

/// How a mapping is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchMethod {
    /// Every mapping where there are few enough; else annealing, and branch and bound where bounds are near.
    #[default]
    Auto,
    /// Every mapping.
    Exhaustive,
    /// Branch and bound.
    Branch,
    /// The machine's parts downwards, then swaps while they help.
    Levels,
    /// Annealing.
    Anneal,
}

impl Word for SearchMethod {
    const WORDS: &'static [(&'static str, SearchMethod)] = &[
        ("auto", SearchMethod::Auto),
        ("exhaustive", SearchMethod::Exhaustive),
        ("branch", SearchMethod::Branch),
        ("levels", SearchMethod::Levels),
        ("anneal", SearchMethod::Anneal),
    ];
}

/// Which mappings count as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SymmetryRule {
    /// Those that a tested symmetry of the objective makes equal.
    #[default]
    Tested,
    /// Rotations, as `affinity-model` assumes.
    Rotation,
    /// None.
    None,
}

impl Word for SymmetryRule {
    const WORDS: &'static [(&'static str, SymmetryRule)] = &[
        ("tested", SymmetryRule::Tested),
        ("rotation", SymmetryRule::Rotation),
        ("none", SymmetryRule::None),
    ];
}

ground::options! {
    /// What to place, and by what.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PlaceOptions("place") {
        /// What makes one mapping better than another.
        pub objective: Goal = Goal::Model;
        /// How a mapping is searched for.
        pub method: SearchMethod = SearchMethod::Auto;
        /// Parts of a pattern that has a name; by default one to every SPE, or to every core of this computer.
        pub parts: Option<usize> = None, in 1..=4096;
        /// Bytes of a message of a pattern that has a name.
        pub bytes: u64 = 16384, in 1..=1_099_511_627_776, unit "bytes";
        /// Place only this phase, counted from 0.
        pub phase: Option<usize> = None, in 0..=1_000_000;
        /// Which mappings count as equal; `rotation` is the assumption of `affinity-model`, 7! of 8!.
        pub symmetry: SymmetryRule = SymmetryRule::Tested;
        /// Swaps that annealing tries, or mappings that branch and bound looks at; by default by the number of parts.
        pub moves: Option<u64> = None, in 0..=1_000_000_000_000;
        /// Seed of the search and of the affinity Default.
        pub seed: u64 = 1;
        /// `rings`: count messages that go across the short sides of the ring.
        pub sides: bool = false;
        /// `rings`: count traffic to main memory.
        pub memory: bool = false;
        /// `rings`: weigh messages by their bytes.
        pub sizes: bool = false;
        /// `rings`: judge each phase by itself.
        pub phases: bool = false;
        /// `simulated`: mappings that are simulated; `measured` and `robust`: the most rounds of the race.
        pub runs: Option<u64> = None, in 1..=1_000_000;
    }
}
