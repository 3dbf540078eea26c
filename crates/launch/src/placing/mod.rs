//! Which cpu each rank gets.
//!
//! `auto` gives every rank a core of its own, as near to one another as can be: ranks that talk share a cache. SMT
//! siblings are used when there are more ranks than cores. When ranks are a multiple of the cores, each core gets as
//! many, because ranks that stay on their core find one another sooner than ranks that the kernel moves. Otherwise the
//! kernel places them, because a core with one rank more than the others would slow down all of them.
//!
//! With `OMP_NUM_THREADS`, a rank gets that many cores, if there are enough for all.
//!
//! Two jobs at the same time do not share the first cores. Each launcher reserves the cores of its ranks, through the
//! names of abstract sockets, and uses none that another one has reserved. When too few are left, the ranks deal all
//! cores out among themselves: two ranks of one job never share a core, where each would keep the other from answering,
//! and the kernel moves each rank within its cores away from other jobs.
//!
//! With traffic, which says who sends how much to whom, ranks swap the places that `auto` chose, so that those that
//! talk much are near: the search is `place::quick`, which the topologies of MPI use, too.

mod file;
mod on_cell;

use crate::offer;
use crate::options::{LaunchOptions, Placement};
use machine::discover::CacheBytes;
use machine::{Element, Machine, Place};
use place::{Distance, SeatDistances, Traffic, quick};
use std::cmp::Reverse;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The result of placing.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// The cpus of each rank, by the kernel's numbers; nothing: no rank is pinned.
    pub(crate) cpus: Option<Vec<Vec<u32>>>,
    /// On a simulated machine, the SPE of each rank; nothing: rank r is on SPE r.
    pub(crate) spes: Option<Vec<usize>>,
    /// Cpus that the job may use at the same time: those of its affinity, as far as the quota reaches.
    pub(crate) available: usize,
    /// Bytes of messages that a cpu writes one after the other: see `turnover_bytes`.
    pub(crate) turnover_bytes: u64,
    /// Bytes of the cache that cores share; 0: there is none, or it is not known.
    pub(crate) shared_cache_bytes: u64,
    /// Held as long as the job runs.
    pub(crate) held: Vec<OwnedFd>,
}

/// Decides for the ranks of a job.
///
/// # Errors
/// A file that can't be read, or doesn't fit the job.
pub(crate) fn places(options: &LaunchOptions) -> Result<Places, String> {
    if let Some(machine) = &options.on {
        let ranks = options.ranks();
        let spes = match &options.placement {
            Placement::File(word) => Some(on_cell::spes(word, ranks, machine)?),
            Placement::Auto | Placement::None => None,
        };
        return Ok(Places { spes, available: ranks, ..Places::default() });
    }
    let machine = machine::discover::host(Path::new("/"), None).unwrap_or_default();
    let ranks = options.ranks();
    let traffic = options.traffic.as_ref().map(|file| traffic(file, ranks)).transpose()?;
    let available = available(&machine);
    let caches = machine::discover::cache_bytes(Path::new("/"));
    let mut places = Places {
        available,
        turnover_bytes: turnover_bytes(caches, ranks),
        shared_cache_bytes: caches.shared,
        ..Places::default()
    };
    match &options.placement {
        Placement::None => {}
        Placement::File(file) => {
            places.cpus = Some(file::cpus(file, ranks, &machine)?.into_iter().map(|cpu| vec![cpu]).collect());
        }
        // A single rank sends no messages, and its threads need all cores.
        Placement::Auto if ranks < 2 => {}
        Placement::Auto => {
            places.choose(&cores(&machine), ranks, threads());
            if let (Some(cpus), Some(traffic)) = (&mut places.cpus, &traffic) {
                swap_by_traffic(cpus, &machine, traffic);
            }
        }
    }
    Ok(places)
}

/// Through how much memory the messages of a cpu go best: twice what the private caches of sender and receiver hold
/// together, so that what is written was pushed out of both; of all ranks, at most half of the cache that all share.
fn turnover_bytes(caches: CacheBytes, ranks: usize) -> u64 {
    (4 * caches.private).min(caches.shared / 2 / ranks as u64)
}

/// The traffic between so many ranks, as a file says it.
fn traffic(file: &Path, ranks: usize) -> Result<Traffic, String> {
    let traffic = place::read::file(file).map_err(|error| format!("--traffic {error}"))?;
    if traffic.parts != ranks {
        return Err(format!(
            "--traffic {}: it is of {} ranks, and there are {ranks}",
            file.display(),
            traffic.parts
        ));
    }
    Ok(traffic)
}

