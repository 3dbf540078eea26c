//! The affinities that `affinity-model` names: Overlap, EvenOdd, Identity, Ring, Leap2 and Default.
//!
//! Neither that paper nor `ring-mapping` writes them out. What stands here is our reading of their names; on the eight
//! SPEs of a Cell, seats are the SPEs by their numbers:
//!
//! | name | permutation: the SPE of part 0, 1, ... | why |
//! |---|---|---|
//! | Identity | 0 1 2 3 4 5 6 7 | part i on SPE i |
//! | EvenOdd | 0 2 4 6 1 3 5 7 | one side of the bus, then the other |
//! | Ring | 0 1 3 5 7 6 4 2 | around the bus: each part's neighbours are its neighbours there |
//! | Leap2 | 0 3 7 4 1 5 6 2 | around the bus, every second one, then the rest |
//! | Overlap | 0 7 1 6 3 4 5 2 | each part half way around from the one before, so that paths overlap |
//! | Default | drawn from the seed | the runtime's assignment is "somewhat random" |

use ground::Draws;

/// A named affinity: the seat of each part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAffinity {
    /// As the paper writes it.
    pub name: &'static str,
    /// Of part i, its seat.
    pub seats: Vec<usize>,
}

/// The affinities of so many parts, on the chips' seats one chip after the other: `chips` has the seats of each.
///
/// ```
/// let all = place::affinities::named(8, &[(0..8).collect()], 1);
/// let of = |name: &str| all.iter().find(|a| a.name == name).unwrap().seats.clone();
/// assert_eq!(of("Ring"), [0, 1, 3, 5, 7, 6, 4, 2]);
/// assert_eq!(of("Overlap"), [0, 7, 1, 6, 3, 4, 5, 2]);
/// ```
pub fn named(parts: usize, chips: &[Vec<usize>], seed: u64) -> Vec<NamedAffinity> {
    let made = |name, of: fn(&[usize]) -> Vec<usize>| {
        let mut left = parts;
        let mut seats = Vec::new();
        for chip in chips {
            let taken = left.min(chip.len());
            seats.extend(of(&chip[..taken]));
            left -= taken;
        }
        NamedAffinity { name, seats }
    };
    let mut drawn: Vec<usize> = chips.concat();
    Draws::new(seed).shuffle(&mut drawn);
    drawn.truncate(parts);
    vec![
        made("Overlap", |chip| overlap(&around(chip))),
        made("EvenOdd", leap),
        made("Identity", <[usize]>::to_vec),
        made("Ring", around),
        made("Leap2", |chip| leap(&around(chip))),
        NamedAffinity { name: "Default", seats: drawn },
    ]
}

/// The way around the bus of a Cell: odd numbers up one side, even ones down the other.
fn around(seats: &[usize]) -> Vec<usize> {
    let odd = seats.iter().skip(1).step_by(2);
    let mut even: Vec<usize> = seats.iter().skip(2).step_by(2).copied().collect();
    even.reverse();
    seats.iter().take(1).chain(odd).copied().chain(even).collect()
}

/// Every second one, then the others.
fn leap(seats: &[usize]) -> Vec<usize> {
    seats.iter().step_by(2).chain(seats.iter().skip(1).step_by(2)).copied().collect()
}

/// One of the first half, one of the second, and so on.
fn overlap(seats: &[usize]) -> Vec<usize> {
    let (first, second) = seats.split_at(seats.len().div_ceil(2));
    let pairs = (0..first.len()).flat_map(|i| [first.get(i), second.get(i)]);
    pairs.flatten().copied().collect()
}
