//! Every collective on 1 to 17 ranks against what it is by definition, messages in random order.

use super::simulation::{carry_out, carry_out_between};
use super::*;
use crate::abi::{self, values as v};
use crate::coll::schedule::CollectiveSchedule;
use crate::datatype::elements::Elements;
use crate::datatype::{Datatype, spaced};
use crate::op::{ElementType, Operation, Predefined, Reduction, UserFunction, kernel};
use crate::runtime;
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use transport::SentBeside;

fn datatype(handle: usize) -> Arc<Datatype> {
    runtime::enter().datatype(abi::Datatype(handle)).unwrap().clone()
}

/// Values of 64 bits with or without gaps between them.
#[derive(Clone)]
struct Numbers {
    memory: Vec<u64>,
    stride: usize,
    datatype: Arc<Datatype>,
}

/// What gaps hold, and must hold afterwards.
const GAP: u64 = 0x6761_7067_6170_6761;

impl Numbers {
    fn new(stride: usize, values: impl IntoIterator<Item = u64>) -> Self {
        let long = datatype(v::MPI_UINT64_T);
        let datatype = if stride == 1 { long } else { spaced(&long, 8 * stride) };
        let memory = values
            .into_iter()
            .flat_map(|value| std::iter::once(value).chain(vec![GAP; stride - 1]))
            .collect();
        Self { memory, stride, datatype }
    }

    fn elements(&mut self) -> Elements<'_> {
        let count = self.memory.len() / self.stride;
        Elements { address: self.memory.as_mut_ptr().cast(), count, datatype: &self.datatype }
    }

    fn values(&self) -> Vec<u64> {
        assert!(self.memory.iter().enumerate().all(|(at, &word)| at % self.stride == 0 || word == GAP));
        self.memory.iter().copied().step_by(self.stride).collect()
    }
}

const NOTHING: u64 = 0x1111;

/// The value at a place of a rank's data.
fn value(rank: usize, place: usize) -> u64 {
    (rank as u64 + 2) << 40 | (place as u64 + 1) << 8 | ((rank as u64 * 7 + place as u64) % 251)
}

/// A case: ranks, whether they share CPUs, elements of a block, distance of elements.
#[derive(Clone, Copy, Debug)]
struct Case {
    ranks: usize,
    crowded: bool,
    count: usize,
    stride: usize,
}

impl Case {
    fn ranks(self, own: usize) -> Ranks {
        Ranks { own, count: self.ranks, between_groups: false, crowded: self.crowded }
    }

    fn seed(self) -> u64 {
        (self.ranks * 1_000_003 + self.count * 17 + self.stride * 5 + usize::from(self.crowded)) as u64
    }
}

/// Larger cases than this take long and show nothing more.
const MOST_VALUES: usize = 20_000;

/// Small and large blocks on few ranks, small ones on many.
fn cases(large: &[usize]) -> Vec<Case> {
    let mut cases = Vec::new();
    for ranks in 1..=17 {
        for crowded in [false, true] {
            for stride in [1, 2] {
                let large = large.iter().copied().filter(|&count| ranks * count <= MOST_VALUES);
                let counts = [0, 1, 3, 40].into_iter().chain(large);
                cases.extend(counts.map(|count| Case { ranks, crowded, count, stride }));
            }
        }
    }
    cases
}

/// Builds the schedule of every rank and carries them out.
fn run(case: Case, mut build: impl FnMut(&mut CollectiveSchedule, usize)) {
    let mut schedules: Vec<CollectiveSchedule> = (0..case.ranks)
        .map(|rank| {
            let mut schedule = CollectiveSchedule::default();
            build(&mut schedule, rank);
            schedule
        })
        .collect();
    carry_out(&mut schedules, case.seed());
}

/// The memory of one of several ranks; they live until their schedules are carried out.
fn at(all: &mut [Numbers], rank: usize) -> Elements<'static> {
    let elements = all[rank].elements();
    // SAFETY: `all` is neither moved nor dropped before the schedules are carried out, and the datatype lives as long.
    unsafe { std::mem::transmute::<Elements<'_>, Elements<'static>>(elements) }
}

