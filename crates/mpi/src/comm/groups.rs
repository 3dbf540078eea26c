//! Making groups of groups (MPI 5.0, section 7.3.2).

use super::table::GROUPS;
use super::{Group, rank_or_undefined};
use crate::abi;
use crate::abi::values::*;
use crate::call::{Declared, In, InOut, Out};
use crate::check::{self, Failure};
use crate::comm::mpi;
use crate::comm::valid;
use std::ffi::c_int;

/// The places in `group` of an array of ranks, which must differ.
fn distinct(
    group: &Group,
    ranks: impl IntoIterator<Item = c_int>,
    name: &str,
) -> Result<Vec<usize>, Failure> {
    let size = group.members.len();
    let mut taken = vec![false; size];
    let mut places = Vec::new();
    for (i, rank) in ranks.into_iter().enumerate() {
        let place = usize::try_from(rank).ok().filter(|&place| place < size).ok_or_else(|| {
            let allowed =
                if size == 0 { "none, as the group is empty".into() } else { format!("0 to {}", size - 1) };
            Failure::new(MPI_ERR_RANK, format_args!("{name}[{i}] is rank {rank}; allowed are {allowed}"))
        })?;
        if std::mem::replace(&mut taken[place], true) {
            let text = format_args!("{name}[{i}] is rank {rank} again; allowed is each rank once");
            return Err(Failure::new(MPI_ERR_RANK, text));
        }
        places.push(place);
    }
    Ok(places)
}

/// The ranks of triplets first, last, stride.
fn expand(group: &Group, ranges: &[[c_int; 3]]) -> Result<Vec<c_int>, Failure> {
    let size = group.members.len() as i64;
    let mut ranks = Vec::new();
    for (i, &[first, last, stride]) in ranges.iter().enumerate() {
        let refuse = |class, what: &str| {
            Err(Failure::new(class, format_args!("ranges[{i}] is {first}, {last}, {stride}: {what}")))
        };
        if stride == 0 {
            return refuse(MPI_ERR_ARG, "the stride is 0; allowed is anything else");
        }
        if (stride > 0 && first > last) || (stride < 0 && first < last) {
            return refuse(MPI_ERR_ARG, "the stride leads away from the last rank");
        }
        let steps = (last as i64 - first as i64) / stride as i64;
        let end = first as i64 + steps * stride as i64;
        if [first as i64, end].iter().any(|rank| !(0..size).contains(rank)) {
            return refuse(MPI_ERR_RANK, &format!("beyond the group; allowed are ranks below {size}"));
        }
        ranks.extend((0..=steps).map(|step| (first as i64 + step * stride as i64) as c_int));
    }
    Ok(ranks)
}

fn included(group: &Group, places: &[usize]) -> Vec<u32> {
    places.iter().map(|&place| group.members[place]).collect()
}

fn excluded(group: &Group, places: &[usize]) -> Vec<u32> {
    let mut stays = vec![true; group.members.len()];
    places.iter().for_each(|&place| stays[place] = false);
    group.members.iter().zip(stays).filter(|(_, stays)| *stays).map(|(&member, _)| member).collect()
}

fn union(one: &Group, other: &Group) -> Vec<u32> {
    let mut members = one.members.clone();
    members.extend(difference(other, one));
    members
}

fn intersection(one: &Group, other: &Group) -> Vec<u32> {
    one.members.iter().copied().filter(|&member| other.rank_of(member).is_some()).collect()
}

fn difference(one: &Group, other: &Group) -> Vec<u32> {
    one.members.iter().copied().filter(|&member| other.rank_of(member).is_none()).collect()
}

/// That `n` may be the length of an array.
fn length(n: c_int) -> Result<(), Failure> {
    if n < 0 {
        return Err(Failure::new(MPI_ERR_ARG, format_args!("n is {n}; allowed are 0 and more")));
    }
    Ok(())
}

type OfTwo = fn(&Group, &Group) -> Vec<u32>;

fn of_two(
    make: OfTwo,
    group1: abi::Group,
    group2: abi::Group,
    newgroup: Out<'_, abi::Group>,
) -> Result<(), Failure> {
    let mut state = check::running()?;
    let one = valid::group(&state, group1, "group1")?;
    let other = valid::group(&state, group2, "group2")?;
    newgroup.write(state.insert_group(make(&one, &other)))
}

type OfPlaces = fn(&Group, &[usize]) -> Vec<u32>;

fn of_ranks(
    make: OfPlaces,
    group: abi::Group,
    n: c_int,
    ranks: In<'_, [c_int]>,
    newgroup: Out<'_, abi::Group>,
) -> Result<(), Failure> {
    let mut state = check::running()?;
    let group = valid::group(&state, group, "group")?;
    length(n)?;
    let places = distinct(&group, ranks.to_vec()?, "ranks")?;
    newgroup.write(state.insert_group(make(&group, &places)))
}

fn of_ranges(
    make: OfPlaces,
    group: abi::Group,
    n: c_int,
    ranges: In<'_, [[c_int; 3]]>,
    newgroup: Out<'_, abi::Group>,
) -> Result<(), Failure> {
    let mut state = check::running()?;
    let group = valid::group(&state, group, "group")?;
    length(n)?;
    let ranks = expand(&group, &ranges.to_vec()?)?;
    let places = distinct(&group, ranks, "the ranks of ranges")?;
    newgroup.write(state.insert_group(make(&group, &places)))
}

