//! What ranks show, and others read.

use super::*;
use crate::costs::{DataUse, Sort, Spot};

const ONE: Takers = Takers::Several { readers: 1, others_send: false };

#[test]
fn what_a_rank_shows_others_read_and_its_room_is_free_when_all_have_read_it() {
    let mut job = job(3);
    let (mut first, mut second) = (vec![7u8; 100_000], vec![9u8; 1000]);
    let at = job[0].show(&buffer(&mut first), ONE).unwrap();
    job[0].show_again();
    let behind = job[0].show(&buffer(&mut second), ONE).unwrap();
    assert!(behind.at >= at.at + first.len());
    for reader in [1, 2] {
        let mut read = vec![0u8; 100_000];
        // SAFETY: shown above, and not yet read by all.
        assert!(unsafe { job[reader].read_shown(0, at, read.len(), &buffer(&mut read)) });
        assert_eq!(read, first);
    }
    let mut short = [0u8; 10];
    // SAFETY: as above; no more is written than the buffer holds.
    assert!(unsafe { job[1].read_shown(0, behind, 1000, &buffer(&mut short)) });
    assert_eq!(short, [9; 10]);
    job[0].was_read();
    job[0].was_read();
    assert_ne!(job[0].show(&buffer(&mut second), ONE), Some(at), "one has not read");
    (0..2).for_each(|_| job[0].was_read());
    assert_eq!(job[0].show(&buffer(&mut second), ONE), Some(at));
}

/// Shown where data was shown before.
fn again(at: usize) -> Showing {
    Showing { at, spot: Spot::Again }
}

#[test]
fn what_is_shown_arrives_at_each_spot_and_all_are_tried() {
    let mut job = job(2);
    let most = job[0].segment().pool_bytes();
    let mut places = std::collections::BTreeSet::new();
    let mut spots = [0; Spot::ALL.len()];
    for number in 0..600 {
        let bytes = 1 + number * 9973 % (most / 3);
        let mut data = vec![number as u8; bytes];
        let showing = job[0].show(&buffer(&mut data), ONE).unwrap();
        assert!(showing.spot == Spot::Next || showing.at == 0);
        assert!(showing.at + bytes <= most);
        places.insert(showing.at);
        spots[showing.spot as usize] += 1;
        let mut read = vec![0u8; bytes];
        // As if it ran on a cpu of its own.
        job[0].page().cpu.store(u32::MAX, Ordering::Relaxed);
        // SAFETY: shown above, and not yet read.
        assert!(unsafe { job[1].read_shown(0, showing, bytes, &buffer(&mut read)) });
        assert!(read == data, "message {number}");
        job[0].was_read();
    }
    assert!(places.len() > 10, "{places:?}");
    let has_memory = crate::copy::can_copy_past();
    assert!(spots[0] > 0 && spots[1] > 0 && (spots[2] > 0) == has_memory, "{spots:?}");
}

#[test]
fn what_goes_to_a_rank_on_this_cpu_stays_in_its_caches() {
    let mut job = job(2);
    let mut data = sample(200_000);
    // What ranks on two cpus do makes known what each spot costs, in the end with memory as the cheapest one.
    let costs = &job[0].segment().header().costs;
    for (spot, ns) in Spot::ALL.into_iter().zip([90_000, 80_000, 10_000]) {
        (0..20).for_each(|_| costs.learn(Sort::Shown(spot), data.len(), data.len(), ns));
        (0..20).for_each(|_| costs.learn(spot.read(DataUse::Copies), data.len(), data.len(), ns));
    }
    let cheapest = if crate::copy::can_copy_past() { Spot::Memory } else { Spot::Next };
    let here = if crate::copy::can_copy_past() { Spot::Again } else { Spot::Next };
    for (elsewhere, most) in [(true, cheapest), (false, here)] {
        let mut found = 0;
        for _ in 0..100 {
            let cpu = if elsewhere { u32::MAX } else { 1 + host::pin::this_cpu() };
            job[1].page().cpu.store(cpu, Ordering::Relaxed);
            let showing = job[0].show(&buffer(&mut data), Takers::One(1)).unwrap();
            assert!(elsewhere || showing.spot != Spot::Memory);
            found += u32::from(showing.spot == most);
            job[0].was_read();
        }
        assert!(found > 60, "{found}");
    }
}

