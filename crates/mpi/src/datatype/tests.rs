//! Random datatypes of all constructors, nested, against a plain type map: a list of basic elements and displacements,
//! worked out by the definitions of MPI 5.0, sections 5.1.2 to 5.1.7.

use super::array::{Dimension, darray, subarray};
use super::basic::Basic;
use super::basic::Scalar;
use super::*;
use crate::abi::values::*;
use std::ffi::c_int;

/// A type map with its bound markers.
#[derive(Clone, Default)]
struct Map {
    entries: Vec<(Basic, isize)>,
    lbs: Vec<isize>,
    ubs: Vec<isize>,
    /// Where the parts end with their padding.
    ends: Vec<isize>,
}

impl Map {
    fn of(basic: Basic) -> Self {
        Self { entries: vec![(basic, 0)], ends: vec![basic.size() as isize], ..Default::default() }
    }

    fn add(&mut self, other: &Self, at: isize) {
        self.entries.extend(other.entries.iter().map(|&(basic, place)| (basic, place + at)));
        self.lbs.extend(other.lbs.iter().map(|lb| lb + at));
        self.ubs.extend(other.ubs.iter().map(|ub| ub + at));
        if !other.entries.is_empty() {
            self.ends.push(at + other.lb() + other.extent());
        }
    }

    /// `length` elements from `at` on.
    fn block(&mut self, other: &Self, at: isize, length: i64) {
        for i in 0..length as isize {
            self.add(other, at + i * other.extent());
        }
    }

    fn size(&self) -> usize {
        self.entries.iter().map(|entry| entry.0.size()).sum()
    }

    fn true_lb(&self) -> isize {
        self.entries.iter().map(|entry| entry.1).min().unwrap_or(0)
    }

    fn true_ub(&self) -> isize {
        self.entries.iter().map(|entry| entry.1 + entry.0.size() as isize).max().unwrap_or(0)
    }

    fn lb(&self) -> isize {
        self.lbs.iter().copied().min().unwrap_or_else(|| self.true_lb())
    }

    fn extent(&self) -> isize {
        if let Some(ub) = self.ubs.iter().max() {
            return ub - self.lb();
        }
        let step = self.entries.iter().map(|entry| entry.0.scalar().alignment()).max().unwrap_or(1) as isize;
        let extent = self.ends.iter().max().unwrap_or(&0) - self.lb();
        let over = extent.rem_euclid(step);
        if over == 0 { extent } else { extent + step - over }
    }

    fn bounded(mut self, lb: isize, ub: isize) -> Self {
        (self.lbs, self.ubs) = (vec![lb], vec![ub]);
        self
    }

    /// `count` of them at `base`, as bytes in the order of the packed data: their displacements.
    fn bytes(&self, count: usize) -> Vec<isize> {
        let mut all = Self::default();
        all.block(self, 0, count as i64);
        all.entries.iter().flat_map(|&(basic, at)| at..at + basic.size() as isize).collect()
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as i64 % limit
    }

    fn within(&mut self, least: i64, most: i64) -> i64 {
        least + self.below(most - least + 1)
    }

    fn some(&mut self, count: i64, least: i64, most: i64) -> Vec<i64> {
        (0..count).map(|_| self.within(least, most)).collect()
    }
}

type Typed = (Arc<Datatype>, Map);

fn basic(random: &mut Random) -> Typed {
    let all: Vec<Basic> = Basic::all().collect();
    let basic = all[random.below(all.len() as i64) as usize];
    let Some(datatype) = predefined::get(basic.handle()) else { panic!("{} is predefined", basic.name()) };
    (datatype.clone(), Map::of(basic))
}

fn made(result: Result<Datatype, Failure>) -> Arc<Datatype> {
    Arc::new(result.unwrap_or_else(|failure| panic!("{}", failure.text())))
}