/// Swaps the cpus of ranks so that ranks that talk much are near one another.
fn swap_by_traffic(cpus: &mut Vec<Vec<u32>>, machine: &Machine, traffic: &Traffic) {
    let element = |cpus: &Vec<u32>| machine.elements.iter().position(|e| e.os_cpu == cpus.first().copied());
    let Some(seats) = cpus.iter().map(element).collect::<Option<Vec<_>>>() else { return };
    let distances = SeatDistances::of(machine, &seats);
    if distances.all_equal() {
        return;
    }
    if let Some(order) = quick(&mut Distance::new(traffic, distances)) {
        *cpus = order.iter().map(|&seat| cpus[seat].clone()).collect();
    }
}

/// Threads of a rank.
fn threads() -> usize {
    let text = std::env::var("OMP_NUM_THREADS").unwrap_or_default();
    // Nested levels may follow, after commas.
    text.split(',')
        .next()
        .and_then(|first| first.trim().parse().ok())
        .filter(|&threads| threads > 0)
        .unwrap_or(1)
}

impl Places {
    fn choose(&mut self, all: &[Core], ranks: usize, threads: usize) {
        let mut free = all.to_vec();
        // Until a choice can be reserved: each round has one core less to choose from.
        while let Some((chosen, cpus)) = choice(&free, all.len(), ranks, threads, self.available) {
            let names = chosen.iter().map(|core| core.cpus[0]);
            let held: Result<Vec<OwnedFd>, u32> =
                names.map(|cpu| offer::bind(&format!("cellweave-core-{cpu}")).map_err(|_| cpu)).collect();
            match held {
                Ok(held) => {
                    self.cpus = Some(cpus);
                    self.held = held;
                    return;
                }
                Err(busy) => free.retain(|core| core.cpus[0] != busy),
            }
        }
        self.cpus = shared(&free, all, ranks, threads, self.available);
    }
}

/// The cores to use of those that are free, and the cpus of each rank; nothing when the kernel should place the ranks.
/// `all`: cores of the machine; `available`: cpus that may be used at the same time.
fn choice(
    free: &[Core],
    all: usize,
    ranks: usize,
    threads: usize,
    available: usize,
) -> Option<(Vec<Core>, Vec<Vec<u32>>)> {
    let cpus: usize = free.iter().map(|core| core.cpus.len()).sum();
    if threads > 1 {
        let wanted = ranks * threads;
        let chosen = compact(free, wanted).filter(|_| wanted <= free.len().min(available))?;
        let dealt =
            chosen.chunks(threads).map(|cores| cores.iter().flat_map(|core| core.cpus.clone()).collect());
        let dealt = dealt.collect();
        return Some((chosen, dealt));
    }
    if ranks <= available && ranks <= cpus {
        let chosen = compact(free, ranks)?;
        let dealt = dealt(&chosen, ranks);
        return Some((chosen, dealt));
    }
    let each = ranks / all.max(1);
    if each * all != ranks || free.len() < all || available < all || each == 0 {
        return None;
    }
    Some((free.to_vec(), free.iter().flat_map(|core| vec![core.cpus.clone(); each]).collect()))
}

/// The cpus of each rank where other jobs hold cores: all cores dealt out, the `free` ones first. Nothing when there
/// are fewer cores than ranks, or each rank needs several.
fn shared(
    free: &[Core],
    all: &[Core],
    ranks: usize,
    threads: usize,
    available: usize,
) -> Option<Vec<Vec<u32>>> {
    if threads > 1 || ranks > all.len().min(available) || free.len() == all.len() {
        return None;
    }
    let held = all.iter().filter(|core| !free.contains(core));
    let mut cpus = vec![Vec::new(); ranks];
    for (number, core) in free.iter().chain(held).enumerate() {
        cpus[number % ranks].extend(&core.cpus);
    }
    Some(cpus)
}

/// Cpus that may be used at the same time.
fn available(machine: &Machine) -> usize {
    let all = machine.elements.len().max(1);
    match machine.quota_cpus {
        Some(quota) => all.min((quota as usize).max(1)),
        None => all,
    }
}

/// A core: its cpus (SMT siblings), and where it sits.
#[derive(Debug, Clone, PartialEq)]
struct Core {
    cpus: Vec<u32>,
    place: Place,
}

/// The cores, near ones beside one another, fast kinds first.
fn cores(machine: &Machine) -> Vec<Core> {
    let key = |element: &Element| {
        let place = &element.place;
        let speed = place.capacity.unwrap_or(u32::from(element.kind == "core"));
        (Reverse(speed), place.chip, place.numa, place.l3, place.l2, place.core, element.os_cpu)
    };
    let mut elements: Vec<&Element> = machine.elements.iter().collect();
    elements.sort_by_key(|element| key(element));
    let mut cores: Vec<Core> = Vec::new();
    for element in elements {
        let Some(cpu) = element.os_cpu else { continue };
        match cores
            .last_mut()
            .filter(|core| element.place.core.is_some() && core.place.core == element.place.core)
        {
            Some(core) => core.cpus.push(cpu),
            None => cores.push(Core { cpus: vec![cpu], place: element.place.clone() }),
        }
    }
    cores
}

