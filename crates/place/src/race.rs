//! A race of mappings whose times vary: rounds in which each runs once, until the best is known or none is better.
//!
//! The contenders of a round share what the computer does meanwhile, so that differences within rounds are compared.
//! Looks are taken after 8, 16, 32, .. rounds. A contender whose mean difference to the leader is above 0 with 95 %
//! confidence leaves; the 5 % are shared by all comparisons of all looks (Bonferroni), so that looking often does not
//! make a difference out of chance.

use crate::Judge;
use ground::{Draws, Located, quantile};

/// The first look is after so many rounds.
const FIRST_LOOK: usize = 8;
/// The chance of an error that is shared by all comparisons.
const ERROR: f64 = 0.05;
/// Differences of less than this part of the leader's time do not matter.
const MATTERS: f64 = 0.01;

/// A contender: a mapping, or the kernel's own choice.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// `kernel`, `identity`, or whose choice it is.
    pub name: String,
    /// The seat of each part; nothing: the kernel places them.
    pub mapping: Option<Vec<usize>>,
}

/// A contender's times.
#[derive(Debug, Clone, PartialEq)]
pub struct Raced {
    /// Who ran.
    pub contender: Contender,
    /// By round, in ns; fewer where it left early.
    pub times_ns: Vec<f64>,
    /// Why it left, or nothing where it stayed to the end.
    pub left: Option<String>,
}

impl Raced {
    /// The mean, in ns.
    pub fn mean_ns(&self) -> f64 {
        mean(&self.times_ns)
    }

    /// Nine of ten runs take less, in ns.
    pub fn p90_ns(&self) -> f64 {
        let mut sorted = self.times_ns.clone();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, 0.9)
    }

    /// The variance between runs, in ns squared.
    pub fn variance_ns2(&self) -> f64 {
        let mean = self.mean_ns();
        let squares: Vec<f64> = self.times_ns.iter().map(|time| (time - mean).powi(2)).collect();
        squares.iter().sum::<f64>() / (squares.len().max(2) - 1) as f64
    }
}

/// What a race came to.
#[derive(Debug, Clone, PartialEq)]
pub struct RaceResult {
    /// In the order of the contenders.
    pub all: Vec<Raced>,
    /// The contender that is best, by its place in the list.
    pub leader: usize,
    /// Whether to pin: false when the kernel's own choice wins, or is not known to be worse by 1 % or more.
    pub pin: bool,
    /// Whether the leader is better than every other with 95 % confidence.
    pub known: bool,
    /// What was found, in a sentence.
    pub verdict: String,
}

