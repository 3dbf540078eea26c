//! This computer, from `/sys`, the affinity mask and the cgroup quota.
//!
//! Everything is read below a root directory, so that a recorded tree stands for a machine that is not there. What is
//! missing or makes no sense is left out: a cpu without a topology is a core of its own on chip 0, without caches.
//!
//! | what | from |
//! |---|---|
//! | cpus that this process may use | `Cpus_allowed_list` in `proc/self/status`, of those `sys/.../cpu/online` |
//! | chip, core, SMT siblings | `cpuN/topology/{physical_package_id,core_id,thread_siblings_list}` |
//! | NUMA node | `sys/devices/system/node/nodeN/cpulist` |
//! | L1d, L2, L3 | `cpuN/cache/indexI/{level,type,size,shared_cpu_list}` |
//! | kind of core, capacity | `cpuN/cpu_capacity`; `sys/devices/{cpu_core,cpu_atom,cpu_lowpower}/cpus` |
//! | quota | cgroup v2 `cpu.max`, v1 `cpu.cfs_quota_us`, of this process's group and all above it |
//! | description | `model name` in `proc/cpuinfo`, or `sys/firmware/devicetree/base/model` |

use crate::{Element, Machine, Memory, Place};
use ground::Located;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

mod quota;

/// Linux knows 8192 cpus at most.
const CPUS_MAX: u32 = 8192;
/// No file that is read here has more than this in practice, `proc/cpuinfo` of a large machine apart.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// From this share of the fastest core's capacity on a core is one of the fast.
const FAST_PERCENT: u32 = 80;
/// Up to this share of the slowest core's capacity a core is one of the slow.
const SLOW_PERCENT: u32 = 125;

/// The machine below `root` (`/` for this one), as far as this process may use it, or only `cpus` of it.
///
/// Elements are the cpus of the affinity mask, `CPU<the kernel's number>`; their kind is `core`, or on an unequal
/// machine `atom` (Intel's small ones), `little` or `mid` (Arm's slowest, and those between). A core's memory is a soft
/// budget: its share of its L2 in bytes, with its L1d. Nothing is measured: no limits, no overheads, no distances.
///
/// # Errors
/// When no usable cpu is found, or one of `cpus` may not be used.
pub fn host(root: &Path, cpus: Option<&[u32]>) -> Result<Machine, Located> {
    let tree = Tree { root };
    let allowed = tree.allowed()?;
    let mut used = allowed.clone();
    if let Some(cpus) = cpus {
        if let Some(cpu) = cpus.iter().find(|c| !allowed.contains(c)) {
            let message = format!("cpu {cpu} may not be used; this process has {}", ranges(&allowed));
            return Err(Located::new(message).key("cpus"));
        }
        used.retain(|cpu| cpus.contains(cpu));
    }
    let numa = tree.numa();
    let kinds = Kinds::of(&tree, &allowed);
    let mut l2_groups = Groups::default();
    let mut l3_groups = Groups::default();
    let mut cores = Groups::default();
    let elements: Vec<Element> = used
        .iter()
        .map(|&cpu| {
            let caches = tree.caches(cpu);
            let group = |groups: &mut Groups, level: u32| {
                let cache = caches.iter().find(|c| c.level == level)?;
                Some(groups.index(&cache.shared))
            };
            let place = Place {
                chip: tree.number(&topology(cpu, "physical_package_id")).unwrap_or(0),
                numa: numa.get(&cpu).copied(),
                l3: group(&mut l3_groups, 3),
                l2: group(&mut l2_groups, 2),
                core: Some(cores.index(&tree.siblings(cpu))),
                tile: None,
                capacity: kinds.capacity.get(&cpu).copied(),
            };
            Element {
                name: format!("CPU{cpu}"),
                kind: kinds.kind(cpu).into(),
                place,
                memory: memory(&caches),
                incoming_max: None,
                outgoing_max: BTreeMap::new(),
                os_cpu: Some(cpu),
            }
        })
        .collect();
    let quota_cpus = quota::cpus(&tree).filter(|q| *q < elements.len() as f64);
    Ok(Machine {
        name: "host".into(),
        description: description(&tree, &used, quota_cpus),
        elements,
        quota_cpus,
        ..Machine::default()
    })
}

/// How many cpus' time the cgroups leave to this process now; `None` without a quota.
pub fn quota_cpus(root: &Path) -> Option<f64> {
    quota::cpus(&Tree { root })
}

/// The cpus of the same physical core, this one among them.
pub fn siblings(root: &Path, cpu: u32) -> Vec<u32> {
    Tree { root }.siblings(cpu)
}