/// The cores for so many: of the smallest group that has enough (an L2's, an L3's, a node's, a chip's), in order.
fn compact(cores: &[Core], ranks: usize) -> Option<Vec<Core>> {
    if ranks > cores.len() {
        let cpus: usize = cores.iter().map(|core| core.cpus.len()).sum();
        return (ranks <= cpus).then(|| cores.to_vec());
    }
    let levels: [fn(&Place) -> Option<u32>; 4] =
        [|place| place.l2, |place| place.l3, |place| place.numa, |place| Some(place.chip)];
    for level in levels {
        for core in cores {
            let Some(group) = level(&core.place) else { continue };
            let members = || cores.iter().filter(|core| level(&core.place) == Some(group));
            if members().count() >= ranks {
                return Some(members().take(ranks).cloned().collect());
            }
        }
    }
    Some(cores[..ranks].to_vec())
}

/// Deals cores out: one each, or their cpus when there are more ranks than cores, so that no core has two ranks more
/// than another.
fn dealt(cores: &[Core], ranks: usize) -> Vec<Vec<u32>> {
    if ranks <= cores.len() {
        return cores.iter().take(ranks).map(|core| core.cpus.clone()).collect();
    }
    let most = cores.iter().map(|core| core.cpus.len()).max().unwrap_or(0);
    // Round by round, how many cpus each core gives; then core by core, so that neighbours in rank are neighbours on
    // the chip.
    let mut given = vec![0; cores.len()];
    let mut left = ranks;
    for round in 0..most {
        for (core, given) in cores.iter().zip(&mut given) {
            if left > 0 && core.cpus.len() > round {
                *given += 1;
                left -= 1;
            }
        }
    }
    let taken = cores.iter().zip(given).flat_map(|(core, given)| core.cpus.iter().take(given));
    taken.map(|&cpu| vec![cpu]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::ProgramOptions;

    /// Cpus of a machine with two chips, two cores each, two cpus a core, numbered as kernels do: first one of each
    /// core.
    fn two_chips() -> Machine {
        let element = |cpu: u32| Element {
            name: format!("CPU{cpu}"),
            kind: "core".into(),
            place: Place {
                chip: cpu % 2,
                numa: Some(cpu % 2),
                l3: Some(cpu % 2),
                l2: Some(cpu % 4),
                core: Some(cpu % 4),
                tile: None,
                capacity: None,
            },
            memory: None,
            incoming_max: None,
            outgoing_max: std::collections::BTreeMap::new(),
            os_cpu: Some(cpu),
        };
        Machine { elements: (0..8).map(element).collect(), ..Machine::default() }
    }

    #[test]
    fn turnover_is_twice_two_private_caches_and_leaves_half_of_the_shared_one() {
        let caches = CacheBytes { private: 1 << 20, shared: 32 << 20 };
        assert_eq!(turnover_bytes(caches, 2), 4 << 20);
        assert_eq!(turnover_bytes(caches, 8), 2 << 20);
        assert_eq!(turnover_bytes(CacheBytes { shared: 0, ..caches }, 2), 0, "no cache is shared");
        assert_eq!(turnover_bytes(CacheBytes::default(), 2), 0, "nothing is known");
    }

    #[test]
    fn a_job_is_told_of_the_cache_that_its_cores_share() {
        let program =
            ProgramOptions { ranks: 2, words: Vec::new(), environment: Vec::new(), directory: None };
        let placement = Placement::None;
        let options = LaunchOptions { programs: vec![program], placement, ..LaunchOptions::default() };
        let caches = machine::discover::cache_bytes(Path::new("/"));
        assert_eq!(places(&options).unwrap().shared_cache_bytes, caches.shared);
    }

    fn chosen(cores: &[Core], ranks: usize) -> Option<Vec<Vec<u32>>> {
        Some(choice(cores, 4, ranks, 1, 8)?.1)
    }

    #[test]
    fn ranks_get_near_cores_and_siblings_last() {
        let cores = cores(&two_chips());
        assert_eq!(chosen(&cores, 2).unwrap(), [[0, 4], [2, 6]]);
        assert_eq!(chosen(&cores, 4).unwrap(), [[0, 4], [2, 6], [1, 5], [3, 7]]);
        assert_eq!(chosen(&cores, 5).unwrap(), [[0], [4], [2], [1], [3]]);
        assert_eq!(chosen(&cores, 8).unwrap(), [[0], [4], [2], [6], [1], [5], [3], [7]]);
        assert_eq!(chosen(&cores, 9), None);
    }

    #[test]
    fn a_crowd_is_spread_evenly_or_not_at_all() {
        let cores = cores(&two_chips());
        let spread = chosen(&cores, 12).unwrap();
        assert_eq!(spread.iter().filter(|cpus| **cpus == [2, 6]).count(), 3);
        assert_eq!(chosen(&cores, 13), None);
        assert_eq!(chosen(&cores[1..], 12), None, "another job holds a core");
        assert_eq!(choice(&cores, 4, 12, 1, 3), None, "the quota is less than the cores");
    }

    #[test]
    fn ranks_among_other_jobs_share_no_core_with_one_another() {
        let all = cores(&two_chips());
        let free = &all[3..];
        let among = |ranks, available| shared(free, &all, ranks, 1, available);
        assert_eq!(among(2, 8).unwrap(), [[3, 7, 2, 6], [0, 4, 1, 5]]);
        assert_eq!(among(4, 8).unwrap(), [[3, 7], [0, 4], [2, 6], [1, 5]]);
        assert_eq!(
            (among(5, 8), among(4, 3)),
            (None, None),
            "more ranks than cores, or than the quota allows"
        );
        assert_eq!(shared(&all, &all, 2, 1, 8), None, "no other job");
        assert_eq!(shared(free, &all, 2, 2, 8), None, "ranks with threads");
    }

    #[test]
    fn a_rank_with_threads_gets_cores_for_them() {
        let cores = cores(&two_chips());
        assert_eq!(choice(&cores, 4, 2, 2, 8).unwrap().1, [[0, 4, 2, 6], [1, 5, 3, 7]]);
        assert_eq!(choice(&cores, 4, 3, 2, 8), None);
    }

    #[test]
    fn two_ranks_stay_on_one_chip_though_a_core_of_the_first_is_taken() {
        let cores = &cores(&two_chips())[1..];
        assert_eq!(chosen(cores, 2).unwrap(), [[1, 5], [3, 7]]);
    }

    #[test]
    fn a_machine_that_says_nothing_has_a_core_per_cpu() {
        let mut machine = two_chips();
        for element in &mut machine.elements {
            element.place = Place::default();
        }
        assert_eq!(cores(&machine).len(), 8);
    }

    #[test]
    fn a_quota_counts_as_fewer_cpus() {
        let machine = Machine { quota_cpus: Some(2.5), ..two_chips() };
        assert_eq!((available(&two_chips()), available(&machine)), (8, 2));
    }

    #[test]
    fn ranks_that_talk_much_share_a_chip() {
        let machine = two_chips();
        // The first half of the ranks is on chip 0; rank r talks to rank r + 4, at the same place of the other half.
        let traffic = Traffic::of("halves", 8, (0..4).map(|rank| (rank, rank + 4, 1e6)));
        let mut cpus = chosen(&cores(&machine), 8).unwrap();
        let before = cpus.clone();
        swap_by_traffic(&mut cpus, &machine, &traffic);
        let core = |cpu: u32| cpu % 4;
        for rank in 0..4 {
            assert_ne!(before[rank][0] % 2, before[rank + 4][0] % 2, "they were on two chips");
            assert_eq!(core(cpus[rank][0]), core(cpus[rank + 4][0]), "they share a core now");
        }
        let mut sorted = cpus.clone();
        sorted.sort();
        assert_eq!(sorted, (0..8).map(|cpu| vec![cpu]).collect::<Vec<_>>());
    }

    #[test]
    fn ranks_with_threads_keep_their_cores_together_when_they_swap() {
        let machine = two_chips();
        let mut cpus: Vec<Vec<u32>> = vec![vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]];
        swap_by_traffic(&mut cpus, &machine, &Traffic::of("pairs", 4, [(0, 1, 9.0), (2, 3, 9.0)]));
        assert_eq!(cpus[0][0] % 2, cpus[1][0] % 2);
        assert!(cpus.iter().all(|cpus| cpus[1] == cpus[0] + 4));
    }

    #[test]
    fn traffic_of_another_number_of_ranks_is_refused() {
        let file = std::env::temp_dir().join(format!("cellweave-traffic-{}.csv", std::process::id()));
        std::fs::write(&file, "0,1\n1,0\n").unwrap();
        assert_eq!(traffic(&file, 2).unwrap().parts, 2);
        let error = traffic(&file, 3).unwrap_err();
        std::fs::remove_file(&file).unwrap();
        assert!(error.ends_with("it is of 2 ranks, and there are 3"), "{error}");
        assert!(traffic(&file, 2).unwrap_err().starts_with("--traffic "));
    }
}
