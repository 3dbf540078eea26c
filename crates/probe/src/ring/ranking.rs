//! Run times of many mappings: their ranks, and the figures of `ring-mapping`, section 3.

use crate::TargetError;

/// Run times of mappings in several runs, ranked by their average.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    mappings: Vec<Vec<usize>>,
    runs: Vec<Vec<f64>>,
    averages: Vec<f64>,
    order: Vec<usize>,
}

impl Ranking {
    /// Of `runs[run][mapping]`, in any unit.
    ///
    /// # Errors
    /// Without a run or a mapping; when a run has not one positive time for each mapping.
    pub fn new(mappings: Vec<Vec<usize>>, runs: Vec<Vec<f64>>) -> Result<Self, TargetError> {
        if mappings.is_empty() || runs.is_empty() {
            let (m, r) = (mappings.len(), runs.len());
            return Err(TargetError::Request(format!(
                "{m} mappings and {r} runs to be ranked; at least one of each"
            )));
        }
        for (i, run) in runs.iter().enumerate() {
            if run.len() != mappings.len() {
                let (n, m) = (run.len(), mappings.len());
                return Err(TargetError::Request(format!("run {i} has {n} times for {m} mappings")));
            }
            if let Some(time) = run.iter().find(|time| !(time.is_finite() && **time > 0.0)) {
                return Err(TargetError::Request(format!("run {i} has a time of {time}; allowed: above 0")));
            }
        }
        let average = |m: usize| runs.iter().map(|run| run[m]).sum::<f64>() / runs.len() as f64;
        let averages: Vec<f64> = (0..mappings.len()).map(average).collect();
        let mut order: Vec<usize> = (0..mappings.len()).collect();
        order.sort_by(|&a, &b| averages[a].total_cmp(&averages[b]));
        Ok(Self { mappings, runs, averages, order })
    }

    /// The mappings, in the order in which they were given.
    pub fn mappings(&self) -> &[Vec<usize>] {
        &self.mappings
    }

    /// Times by run, then by mapping.
    pub fn runs(&self) -> &[Vec<f64>] {
        &self.runs
    }

    /// Each mapping's time, averaged over the runs.
    pub fn averages(&self) -> &[f64] {
        &self.averages
    }

    /// Indices of mappings, the smallest average first; of equal ones, the one that was given first.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The largest average by the smallest.
    pub fn worst_by_best(&self) -> f64 {
        spread(&self.averages)
    }

    /// The largest time of each run by its smallest.
    pub fn run_worst_by_best(&self) -> Vec<f64> {
        self.runs.iter().map(|run| spread(run)).collect()
    }

    /// The expected time of a mapping drawn at random, by the best: the mean of the averages by the best.
    pub fn mean_by_best(&self) -> f64 {
        let mean = self.averages.iter().sum::<f64>() / self.averages.len() as f64;
        mean / self.best()
    }

    /// The median of the averages by the best.
    pub fn median_by_best(&self) -> f64 {
        let n = self.order.len();
        (self.averages[self.order[(n - 1) / 2]] + self.averages[self.order[n / 2]]) / 2.0 / self.best()
    }

    /// The place of a mapping by its average, the best being 1; equal ones share a place.
    ///
    /// # Errors
    /// When it is not among them.
    pub fn rank(&self, mapping: &[usize]) -> Result<usize, TargetError> {
        self.index(mapping).map(|i| place(&self.averages, i))
    }

    /// The places of a mapping in the single runs.
    ///
    /// # Errors
    /// As [`rank`](Self::rank).
    pub fn run_ranks(&self, mapping: &[usize]) -> Result<Vec<usize>, TargetError> {
        let i = self.index(mapping)?;
        Ok(self.runs.iter().map(|run| place(run, i)).collect())
    }

    /// A mapping's average by the best.
    ///
    /// # Errors
    /// As [`rank`](Self::rank).
    pub fn slowdown(&self, mapping: &[usize]) -> Result<f64, TargetError> {
        self.index(mapping).map(|i| self.averages[i] / self.best())
    }

    /// Rank correlation of the averages with those of another list of the same mappings.
    ///
    /// # Errors
    /// When its mappings are others, or there are too few to be compared.
    pub fn correlation(&self, other: &Self) -> Result<f64, TargetError> {
        if self.mappings != other.mappings {
            return Err(TargetError::Request("lists of different mappings cannot be compared".into()));
        }
        spearman(&self.averages, &other.averages).ok_or_else(|| {
            TargetError::Request("lists without two different times have no ranks to be compared".into())
        })
    }

    fn best(&self) -> f64 {
        self.averages[self.order[0]]
    }

