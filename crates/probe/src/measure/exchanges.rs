//! The samples of lines, wake-ups and turns.

use super::sampling::{Sampling, interval};
use super::summary::Counted;
use super::{is_clean, now_ns};
use crate::TargetError;
use crate::exchanges::ExchangeJob;
use crate::result::Exchanged;
use ground::Quantiles;
use machine::target::{Sample, Target};
use machine::{Act, LineExchange};

/// Between two looks whether the samples are enough.
const SOME: u32 = 10;
/// No exchange takes longer: a wake-up of a sleeping computer takes its time.
const LONGEST_NS: u64 = 2_000_000_000;

/// Takes samples until they are enough. Lines that are shared by mistake are measured in turn with lines that are not.
pub(super) fn measure(
    target: &mut dyn Target,
    job: &ExchangeJob,
    sampling: Sampling,
) -> Result<Exchanged, TargetError> {
    let own = (job.exchange.act == Act::SharedLine)
        .then(|| LineExchange { act: Act::OwnLine, ..job.exchange.clone() });
    let (mut found, mut apart): (Vec<Sample>, Vec<Sample>) = (Vec::new(), Vec::new());
    let start_ns = now_ns(target);
    loop {
        let some = SOME.min(sampling.most - found.len() as u32);
        found.extend(target.exchange(&job.exchange, some)?);
        if let Some(own) = &own {
            apart.extend(target.exchange(own, some)?);
        }
        let values: Vec<f64> = found.iter().filter(|s| is_clean(s)).map(Sample::latency_ns).collect();
        let over = found.len() as u32 >= sampling.most || now_ns(target) - start_ns > LONGEST_NS;
        if over || sampling.enough(&values) {
            break;
        }
    }
    let counted = Counted::of(&found, target.is_exact());
    let values: Vec<f64> = counted.kept.iter().map(|&i| found[i].latency_ns()).collect();
    let ratio = |&i: &usize| found[i].latency_ns() / apart[i].latency_ns();
    let both = counted.kept.iter().filter(|&&i| apart.get(i).is_some_and(is_clean));
    let mut slowdowns: Vec<f64> = both.map(ratio).collect();
    if slowdowns.is_empty() && !apart.is_empty() {
        // Disturbed samples are better than none.
        slowdowns = counted.kept.iter().map(ratio).collect();
    }
    let nothing = || TargetError::Failed(format!("{}: no sample was taken", job.pattern));
    let name = |e: usize| target.machine().elements[e].name.clone();
    let (first, second) = job.exchange.pairs[0];
    Ok(Exchanged {
        pattern: job.pattern,
        pair: [name(first), name(second)],
        shares: job.shares,
        home: job.home().map(|(word, third)| match third {
            Some(e) if word.is_empty() => name(e),
            Some(e) => format!("{}, {word}", name(e)),
            None => word.into(),
        }),
        n: values.len(),
        interval: interval(&values),
        slowdown: Quantiles::of(slowdowns),
        latency_ns: Quantiles::of(values).ok_or_else(nothing)?,
        pace_spread: counted.pace_spread,
        quality: counted.quality,
        excluded: found.len() - counted.kept.len(),
        left_out: counted.left_out,
    })
}