#[test]
fn copies_between_ranks_on_one_cpu_teach_nothing_of_what_others_cost() {
    for (elsewhere, known) in [(false, Err(Spot::Again)), (true, Err(Spot::Next))] {
        let mut job = job(2);
        let mut data = sample(200_000);
        for _ in 0..40 {
            // Each rank finds the other one's cpu in its page.
            let cpu = if elsewhere { u32::MAX } else { 1 + host::pin::this_cpu() };
            job[1].page().cpu.store(cpu, Ordering::Relaxed);
            let showing = job[0].show(&buffer(&mut data), Takers::One(1)).unwrap();
            let mut read = vec![0u8; data.len()];
            job[0].page().cpu.store(cpu, Ordering::Relaxed);
            // SAFETY: shown above, and not yet read.
            assert!(unsafe { job[1].read_shown(0, showing, read.len(), &buffer(&mut read)) });
            assert!(read == data);
            job[0].was_read();
        }
        assert_eq!(
            job[0].segment().header().costs.cheapest_spot(&Spot::ALL, data.len(), DataUse::Copies),
            known
        );
    }
}

#[test]
fn a_reduction_of_what_another_cpu_shows_teaches_what_that_costs() {
    let shown_by = |rank, spot| [None, Some((rank, spot))];
    for (elsewhere, operands, bytes, known) in [
        (true, shown_by(0, Spot::Again), 200_000, Err(Spot::Next)),
        (true, shown_by(0, Spot::Again), 20_000, Err(Spot::Next)),
        (true, shown_by(0, Spot::Next), 200_000, Err(Spot::Again)),
        (false, shown_by(0, Spot::Again), 200_000, Err(Spot::Again)),
        (true, [None, None], 200_000, Err(Spot::Again)),
        (true, shown_by(0, Spot::Again), 2000, Err(Spot::Again)),
    ] {
        let mut job = job(2);
        let (mut data, mut reduced) = (sample(bytes), 0);
        // The first copy gets memory, and does not count.
        for _ in 0..17 {
            // Each rank finds the other one's cpu in its page.
            let cpu = if elsewhere { u32::MAX } else { 1 + host::pin::this_cpu() };
            job[1].page().cpu.store(cpu, Ordering::Relaxed);
            let showing = job[0].show(&buffer(&mut data), Takers::Reducer(1)).unwrap();
            assert_eq!(showing.spot, Spot::Again);
            job[0].page().cpu.store(cpu, Ordering::Relaxed);
            job[1].reduce(bytes, operands, || reduced += 1);
            job[0].was_read();
        }
        assert_eq!(reduced, 17);
        let costs = &job[0].segment().header().costs;
        assert_eq!(costs.cheapest_spot(&Spot::ALL, bytes, DataUse::Reduces), known, "{operands:?}");
        assert_eq!(costs.cheapest_spot(&Spot::ALL, bytes, DataUse::Copies), Err(Spot::Again));
    }
}

/// More ranks than cpus, and the last one, which shares a cpu.
fn crowded_job() -> (Vec<Engine<'static>>, usize) {
    let ranks = std::thread::available_parallelism().unwrap().get() + 1;
    let job = job(ranks);
    assert!(job[ranks - 1].room().crowded());
    (job, ranks - 1)
}

#[test]
fn the_kernels_copy_is_compared_with_what_is_shown_once_all_spots_are_measured() {
    let (mut job, rank) = crowded_job();
    let (bytes, costs) = (100_000, &job[0].segment().header().costs);
    job[0].page().cpu.store(u32::MAX, Ordering::Relaxed);
    let learn = |sort, ns| (0..20).for_each(|_| costs.learn(sort, bytes, bytes, ns));
    learn(Sort::ByKernel, 20_000);
    let spots = if crate::copy::can_copy_past() { &Spot::ALL[..] } else { &Spot::ALL[..2] };
    for &spot in spots {
        assert!(!job[rank].reading_is_cheaper(bytes, Takers::One(0)), "{spot:?} is not measured");
        learn(Sort::Shown(spot), 30_000);
        learn(spot.read(DataUse::Copies), 30_000);
    }
    assert!(job[rank].reading_is_cheaper(bytes, Takers::One(0)));
}