/// A list of cpus as the kernel and `taskset` write it: `0-3,8`. `None` when it is not one.
///
/// ```
/// assert_eq!(machine::discover::cpu_list("0-2,8"), Some(vec![0, 1, 2, 8]));
/// assert_eq!(machine::discover::cpu_list("3-1"), None);
/// ```
pub fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n < CPUS_MAX);
    let mut cpus = std::collections::BTreeSet::new();
    for part in text.trim().split(',').filter(|_| !text.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus.into_iter().collect())
}

/// The inverse of [`cpu_list`].
fn ranges(cpus: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut i = 0;
    while i < cpus.len() {
        let mut last = i;
        while last + 1 < cpus.len() && cpus[last + 1] == cpus[last] + 1 {
            last += 1;
        }
        parts.push(match last - i {
            0 => cpus[i].to_string(),
            _ => format!("{}-{}", cpus[i], cpus[last]),
        });
        i = last + 1;
    }
    parts.join(",")
}

/// What a core has for itself, and what it shares with other cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheBytes {
    /// Bytes of the largest data cache that one core has for itself; 0 where it is not known.
    pub private: u64,
    /// Bytes of the largest data cache that it shares with another core; 0 where there is none, or it is not known.
    pub shared: u64,
}

/// The caches of the first cpu that this process may use.
pub fn cache_bytes(root: &Path) -> CacheBytes {
    let tree = Tree { root };
    let Some(cpu) = tree.allowed().ok().and_then(|cpus| cpus.first().copied()) else {
        return CacheBytes::default();
    };
    let (siblings, caches) = (tree.siblings(cpu), tree.caches(cpu));
    let largest = |shared: bool| {
        let is = |cache: &&Cache| cache.shared.iter().any(|other| !siblings.contains(other)) == shared;
        caches.iter().filter(is).filter_map(|cache| cache.bytes).max().unwrap_or(0)
    };
    CacheBytes { private: largest(false), shared: largest(true) }
}

/// The files of a computer below a directory.
struct Tree<'a> {
    root: &'a Path,
}

/// One cache of one cpu, of the data caches.
struct Cache {
    level: u32,
    bytes: Option<u64>,
    shared: Vec<u32>,
}

fn topology(cpu: u32, file: &str) -> String {
    format!("sys/devices/system/cpu/cpu{cpu}/topology/{file}")
}

impl Tree<'_> {
    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The text of a file without the newline at its end; `None` when it cannot be read.
    fn text(&self, path: &str) -> Option<String> {
        use std::io::Read;
        let mut bytes = Vec::new();
        let file = std::fs::File::open(self.path(path)).ok()?;
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_string())
    }

    fn number(&self, path: &str) -> Option<u32> {
        self.text(path)?.trim().parse().ok()
    }

    fn list(&self, path: &str) -> Option<Vec<u32>> {
        cpu_list(&self.text(path)?).filter(|cpus| !cpus.is_empty())
    }

    /// The cpus of the affinity mask that are online.
    fn allowed(&self) -> Result<Vec<u32>, Located> {
        let online = self.list("sys/devices/system/cpu/online");
        let mask = self.text("proc/self/status").and_then(|status| {
            let line = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:"))?;
            cpu_list(line).filter(|cpus| !cpus.is_empty())
        });
        let allowed = match (mask, online) {
            (Some(mask), Some(online)) => {
                mask.iter().copied().filter(|c| online.binary_search(c).is_ok()).collect()
            }
            (Some(cpus), None) | (None, Some(cpus)) => cpus,
            (None, None) => Vec::new(),
        };
        if allowed.is_empty() {
            return Err(Located::new(format!(
                "no cpus found: neither Cpus_allowed_list in {} nor {} names one that is online",
                self.path("proc/self/status").display(),
                self.path("sys/devices/system/cpu/online").display()
            )));
        }
        Ok(allowed)
    }

    /// The NUMA node of each cpu.
    fn numa(&self) -> BTreeMap<u32, u32> {
        let nodes = self.list("sys/devices/system/node/online").unwrap_or_default();
        let cpus = |node: u32| self.list(&format!("sys/devices/system/node/node{node}/cpulist"));
        nodes
            .into_iter()
            .flat_map(|node| cpus(node).unwrap_or_default().into_iter().map(move |cpu| (cpu, node)))
            .collect()
    }

    /// The cpus of the same physical core, this one among them.
    fn siblings(&self, cpu: u32) -> Vec<u32> {
        ["core_cpus_list", "thread_siblings_list"]
            .iter()
            .find_map(|file| self.list(&topology(cpu, file)).filter(|cpus| cpus.contains(&cpu)))
            .unwrap_or_else(|| vec![cpu])
    }

    fn caches(&self, cpu: u32) -> Vec<Cache> {
        /// No cpu has more: L1d, L1i, L2, L3, L4, with room.
        const INDICES: u32 = 10;
        (0..INDICES)
            .filter_map(|index| {
                let at = |file: &str| format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{file}");
                let level = self.number(&at("level"))?;
                let holds_data = self.text(&at("type")).is_none_or(|t| t != "Instruction");
                holds_data.then(|| Cache {
                    level,
                    bytes: self.text(&at("size")).and_then(|size| bytes(&size)),
                    shared: self
                        .list(&at("shared_cpu_list"))
                        .filter(|cpus| cpus.contains(&cpu))
                        .unwrap_or_else(|| vec![cpu]),
                })
            })
            .collect()
    }
}