/// Races contenders, of which there is at least one, for at most `rounds` rounds. With `robust`, the leader is the one
/// whose p90 is least; else the mean decides. `progress` is told the part that is done; when it says false, the race
/// ends.
///
/// # Errors
/// No contender could run.
pub fn race(
    judge: &mut dyn Judge,
    contenders: Vec<Contender>,
    rounds: u64,
    robust: bool,
    seed: u64,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<RaceResult, Located> {
    let mut all: Vec<Raced> = contenders
        .into_iter()
        .map(|contender| Raced { contender, times_ns: Vec::new(), left: None })
        .collect();
    let rounds = rounds.max(1) as usize;
    let looks = (rounds / FIRST_LOOK).max(1).ilog2() as usize + 1;
    let comparisons = (looks * all.len().saturating_sub(1)).max(1);
    let chance = ERROR / comparisons as f64;
    let mut draws = Draws::new(seed);
    let mut next_look = FIRST_LOOK;
    for round in 1..=rounds {
        let mut order: Vec<usize> = (0..all.len()).filter(|&i| all[i].left.is_none()).collect();
        // Who runs after whom changes from round to round.
        draws.shuffle(&mut order);
        for i in order {
            match judge.time_ns(all[i].contender.mapping.as_deref()) {
                Ok(time) => all[i].times_ns.push(time),
                Err(error) => all[i].left = Some(error.to_string()),
            }
        }
        let goes_on = progress(round as f64 / rounds as f64);
        if round == next_look || round == rounds {
            next_look *= 2;
            look(&mut all, robust, chance);
        }
        let running = all.iter().filter(|raced| raced.left.is_none()).count();
        if running <= 1 || !goes_on {
            break;
        }
    }
    finish(all, robust)
}

/// Sends away who is known to be worse than the leader.
fn look(all: &mut [Raced], robust: bool, chance: f64) {
    let Some(leader) = leader(all, robust) else { return };
    let times = all[leader].times_ns.clone();
    for i in 0..all.len() {
        if i == leader || all[i].left.is_some() {
            continue;
        }
        let differences = paired(&all[i].times_ns, &times);
        let least = mean(&differences) - half_width(&differences, chance);
        if differences.len() >= FIRST_LOOK
            && least > 0.0
            && (!robust || all[i].p90_ns() > all[leader].p90_ns())
        {
            let name = &all[leader].contender.name;
            all[i].left =
                Some(format!("slower than {name} by {least:.0} ns or more, after {} rounds", times.len()));
        }
    }
}

/// The best of those that are still there.
fn leader(all: &[Raced], robust: bool) -> Option<usize> {
    let value = |raced: &Raced| if robust { raced.p90_ns() } else { raced.mean_ns() };
    let running = (0..all.len()).filter(|&i| all[i].left.is_none() && !all[i].times_ns.is_empty());
    running.min_by(|&a, &b| value(&all[a]).total_cmp(&value(&all[b])))
}

fn finish(all: Vec<Raced>, robust: bool) -> Result<RaceResult, Located> {
    let Some(leader) = leader(&all, robust) else {
        let why = all.iter().find_map(|raced| raced.left.clone()).unwrap_or_default();
        return Err(Located::new(format!("nothing could be run: {why}")));
    };
    let known = all.iter().enumerate().all(|(i, raced)| i == leader || raced.left.is_some());
    let kernel = all.iter().position(|raced| raced.contender.mapping.is_none());
    // What the kernel's choice costs more than the leader, in rounds that both ran.
    let loses = kernel.filter(|&kernel| kernel != leader && !all[kernel].times_ns.is_empty()).map(|kernel| {
        let lost = mean(&paired(&all[kernel].times_ns, &all[leader].times_ns));
        (all[kernel].left.is_some(), lost / all[leader].mean_ns())
    });
    let name = &all[leader].contender.name;
    let measure = if robust { "p90" } else { "mean" };
    let runs = all[leader].times_ns.len();
    let (pin, verdict) = match (kernel, loses) {
        (Some(kernel), _) if kernel == leader => {
            let refused =
                all.iter().find(|raced| raced.times_ns.is_empty()).and_then(|raced| raced.left.as_deref());
            let refused = refused.map_or(String::new(), |why| format!("; {why}"));
            (
                false,
                format!(
                    "do not pin: the kernel's own placement has the best {measure} of {runs} runs{refused}"
                ),
            )
        }
        (Some(_), Some((true, share))) if share >= MATTERS => (
            true,
            format!(
                "pin to {name}: the kernel's own placement takes {:.1} % longer, with 95 % confidence",
                share * 100.0
            ),
        ),
        (Some(_), Some((worse, share))) => {
            let why = if worse { "less than 1 %" } else { "not beyond the noise" };
            let share = share * 100.0;
            (
                false,
                format!(
                    "do not pin: {name} and the kernel's own placement differ by {share:.1} %, {why}, in {runs} runs"
                ),
            )
        }
        _ => (true, format!("{name} has the best {measure} of {runs} runs")),
    };
    Ok(RaceResult { leader, pin, known, verdict, all })
}

/// Differences of rounds that both ran.
fn paired(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// What the mean of a sample may be above the truth, but for this chance: Student's t.
fn half_width(values: &[f64], chance: f64) -> f64 {
    let n = values.len() as f64;
    if n < 2.0 {
        return f64::INFINITY;
    }
    let middle = mean(values);
    let variance = values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / (n - 1.0);
    let z = normal(chance);
    // Cornish and Fisher: the first terms of Student's quantile from the normal one.
    let freedom = n - 1.0;
    let t = z
        + (z.powi(3) + z) / (4.0 * freedom)
        + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * freedom.powi(2));
    t * (variance / n).sqrt()
}

/// The normal quantile that is exceeded with this chance, below 0.5: Abramowitz and Stegun 26.2.23, to 4.5e-4.
fn normal(chance: f64) -> f64 {
    let t = (-2.0 * chance.ln()).sqrt();
    let (above, below) = (
        2.515_517 + t * (0.802_853 + t * 0.010_328),
        1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)),
    );
    t - above / below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A judge whose times are drawn around what each mapping takes.
    struct Drawn {
        draws: Draws,
        noise: f64,
        times: Vec<f64>,
        kernel: f64,
        refuses: bool,
    }

    impl Judge for Drawn {
        fn time_ns(&mut self, mapping: Option<&[usize]>) -> Result<f64, Located> {
            let time = match mapping {
                Some(_) if self.refuses => return Err(Located::new("cpu 0: not permitted")),
                Some(mapping) => self.times[mapping[0]],
                None => self.kernel,
            };
            Ok(time * (1.0 + self.noise * self.draws.unit()))
        }
    }

    fn raced(times: &[f64], kernel: f64, noise: f64, seed: u64) -> RaceResult {
        let mut judge =
            Drawn { draws: Draws::new(seed), noise, times: times.to_vec(), kernel, refuses: false };
        run(&mut judge, times.len())
    }

    fn run(judge: &mut Drawn, mappings: usize) -> RaceResult {
        let pinned = (0..mappings).map(|i| Contender { name: format!("m{i}"), mapping: Some(vec![i]) });
        let kernel = Contender { name: "kernel".into(), mapping: None };
        race(judge, pinned.chain([kernel]).collect(), 256, false, 1, &mut |_| true).unwrap()
    }

    #[test]
    fn a_mapping_that_is_clearly_better_wins_soon() {
        let result = raced(&[130.0, 100.0, 120.0], 125.0, 0.05, 1);
        assert_eq!((result.leader, result.pin, result.known), (1, true, true), "{}", result.verdict);
        assert!(
            result.all[1].times_ns.len() <= 32 && result.verdict.contains("pin to m1"),
            "{}",
            result.verdict
        );
    }

    #[test]
    fn the_kernel_wins_where_it_is_better_and_where_nothing_differs() {
        let better = raced(&[130.0, 120.0], 100.0, 0.05, 2);
        assert_eq!((better.pin, better.known), (false, true));
        assert!(better.verdict.starts_with("do not pin: the kernel's own placement"), "{}", better.verdict);
        for seed in 0..20 {
            let equal = raced(&[100.0, 100.0, 100.0], 100.0, 0.3, seed);
            assert!(!equal.pin && equal.verdict.starts_with("do not pin"), "seed {seed}: {}", equal.verdict);
        }
    }

    #[test]
    fn chance_makes_no_difference_in_more_than_one_of_twenty_races() {
        let wrong = (100..300).filter(|&seed| raced(&[100.0, 100.0], 100.0, 1.0, seed).known).count();
        assert!(wrong <= 10, "{wrong} of 200");
    }

    #[test]
    fn where_pinning_is_refused_the_answer_is_not_to_pin_and_says_why() {
        let mut judge =
            Drawn { draws: Draws::new(1), noise: 0.1, times: vec![1.0], kernel: 5.0, refuses: true };
        let result = run(&mut judge, 1);
        assert!(!result.pin && result.verdict.contains("cpu 0: not permitted"), "{}", result.verdict);
        let only = vec![Contender { name: "m".into(), mapping: Some(vec![0]) }];
        let error = race(&mut judge, only, 8, false, 1, &mut |_| true).unwrap_err();
        assert!(error.to_string().contains("nothing could be run"), "{error}");
    }

    #[test]
    fn robust_takes_the_mapping_whose_bad_runs_are_better() {
        struct Spiky(Draws);
        impl Judge for Spiky {
            fn time_ns(&mut self, mapping: Option<&[usize]>) -> Result<f64, Located> {
                let spike = if self.0.below(5) == 0 { 100.0 } else { 0.0 };
                Ok(if mapping == Some(&[0]) { 90.0 + spike } else { 120.0 + self.0.unit() })
            }
        }
        let two = || (0..2).map(|i| Contender { name: format!("m{i}"), mapping: Some(vec![i]) }).collect();
        let of =
            |robust| race(&mut Spiky(Draws::new(1)), two(), 64, robust, 1, &mut |_| true).unwrap().leader;
        assert_eq!((of(false), of(true)), (0, 1));
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (chance, z) in [(0.05, 1.6449), (0.025, 1.95996), (0.001, 3.0902)] {
            assert!((normal(chance) - z).abs() < 1e-3);
        }
    }
}