#[test]
fn what_is_shown_in_pieces_or_in_one_arrives_whole() {
    let mut job = job(2);
    for pieces_after in [0, 1, 2] {
        job[0].shown.whole = pieces_after;
        for number in 0..3 {
            let mut data = sample(700_000 + number);
            let showing = job[0].begin_to_show(&buffer(&mut data)).unwrap();
            job[0].go_on_showing();
            let mut read = vec![0u8; data.len()];
            // SAFETY: shown above, and not yet read.
            assert!(unsafe { job[1].read_shown(0, showing, read.len(), &buffer(&mut read)) });
            assert!(read == data);
            job[0].was_read();
        }
    }
}

#[test]
fn what_does_not_fit_is_not_shown_and_nothing_is_read_outside_of_the_room() {
    let mut job = job(2);
    let room = crate::segment::shown_room(2);
    assert_eq!(job[0].show(&buffer(&mut vec![0; room + 1]), ONE), None);
    let mut into = [0u8; 8];
    for (at, bytes) in [(room, 1), (room - 7, 8), (usize::MAX, 8), (0, usize::MAX)] {
        // SAFETY: nobody writes there.
        assert!(!unsafe { job[1].read_shown(0, again(at), bytes, &buffer(&mut into)) }, "{at} {bytes}");
    }
    assert_eq!(job[0].show(&buffer(&mut vec![5; room]), ONE), Some(again(0)));
    // SAFETY: shown above.
    assert!(unsafe { job[1].read_shown(0, again(room - 8), 8, &buffer(&mut into)) });
    assert_eq!(into, [5; 8]);
}

#[test]
fn own_data_is_copied_beside_most_of_what_is_shown() {
    let mut job = job(2);
    let (mut data, mut to) = (sample(100_000), vec![0u8; 100_000]);
    let costs = &job[0].segment().header().costs;
    for spot in Spot::ALL {
        (0..20).for_each(|_| costs.learn(Sort::Shown(spot), data.len(), data.len(), 10_000));
        (0..20).for_each(|_| costs.learn(spot.read(DataUse::Copies), data.len(), data.len(), 10_000));
    }
    let mut beside = 0;
    for _ in 0..400 {
        to.fill(0);
        let (from, into) = (buffer(&mut data), buffer(&mut to));
        // SAFETY: both live to the end of the copy.
        unsafe { job[0].begin_to_copy_own(&from, &into) };
        let showing = job[0].show(&from, ONE).unwrap();
        beside += usize::from(to == data);
        // SAFETY: as above.
        unsafe { job[0].copy_own(&from, &into, IN_ALLTOALL) };
        assert!(to == data);
        to.fill(0);
        // SAFETY: shown above, and not yet read.
        assert!(unsafe { job[1].read_shown(0, showing, data.len(), &buffer(&mut to)) });
        assert!(to == data);
        job[0].was_read();
    }
    assert!((200..390).contains(&beside), "{beside}");
}

#[test]
fn what_another_spot_costs_while_it_is_measured_does_not_say_whether_to_show() {
    let (mut job, rank) = crowded_job();
    let mut data = sample(100_000);
    let costs = &job[0].segment().header().costs;
    for spot in Spot::ALL {
        let ns = if spot == Spot::Next { 10_000 } else { 20_000 };
        (0..20).for_each(|_| costs.learn(Sort::Shown(spot), data.len(), data.len(), ns));
        (0..20).for_each(|_| costs.learn(spot.read(DataUse::Copies), data.len(), data.len(), ns));
    }
    (0..20).for_each(|_| costs.learn(Sort::ByKernel, data.len(), data.len(), 30_000));
    let mut shown = Vec::new();
    for collective in 0..200 {
        let shows = job[rank].two_copies_are_shorter(data.len(), Among::Exchanges(rank), collective);
        shown.push(shows);
        if !shows {
            host::clock::sleep_ns(1_000_000);
            continue;
        }
        if job[rank].show(&buffer(&mut data), ONE).unwrap().spot != Spot::Next {
            host::clock::sleep_ns(5_000_000);
        }
        job[rank].was_read();
    }
    // Both were tried.
    assert!(shown.contains(&false));
    let last = shown[150..].iter().filter(|&&shows| shows).count();
    assert!(last > 40, "{last} of 50 are shown");
}

