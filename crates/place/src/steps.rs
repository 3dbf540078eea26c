//! How far seats are from one another.

use machine::{ElementId, Machine, Place};

/// How far each seat is from each other, in any unit. From a seat to itself it is nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct SeatDistances {
    seats: usize,
    between: Vec<f32>,
    symmetric: bool,
}

impl SeatDistances {
    /// Of `seats` seats; `between` is not asked about a seat and itself.
    ///
    /// ```
    /// let two_pairs = place::SeatDistances::new(4, |a, b| if a / 2 == b / 2 { 1.0 } else { 5.0 });
    /// assert_eq!((two_pairs.between(0, 1), two_pairs.between(0, 2), two_pairs.between(3, 3)), (1.0, 5.0, 0.0));
    /// ```
    pub fn new(seats: usize, between: impl Fn(usize, usize) -> f64) -> Self {
        let one = |at: usize| {
            let (a, b) = (at / seats, at % seats);
            if a == b { 0.0 } else { between(a, b) as f32 }
        };
        let between: Vec<f32> = (0..seats * seats).map(one).collect();
        let symmetric = (0..seats).all(|a| (0..a).all(|b| between[a * seats + b] == between[b * seats + a]));
        Self { seats, between, symmetric }
    }

    /// Of elements of a machine: the latency in ns from one to another where it has been measured; else one, and one
    /// more for each kind of part of the machine that two elements do not share, of the kinds that the machine states;
    /// in a mesh, also the columns and rows between their tiles.
    pub fn of(machine: &Machine, elements: &[ElementId]) -> Self {
        if let Some(distances) = &machine.distances {
            return Self::new(elements.len(), |a, b| distances.latency_ns[elements[b]][elements[a]]);
        }
        let kinds: [fn(&Place) -> Option<u32>; 5] =
            [|p| p.core, |p| p.l2, |p| p.l3, |p| p.numa, |p| Some(p.chip)];
        let place = |seat: usize| &machine.elements[elements[seat]].place;
        let stated =
            kinds.into_iter().filter(|kind| (0..elements.len()).any(|seat| kind(place(seat)).is_some()));
        let stated: Vec<_> = stated.collect();
        Self::new(elements.len(), |a, b| {
            let (a, b) = (place(a), place(b));
            let shared = |kind: &&fn(&Place) -> Option<u32>| kind(a).is_some() && kind(a) == kind(b);
            let mesh = match (a.tile, b.tile) {
                (Some(a), Some(b)) => a[0].abs_diff(b[0]) + a[1].abs_diff(b[1]),
                _ => 0,
            };
            (1 + stated.len() - stated.iter().filter(shared).count()) as f64 + f64::from(mesh)
        })
    }

    /// Seats that there are.
    pub fn seats(&self) -> usize {
        self.seats
    }

    /// From one seat to another.
    #[inline]
    pub fn between(&self, from: usize, to: usize) -> f64 {
        f64::from(self.between[from * self.seats + to])
    }

    /// Whether there is as far as back for every two.
    pub fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    /// Whether any two seats are as far apart as any other two.
    pub fn all_equal(&self) -> bool {
        let mut pairs =
            (0..self.seats).flat_map(|a| (0..self.seats).map(move |b| (a, b))).filter(|(a, b)| a != b);
        let Some((a, b)) = pairs.next() else { return true };
        pairs.all(|(c, d)| self.between(a, b) == self.between(c, d))
    }
}