/// A datatype of some constructor of some other datatype.
fn derived(random: &mut Random, (old, map): Typed) -> Typed {
    let mut new = Map::default();
    let (count, length) = (random.below(5), random.below(4));
    let extent = map.extent();
    let datatype = match random.below(11) {
        0 => {
            new.block(&map, 0, count);
            construct::contiguous(false, count, &old)
        }
        1 => {
            let stride = random.within(-4, 6);
            (0..count).for_each(|i| new.block(&map, (i * stride) as isize * extent, length));
            construct::vector(false, count, length, stride, &old)
        }
        2 => {
            let stride = random.within(-60, 90);
            (0..count).for_each(|i| new.block(&map, (i * stride) as isize, length));
            construct::hvector(true, count, length, stride, &old)
        }
        3 => {
            let (lengths, at) = (random.some(count, 0, 3), random.some(count, -6, 12));
            let blocks = at.iter().zip(&lengths);
            blocks.for_each(|(&at, &length)| new.block(&map, at as isize * extent, length));
            construct::indexed(false, &lengths, &at, &old)
        }
        4 => {
            let (lengths, at) = (random.some(count, 0, 3), random.some(count, -50, 120));
            at.iter().zip(&lengths).for_each(|(&at, &length)| new.block(&map, at as isize, length));
            construct::hindexed(false, &lengths, &at, &old)
        }
        5 => {
            let at = random.some(count, -6, 12);
            at.iter().for_each(|&at| new.block(&map, at as isize * extent, length));
            construct::indexed_block(false, length, &at, &old)
        }
        6 => {
            let at = random.some(count, -50, 120);
            at.iter().for_each(|&at| new.block(&map, at as isize, length));
            construct::hindexed_block(false, length, &at, &old)
        }
        7 => {
            let members: Vec<Typed> = (0..count)
                .map(|i| if i == 1 { (old.clone(), map.clone()) } else { nested(random, 1) })
                .collect();
            let (lengths, at) = (random.some(count, 0, 3), random.some(count, -50, 120));
            for ((&at, &length), member) in at.iter().zip(&lengths).zip(&members) {
                new.block(&member.1, at as isize, length);
            }
            let members: Vec<_> = members.into_iter().map(|member| member.0).collect();
            construct::structure(false, &lengths, &at, &members)
        }
        8 => {
            let (lb, extent) = (random.within(-30, 30), random.within(-20, 60));
            new = map.clone().bounded(lb as isize, (lb + extent) as isize);
            construct::resized(false, lb, extent, &old)
        }
        9 => {
            let n = random.within(1, 3);
            let sizes = random.some(n, 1, 4);
            let subsizes: Vec<i64> = sizes.iter().map(|&size| random.within(1, size)).collect();
            let starts: Vec<i64> =
                sizes.iter().zip(&subsizes).map(|(size, sub)| random.within(0, size - sub)).collect();
            let order = if random.below(2) == 0 { MPI_ORDER_C } else { MPI_ORDER_FORTRAN };
            // By the definition: every element of the array in its order, when it is within.
            let inside = |index: &[i64]| {
                (0..index.len()).all(|i| (starts[i]..starts[i] + subsizes[i]).contains(&index[i]))
            };
            of_array(&mut new, &map, &sizes, order, inside);
            subarray(false, (&sizes, &subsizes, &starts), order, &old)
        }
        _ => {
            let n = random.within(1, 3) as usize;
            let dimensions: Vec<Dimension> = (0..n).map(|_| dimension(random)).collect();
            let order = if random.below(2) == 0 { MPI_ORDER_C } else { MPI_ORDER_FORTRAN };
            let size: c_int = dimensions.iter().map(|dimension| dimension.processes).product();
            let rank = random.below(size.into()) as c_int;
            let mut grid = vec![0; n];
            let mut rest = rank;
            for i in (0..n).rev() {
                grid[i] = i64::from(rest % dimensions[i].processes);
                rest /= dimensions[i].processes;
            }
            let owner = |i: usize, index: i64| {
                let Dimension { global, distribution, argument, processes } = dimensions[i];
                let default = argument == MPI_DISTRIBUTE_DFLT_DARG;
                let processes = i64::from(processes);
                let block = match distribution {
                    MPI_DISTRIBUTE_NONE => return 0,
                    MPI_DISTRIBUTE_BLOCK if default => (global + processes - 1) / processes,
                    _ if default => 1,
                    _ => i64::from(argument),
                };
                index / block % processes
            };
            let mine = |index: &[i64]| (0..n).all(|i| owner(i, index[i]) == grid[i]);
            let sizes: Vec<i64> = dimensions.iter().map(|dimension| dimension.global).collect();
            of_array(&mut new, &map, &sizes, order, mine);
            darray(false, (size, rank), &dimensions, order, &old)
        }
    };
    (made(datatype), new)
}