/// `48K`, `2048K`, `1M` in bytes; more than a TiB is no cache.
fn bytes(size: &str) -> Option<u64> {
    let size = size.trim();
    let (digits, unit) = match size.char_indices().next_back()? {
        (end, 'K') => (&size[..end], 1 << 10),
        (end, 'M') => (&size[..end], 1 << 20),
        (end, 'G') => (&size[..end], 1 << 30),
        _ => (size, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|b| (1..=1 << 40).contains(b))
}

/// A share of the L2 for each cpu that it serves.
fn memory(caches: &[Cache]) -> Option<Memory> {
    let l1 = caches.iter().find(|c| c.level == 1).and_then(|c| c.bytes);
    let l2 = caches.iter().find(|c| c.level == 2).and_then(|c| Some(c.bytes? / c.shared.len() as u64));
    // Without an L2, the L1 is all that a core has to itself.
    let bytes = l2.or(l1).filter(|b| *b > 0)?;
    Some(Memory { bytes, hard: false, holds_code: true, l1_bytes: l1, overflow_bytes_per_s: None })
}

/// Numbers for sets of cpus, in order of first appearance.
#[derive(Default)]
struct Groups(BTreeMap<Vec<u32>, u32>);

impl Groups {
    fn index(&mut self, cpus: &[u32]) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(cpus.to_vec()).or_insert(next)
    }
}

/// What the kernel says about unequal cores.
struct Kinds {
    atom: Vec<u32>,
    hybrid: bool,
    capacity: BTreeMap<u32, u32>,
    largest: u32,
    smallest: u32,
}

impl Kinds {
    fn of(tree: &Tree, cpus: &[u32]) -> Self {
        let device = |name: &str| tree.list(&format!("sys/devices/{name}/cpus")).unwrap_or_default();
        let mut atom = device("cpu_atom");
        atom.extend(device("cpu_lowpower"));
        let read = |&cpu: &u32| {
            let capacity = tree.number(&format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"))?;
            (1..=1024).contains(&capacity).then_some((cpu, capacity))
        };
        let capacity: BTreeMap<u32, u32> = cpus.iter().filter_map(read).collect();
        let largest = capacity.values().copied().max().unwrap_or(0);
        let smallest = capacity.values().copied().min().unwrap_or(0);
        Self { hybrid: !atom.is_empty(), atom, capacity, largest, smallest }
    }

    fn kind(&self, cpu: u32) -> &'static str {
        if self.hybrid {
            return if self.atom.contains(&cpu) { "atom" } else { "core" };
        }
        match self.capacity.get(&cpu) {
            Some(c) if c * 100 >= self.largest * FAST_PERCENT => "core",
            Some(c) if c * 100 <= self.smallest * SLOW_PERCENT => "little",
            Some(_) => "mid",
            None => "core",
        }
    }
}

/// The cpu's model as the kernel has it, of the computer below `root`; an Arm board's own name where cpus have none.
pub fn cpu_model(root: &Path) -> Option<String> {
    /// Longer names are not from hardware.
    const LETTERS_MAX: usize = 120;
    let tree = Tree { root };
    let info = tree.text("proc/cpuinfo").unwrap_or_default();
    let value = |key: &str| {
        let line = info.lines().find_map(|l| l.strip_prefix(key)?.trim_start().strip_prefix(':'));
        line.map(str::to_string)
    };
    let board = || tree.text("sys/firmware/devicetree/base/model");
    let model = value("model name").or_else(board).or_else(|| value("Hardware"))?;
    let printable = model.chars().filter(|c| !c.is_control()).collect::<String>();
    let model: String = printable.trim().chars().take(LETTERS_MAX).collect();
    (!model.is_empty()).then_some(model)
}

/// The cpu's model, which cpus, and what the quota leaves of them.
fn description(tree: &Tree, cpus: &[u32], quota_cpus: Option<f64>) -> String {
    let model = cpu_model(tree.root).unwrap_or_else(|| "unknown cpu".into());
    let quota = quota_cpus.map(|q| format!(", quota of {q} cpus")).unwrap_or_default();
    format!("{model}, cpus {}{quota}", ranges(cpus))
}