mpi! {
    /// The members of both groups: the first's, then the second's that are not in the first.
    fn PMPI_Group_union(group1: abi::Group, group2: abi::Group, newgroup: Out<abi::Group>) {
        of_two(union, group1, group2, newgroup)
    }

    /// The members of the first group that are in the second.
    fn PMPI_Group_intersection(group1: abi::Group, group2: abi::Group, newgroup: Out<abi::Group>) {
        of_two(intersection, group1, group2, newgroup)
    }

    /// The members of the first group that are not in the second.
    fn PMPI_Group_difference(group1: abi::Group, group2: abi::Group, newgroup: Out<abi::Group>) {
        of_two(difference, group1, group2, newgroup)
    }

    /// The members at some ranks, in the order of the ranks.
    fn PMPI_Group_incl(group: abi::Group, n: c_int, ranks[n]: In<c_int>, newgroup: Out<abi::Group>) {
        of_ranks(included, group, n, ranks, newgroup)
    }

    /// The members but those at some ranks.
    fn PMPI_Group_excl(group: abi::Group, n: c_int, ranks[n]: In<c_int>, newgroup: Out<abi::Group>) {
        of_ranks(excluded, group, n, ranks, newgroup)
    }

    /// As incl, of triplets first, last, stride.
    fn PMPI_Group_range_incl(
        group: abi::Group, n: c_int, ranges[n]: Declared<*mut [c_int; 3], In<[c_int; 3]>>, newgroup: Out<abi::Group>,
    ) {
        of_ranges(included, group, n, ranges, newgroup)
    }

    /// As excl, of triplets first, last, stride.
    fn PMPI_Group_range_excl(
        group: abi::Group, n: c_int, ranges[n]: Declared<*mut [c_int; 3], In<[c_int; 3]>>, newgroup: Out<abi::Group>,
    ) {
        of_ranges(excluded, group, n, ranges, newgroup)
    }

    /// The ranks in the second group of ranks of the first; `MPI_UNDEFINED` where there is none.
    fn PMPI_Group_translate_ranks(
        group1: abi::Group, n: c_int, ranks1[n]: In<c_int>, group2: abi::Group, ranks2[n]: Out<c_int>,
    ) {
        let state = check::running()?;
        let one = valid::group(&state, group1, "group1")?;
        let other = valid::group(&state, group2, "group2")?;
        length(n)?;
        ranks1.present()?;
        ranks2.present()?;
        for i in 0..ranks1.len() {
            let rank = ranks1.get(i);
            let found = match one.members.get(rank as usize) {
                Some(&member) => rank_or_undefined(other.rank_of(member)),
                None if rank == MPI_PROC_NULL => MPI_PROC_NULL,
                None => {
                    let size = one.members.len();
                    let text = format_args!("ranks1[{i}] is {rank}; allowed are ranks below {size} and MPI_PROC_NULL");
                    return Err(Failure::new(MPI_ERR_RANK, text));
                }
            };
            ranks2.at(i).write(found)?;
        }
        Ok(())
    }

    /// Frees a group's handle.
    fn PMPI_Group_free(group: InOut<abi::Group>) {
        let mut state = check::running()?;
        let handle = group.read()?.0;
        if handle != MPI_GROUP_EMPTY {
            let removed = GROUPS.of_mut(&mut state).remove(handle);
            removed.ok_or_else(|| check::not_an("group", "group", handle, MPI_ERR_GROUP))?;
        }
        group.write(abi::Group(MPI_GROUP_NULL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(members: &[u32]) -> Group {
        Group { members: members.to_vec() }
    }

    #[test]
    fn sets_keep_the_order_of_the_first_group() {
        let (one, other) = (group(&[5, 1, 3]), group(&[3, 4, 5]));
        assert_eq!(union(&one, &other), [5, 1, 3, 4]);
        assert_eq!(intersection(&one, &other), [5, 3]);
        assert_eq!(difference(&one, &other), [1]);
    }

    #[test]
    fn ranges_go_both_ways_and_stop_before_the_last_when_the_stride_misses_it() {
        let ten = group(&(0..10).collect::<Vec<_>>());
        assert_eq!(expand(&ten, &[[1, 8, 3], [9, 8, -5], [6, 5, -1]]).unwrap(), [1, 4, 7, 9, 6, 5]);
        assert_eq!(expand(&ten, &[[0, 11, 4]]).unwrap(), [0, 4, 8]);
        for (range, class) in [
            ([0, 3, 0], MPI_ERR_ARG),
            ([3, 0, 1], MPI_ERR_ARG),
            ([0, 10, 1], MPI_ERR_RANK),
            ([-1, 3, 1], MPI_ERR_RANK),
        ] {
            assert_eq!(expand(&ten, &[range]).unwrap_err().class(), class, "{range:?}");
        }
    }

    #[test]
    fn a_rank_may_be_named_once() {
        let three = group(&[7, 8, 9]);
        assert_eq!(included(&three, &distinct(&three, [2, 0], "ranks").unwrap()), [9, 7]);
        assert_eq!(excluded(&three, &distinct(&three, [2, 0], "ranks").unwrap()), [8]);
        assert!(distinct(&three, [1, 1], "ranks").unwrap_err().text().contains("ranks[1] is rank 1 again"));
        assert!(
            distinct(&three, [3], "ranks")
                .unwrap_err()
                .text()
                .contains("ranks[0] is rank 3; allowed are 0 to 2")
        );
    }
}