fn dimension(random: &mut Random) -> Dimension {
    let (global, processes) = (random.within(1, 6), random.within(1, 3));
    let default = random.below(3) == 0;
    let argument = |value: i64| if default { MPI_DISTRIBUTE_DFLT_DARG } else { value as c_int };
    match random.below(3) {
        0 => Dimension { global, distribution: MPI_DISTRIBUTE_NONE, argument: argument(1), processes: 1 },
        1 => {
            let least = (global + processes - 1) / processes;
            let block = random.within(least, least + 2);
            let processes = processes as c_int;
            Dimension { global, distribution: MPI_DISTRIBUTE_BLOCK, argument: argument(block), processes }
        }
        _ => {
            let argument = argument(random.within(1, 3));
            Dimension { global, distribution: MPI_DISTRIBUTE_CYCLIC, argument, processes: processes as c_int }
        }
    }
}

/// The elements of an array for which `inside` holds, in the array's order, within the bounds of the whole array.
fn of_array(new: &mut Map, old: &Map, sizes: &[i64], order: c_int, inside: impl Fn(&[i64]) -> bool) {
    let total: i64 = sizes.iter().product();
    for number in 0..total {
        let mut index = vec![0; sizes.len()];
        let mut rest = number;
        let mut take = |i: usize| {
            index[i] = rest % sizes[i];
            rest /= sizes[i];
        };
        if order == MPI_ORDER_C {
            (0..sizes.len()).rev().for_each(&mut take)
        } else {
            (0..sizes.len()).for_each(&mut take)
        }
        if inside(&index) {
            new.add(old, number as isize * old.extent());
        }
    }
    *new = std::mem::take(new).bounded(0, total as isize * old.extent());
}

fn nested(random: &mut Random, depth: i64) -> Typed {
    let mut typed = basic(random);
    for _ in 0..depth {
        let next = derived(random, typed.clone());
        if next.1.entries.len() < 400 && next.1.true_ub().abs().max(next.1.true_lb().abs()) < 1 << 14 {
            typed = next;
        }
    }
    typed
}

/// Memory around an address, wide enough for `count` elements.
struct Arena {
    memory: Vec<u8>,
    base: usize,
}

impl Arena {
    fn around(bytes: &[isize]) -> Self {
        let low = bytes.iter().copied().min().unwrap_or(0).min(0);
        let high = bytes.iter().copied().max().unwrap_or(0).max(0);
        Self { memory: vec![0; (high - low + 1) as usize], base: low.unsigned_abs() }
    }

    fn address(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().wrapping_add(self.base)
    }

    fn at(&mut self, displacement: isize) -> &mut u8 {
        &mut self.memory[(self.base as isize + displacement) as usize]
    }
}

fn bounds_agree((datatype, map): &Typed) {
    assert_eq!(datatype.size, map.size());
    assert_eq!(datatype.signature().totals().elements, map.entries.len());
    assert_eq!(datatype.true_lb, map.true_lb());
    assert_eq!(datatype.true_extent, map.true_ub() - map.true_lb());
    assert_eq!(datatype.lb, map.lb());
    assert_eq!(datatype.extent, map.extent());
}

/// Cuts of `total` bytes.
fn cuts(random: &mut Random, total: usize) -> Vec<(usize, usize)> {
    let mut cuts = Vec::new();
    let mut from = 0;
    while from < total {
        let pieces = random.within(1, 9);
        let bytes = (random.within(1, 1 + total as i64 / pieces) as usize).min(total - from);
        cuts.push((from, bytes));
        from += bytes;
    }
    cuts
}

