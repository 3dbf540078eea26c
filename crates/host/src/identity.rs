//! What a result file says about the computer it comes from: enough to compare with, nothing that names its owner.

use std::fs::read_to_string;

/// The computer and the program; no host name, no user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// As `/proc/cpuinfo` or the board says.
    pub cpu_model: String,
    /// The cpus that this process may use, by the kernel's numbers.
    pub cpus: Vec<u32>,
    /// `6.1.0-18-amd64`
    pub kernel: String,
    /// What [`now_ns`](crate::now_ns) reads.
    pub clock: &'static str,
    /// Of this program.
    pub cellweave_version: &'static str,
}

/// This computer's.
///
/// ```
/// let pairs = host::identity().to_pairs();
/// assert_eq!(pairs[0].0, "cpu_model");
/// ```
pub fn identity() -> Identity {
    let read = |path: &str| read_to_string(path).ok().map(|text| text.trim().to_string());
    let unknown = || "unknown".to_string();
    let root = std::path::Path::new("/");
    // The affinity of the process's first thread, not of this one, which may be pinned.
    let machine = machine::discover::host(root, None).ok();
    let cpus = machine.iter().flat_map(|m| m.elements.iter().filter_map(|e| e.os_cpu)).collect();
    Identity {
        cpu_model: machine::discover::cpu_model(root).unwrap_or_else(unknown),
        cpus,
        kernel: read("/proc/sys/kernel/osrelease").unwrap_or_else(unknown),
        clock: crate::Clock::get().source(),
        cellweave_version: env!("CARGO_PKG_VERSION"),
    }
}

impl Identity {
    /// The computer in words: `AMD EPYC, 2 cpus, Linux 6.1.0-18-amd64`.
    pub fn computer(&self) -> String {
        format!("{}, {} cpus, Linux {}", self.cpu_model, self.cpus.len(), self.kernel)
    }

    /// Key and value, in the order in which result files have them.
    pub fn to_pairs(&self) -> Vec<(&'static str, String)> {
        let cpus: Vec<String> = self.cpus.iter().map(u32::to_string).collect();
        vec![
            ("cpu_model", self.cpu_model.clone()),
            ("cpus", cpus.join(",")),
            ("kernel", self.kernel.clone()),
            ("clock", self.clock.into()),
            ("cellweave_version", self.cellweave_version.into()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_names_the_computer_and_not_its_owner() {
        let identity = identity();
        assert!(!identity.cpus.is_empty());
        assert!(identity.to_pairs().iter().all(|(_, value)| !value.is_empty()));
        let keys: Vec<&str> = identity.to_pairs().iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["cpu_model", "cpus", "kernel", "clock", "cellweave_version"]);
    }
}