#[test]
fn one_rank_answers_for_all_that_gather_or_exchange_and_each_for_what_it_scatters() {
    let (mut job, bytes) = (job(3), 100_000);
    let mut differ = 0;
    for collective in 0..300 {
        let gathers = job[0].two_copies_are_shorter(bytes, Among::Gathers(0), collective);
        let exchanges = job[0].two_copies_are_shorter(bytes, Among::Exchanges(0), collective);
        differ += u32::from(gathers != exchanges);
        // The others do not take part in all.
        if collective % 3 == 0 {
            assert_eq!(job[1].two_copies_are_shorter(bytes, Among::Gathers(0), collective), gathers);
            assert_eq!(job[2].two_copies_are_shorter(bytes, Among::Exchanges(0), collective), exchanges);
        }
    }
    assert!(differ > 0, "gathers and exchanges have one answer");
    // Rank 1 has asked nothing of what it scatters itself.
    assert!(!job[1].two_copies_are_shorter(bytes, Among::Scatters, 300));
    // Another size has another answer.
    assert!(!job[1].two_copies_are_shorter(8 * bytes, Among::Gathers(0), 300));
}

#[test]
fn whether_a_rank_can_be_read_and_written_is_tried_when_it_has_allowed_that() {
    let mut job = job(2);
    (0..2).for_each(|_| assert_eq!(job[0].can_read_and_write(1), None));
    job[1].allow_reading();
    let can = job[0].can_read_and_write(1);
    assert!(can.is_some());
    assert_eq!(job[0].can_read(1), can == Some(true));
    let (mut data, mut into) = ([7u8; 100], [0u8; 100]);
    // SAFETY: this process's own memory.
    let written = unsafe { job[0].write_memory(1, into.as_mut_ptr() as u64, data.as_mut_ptr(), 100) };
    assert_eq!(written, can == Some(true));
    assert!(into == [if written { 7 } else { 0 }; 100]);
}