fn data_agrees(random: &mut Random, (datatype, map): &Typed, count: usize) {
    let places = map.bytes(count);
    let total = places.len();
    let mut arena = Arena::around(&places);
    for byte in &mut arena.memory {
        *byte = random.below(256) as u8;
    }
    let expected: Vec<u8> = places.iter().map(|&at| *arena.at(at)).collect();
    let base = arena.address();
    if datatype.contiguous {
        assert!(places.iter().enumerate().all(|(i, &at)| at == i as isize), "contiguous, but not in order");
    }

    for (from, bytes) in cuts(random, total) {
        let mut packed = vec![0; bytes];
        // SAFETY: the arena holds `count` elements.
        assert_eq!(unsafe { datatype.pack(base, count, from, &mut packed) }, bytes);
        assert_eq!(packed, expected[from..from + bytes], "packed from {from}");

        let pieces = random.within(1, 20) as usize;
        let mut spans = Vec::new();
        let listed = datatype.spans(base, count, from, bytes, pieces, &mut spans);
        assert!(spans.len() <= pieces && (listed == bytes || spans.len() == pieces));
        let bytes_of = |span: &Span| (0..span.bytes).map(|i| span.address.addr() + i).collect::<Vec<_>>();
        let listed_places: Vec<usize> = spans.iter().flat_map(bytes_of).collect();
        let expected_places = places[from..from + listed].iter().map(|&at| base.wrapping_offset(at).addr());
        assert!(listed_places.iter().copied().eq(expected_places), "listed from {from}");
        assert!(spans.windows(2).all(|two| two[0].address.wrapping_add(two[0].bytes) != two[1].address));
    }
    // SAFETY: nothing is left to be packed.
    assert_eq!(unsafe { datatype.pack(base, count, total, &mut [0; 4]) }, 0);

    // Where data overlaps, the standard does not say what is left there.
    let mut distinct = places.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < total {
        return;
    }
    let data: Vec<u8> = (0..total).map(|_| random.below(256) as u8).collect();
    let mut unpacked = Arena::around(&places);
    let into = unpacked.address();
    for (from, bytes) in cuts(random, total) {
        // SAFETY: the arena holds `count` elements.
        assert_eq!(unsafe { datatype.unpack(into, count, from, &data[from..from + bytes]) }, bytes);
    }
    let mut by_map = Arena::around(&places);
    for (&at, &byte) in places.iter().zip(&data) {
        *by_map.at(at) = byte;
    }
    assert_eq!(unpacked.memory, by_map.memory);
}

fn elements_agree(random: &mut Random, (datatype, map): &Typed) {
    let upto = random.below(map.size() as i64 + 1) as usize;
    let (mut elements, mut bytes) = (0, 0);
    for &(basic, _) in &map.entries {
        if bytes + basic.size() > upto {
            break;
        }
        bytes += basic.size();
        elements += 1;
    }
    let within = datatype.signature().within(upto);
    assert_eq!((within.elements, within.bytes), (elements, bytes), "whole elements in {upto} bytes");
    let first = datatype.signature().first(elements);
    assert_eq!((first.elements, first.bytes), (elements, bytes), "the first {elements} elements");
    let mut kinds = Vec::new();
    datatype.signature().runs(&mut |basic, count| {
        kinds.extend(std::iter::repeat_n(basic, count));
        true
    });
    assert!(kinds.iter().eq(map.entries.iter().map(|(basic, _)| basic)));
}

