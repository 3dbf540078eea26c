//! The measurements, for tables and for programs.

use crate::AtOnce;
use crate::axes::ElementPlace;
use ground::Quantiles;
use machine::Nearness;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The version of the format of results.
pub const FORMAT: u32 = 1;

/// Everything that a probe found.
#[derive(Debug, Clone, PartialEq)]
pub struct Probed {
    /// The machine's name.
    pub machine: String,
    /// With the choices made for the target.
    pub target: String,
    /// Whether one sample is all there is to know.
    pub exact: bool,
    /// The clock of the target's programs.
    pub timer: String,
    /// Its ticks per second.
    pub timer_hz: f64,
    /// Of what was drawn.
    pub seed: u64,
    /// Whether it ended before everything was measured.
    pub stopped: bool,
    /// Share of one cpu's time that a hypervisor gave to others while all was measured, where that is known.
    pub stolen_share: Option<f64>,
    /// The cpus that a cgroup quota leaves to this process, where those are fewer than there are elements.
    pub quota_cpus: Option<f64>,
    /// The computer, where its speed was measured, and the program.
    pub identity: Vec<(String, String)>,
    /// In the order in which tables and pictures have them.
    pub elements: Vec<ElementPlace>,
    /// Where pairs were measured at the same time, how many, and what a look at them showed.
    pub at_once: Vec<AtOnce>,
    /// In the order in which they were taken.
    pub measurements: Vec<Measurement>,
    /// Lines, wake-ups and turns, in the order in which they were measured.
    pub exchanges: Vec<Exchanged>,
}

/// One experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// The pattern's name, or `written`.
    pub pattern: String,
    /// Its transfers, written out.
    pub transfers: String,
    /// Where it is one transfer between two elements, their names: the initiator's first.
    pub pair: Option<[String; 2]>,
    /// Elements that initiate transfers.
    pub partners: usize,
    /// Bytes of one transfer.
    pub size_bytes: u32,
    /// Transfers that an initiator keeps in flight.
    pub buffers: u32,
    /// How often each transfer was done in a sample.
    pub repeats: u32,
    /// ns of computing on each transfer once it is complete.
    pub compute_ns: u64,
    /// How repeats went through main memory: `next` to each other, `stride 2048`, `cached`.
    pub walk: String,
    /// Samples that count.
    pub n: usize,
    /// The whole pattern together: all bytes over the time from the first start to the last end.
    #[serde(serialize_with = "without_n")]
    pub bandwidth_gbs: Quantiles,
    /// Each transfer's bytes over its own time, added up.
    #[serde(serialize_with = "without_n")]
    pub bandwidth_each_gbs: Quantiles,
    /// All bytes over the longest time that an initiator's own timer shows, as `dma-benchmark` computes it.
    #[serde(serialize_with = "without_n")]
    pub bandwidth_by_timer_gbs: Quantiles,
    /// Of one transfer, mean over the pattern.
    #[serde(serialize_with = "without_n")]
    pub latency_ns: Quantiles,
    /// From the first start to the last end.
    #[serde(serialize_with = "without_n")]
    pub span_us: Quantiles,
    /// Of the initiator that took longest, on its own timer.
    #[serde(serialize_with = "without_n")]
    pub ticks: Quantiles,
    /// How many times longer an initiator takes than alone, the mean of the pattern's; `None` for one transfer.
    #[serde(serialize_with = "maybe_without_n")]
    pub slowdown: Option<Quantiles>,
    /// What its transfers moved alone, one after the other, in the same moments; `None` for one transfer.
    pub alone_gbs: Option<f64>,
    /// Half of the 95 % confidence interval of the bandwidth's median, as a part of it; `None` with too few samples.
    pub interval: Option<f64>,
    /// How much the cpus' speed varied from sample to sample: p90 by p10 of a fixed piece of work beside each.
    pub pace_spread: f64,
    /// What to think of the numbers.
    pub quality: Quality,
    /// Samples that were taken and left out.
    pub excluded: usize,
    /// Why they were left out.
    pub left_out: LeftOut,
    /// The pattern's transfers in the sample whose bandwidth is the median.
    pub each: Vec<Each>,
}

/// What two cpus did with one line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exchanged {
    /// The pattern's name.
    pub pattern: &'static str,
    /// The names of the two elements, the one that begins first; twice the same where it takes turns with itself.
    pub pair: [String; 2],
    /// What the two have in common.
    #[serde(serialize_with = "nearness")]
    pub shares: Nearness,
    /// Where the line lives: `writer`, `reader` or a third element's name; `, fresh` where each is used once.
    pub home: Option<String>,
    /// Samples that count.
    pub n: usize,
    /// Of one hand-over, one write, one wake-up or one turn.
    #[serde(serialize_with = "without_n")]
    pub latency_ns: Quantiles,
    /// How many times longer a write takes than into a line of its own, where lines are shared by mistake.
    #[serde(serialize_with = "maybe_without_n")]
    pub slowdown: Option<Quantiles>,
    /// As a [`Measurement`]'s, of the latency.
    pub interval: Option<f64>,
    /// As a [`Measurement`]'s.
    pub pace_spread: f64,
    /// What to think of the numbers.
    pub quality: Quality,
    /// Samples that were taken and left out.
    pub excluded: usize,
    /// Why they were left out.
    pub left_out: LeftOut,
}

/// Samples that do not count, each for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct LeftOut {
    /// A thread lost its cpu to another one.
    pub lost_cpu: usize,
    /// A hypervisor gave a cpu to others at about that time.
    pub stolen: usize,
    /// A fixed piece of work took longer or shorter after the sample than before.
    pub unsteady: usize,
}