#[test]
fn who_cannot_copy_because_another_rank_has_ended_leaves_with_the_job_and_goes_on_when_it_does_not_end() {
    for (writes, ends, code) in [(false, true, 1), (true, true, 1), (false, false, 2), (true, false, 2)] {
        // SAFETY: the child only runs engines of its own, and ends by _exit.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let mut job = job(2);
            job[1].allow_reading();
            if job[0].can_read_and_write(1) != Some(true) {
                // SAFETY: ends the child: the system forbids such copies.
                unsafe { libc::_exit(code) };
            }
            if ends {
                job[0].segment().end(Some(1));
            }
            let mut data = [7u8; 8];
            // SAFETY: this process's own memory; the other address is nobody's, as that of a rank that has ended.
            let copied = unsafe {
                match writes {
                    true => job[0].write_memory(1, 8, data.as_ptr(), 8),
                    false => job[0].read_memory(1, 8, data.as_mut_ptr(), 8),
                }
            };
            // SAFETY: ends the child.
            unsafe { libc::_exit(if copied { 3 } else { 2 }) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert!(libc::WIFEXITED(status));
        assert_eq!(libc::WEXITSTATUS(status), code, "writes: {writes}, ends: {ends}");
    }
}

#[test]
fn the_root_says_whether_it_reads_an_operand_and_waits_until_the_other_rank_heeds_it() {
    use crate::ReductionOfTwo::{ToBoth, ToRoot};
    let (mut job, bytes) = (job(2), 100_000);
    job[0].segment().set_turnover_bytes(1 << 20);
    let mut asked = |came: Option<bool>| {
        let answer = job[0].operand_is_read(ToRoot, 0, bytes);
        assert_eq!(job[1].operand_is_read(ToRoot, 0, bytes), answer);
        job[0].operand_came(ToRoot, bytes, came.unwrap_or(answer));
        answer
    };
    // Sent at first. What comes meanwhile uses memory that is new, and does not count.
    (0..8).for_each(|number| assert!(!asked(None), "{number}"));
    // Then it is read, for some times. The other rank is ahead.
    (0..500).for_each(|number| assert!(asked(Some(false)), "{number}"));
    // So few cycles can't be hopeless, however long a busy computer makes one of them.
    (0..4).for_each(|number| assert!(asked(None), "{number}"));
    // What both get has answers of its own.
    assert!(!job[0].operand_is_read(ToBoth, 0, bytes));
    // Large operands are read at first, and none where the kernel forbids it.
    let large = job[0].segment().turnover_bytes();
    assert!(job[0].operand_is_read(ToRoot, 0, large));
    assert!(job[1].operand_is_read(ToRoot, 0, large));
    job[1].could_not_be_copied(large);
    assert!(!job[0].operand_is_read(ToRoot, 0, large));
    assert!(!job[1].operand_is_read(ToRoot, 0, large));
    job[1].set_copy_from(usize::MAX);
    assert!(!job[1].operand_is_read(ToRoot, 0, bytes));
}

#[test]
fn what_the_kernel_is_known_to_copy_for_less_is_not_shown_at_first_and_the_other_way_round() {
    for (kernel_ns, shows) in [(None, None), (Some(19_000), Some(false)), (Some(21_000), Some(true))] {
        let ((mut job, rank), bytes) = (crowded_job(), 100_000);
        let costs = &job[0].segment().header().costs;
        for sort in Spot::ALL.into_iter().flat_map(|spot| [Sort::Shown(spot), spot.read(DataUse::Copies)]) {
            (0..20).for_each(|_| costs.learn(sort, bytes, bytes, 10_000));
        }
        if let Some(ns) = kernel_ns {
            (0..20).for_each(|_| costs.learn(Sort::ByKernel, bytes, bytes, ns));
        }
        // Of larger data, what is known of this says something, but not for ever.
        for (times, known) in [(1, shows), (2, shows), (4, shows), (8, None)] {
            let mut shows = |among| job[rank].two_copies_are_shorter(times * bytes, among, times as i32);
            assert_eq!(shows(Among::Gathers(rank)), known.unwrap_or(false), "{times} {kernel_ns:?}");
            // What is shown is measured first, and then the kernel.
            assert_eq!(shows(Among::Exchanges(rank)), known.unwrap_or(times > 1), "{times} {kernel_ns:?}");
            assert!(!shows(Among::Scatters));
        }
    }
}

#[test]
fn what_two_ranks_exchange_is_sent_where_the_kernels_copy_is_known_to_cost_more_as_one_of_them_says() {
    for (kernel_ns, sent) in [(19_000, false), (21_000, true)] {
        let (mut job, bytes) = (job(2), 100_000);
        let costs = &job[0].segment().header().costs;
        // What is sent is measured first.
        assert!(job[0].two_copies_are_shorter(bytes, Among::ExchangesOfTwo(0), -1));
        for fill in crate::costs::Fill::ALL {
            for sort in [Sort::Pooled(fill), Sort::ReadPooled(fill)] {
                (0..20).for_each(|_| costs.learn(sort, bytes, bytes, 10_000));
            }
        }
        assert!(!job[0].two_copies_are_shorter(bytes, Among::ExchangesOfTwo(0), 0), "then the kernel");
        (0..20).for_each(|_| costs.learn(Sort::ByKernel, bytes, bytes, kernel_ns));
        // Soon the other way has its turn.
        for (collective, sent) in (1..=10).map(|number| (number, sent == (number <= 8))) {
            assert_eq!(job[0].two_copies_are_shorter(bytes, Among::ExchangesOfTwo(0), collective), sent);
            assert_eq!(job[1].two_copies_are_shorter(bytes, Among::ExchangesOfTwo(0), collective), sent);
        }
    }
}

#[test]
fn what_senders_copy_by_the_kernel_is_measured_message_by_message() {
    // More ranks than cpus: the last two share one.
    let first = std::thread::available_parallelism().unwrap().get();
    let (mut job, bytes) = (job(first + 2), 300_000);
    assert!([first, first + 1].iter().all(|&rank| job[rank].room().crowded()));
    let (mut data, mut into) = (sample(bytes), vec![0u8; bytes]);
    let costs = &job[0].segment().header().costs;
    for _ in 0..20 {
        let pattern = criteria(Some(first as u16), Some(1));
        let id = job[first + 1].receive_or_set_aside(pattern, &buffer(&mut into), None);
        let sent =
            job[first].send(first + 1, envelope(first as u16, 1), &buffer(&mut data), Mode::Synchronous);
        // As if it ran on a cpu of its own.
        job[first + 1].page().cpu.store(u32::MAX, Ordering::Relaxed);
        until_complete(&mut job, first + 1, id);
        until_complete(&mut job, first, sent.unwrap());
        assert!(into == data);
    }
    let learn = |sort, ns| (0..20).for_each(|_| costs.learn(sort, bytes, bytes, ns));
    learn(Sort::Shown(Spot::Again), 1 << 30);
    learn(Sort::ReadShown(Spot::Again), 1 << 30);
    let shown = [(Sort::Shown(Spot::Again), 1.0), (Sort::ReadShown(Spot::Again), 1.0)];
    let segment = job[first].segment();
    let is_read = matches!(job[first + 1].sharing.readable(&segment, first), Access::Works(_));
    assert_eq!(
        costs.kernel_is_cheaper(&shown, bytes, DataUse::Copies),
        if is_read { Ok(true) } else { Err(true) }
    );
}

/// The same costs of all spots, but for one of them.
fn learn_spots(engine: &Engine<'_>, bytes: usize, other: Spot, [ns, other_ns]: [u64; 2]) {
    for spot in Spot::ALL {
        let ns = if spot == other { other_ns } else { ns };
        for sort in [Sort::Shown(spot), spot.read(DataUse::Copies), spot.read(DataUse::Reduces)] {
            (0..20).for_each(|_| engine.segment().header().costs.learn(sort, bytes, bytes, ns));
        }
    }
}

#[test]
fn the_place_behind_is_measured_for_more_than_a_lap() {
    let mut job = job(2);
    let lap = 50;
    let bytes = job[0].segment().pool_bytes() / lap;
    let mut data = sample(bytes);
    // By what is known, the place behind costs most.
    learn_spots(&job[0], bytes, Spot::Next, [1 << 20, 1 << 30]);
    let mut behind = |takers, times| {
        let mut behind = (0, 0);
        for _ in 0..times {
            let is_behind = job[0].show(&buffer(&mut data), takers).unwrap().spot == Spot::Next;
            behind = (if is_behind { behind.0 + 1 } else { 0 }, behind.1.max(behind.0));
            job[0].was_read();
        }
        behind.1
    };
    assert!(behind(ONE, 1000) > lap);
    // What is reduced has turns of its own.
    assert!(behind(Takers::Reducer(1), 1000) > lap);
}

#[test]
fn the_first_spot_is_measured_again_soon_by_as_many_copies_as_a_cost_needs_to_be_known() {
    if !crate::copy::can_copy_past() {
        return;
    }
    for (copies, turn) in [(1, 16), (7, 3)] {
        let (mut job, bytes) = (job(2), 100_000);
        let mut data = sample(bytes);
        learn_spots(&job[0], bytes, Spot::Memory, [1 << 20, 1 << 10]);
        let mut spots = Vec::new();
        for _ in 0..40 {
            let shown: Vec<_> =
                (0..copies).map(|_| job[0].show(&buffer(&mut data), ONE).unwrap().spot).collect();
            (0..copies).for_each(|_| job[0].was_read());
            assert!(shown.iter().all(|&spot| spot == shown[0]), "there is one for each answer");
            spots.push(shown[0]);
        }
        let expected = [(Spot::Memory, 4), (Spot::Again, turn), (Spot::Memory, 36 - turn)];
        assert_eq!(spots, expected.map(|(spot, times)| vec![spot; times]).concat());
    }
}