fn each(case: Case, values: impl Fn(usize) -> Vec<u64>) -> Vec<Numbers> {
    (0..case.ranks).map(|rank| Numbers::new(case.stride, values(rank))).collect()
}

fn block(rank: usize, count: usize) -> Vec<u64> {
    (0..count).map(|place| value(rank, place)).collect()
}

fn blocks(ranks: usize, count: usize) -> Vec<u64> {
    (0..ranks).flat_map(|rank| block(rank, count)).collect()
}

fn byte() -> &'static Arc<Datatype> {
    Box::leak(Box::new(datatype(v::MPI_BYTE)))
}

#[test]
fn a_barrier_ends_on_every_rank() {
    for case in cases(&[]) {
        let nothing = Elements { address: std::ptr::null_mut(), count: 0, datatype: byte() };
        run(case, |schedule, rank| barrier(schedule, case.ranks(rank), nothing));
    }
}

#[test]
fn bcast_gives_all_the_roots_data() {
    for case in cases(&[2500]) {
        let root = (case.count + 1) % case.ranks;
        // The root's elements are as far apart as the case says, the others' are not.
        let mut data: Vec<Numbers> = (0..case.ranks)
            .map(|rank| match rank == root {
                true => Numbers::new(case.stride, block(root, case.count)),
                false => Numbers::new(1 + (rank + case.stride) % 2, vec![NOTHING; case.count]),
            })
            .collect();
        run(case, |schedule, rank| {
            bcast(schedule, case.ranks(rank), Root::Rank(root), at(&mut data, rank), byte());
        });
        for (rank, found) in data.iter().enumerate() {
            assert!(found.values() == block(root, case.count), "{case:?} rank {rank}");
        }
    }
}

#[test]
fn gather_and_scatter_are_each_others_reverse() {
    for case in cases(&[2500]) {
        let root = case.count % case.ranks;
        for in_place in [false, true] {
            let mut send = each(case, |rank| block(rank, case.count));
            let mut receive = each(case, |rank| {
                let mut start = vec![NOTHING; case.ranks * case.count];
                start[rank * case.count..(rank + 1) * case.count].copy_from_slice(&block(rank, case.count));
                start
            });
            let into = |all: &mut [Numbers], rank| at(all, rank).part(0, case.count);
            run(case, |schedule, rank| {
                let own = (!(in_place && rank == root)).then(|| at(&mut send, rank));
                let whole = into(&mut receive, rank);
                gather(schedule, case.ranks(rank), Root::Rank(root), own, |rank| whole.block(rank));
            });
            assert!(receive[root].values() == blocks(case.ranks, case.count), "{case:?}");
            let mut back = each(case, |_| vec![NOTHING; case.count]);
            run(case, |schedule, rank| {
                let own = (!(in_place && rank == root)).then(|| at(&mut back, rank));
                let whole = into(&mut receive, rank);
                scatter(schedule, case.ranks(rank), Root::Rank(root), |rank| whole.block(rank), own);
            });
            for (rank, found) in back.iter().enumerate().filter(|&(rank, _)| !(in_place && rank == root)) {
                assert!(found.values() == block(rank, case.count), "{case:?} rank {rank}");
            }
        }
    }
}

#[test]
fn allgather_gives_all_every_block_even_or_not() {
    for case in cases(&[2500]) {
        for (in_place, even) in [(false, true), (true, true), (false, false)] {
            let mut send = each(case, |rank| block(rank, case.count));
            let mut receive = each(case, |rank| {
                let mut start = vec![NOTHING; case.ranks * case.count];
                start[rank * case.count..(rank + 1) * case.count].copy_from_slice(&block(rank, case.count));
                start
            });
            run(case, |schedule, rank| {
                let own = (!in_place).then(|| at(&mut send, rank));
                let whole = at(&mut receive, rank).part(0, case.count);
                allgather(schedule, case.ranks(rank), own, |rank| whole.block(rank), even.then(byte));
            });
            for (rank, found) in receive.iter().enumerate() {
                assert!(found.values() == blocks(case.ranks, case.count), "{case:?} rank {rank}");
            }
        }
    }
}

