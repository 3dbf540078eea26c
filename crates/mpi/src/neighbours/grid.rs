//! Cartesian topologies as such: coordinates, neighbours, balanced dimensions. Ranks are in row-major order.

use std::ops::RangeInclusive;

/// Ranks on a grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Ranks along each dimension.
    pub dims: Vec<usize>,
    /// Whether each dimension closes to a ring.
    pub periods: Vec<bool>,
}

impl Grid {
    /// Ranks on the grid; nothing when they are more than can be counted.
    pub(crate) fn size(&self) -> Option<usize> {
        self.dims.iter().try_fold(1usize, |size, &dim| size.checked_mul(dim))
    }

    /// The coordinates of a rank.
    pub(crate) fn coordinates(&self, rank: usize) -> Vec<usize> {
        let mut left = rank;
        let mut coordinates: Vec<usize> = (self.dims.iter().rev())
            .map(|&dim| {
                let coordinate = left % dim;
                left /= dim;
                coordinate
            })
            .collect();
        coordinates.reverse();
        coordinates
    }

    /// The rank at coordinates that may lie outside along rings; the dimension in which they lie outside of the grid
    /// otherwise.
    ///
    /// # Errors
    /// The dimension.
    pub(crate) fn rank(&self, coordinates: impl IntoIterator<Item = i64>) -> Result<usize, usize> {
        let mut rank = 0;
        for (dimension, coordinate) in coordinates.into_iter().enumerate() {
            let dim = self.dims[dimension] as i64;
            let inside = if self.periods[dimension] { coordinate.rem_euclid(dim) } else { coordinate };
            if !(0..dim).contains(&inside) {
                return Err(dimension);
            }
            rank = rank * self.dims[dimension] + inside as usize;
        }
        Ok(rank)
    }

    /// The rank so many steps along a dimension; nothing beyond the end.
    pub(crate) fn shifted(&self, rank: usize, dimension: usize, steps: i64) -> Option<usize> {
        let moved = self
            .coordinates(rank)
            .into_iter()
            .enumerate()
            .map(|(at, coordinate)| coordinate as i64 + if at == dimension { steps } else { 0 });
        self.rank(moved).ok()
    }

    /// The neighbours of a rank: of each dimension the one before and the one behind.
    pub(crate) fn neighbours(&self, rank: usize) -> Vec<Option<usize>> {
        (0..self.dims.len())
            .flat_map(|dimension| [-1, 1].map(|step| (dimension, step)))
            .map(|(dimension, step)| self.shifted(rank, dimension, step))
            .collect()
    }

    /// The grid of the dimensions that remain, the colour that tells a rank's part from the others, and its rank there.
    pub(crate) fn part(&self, rank: usize, remains: &[bool]) -> (Self, usize, usize) {
        let coordinates = self.coordinates(rank);
        let number = |kept: bool| {
            let dimensions = (0..self.dims.len()).filter(|&dimension| remains[dimension] == kept);
            dimensions.fold(0, |number, dimension| number * self.dims[dimension] + coordinates[dimension])
        };
        let kept = |dimension: &usize| remains[*dimension];
        let part = Self {
            dims: (0..self.dims.len()).filter(kept).map(|dimension| self.dims[dimension]).collect(),
            periods: (0..self.dims.len()).filter(kept).map(|dimension| self.periods[dimension]).collect(),
        };
        (part, number(false), number(true))
    }
}

/// Splits `count` into `parts` factors that are as near to one another as can be: the largest and the smallest differ
/// as little as possible, then the largest is as small as possible, then the next one. The largest comes first.
///
/// This is how J. L. Träff and F. D. Lübbe ("Specification Guideline Violations by MPI_Dims_create", EuroMPI 2015)
/// read MPI 5.0, section 8.5.2.
pub(crate) fn balanced(count: usize, parts: usize) -> Vec<usize> {
    let divisors = divisors(count);
    let mut best: Option<Vec<usize>> = None;
    let apart = |factors: &[usize]| factors.first().map_or(0, |largest| largest - factors[factors.len() - 1]);
    // The smallest factor is at most the root of the count, the largest at least.
    let reaches =
        |factor: usize| (factor as u128).checked_pow(parts as u32).is_none_or(|all| all >= count as u128);
    let root = (divisors.iter().copied().find(|&factor| reaches(factor))).unwrap_or(count);
    for &least in divisors.iter().rev().filter(|&&factor| factor == root || !reaches(factor)) {
        if best.as_ref().is_some_and(|best| root - least > apart(best)) {
            break;
        }
        let mut factors = Vec::with_capacity(parts);
        if split(count, parts, least..=count, &divisors, &mut factors) {
            let rank = |factors: &[usize]| (apart(factors), factors.to_vec());
            if best.as_ref().is_none_or(|best| rank(&factors) < rank(best)) {
                best = Some(factors);
            }
        }
    }
    best.unwrap_or_default()
}

