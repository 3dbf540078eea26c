//! Which basic elements follow each other in the packed data of a datatype (its type signature; MPI 5.0, section 5.1).
//!
//! Kept apart from where they lie: almost always one run of one kind, and then converting and counting elements is
//! arithmetic.

use super::basic::Basic;
use std::sync::Arc;

/// Sequences of at most this many entries are merged into the sequence that they stand in.
const MERGED: usize = 16;

/// Basic elements in order.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    entry: SignatureEntry,
    totals: Totals,
}

#[derive(Clone, Debug)]
enum SignatureEntry {
    /// So many elements of one kind.
    Run(Basic, usize),
    /// A longer one, so many times.
    Repeat(usize, Arc<Signature>),
    Sequence(Arc<[Signature]>),
}

/// What a signature adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Basic elements.
    pub elements: usize,
    /// Bytes in memory.
    pub bytes: usize,
    /// Bytes in `external32`.
    pub external: usize,
}

impl Totals {
    fn times(self, count: usize) -> Self {
        Self { elements: self.elements * count, bytes: self.bytes * count, external: self.external * count }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            elements: self.elements + other.elements,
            bytes: self.bytes + other.bytes,
            external: self.external + other.external,
        }
    }
}

impl Signature {
    /// No element.
    pub(crate) fn empty() -> Self {
        Self { entry: SignatureEntry::Sequence(Arc::new([])), totals: Totals::default() }
    }

    /// So many elements of one kind.
    pub(crate) fn run(basic: Basic, count: usize) -> Self {
        let one = Totals { elements: 1, bytes: basic.size(), external: basic.external_size() };
        Self { entry: SignatureEntry::Run(basic, count), totals: one.times(count) }
    }

    /// So many times.
    #[must_use]
    pub(crate) fn repeated(&self, count: usize) -> Self {
        if count == 0 || self.totals.elements == 0 {
            return Self::empty();
        }
        let totals = self.totals.times(count);
        let entry = match &self.entry {
            SignatureEntry::Run(basic, each) => SignatureEntry::Run(*basic, each * count),
            _ if count == 1 => self.entry.clone(),
            SignatureEntry::Repeat(each, body) => SignatureEntry::Repeat(each * count, body.clone()),
            SignatureEntry::Sequence(_) => SignatureEntry::Repeat(count, Arc::new(self.clone())),
        };
        Self { entry, totals }
    }

    /// What it adds up to.
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// Calls `each` with the runs of elements from the first on until it wants no more (gives false).
    pub(crate) fn runs(&self, each: &mut impl FnMut(Basic, usize) -> bool) -> bool {
        match &self.entry {
            SignatureEntry::Run(basic, count) => each(*basic, *count),
            SignatureEntry::Repeat(count, body) => (0..*count).all(|_| body.runs(each)),
            SignatureEntry::Sequence(list) => list.iter().all(|part| part.runs(each)),
        }
    }

    /// What the whole elements in the first `bytes` bytes add up to.
    pub(crate) fn within(&self, bytes: usize) -> Totals {
        if bytes >= self.totals.bytes {
            return self.totals;
        }
        match &self.entry {
            SignatureEntry::Run(basic, _) => {
                let elements = bytes / basic.size();
                Self::run(*basic, elements).totals
            }
            SignatureEntry::Repeat(_, body) => {
                let whole = bytes / body.totals.bytes;
                let before = body.totals.times(whole);
                before.plus(body.within(bytes - before.bytes))
            }
            SignatureEntry::Sequence(list) => {
                let mut sum = Totals::default();
                for part in list.iter() {
                    if sum.bytes + part.totals.bytes > bytes {
                        return sum.plus(part.within(bytes - sum.bytes));
                    }
                    sum = sum.plus(part.totals);
                }
                sum
            }
        }
    }

    /// What the first `elements` elements add up to.
    pub(crate) fn first(&self, elements: usize) -> Totals {
        if elements >= self.totals.elements {
            return self.totals;
        }
        match &self.entry {
            SignatureEntry::Run(basic, _) => Self::run(*basic, elements).totals,
            SignatureEntry::Repeat(_, body) => {
                let before = body.totals.times(elements / body.totals.elements);
                before.plus(body.first(elements - before.elements))
            }
            SignatureEntry::Sequence(list) => {
                let mut sum = Totals::default();
                for part in list.iter() {
                    if sum.elements + part.totals.elements > elements {
                        return sum.plus(part.first(elements - sum.elements));
                    }
                    sum = sum.plus(part.totals);
                }
                sum
            }
        }
    }
}

/// Signatures one after the other: without empty ones, runs of one kind joined, short sequences merged.
#[derive(Default)]
pub(super) struct SignatureSequence(Vec<Signature>);

impl SignatureSequence {
    /// Puts `count` times a signature behind.
    pub(super) fn push(&mut self, part: &Signature, count: usize) {
        if count == 0 || part.totals.elements == 0 {
            return;
        }
        match &part.entry {
            SignatureEntry::Run(basic, each) => {
                if let Some(Signature { entry: SignatureEntry::Run(before, length), totals }) =
                    self.0.last_mut()
                    && before == basic
                {
                    *length += each * count;
                    *totals = totals.plus(part.totals.times(count));
                    return;
                }
                self.0.push(part.repeated(count));
            }
            SignatureEntry::Sequence(parts) if count == 1 && parts.len() <= MERGED => {
                for part in parts.iter() {
                    self.push(part, 1);
                }
            }
            _ => self.0.push(part.repeated(count)),
        }
    }

    /// All of them as one.
    pub(super) fn finish(mut self) -> Signature {
        match self.0.len() {
            0 => Signature::empty(),
            1 => self.0.swap_remove(0),
            _ => {
                let totals = self.0.iter().fold(Totals::default(), |sum, part| sum.plus(part.totals));
                Signature { entry: SignatureEntry::Sequence(self.0.into()), totals }
            }
        }
    }
}