#[test]
fn alltoall_gives_every_rank_its_block_of_every_rank() {
    for case in cases(&[2500]) {
        let count = case.count;
        for (in_place, even) in [(false, true), (true, true), (false, false)] {
            let sent =
                |rank: usize| (0..case.ranks * count).map(|place| value(rank, place)).collect::<Vec<_>>();
            let mut send = each(case, sent);
            let mut receive =
                each(case, |rank| if in_place { sent(rank) } else { vec![NOTHING; case.ranks * count] });
            run(case, |schedule, rank| {
                let own = at(&mut send, rank).part(0, count);
                let own = (!in_place).then_some(move |rank| own.block(rank));
                let whole = at(&mut receive, rank).part(0, count);
                alltoall(
                    schedule,
                    case.ranks(rank),
                    own,
                    |rank| whole.block(rank),
                    even.then(byte),
                    |to| to % 2 == rank % 2,
                );
            });
            for (rank, found) in receive.iter().enumerate() {
                let expected: Vec<u64> = (0..case.ranks)
                    .flat_map(|from| (0..count).map(move |place| value(from, rank * count + place)))
                    .collect();
                assert!(found.values() == expected, "{case:?} rank {rank}");
            }
        }
    }
}

#[test]
fn ranks_that_are_near_come_first_and_each_is_asked_for_once() {
    let ranks = Case { ranks: 6, crowded: true, count: 1, stride: 1 }.ranks(3);
    assert_eq!(ranks.others_near_first(|rank| rank % 2 == 1), [5, 1, 4, 0, 2]);
    // Who moves meanwhile is neither left out nor there twice.
    let asked = RefCell::new(Vec::new());
    let is_near = |rank| {
        let mut asked = asked.borrow_mut();
        asked.push(rank);
        asked.len() % 2 == 0
    };
    let mut others = ranks.others_near_first(is_near);
    others.sort_unstable();
    assert_eq!(others, [0, 1, 2, 4, 5]);
    assert_eq!(asked.take(), [4, 5, 0, 1, 2]);
}

#[test]
fn a_schedule_knows_what_is_sent_beside_own_data_that_is_copied() {
    let count = 2500;
    let whole = || vec![Numbers::new(1, vec![0; 2 * count])];
    let (mut mine, mut all) = (whole(), whole());
    let (mine, all) = (at(&mut mine, 0).part(0, count), at(&mut all, 0).part(0, count));
    let ranks = Case { ranks: 2, crowded: false, count, stride: 1 }.ranks(0);
    let found = |build: &dyn Fn(&mut CollectiveSchedule)| {
        let mut schedule = CollectiveSchedule::default();
        build(&mut schedule);
        schedule.sent_beside_own()
    };
    for (own, copied) in [(Some(mine), true), (None, false)] {
        let gathered = found(&|schedule| gather(schedule, ranks, Root::Rank(0), own, |rank| all.block(rank)));
        assert_eq!(gathered, copied.then_some(SentBeside::Nothing));
        let allgathered =
            found(&|schedule| allgather(schedule, ranks, own, |rank| all.block(rank), Some(byte())));
        assert_eq!(allgathered, copied.then_some(SentBeside::TheSame));
    }
    let exchanged = found(&|schedule| {
        alltoall(
            schedule,
            ranks,
            Some(|rank| mine.block(rank)),
            |rank| all.block(rank),
            Some(byte()),
            |_| false,
        );
    });
    assert_eq!(exchanged, Some(SentBeside::Other));
}

