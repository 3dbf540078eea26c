//! The measurements, for tables and for programs.

use ground::Quantiles;

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
    /// The computer, where its speed was measured, and the program.
    pub identity: Vec<(String, String)>,
    /// In the order in which they were taken.
    pub measurements: Vec<Measurement>,
}

/// One experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    /// The pattern's name, or `written`.
    pub pattern: String,
    /// Its transfers, written out.
    pub transfers: String,
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
    /// What to think of the numbers.
    pub quality: Quality,
    /// Samples that were taken and left out, because a thread lost its cpu.
    pub excluded: usize,
    /// The pattern's transfers in the sample whose bandwidth is the median.
    pub each: Vec<Each>,
}

/// What to think of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quality {
    /// Simulated: another run gives the same.
    Exact,
    /// Measured, with the cpus to itself.
    Good,
    /// Most samples lost their cpu; all of them count.
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
}

impl Quality {
    /// As results have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Good => "good",
            Self::Disturbed => "disturbed",
            Self::Unpinned => "unpinned",
        }
    }
}

/// Quantiles without their number of samples, which a measurement says once.
fn without_n<S: serde::Serializer>(q: &Quantiles, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map([("min", q.min), ("p10", q.p10), ("p50", q.p50), ("p90", q.p90)])
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
            "identity": identity,
            "measurements": self.measurements,
        })
    }

    /// A row per measurement, all columns flat: `bandwidth_gbs_p50`.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "machine,target,pattern,transfers,partners,size_bytes,buffers,repeats,compute_ns,walk,n",
        );
        for name in [
            "bandwidth_gbs",
            "bandwidth_each_gbs",
            "bandwidth_by_timer_gbs",
            "latency_ns",
            "span_us",
            "ticks",
        ] {
            let _ = write!(text, ",{name}_min,{name}_p10,{name}_p50,{name}_p90");
        }
        text.push_str(",quality,excluded\n");
        for m in &self.measurements {
            let words = [&self.machine, &self.target, &m.pattern, &m.transfers].map(|word| cell(word));
            let _ = write!(text, "{}", words.join(","));
            let _ = write!(
                text,
                ",{},{},{},{},{},{},{}",
                m.partners, m.size_bytes, m.buffers, m.repeats, m.compute_ns, m.walk, m.n
            );
            for q in [
                m.bandwidth_gbs,
                m.bandwidth_each_gbs,
                m.bandwidth_by_timer_gbs,
                m.latency_ns,
                m.span_us,
                m.ticks,
            ] {
                let _ = write!(text, ",{},{},{},{}", q.min, q.p10, q.p50, q.p90);
            }
            let _ = writeln!(text, ",{},{}", m.quality.word(), m.excluded);
        }
        text
    }
}

/// Quoted where it must be.
fn cell(word: &str) -> String {
    if word.contains([',', '"', '\n']) { format!("\"{}\"", word.replace('"', "\"\"")) } else { word.into() }
}
