//! The result of `place`, as JSON has it.

use ground::options::Word;
use place::{Goal, NamedAffinity, RaceResult, Raced, Searched};
use serde_json::{Map, Value, json};

/// A mapping of traffic to a machine, and what stands beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Placing {
    /// The traffic's name.
    pub pattern: String,
    /// Name, weight and bytes of each phase.
    pub phases: Vec<(String, f64, f64)>,
    /// Parts that exchange nothing with any other.
    pub silent: Vec<usize>,
    /// The machine's name.
    pub machine: String,
    /// What makes a mapping better.
    pub objective: Goal,
    /// What costs are counted in.
    pub unit: &'static str,
    /// The elements' names; a mapping's numbers are indices here.
    pub seats: Vec<String>,
    /// The operating system's number of each seat's cpu; nothing for a simulated element.
    pub cpus: Vec<Option<u32>>,
    /// The cost of part i on seat i.
    pub identity: f64,
    /// The mapping, and what the search saw.
    pub found: Searched,
    /// The named affinities.
    pub affinities: Vec<AffinityCost>,
    /// The race, where mappings were run here.
    pub race: Option<RaceResult>,
    /// What to know.
    pub notes: Vec<String>,
    /// How long the search took.
    pub seconds: f64,
}

/// A named affinity and its cost.
#[derive(Debug, Clone, PartialEq)]
pub struct AffinityCost {
    /// The seat of each part.
    pub affinity: NamedAffinity,
    /// As the objective judges it; nothing where it was not run.
    pub cost: Option<f64>,
}

impl Placing {
    /// The names of a mapping's elements, by part.
    pub fn names(&self, mapping: &[usize]) -> Vec<&str> {
        mapping.iter().map(|&seat| self.seats[seat].as_str()).collect()
    }

    /// What can be said of the result in sentences.
    pub fn in_words(&self) -> Vec<String> {
        let found = &self.found;
        let mut words = self.notes.clone();
        if found.is_all_equal() {
            words.push(format!(
                "all equal: every mapping costs the same, so `{}` names none as better",
                self.objective.word()
            ));
        } else if self.race.is_some() {
            words.push("worst and median are of the contenders of the race".into());
        } else if self.objective == Goal::Simulated && !found.whole {
            words.push(
                "worst is of the mappings that were simulated, the median of those that were drawn".into(),
            );
        } else if !found.whole {
            words.push("worst, median and distribution are of 1,000 mappings drawn at random".into());
        }
        if !self.silent.is_empty() {
            let listed: Vec<String> = self.silent.iter().take(8).map(usize::to_string).collect();
            let more = if self.silent.len() > 8 { " and others" } else { "" };
            words.push(format!("parts {}{more} exchange nothing with any other", listed.join(", ")));
        }
        words
    }

    /// The result as programs read it.
    pub fn to_json(&self) -> Value {
        let found = &self.found;
        let affinities = self.affinities.iter().map(|a| {
            json!({
                "name": a.affinity.name,
                "permutation": a.affinity.seats,
                "mapping": self.names(&a.affinity.seats),
                "cost": a.cost,
            })
        });
        let phases = self
            .phases
            .iter()
            .map(|(name, weight, bytes)| json!({"name": name, "weight": weight, "bytes": bytes}));
        let mut all = Map::new();
        let mut put = |key: &str, value: Value| all.insert(key.into(), value);
        put("pattern", json!(self.pattern));
        put("machine", json!(self.machine));
        put("objective", json!(self.objective.word()));
        put("unit", json!(self.unit));
        put("parts", json!(found.mapping.len()));
        put("mapping", json!(self.names(&found.mapping)));
        put("permutation", json!(found.mapping));
        let cpus = found.mapping.iter().map(|&seat| self.cpus[seat]);
        put("cpus", json!(cpus.collect::<Vec<_>>()));
        put("cost", json!(found.cost));
        put("best", json!(found.cost));
        put("worst", json!(found.worst.1));
        put("worst_permutation", json!(found.worst.0));
        put("identity", json!(self.identity));
        put("median", json!(found.median));
        put("bound", json!(found.bound));
        put("gap", json!(found.gap()));
        put("proved", json!(found.is_proved()));
        put("all_equal", json!(found.is_all_equal()));
        put("whole", json!(found.whole));
        put("method", json!(found.method));
        put("evaluated", json!(found.evaluated));
        put("distinct", json!(found.distinct));
        put("affinities", affinities.collect());
        put("distribution", json!(found.distribution));
        if let Some(race) = &self.race {
            put("race", self.contenders(race));
            put("pin", json!(race.pin));
            put("known", json!(race.known));
            put("verdict", json!(race.verdict));
        }
        put("phases", phases.collect());
        put("notes", json!(self.in_words()));
        put("seconds", json!(self.seconds));
        Value::Object(all)
    }

    /// Each contender of a race, as programs read it.
    fn contenders(&self, race: &RaceResult) -> Value {
        let one = |raced: &Raced| {
            let ran = !raced.times_ns.is_empty();
            json!({
                "name": raced.contender.name,
                "permutation": raced.contender.mapping,
                "mapping": raced.contender.mapping.as_deref().map(|mapping| self.names(mapping)),
                "n": raced.times_ns.len(),
                "mean_ns": ran.then(|| raced.mean_ns()),
                "p90_ns": ran.then(|| raced.p90_ns()),
                "variance_ns2": ran.then(|| raced.variance_ns2()),
                "left": raced.left,
            })
        };
        race.all.iter().map(one).collect()
    }
}