fn external_agrees((datatype, map): &Typed, count: usize) {
    let places = map.bytes(count);
    let mut arena = Arena::around(&places);
    // Small numbers, so that every external size holds them.
    let mut all = Map::default();
    all.block(map, 0, count as i64);
    let mut distinct = places.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let overlapping = distinct.len() < places.len();
    if overlapping || map.entries.iter().any(|(basic, _)| basic.scalar().component() == Scalar::F80) {
        return;
    }
    for (i, &(_, at)) in all.entries.iter().enumerate() {
        *arena.at(at) = i as u8 & 0x7f;
    }
    let mut expected = Vec::new();
    for (i, &(basic, _)) in all.entries.iter().enumerate() {
        let part = basic.scalar().component().size();
        let mut value = vec![0; basic.external_size()];
        value[part.min(basic.external_size()) - 1] = i as u8 & 0x7f;
        expected.extend(value);
    }
    assert_eq!(datatype.signature().repeated(count).totals().external, expected.len());
    let mut external = vec![0; expected.len()];
    // SAFETY: the arena holds `count` elements.
    let packed = unsafe { datatype.pack_external(arena.address(), count, &mut external) };
    assert!(packed.is_ok());
    assert_eq!(external, expected);
    let mut back = Arena::around(&places);
    // SAFETY: the arena holds `count` elements.
    unsafe { datatype.unpack_external(back.address(), count, &external) };
    assert_eq!(back.memory, arena.memory);
}

#[test]
fn a_long_list_of_short_blocks_is_what_its_type_map_says() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let double =
        predefined::get(abi::Datatype(MPI_DOUBLE)).unwrap_or_else(|| panic!("MPI_DOUBLE is predefined"));
    let one = Map::of(
        Basic::all()
            .find(|basic| basic.handle().0 == MPI_DOUBLE)
            .unwrap_or_else(|| panic!("MPI_DOUBLE is basic")),
    );
    for most in [4, 40] {
        let lengths = random.some(300, 1, most);
        let mut end = 0;
        let at: Vec<i64> = lengths
            .iter()
            .map(|length| {
                let place = end + random.within(1, 3);
                end = place + length;
                place
            })
            .collect();
        let mut map = Map::default();
        at.iter().zip(&lengths).for_each(|(&at, &length)| map.block(&one, at as isize * 8, length));
        let typed = (made(construct::indexed(false, &lengths, &at, double)), map);
        bounds_agree(&typed);
        for count in [1, 3] {
            data_agrees(&mut random, &typed, count);
        }
    }
}

#[test]
fn blocks_of_every_short_length_are_what_their_type_map_says() {
    let mut random = Random(0x6a09_e667_f3bc_c908);
    let byte = predefined::get(abi::Datatype(MPI_BYTE)).expect("MPI_BYTE is predefined");
    let one = Map::of(Basic::all().find(|basic| basic.handle().0 == MPI_BYTE).expect("MPI_BYTE is basic"));
    // Two batches of elements, and some.
    let count = 19;
    for length in (1..=68).chain(127..=129) {
        let step = length + 3;
        for blocks in [3, 5] {
            // Blocks near one another in each element; then elements woven into one another.
            for (stride, extent) in [(step, blocks * step + 5), (count * step, step)] {
                let element = made(construct::hvector(false, blocks, length, stride, byte));
                let mut map = Map::default();
                (0..blocks).for_each(|i| map.block(&one, (i * stride) as isize, length));
                let typed =
                    (made(construct::resized(false, 0, extent, &element)), map.bounded(0, extent as isize));
                data_agrees(&mut random, &typed, count as usize);
            }
        }
        // A list whose lengths have no common measure.
        let lengths = [length, length + 1, 1, length];
        let at = [0, 140, 300, 310];
        let mut map = Map::default();
        at.iter().zip(&lengths).for_each(|(&at, &length)| map.block(&one, at as isize, length));
        data_agrees(&mut random, &(made(construct::indexed(false, &lengths, &at, byte)), map), 1);
    }
}

#[test]
fn random_datatypes_are_what_their_type_maps_say() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3000 {
        let depth = random.within(1, 5);
        let typed = nested(&mut random, depth);
        bounds_agree(&typed);
        elements_agree(&mut random, &typed);
        let count = random.within(0, 4) as usize;
        data_agrees(&mut random, &typed, count);
        external_agrees(&typed, count);
    }
}

#[test]
fn datatypes_made_of_datatypes_end_without_a_stack_as_deep() {
    let mut typed = predefined::get(abi::Datatype(MPI_INT)).expect("predefined").clone();
    for _ in 0..200_000 {
        typed = Arc::new(construct::resized(false, 0, 8, &typed).expect("a datatype"));
    }
    assert_eq!((typed.size, typed.extent), (4, 8));
}