/// Composes linear functions `x -> a x + b` of 32-bit numbers: associative, and not commutative.
fn compose(first: u64, second: u64) -> u64 {
    let parts = |function: u64| ((function >> 32) as u32, function as u32);
    let ((a, b), (c, d)) = (parts(first), parts(second));
    u64::from(a.wrapping_mul(c)) << 32 | u64::from(a.wrapping_mul(d).wrapping_add(b))
}

/// As a user's function; the datatype says how far elements are apart.
unsafe extern "C" fn compose_all(
    from: *mut c_void,
    into: *mut c_void,
    count: *mut c_int,
    datatype: *mut usize,
) {
    // SAFETY: as MPI calls it.
    unsafe {
        let stride = *datatype;
        for place in 0..*count as usize {
            let into = into.cast::<u64>().add(place * stride);
            *into = compose(*from.cast::<u64>().add(place * stride), *into);
        }
    }
}

/// A reduction, and what it does to two operands.
type Operator = (Reduction, fn(u64, u64) -> u64);

fn operators(stride: usize) -> [Operator; 2] {
    let user = Operation { function: UserFunction::Small(compose_all), commutative: false };
    let user = Reduction::User(user, abi::Datatype(stride));
    if stride > 1 {
        return [(user, compose), (user, compose)];
    }
    let sum = Reduction::Kernel(kernel(Predefined::Sum, ElementType::U64).unwrap());
    [(user, compose), (sum, u64::wrapping_add)]
}

/// The operands of some ranks at a place, reduced in their order.
fn reduced(ranks: impl IntoIterator<Item = usize>, place: usize, operator: Operator) -> u64 {
    ranks.into_iter().map(|rank| value(rank, place)).reduce(operator.1).unwrap()
}

/// Carries a reduction out with both operators, in place and not, and compares the results of the ranks that have one.
fn reductions(
    cases: Vec<Case>,
    operands: impl Fn(Case) -> usize,
    results: impl Fn(Case) -> usize,
    build: impl Fn(&mut CollectiveSchedule, Case, usize, Elements<'static>, Elements<'static>),
    expected: impl Fn(Case, usize, Operator) -> Option<Vec<u64>>,
) {
    for case in cases {
        for operator in operators(case.stride) {
            for in_place in [false, true] {
                let mut send = each(case, |rank| block(rank, operands(case)));
                let mut receive = each(case, |rank| {
                    if in_place { block(rank, operands(case)) } else { vec![NOTHING; results(case)] }
                });
                run(case, |schedule, rank| {
                    schedule.reduce_with(operator.0, 8 * case.stride as isize);
                    let result = at(&mut receive, rank);
                    let operand = if in_place { result } else { at(&mut send, rank) };
                    build(schedule, case, rank, operand, result.part(0, results(case)));
                });
                for (rank, found) in receive.iter().enumerate() {
                    let Some(expected) = expected(case, rank, operator) else { continue };
                    let found = &found.values()[..results(case).min(expected.len())];
                    assert!(found == expected, "{case:?} rank {rank} in place: {in_place}");
                }
                assert!(
                    in_place
                        || send
                            .iter()
                            .enumerate()
                            .all(|(rank, kept)| kept.values() == block(rank, operands(case)))
                );
            }
        }
    }
}

/// Counts that may be offered, that are split, and that need several pieces.
const LARGE: [usize; 4] = [1000, 2500, 5000, 9001];

#[test]
fn reduce_reduces_in_the_order_of_ranks_at_any_root() {
    let root = |case: Case| (case.count + case.ranks / 2) % case.ranks;
    reductions(
        cases(&LARGE),
        |case| case.count,
        |case| case.count,
        |schedule, case, rank, operand, result| {
            let result = (rank == root(case)).then_some(result);
            reduce(schedule, case.ranks(rank), Root::Rank(root(case)), operand, result);
        },
        |case, rank, operator| {
            (rank == root(case))
                .then(|| (0..case.count).map(|place| reduced(0..case.ranks, place, operator)).collect())
        },
    );
}