    fn index(&self, mapping: &[usize]) -> Result<usize, TargetError> {
        self.mappings.iter().position(|m| m == mapping).ok_or_else(|| {
            let (text, n) = (super::mapping::text(mapping), self.mappings.len());
            TargetError::Request(format!("mapping {text} is not among the {n} that were run"))
        })
    }
}

fn spread(times: &[f64]) -> f64 {
    let (least, most) = times.iter().fold((f64::MAX, 0.0_f64), |(l, m), &t| (l.min(t), m.max(t)));
    most / least
}

fn place(times: &[f64], i: usize) -> usize {
    1 + times.iter().filter(|&&time| time < times[i]).count()
}

/// Spearman's rank correlation, equal values sharing the mean of their ranks; `None` when the lists are not equally
/// long, or one has no two different values.
///
/// ```
/// use probe::ring::spearman;
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 25.0]), Some(1.0));
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[9.0, 8.0, 1.0]), Some(-1.0));
/// ```
pub fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let (a, b) = (shared_ranks(a), shared_ranks(b));
    let middle = (a.len() as f64 + 1.0) / 2.0;
    let product =
        |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum::<f64>();
    let both = (product(&a, &a) * product(&b, &b)).sqrt();
    (both > 0.0).then(|| product(&a, &b) / both)
}

fn shared_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for equal in order.chunk_by(|&i, &j| values[i] == values[j]) {
        let end = start + equal.len();
        for &i in equal {
            ranks[i] = (start + 1 + end) as f64 / 2.0;
        }
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_hand() -> Ranking {
        let mappings = vec![vec![0, 1, 2, 3], vec![0, 1, 3, 2], vec![0, 2, 1, 3], vec![0, 2, 3, 1]];
        // Averages 4, 2, 6, 3.
        Ranking::new(mappings, vec![vec![4.0, 1.0, 5.0, 2.0], vec![4.0, 3.0, 7.0, 4.0]]).unwrap()
    }

    #[test]
    fn numbers_made_by_hand_come_out() {
        let ranking = by_hand();
        assert_eq!(ranking.averages(), [4.0, 2.0, 6.0, 3.0]);
        assert_eq!(ranking.order(), [1, 3, 0, 2]);
        assert_eq!(ranking.worst_by_best(), 3.0);
        assert_eq!(ranking.run_worst_by_best(), [5.0, 7.0 / 3.0]);
        assert_eq!(ranking.mean_by_best(), 15.0 / 8.0);
        assert_eq!(ranking.median_by_best(), 3.5 / 2.0);
        assert_eq!(ranking.rank(&[0, 1, 2, 3]).unwrap(), 3);
        assert_eq!(ranking.run_ranks(&[0, 1, 2, 3]).unwrap(), [3, 2]); // equal ones share the second place
        assert_eq!(ranking.run_ranks(&[0, 2, 3, 1]).unwrap(), [2, 2]);
        assert_eq!(ranking.slowdown(&[0, 2, 1, 3]).unwrap(), 3.0);
    }

    #[test]
    fn the_median_of_an_odd_number_is_one_of_them() {
        let mappings = (0..3).map(|i| vec![i]).collect();
        assert_eq!(Ranking::new(mappings, vec![vec![8.0, 2.0, 3.0]]).unwrap().median_by_best(), 1.5);
    }

    #[test]
    fn correlation_shares_ranks_among_equals() {
        // Ranks 1, 2.5, 2.5, 4 and 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5).
        let found = spearman(&[1.0, 2.0, 2.0, 3.0], &[1.0, 3.0, 2.0, 9.0]).unwrap();
        assert!((found - 4.5 / 22.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(spearman(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(spearman(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(by_hand().correlation(&by_hand()).unwrap(), 1.0);
    }

    #[test]
    fn what_cannot_be_ranked_is_refused() {
        let message = |mappings, runs| Ranking::new(mappings, runs).unwrap_err().to_string();
        assert!(message(vec![], vec![vec![]]).contains("0 mappings"));
        assert!(message(vec![vec![0]], vec![vec![1.0], vec![]]).contains("run 1 has 0 times for 1 mappings"));
        assert!(message(vec![vec![0]], vec![vec![0.0]]).contains("a time of 0"));
        assert!(by_hand().rank(&[0, 3, 2, 1]).unwrap_err().to_string().contains("[0321] is not among the 4"));
        let other = Ranking::new(vec![vec![0]], vec![vec![1.0]]).unwrap();
        assert!(by_hand().correlation(&other).is_err());
        assert!(other.correlation(&other).is_err());
    }
}
