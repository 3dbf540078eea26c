//! Which parts of the machine this process is bound to (MPI 5.0, sections 7.4.2 and 9.1.2): what `MPI_Comm_split_type`
//! splits by.

use super::info::Info;
use crate::abi;
use crate::call::Out;
use crate::comm::info::INFOS;
use crate::comm::mpi;
use crate::runtime;
use host::Affinity;
use std::path::Path;

/// Kinds of parts, the largest first: our name, hwloc's, and the file of a cpu that lists the cpus of its part.
const KINDS: [(&str, &str, &str); 6] = [
    ("cellweave://package", "hwloc://Package", "topology/package_cpus_list"),
    ("cellweave://numa", "hwloc://NUMANode", ""),
    ("cellweave://l3", "hwloc://L3Cache", "cache/index3/shared_cpu_list"),
    ("cellweave://l2", "hwloc://L2Cache", "cache/index2/shared_cpu_list"),
    ("cellweave://core", "hwloc://Core", "topology/thread_siblings_list"),
    ("cellweave://cpu", "hwloc://PU", ""),
];
/// How many kinds of parts there are.
pub(crate) const LEVELS: usize = KINDS.len();
const NUMA: usize = 1;
const CPU: usize = LEVELS - 1;
/// The kind that the standard names: memory that all processes of the part can share.
pub(crate) const SHARED_MEMORY: &str = "mpi_shared_memory";
/// No part of this kind holds all the cpus that this process may use.
pub(crate) const UNBOUND: u32 = u32::MAX;

/// The kind of part that a program names.
pub(crate) fn kind(name: &[u8]) -> Option<usize> {
    KINDS.iter().position(|kind| kind.0.as_bytes() == name || kind.1.as_bytes() == name)
}

/// The name of a kind of part.
pub(crate) fn name(kind: usize) -> &'static str {
    KINDS[kind].0
}

/// The part of a kind that a cpu is in, named by its first cpu, of the machine below `root`.
fn part(root: &Path, kind: usize, cpu: u32) -> Option<u32> {
    let list = |path: String| machine::discover::cpu_list(&std::fs::read_to_string(root.join(path)).ok()?);
    match kind {
        CPU => Some(cpu),
        NUMA => {
            let nodes = list("sys/devices/system/node/online".into())?;
            nodes.into_iter().find(|node| {
                list(format!("sys/devices/system/node/node{node}/cpulist"))
                    .is_some_and(|cpus| cpus.contains(&cpu))
            })
        }
        _ => list(format!("sys/devices/system/cpu/cpu{cpu}/{}", KINDS[kind].2))?.first().copied(),
    }
}

/// Of each kind the part that holds all `cpus`, or `UNBOUND`.
pub(crate) fn parts(root: &Path, cpus: &[u32]) -> [u32; LEVELS] {
    std::array::from_fn(|kind| {
        let mut parts = cpus.iter().map(|&cpu| part(root, kind, cpu));
        let first = parts.next().flatten();
        first.filter(|_| parts.all(|other| other == first)).unwrap_or(UNBOUND)
    })
}

/// Of each kind the part that this process is bound to, or `UNBOUND`.
pub(crate) fn own_parts() -> [u32; LEVELS] {
    Affinity::of_this_thread().map_or([UNBOUND; LEVELS], |affinity| parts(Path::new("/"), &affinity.cpus()))
}

mpi! {
    /// The kinds of parts of the machine, and of each whether this process is bound to one.
    fn PMPI_Get_hw_resource_info(hw_info: Out<abi::Info>) {
        hw_info.present()?;
        let mut info = Info::default();
        info.set(SHARED_MEMORY.as_bytes(), b"true");
        for (kind, part) in own_parts().into_iter().enumerate() {
            info.set(name(kind).as_bytes(), if part == UNBOUND { b"false" } else { b"true" });
        }
        hw_info.write(abi::Info(INFOS.of_mut(&mut runtime::enter()).insert(info)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_bound_to_one_cpu_is_bound_to_all_that_it_is_in() {
        let cpu = Affinity::of_this_thread().unwrap().cpus()[0];
        assert_eq!(parts(Path::new("/"), &[cpu])[CPU], cpu);
        assert_eq!(parts(Path::new("/"), &[cpu, cpu + 1])[CPU], UNBOUND);
    }

    #[test]
    fn a_machine_that_says_nothing_has_cpus_only() {
        let parts = parts(Path::new("/nonexistent"), &[3]);
        assert_eq!(parts[..CPU], [UNBOUND; CPU]);
        assert_eq!(parts[CPU], 3);
    }

    #[test]
    fn parts_are_known_by_our_name_and_by_hwlocs() {
        assert_eq!(kind(b"cellweave://core"), kind(b"hwloc://Core"));
        assert_eq!(kind(b"cellweave://nothing"), None);
    }
}