#[test]
fn allreduce_reduces_in_the_order_of_ranks_everywhere() {
    reductions(
        cases(&LARGE),
        |case| case.count,
        |case| case.count,
        |schedule, case, rank, operand, result| {
            allreduce(schedule, case.ranks(rank), operand, result, byte())
        },
        |case, _, operator| {
            Some((0..case.count).map(|place| reduced(0..case.ranks, place, operator)).collect())
        },
    );
}

#[test]
fn reduce_scatter_gives_every_rank_its_block() {
    // Blocks of several sizes, some of them empty.
    let count = |case: Case, rank: usize| if rank % 3 == 2 { 0 } else { case.count + rank % 2 };
    let start = move |case: Case, rank: usize| (0..rank).map(|rank| count(case, rank)).sum::<usize>();
    for case in cases(&[2500]) {
        reductions(
            vec![case],
            |case| start(case, case.ranks),
            |case| (0..case.ranks).map(|rank| count(case, rank)).max().unwrap(),
            |schedule, case, rank, operand, result| {
                let block = |rank| (start(case, rank), count(case, rank));
                reduce_scatter(schedule, case.ranks(rank), operand, block, result.part(0, count(case, rank)));
            },
            |case, rank, operator| {
                let places = start(case, rank)..start(case, rank) + count(case, rank);
                Some(places.map(|place| reduced(0..case.ranks, place, operator)).collect())
            },
        );
    }
}

#[test]
fn scan_reduces_up_to_each_rank_and_exscan_before_it() {
    reductions(
        cases(&[2500]),
        |case| case.count,
        |case| case.count,
        |schedule, case, rank, operand, result| scan(schedule, case.ranks(rank), operand, result),
        |case, rank, operator| {
            Some((0..case.count).map(|place| reduced(0..=rank, place, operator)).collect())
        },
    );
    reductions(
        cases(&[2500]),
        |case| case.count,
        |case| case.count,
        |schedule, case, rank, operand, result| exscan(schedule, case.ranks(rank), operand, result),
        |case, rank, operator| {
            (rank > 0).then(|| (0..case.count).map(|place| reduced(0..rank, place, operator)).collect())
        },
    );
}

/// Groups of an intercommunicator: ranks of each.
const GROUPS: [[usize; 2]; 4] = [[1, 1], [2, 3], [5, 1], [4, 7]];

/// Builds the schedule of every rank of two groups and carries them out; `build` is told group and ranks.
fn run_between(groups: [usize; 2], mut build: impl FnMut(&mut CollectiveSchedule, usize, Ranks)) {
    let mut schedules = Vec::new();
    for group in [0, 1] {
        for own in 0..groups[group] {
            let ranks = Ranks { own, count: groups[1 - group], between_groups: true, crowded: false };
            let mut schedule = CollectiveSchedule::default();
            build(&mut schedule, group, ranks);
            schedules.push(schedule);
        }
    }
    carry_out_between(&mut schedules, Some(groups[0]), 77);
}

