//! How much the cpus of this computer slow each other down: computing and memory, alone, in pairs, all together.

use host::Speed;
use machine::{ElementId, Machine, Together};

/// Each group is measured so often between measurements of its elements alone.
const PASSES: usize = 5;
/// A group that is alone on its machine is measured as often as several groups elsewhere.
const PASSES_IN_ALL: usize = 20;
/// Up to so many elements every pair is measured.
const ALL_PAIRS: usize = 8;
/// Of a larger machine only pairs that slow each other down this much are kept.
const KEPT: f64 = 1.1;

/// The slowdowns of pairs and of all elements of `machine` that are cpus of this computer. On a large machine these
/// pairs are measured: neighbours by number, and those half of all numbers apart, which is how kernels number siblings.
/// `progress` gets the part that is done; `None` when it returns false.
pub fn together(machine: &Machine, progress: &mut dyn FnMut(f64) -> bool) -> Option<Vec<Together>> {
    let real: Vec<ElementId> =
        (0..machine.elements.len()).filter(|&e| machine.elements[e].os_cpu.is_some()).collect();
    let groups = groups(&real);
    let mut found = Vec::new();
    for (done, elements) in groups.iter().enumerate() {
        if !progress(done as f64 / groups.len() as f64) {
            return None;
        }
        found.extend(slowdown(machine, elements, PASSES.max(PASSES_IN_ALL / groups.len())));
    }
    let all = |group: &Together| group.elements.len() == real.len();
    found.retain(|group| real.len() <= ALL_PAIRS || all(group) || group.computing.max(group.memory) >= KEPT);
    Some(found)
}

/// Pairs, then all.
fn groups(real: &[ElementId]) -> Vec<Vec<ElementId>> {
    let n = real.len();
    let far = |a: usize, b: usize| b - a == 1 || b - a == n / 2;
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let mut groups: Vec<Vec<ElementId>> =
        pairs.filter(|&(a, b)| n <= ALL_PAIRS || far(a, b)).map(|(a, b)| vec![real[a], real[b]]).collect();
    if n > 2 {
        groups.push(real.to_vec());
    }
    groups
}

/// How much longer the slowest of `elements` takes when all compute, on average: a stream goes as fast as the slowest
/// of its elements, now the one and now the other where cpus are shared with strangers. `None` where a thread could not
/// be pinned.
fn slowdown(machine: &Machine, elements: &[ElementId], passes: usize) -> Option<Together> {
    let cpus: Vec<u32> = elements.iter().filter_map(|&e| machine.elements[e].os_cpu).collect();
    let (mut alone, mut busy) = (Vec::new(), Vec::new());
    for _ in 0..passes {
        alone.push(cpus.iter().map(|&cpu| host::speeds(&[cpu])[0]).collect::<Option<Vec<_>>>()?);
        busy.push(host::speeds(&cpus).into_iter().collect::<Option<Vec<_>>>()?);
    }
    // Per element and kernel, what it takes alone.
    let usual_ns = |e: usize, kernel: usize| {
        let mut ns: Vec<f64> = alone.iter().map(|pass| pass[e].parts_ns()[kernel]).collect();
        ns.sort_by(f64::total_cmp);
        ground::quantile(&ns, 0.5).max(f64::MIN_POSITIVE)
    };
    let usual_ns: Vec<[f64; 3]> =
        (0..cpus.len()).map(|e| std::array::from_fn(|kernel| usual_ns(e, kernel))).collect();
    let slowest = |pass: &Vec<Speed>, of: &dyn Fn([f64; 3]) -> f64| {
        let times = pass.iter().zip(&usual_ns).map(|(speed, usual_ns)| {
            let ns = speed.parts_ns();
            of(std::array::from_fn(|kernel| ns[kernel] / usual_ns[kernel]))
        });
        times.fold(0.0, f64::max)
    };
    let average = |of: &dyn Fn([f64; 3]) -> f64| {
        let times = middle_mean(busy.iter().map(|pass| slowest(pass, of)).collect());
        (times * 1e3).round() / 1e3
    };
    let computing = average(&|[integer, floating, _]| (integer + floating) / 2.0);
    let memory = average(&|[_, _, memory]| memory);
    Some(Together { elements: elements.to_vec(), computing, memory })
}

/// The mean of the middle half: passes in which a thread had lost its cpu do not count.
fn middle_mean(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = &values[values.len() / 4..values.len() - values.len() / 4];
    middle.iter().sum::<f64>() / middle.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_elements_are_measured_in_all_pairs_and_many_where_siblings_may_be() {
        assert_eq!(groups(&[0]), Vec::<Vec<usize>>::new());
        assert_eq!(groups(&[0, 1]), [[0, 1]]);
        assert_eq!(groups(&[2, 5, 7]), [vec![2, 5], vec![2, 7], vec![5, 7], vec![2, 5, 7]]);
        let many: Vec<usize> = (0..32).collect();
        let groups = groups(&many);
        assert!(
            groups.contains(&vec![0, 1]) && groups.contains(&vec![3, 19]) && !groups.contains(&vec![0, 5])
        );
        assert_eq!((groups.len(), groups.last()), (31 + 16 + 1, Some(&many)));
    }

    #[test]
    fn cpus_of_this_computer_have_slowdowns_that_a_machine_file_can_hold() {
        let mut machine = machine::load("host").unwrap();
        machine.together = together(&machine, &mut |_| true).unwrap();
        let text = machine::file::to_text(&machine).unwrap();
        assert_eq!(machine::file::parse(&text, "again").unwrap().together, machine.together);
    }
}