fn divisors(count: usize) -> Vec<usize> {
    let small: Vec<usize> =
        (1..).take_while(|d| d * d <= count).filter(|d| count.is_multiple_of(*d)).collect();
    let large = small.iter().rev().map(|d| count / d).filter(|d| d * d > count);
    small.iter().copied().chain(large).collect()
}

/// Appends `parts` factors of `count` within limits, the largest as small as possible; false when there are none.
fn split(
    count: usize,
    parts: usize,
    within: RangeInclusive<usize>,
    divisors: &[usize],
    factors: &mut Vec<usize>,
) -> bool {
    if parts == 0 {
        return count == 1;
    }
    let power = |factor: usize| (factor as u128).saturating_pow(parts as u32);
    if power(*within.start()) > count as u128 {
        return false;
    }
    for &factor in divisors.iter().filter(|factor| within.contains(factor) && count.is_multiple_of(**factor))
    {
        // The others are no larger than this one.
        if power(factor) < count as u128 {
            continue;
        }
        factors.push(factor);
        if split(count / factor, parts - 1, *within.start()..=factor, divisors, factors) {
            return true;
        }
        factors.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(dims: &[usize], periods: &[bool]) -> Grid {
        Grid { dims: dims.to_vec(), periods: periods.to_vec() }
    }

    #[test]
    fn ranks_and_coordinates_are_each_others_reverse() {
        let grid = grid(&[3, 1, 4], &[false, true, true]);
        for rank in 0..12 {
            let coordinates = grid.coordinates(rank);
            assert_eq!(grid.rank(coordinates.iter().map(|&at| at as i64)), Ok(rank));
        }
        assert_eq!(grid.coordinates(7), [1, 0, 3]);
        assert_eq!(grid.rank([1, -5, 7]), Ok(7));
        assert_eq!(grid.rank([3, 0, 0]), Err(0));
        assert_eq!(grid.shifted(7, 2, 1), Some(4));
        assert_eq!(grid.shifted(11, 0, 1), None);
        assert_eq!(grid.neighbours(0), [None, Some(4), Some(0), Some(0), Some(3), Some(1)]);
    }

    #[test]
    fn a_grid_without_dimensions_has_one_rank() {
        let none = grid(&[], &[]);
        assert_eq!((none.size(), none.rank([]), none.coordinates(0)), (Some(1), Ok(0), vec![]));
    }

    #[test]
    fn parts_of_a_grid_have_the_dimensions_that_remain() {
        let grid = grid(&[2, 3, 4], &[true, false, true]);
        let (part, colour, rank) = grid.part(12 + 2 * 4 + 3, &[true, false, true]);
        assert_eq!(part, self::grid(&[2, 4], &[true, true]));
        assert_eq!((colour, rank), (2, 7));
    }

    #[test]
    fn dimensions_are_as_near_to_one_another_as_can_be() {
        for (count, parts, expected) in [
            (6, 2, vec![3, 2]),
            (7, 2, vec![7, 1]),
            (12, 3, vec![3, 2, 2]),
            (16, 3, vec![4, 2, 2]),
            (72, 3, vec![6, 4, 3]),
            (1, 3, vec![1, 1, 1]),
            (256, 4, vec![4, 4, 4, 4]),
        ] {
            assert_eq!(balanced(count, parts), expected);
        }
    }

    /// Calls `each` with every way to write `count` as `parts` factors, none larger than the one before or than `most`.
    fn every_split(
        count: usize,
        parts: usize,
        most: usize,
        factors: &mut Vec<usize>,
        each: &mut impl FnMut(&[usize]),
    ) {
        if parts == 0 {
            if count == 1 {
                each(factors);
            }
            return;
        }
        for factor in (1..=most.min(count)).filter(|factor| count.is_multiple_of(*factor)) {
            factors.push(factor);
            every_split(count / factor, parts - 1, factor, factors, each);
            factors.pop();
        }
    }

    #[test]
    fn no_split_has_factors_nearer_to_one_another() {
        for parts in 1..=5 {
            for count in 1..=2000 {
                let rank = |factors: &[usize]| (factors[0] - factors[parts - 1], factors.to_vec());
                let mut best: Option<Vec<usize>> = None;
                every_split(count, parts, count, &mut Vec::new(), &mut |factors| {
                    if best.as_ref().is_none_or(|best| rank(factors) < rank(best)) {
                        best = Some(factors.to_vec());
                    }
                });
                assert_eq!(Some(balanced(count, parts)), best, "{count} in {parts}");
            }
        }
    }

    #[test]
    fn counts_with_many_divisors_are_split_at_once() {
        // The number below 2^31 with the most divisors, and powers.
        for (count, parts) in [(2_095_133_040, 2..12), (1 << 30, 2..31), (2_147_483_647, 1..40)] {
            for parts in parts {
                let found = balanced(count, parts);
                assert_eq!((found.len(), found.iter().product::<usize>()), (parts, count));
            }
        }
    }
}