#[test]
fn between_groups_every_rank_gets_what_the_other_group_has() {
    const COUNT: usize = 5;
    for groups in GROUPS {
        let index = |group: usize, rank: usize| group * groups[0] + rank;
        let all = |values: &dyn Fn(usize, usize) -> Vec<u64>| -> Vec<Numbers> {
            (0..2)
                .flat_map(|group| (0..groups[group]).map(move |rank| (group, rank)))
                .map(|(group, rank)| Numbers::new(1, values(group, rank)))
                .collect()
        };
        let of = |group: usize, rank: usize| block(10 * group + rank, COUNT);
        let nothing = |group: usize, _: usize| vec![NOTHING; groups[1 - group] * COUNT];
        let empty = Elements { address: std::ptr::null_mut(), count: 0, datatype: byte() };
        run_between(groups, |schedule, _, ranks| barrier(schedule, ranks, empty));

        let (mut send, mut receive) = (all(&of), all(&nothing));
        run_between(groups, |schedule, group, ranks| {
            let place = index(group, ranks.own);
            let whole = at(&mut receive, place).part(0, COUNT);
            allgather(schedule, ranks, Some(at(&mut send, place)), |rank| whole.block(rank), Some(byte()));
        });
        for group in [0, 1] {
            let expected: Vec<u64> = (0..groups[1 - group]).flat_map(|rank| of(1 - group, rank)).collect();
            for rank in 0..groups[group] {
                assert_eq!(receive[index(group, rank)].values(), expected);
            }
        }

        // The last rank of the second group is the root.
        let root = groups[1] - 1;
        let roots = |group: usize, own: usize| match (group, own == root) {
            (0, _) => Root::Rank(root),
            (_, true) => Root::Here,
            _ => Root::Elsewhere,
        };
        let (mut data, mut gathered) = (all(&of), all(&nothing));
        run_between(groups, |schedule, group, ranks| {
            let data = at(&mut data, index(group, ranks.own));
            bcast(schedule, ranks, roots(group, ranks.own), data, byte());
        });
        for found in &data[..groups[0]] {
            assert_eq!(found.values(), of(1, root));
        }
        run_between(groups, |schedule, group, ranks| {
            let place = index(group, ranks.own);
            let whole = at(&mut gathered, place).part(0, COUNT);
            let own = (group == 0).then(|| at(&mut send, place));
            gather(schedule, ranks, roots(group, ranks.own), own, |rank| whole.block(rank));
        });
        let expected: Vec<u64> = (0..groups[0]).flat_map(|rank| of(0, rank)).collect();
        assert_eq!(gathered[index(1, root)].values(), expected);

        for operator in operators(1) {
            let reduced = |group: usize| -> Vec<u64> {
                let operands = |place| (0..groups[group]).map(move |rank| value(10 * group + rank, place));
                (0..COUNT).map(|place| operands(place).reduce(operator.1).unwrap()).collect()
            };
            let mut result = all(&|_, _| vec![NOTHING; COUNT]);
            run_between(groups, |schedule, group, ranks| {
                schedule.reduce_with(operator.0, 8);
                let place = index(group, ranks.own);
                allreduce(schedule, ranks, at(&mut send, place), at(&mut result, place), byte());
            });
            for (place, found) in result.iter().enumerate() {
                assert_eq!(found.values(), reduced(usize::from(place < groups[0])));
            }
            let mut result = all(&|_, _| vec![NOTHING; COUNT]);
            run_between(groups, |schedule, group, ranks| {
                schedule.reduce_with(operator.0, 8);
                let place = index(group, ranks.own);
                let root = roots(group, ranks.own);
                let result = (root == Root::Here).then(|| at(&mut result, place));
                reduce(schedule, ranks, root, result.unwrap_or(at(&mut send, place)), result);
            });
            assert_eq!(result[index(1, root)].values(), reduced(0));
        }
    }
}

#[test]
fn every_rank_gets_the_same_bits_of_floating_numbers() {
    // Sums of numbers of very different size depend on their order.
    let term = |rank: usize, place: usize| 10f64.powi((rank * 5 % 17) as i32) / (place + 3) as f64;
    for case in cases(&LARGE).into_iter().filter(|case| case.stride == 1) {
        for in_place in [false, true] {
            let operand =
                |rank: usize| (0..case.count).map(|place| term(rank, place).to_bits()).collect::<Vec<_>>();
            let (mut send, mut result) = (each(case, operand), each(case, operand));
            run(case, |schedule, rank| {
                schedule
                    .reduce_with(Reduction::Kernel(kernel(Predefined::Sum, ElementType::F64).unwrap()), 8);
                let result = at(&mut result, rank);
                let operand = if in_place { result } else { at(&mut send, rank) };
                allreduce(schedule, case.ranks(rank), operand, result, byte());
            });
            assert!(
                result.iter().all(|found| found.memory == result[0].memory),
                "{case:?} in place: {in_place}"
            );
        }
    }
}