/// What to think of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quality {
    /// Simulated: another run gives the same.
    Exact,
    /// Measured, with the cpus to itself.
    Good,
    /// The cpus' speed changed from sample to sample; each counts as it was.
    Unsteady,
    /// Most samples were disturbed; all of them count.
    Disturbed,
    /// A thread could not be pinned: it is not known which cpus were measured.
    Unpinned,
}

/// One transfer of a sample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Each {
    /// Written out.
    pub transfer: String,
    /// From the sample's first start on.
    pub start_ns: f64,
    /// From the sample's first start on.
    pub end_ns: f64,
    /// On the initiator's own timer.
    pub ticks: u64,
    /// Mean over its repeats.
    pub latency_ns: f64,
    /// Its own bytes over its own time.
    pub bandwidth_gbs: f64,
    /// How many times longer its initiator takes than alone; `None` where that was not measured.
    pub slowdown: Option<f64>,
}

impl Quality {
    /// As results have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Good => "good",
            Self::Unsteady => "unsteady",
            Self::Disturbed => "disturbed",
            Self::Unpinned => "unpinned",
        }
    }
}

/// Quantiles without their number of samples, which a measurement says once.
fn without_n<S: serde::Serializer>(q: &Quantiles, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map([("min", q.min), ("p10", q.p10), ("p50", q.p50), ("p90", q.p90)])
}

fn maybe_without_n<S: serde::Serializer>(q: &Option<Quantiles>, to: S) -> Result<S::Ok, S::Error> {
    match q {
        Some(q) => without_n(q, to),
        None => to.serialize_none(),
    }
}

fn nearness<S: serde::Serializer>(shares: &Nearness, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(shares.name())
}

impl Probed {
    /// The result as JSON; a person can read it too.
    pub fn to_json(&self) -> Value {
        let identity: Map<String, Value> =
            self.identity.iter().map(|(key, value)| (key.clone(), Value::from(value.clone()))).collect();
        json!({
            "format": FORMAT,
            "machine": self.machine,
            "target": self.target,
            "exact": self.exact,
            "timer": { "name": self.timer, "hz": self.timer_hz },
            "seed": self.seed,
            "stopped": self.stopped,
            "stolen_share": self.stolen_share,
            "quota_cpus": self.quota_cpus,
            "identity": identity,
            "elements": self.elements,
            "at_once": self.at_once,
            "measurements": self.measurements,
            "exchanges": self.exchanges,
        })
    }

    /// A row per measurement, all columns flat: `bandwidth_gbs_p50`. Lines, wake-ups and turns follow, with the columns
    /// that they have.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "machine,target,pattern,transfers,initiator,other,home,partners,size_bytes,buffers,repeats,compute_ns,\
             walk,n",
        );
        for name in QUANTILES {
            let _ = write!(text, ",{name}_min,{name}_p10,{name}_p50,{name}_p90");
        }
        text.push_str(",interval,pace_spread,quality,excluded\n");
        for m in &self.measurements {
            let [initiator, other] = m.pair.clone().unwrap_or_default();
            self.row(&mut text, [&m.pattern, &m.transfers, &initiator, &other, ""]);
            let counts =
                [m.partners as u64, m.size_bytes.into(), m.buffers.into(), m.repeats.into(), m.compute_ns];
            for n in counts {
                let _ = write!(text, ",{n}");
            }
            let _ = write!(text, ",{},{}", m.walk, m.n);
            for q in [
                Some(m.bandwidth_gbs),
                Some(m.bandwidth_each_gbs),
                Some(m.bandwidth_by_timer_gbs),
                Some(m.latency_ns),
                Some(m.span_us),
                Some(m.ticks),
                m.slowdown,
            ] {
                quantiles(&mut text, q);
            }
            end(&mut text, m.interval, m.pace_spread, m.quality, m.excluded);
        }
        for x in &self.exchanges {
            let home = x.home.as_deref().unwrap_or_default();
            self.row(&mut text, [x.pattern, "", &x.pair[0], &x.pair[1], home]);
            let _ = write!(text, ",,,,,,,{}", x.n);
            for q in [None, None, None, Some(x.latency_ns), None, None, x.slowdown] {
                quantiles(&mut text, q);
            }
            end(&mut text, x.interval, x.pace_spread, x.quality, x.excluded);
        }
        text
    }

    /// The first columns: what was measured, in words.
    fn row(&self, text: &mut String, words: [&str; 5]) {
        let all = [self.machine.as_str(), &self.target].into_iter().chain(words);
        text.push_str(&all.map(cell).collect::<Vec<_>>().join(","));
    }
}

/// The columns of four.
const QUANTILES: [&str; 7] = [
    "bandwidth_gbs",
    "bandwidth_each_gbs",
    "bandwidth_by_timer_gbs",
    "latency_ns",
    "span_us",
    "ticks",
    "slowdown",
];

fn quantiles(text: &mut String, q: Option<Quantiles>) {
    let _ = match q {
        Some(q) => write!(text, ",{},{},{},{}", q.min, q.p10, q.p50, q.p90),
        None => write!(text, ",,,,"),
    };
}

/// The last columns, and the end of the line.
fn end(text: &mut String, interval: Option<f64>, pace_spread: f64, quality: Quality, excluded: usize) {
    let interval = interval.map(|half| half.to_string()).unwrap_or_default();
    let _ = writeln!(text, ",{interval},{pace_spread},{},{excluded}", quality.word());
}

/// Quoted where it must be.
fn cell(word: &str) -> String {
    if word.contains([',', '"', '\n']) { format!("\"{}\"", word.replace('"', "\"\"")) } else { word.into() }
}
