//! What ranks on a simulated Cell are charged for computing between their calls (`cellrun --compute`).
//!
//! Measured times differ from run to run. They are recorded in a file, with which a later run is the same to the bit.

use crate::options::ComputeOptions;
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The version of the file's format.
const FORMAT: u64 = 1;
/// The most that a rank is charged at once, in ns: eleven days. Simulated time, in ps, has room for 18 of these.
const MOST_CHARGED_NS: u64 = 1_000_000_000_000_000;

/// What ranks are charged, call by call.
pub(crate) enum Computing {
    /// What they declare.
    Declared,
    /// What they took on this computer, times a factor; recorded rank by rank.
    Measured { factor: f64, charged: RefCell<Vec<Vec<u64>>>, file: PathBuf },
    /// What a file says, rank by rank, and of which machine; and how many calls of each are over.
    Replayed { charged: Vec<Vec<u64>>, machine: String, calls: Vec<Cell<usize>>, file: PathBuf },
}

impl Computing {
    /// As the options say, for so many ranks.
    ///
    /// # Errors
    /// The file to replay cannot be read, or is another job's.
    pub(crate) fn new(options: &ComputeOptions, ranks: usize) -> Result<Self, String> {
        Ok(match options {
            ComputeOptions::Declared => Self::Declared,
            ComputeOptions::Measured { factor, file } => Self::Measured {
                factor: *factor,
                charged: RefCell::new(vec![Vec::new(); ranks]),
                file: file.clone(),
            },
            ComputeOptions::Replayed(file) => {
                let (machine, charged) =
                    read(file).map_err(|text| format!("--compute replayed:{}: {text}", file.display()))?;
                if charged.len() != ranks {
                    return Err(format!(
                        "--compute replayed:{}: it is of {} ranks, and the job has {ranks}",
                        file.display(),
                        charged.len()
                    ));
                }
                Self::Replayed { charged, machine, calls: vec![Cell::new(0); ranks], file: file.clone() }
            }
        })
    }

    /// What a rank is charged before its next call, in ns, when it took so many on this computer.
    pub(crate) fn charge(&self, rank: usize, ns: u64) -> u64 {
        match self {
            Self::Declared => 0,
            Self::Measured { factor, charged, .. } => {
                let ns = ((ns as f64 * factor) as u64).min(MOST_CHARGED_NS);
                charged.borrow_mut()[rank].push(ns);
                ns
            }
            Self::Replayed { charged, calls, .. } => {
                let call = calls[rank].replace(calls[rank].get() + 1);
                charged[rank].get(call).copied().unwrap_or_default()
            }
        }
    }

    /// Whether what was not declared is charged.
    pub(crate) fn charges(&self) -> bool {
        !matches!(self, Self::Declared)
    }

    /// Writes the record, or says that the job was another one than the recorded.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn finish(&self, machine: &str) -> Result<(), String> {
        match self {
            Self::Declared => Ok(()),
            Self::Measured { factor, charged, file } => {
                let charged = charged.borrow();
                let ranks: Vec<String> = charged.iter().map(|rank| format!("{rank:?}")).collect();
                let text = format!(
                    "{{\n  \"format\": {FORMAT},\n  \"machine\": \"{machine}\",\n  \"factor\": {factor:?},\n  \
                     \"charged_ns\": [\n    {}\n  ]\n}}\n",
                    ranks.join(",\n    ")
                );
                ground::write_whole(file, |out| out.write_all(text.as_bytes()))
                    .map_err(|error| format!("--compute measured:{}: {error}", file.display()))
            }
            Self::Replayed { machine: recorded, file, .. } if recorded != machine => Err(format!(
                "--compute replayed:{}: it is of {recorded}, and the job ran on {machine}",
                file.display()
            )),
            Self::Replayed { charged, calls, file, .. } => {
                let other =
                    charged.iter().zip(calls).position(|(charged, calls)| charged.len() != calls.get());
                other.map_or(Ok(()), |rank| {
                    Err(format!(
                        "--compute replayed:{}: rank {rank} asked {} times, and in the file {} times; machine, program \
                         and input must be those of the record",
                        file.display(),
                        calls[rank].get(),
                        charged[rank].len()
                    ))
                })
            }
        }
    }
}

/// The machine of a record, and what each rank was charged, in ns.
fn read(file: &Path) -> Result<(String, Vec<Vec<u64>>), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if value["format"] != FORMAT {
        return Err(format!("format is {}; allowed is {FORMAT}", value["format"]));
    }
    let charged: Vec<Vec<u64>> = serde_json::from_value(value["charged_ns"].clone())
        .map_err(|error| format!("charged_ns: {error}; allowed is a list of ns for each rank"))?;
    match charged.iter().flatten().find(|&&ns| ns > MOST_CHARGED_NS) {
        Some(ns) => Err(format!("charged_ns: {ns}; allowed are 0 to {MOST_CHARGED_NS} at once")),
        None => Ok((value["machine"].as_str().unwrap_or_default().into(), charged)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_charged_again() {
        let file = std::env::temp_dir().join(format!("cellweave-computing-{}.json", std::process::id()));
        let measured = ComputeOptions::Measured { factor: 2.5, file: file.clone() };
        let measured = Computing::new(&measured, 2).unwrap();
        let charged = [(0, 10), (1, 7), (0, 1)].map(|(rank, ns)| measured.charge(rank, ns));
        assert_eq!(charged, [25, 17, 2]);
        measured.finish("qs20").unwrap();
        let replayed = ComputeOptions::Replayed(file.clone());
        let error = Computing::new(&replayed, 3).err().unwrap();
        assert!(error.contains("it is of 2 ranks, and the job has 3"), "{error}");
        let replayed = Computing::new(&replayed, 2).unwrap();
        assert_eq!([(0, 99), (1, 99)].map(|(rank, ns)| replayed.charge(rank, ns)), [25, 17]);
        let error = replayed.finish("ps3").unwrap_err();
        assert!(error.contains("it is of qs20, and the job ran on ps3"), "{error}");
        let error = replayed.finish("qs20").unwrap_err();
        assert!(error.contains("rank 0 asked 1 times, and in the file 2 times"), "{error}");
        assert_eq!(replayed.charge(0, 99), 2);
        assert_eq!(replayed.finish("qs20"), Ok(()));
        std::fs::write(&file, r#"{"format": 1, "charged_ns": [[1], [1000000000000001]]}"#).unwrap();
        let error = Computing::new(&ComputeOptions::Replayed(file.clone()), 2).err().unwrap();
        assert!(error.contains("1000000000000001; allowed are 0 to 1000000000000000 at once"), "{error}");
        std::fs::remove_file(file).unwrap();
    }
}
