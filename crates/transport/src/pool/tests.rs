use super::*;
use crate::copy::can_copy_past;
use crate::costs::{Fill, Sort};
use std::collections::BTreeSet;

/// The pools of a job's ranks.
fn pools(ranks: usize) -> Vec<Pool> {
    let segment = Segment::private(ranks, 2).unwrap();
    (0..ranks).map(|rank| Pool::new(segment, rank, false)).collect()
}

/// A message that goes one way.
fn message(bytes: usize) -> Pooled {
    Pooled { bytes, backwards: false, receiver: Receiver::Waits }
}

/// Sends a piece of so many bytes of one value; what the line says.
fn send(pool: &mut Pool, to: usize, bytes: usize, value: u8) -> Option<u64> {
    let mut filling = pool.open(to, bytes, message(bytes))?;
    assert_eq!(filling.next(bytes, |piece| piece.fill(value)), 0);
    Some(filling.word())
}

/// Sends a piece of a large message, as large as there is room for; what the line says, and its bytes.
fn send_large(pool: &mut Pool, to: usize, value: u8) -> Option<(u64, usize)> {
    let mut filling = pool.open(to, IN_BLOCKS_FROM_CROWDED, message(IN_BLOCKS_FROM_CROWDED))?;
    let bytes = filling.room();
    assert_eq!(filling.next(bytes, |piece| piece.fill(value)), 0);
    Some((filling.word(), bytes))
}

/// Reads a piece, and keeps its slot.
fn receive(pool: &mut Pool, from: usize, word: u64, bytes: usize, value: u8) {
    let stretch = pool.arrived(from, word).expect("slots that were lent");
    // SAFETY: read before the slot is kept.
    assert!(unsafe { pool.piece(&stretch, from, 0, bytes) }.iter().all(|&byte| byte == value));
    pool.keep(from, &stretch);
}

#[test]
fn answers_go_back_in_the_slots_that_they_came_in_and_in_their_order() {
    let mut pools = pools(2);
    let [first, second] = &mut pools[..] else { panic!("two ranks") };
    let sent: Vec<u64> = (0..3).map(|value| send(first, 1, SLOT, value).unwrap()).collect();
    (0..3).for_each(|value| receive(second, 0, sent[value as usize], SLOT, value));
    let back: Vec<u64> = (5..8).map(|value| send(second, 0, 700, value).unwrap()).collect();
    // The last bit says whose pool it is, as the sender sees it.
    assert_eq!(back, sent.iter().map(|word| word - 1).collect::<Vec<_>>());
    (5..8).for_each(|value| receive(first, 1, back[value as usize - 5], 700, value));
    // Of a shorter message, the slots that were read last go on.
    assert_eq!(send(first, 1, 1, 0), Some(sent[0]));
    receive(second, 0, sent[0], 1, 0);
    assert_eq!(send(second, 0, 1, 0), Some(back[0]));
}

#[test]
fn what_an_earlier_message_left_goes_back_after_what_came_since() {
    let mut pools = pools(2);
    let [first, second] = &mut pools[..] else { panic!("two ranks") };
    let mut sent: Vec<u64> = (0..2).map(|value| send(first, 1, SLOT, value).unwrap()).collect();
    (0..2).for_each(|value| receive(second, 0, sent[value as usize], SLOT, value));
    assert_eq!(send(second, 0, 1, 0), Some(sent[0] - 1));
    sent.push(send(first, 1, SLOT, 2).unwrap());
    receive(second, 0, sent[2], SLOT, 2);
    assert_eq!([0, 1].map(|value| send(second, 0, 1, value)), [Some(sent[2] - 1), Some(sent[1] - 1)]);
}

#[test]
fn blocks_go_to_and_fro_whole_beside_the_slots_of_small_messages() {
    let mut pools = pools(2);
    let [first, second] = &mut pools[..] else { panic!("two ranks") };
    let (block, slot) = (send_large(first, 1, 0).unwrap(), send(first, 1, SLOT, 1).unwrap());
    for _ in 0..3 {
        receive(second, 0, block.0, block.1, 0);
        receive(second, 0, slot, SLOT, 1);
        // Each goes back in its own, in whatever order.
        let back = (send(second, 0, SLOT, 2), send_large(second, 0, 3));
        assert_eq!(back, (Some(slot - 1), Some((block.0 - 1, BLOCK_ROOM))));
        receive(first, 1, slot - 1, SLOT, 2);
        receive(first, 1, block.0 - 1, BLOCK_ROOM, 3);
        assert_eq!((send_large(first, 1, 0), send(first, 1, SLOT, 1)), (Some(block), Some(slot)));
    }
}

#[test]
fn a_block_is_taken_apart_when_there_is_no_other_slot() {
    let mut pools = pools(2);
    let [first, second] = &mut pools[..] else { panic!("two ranks") };
    let (block, bytes) = send_large(first, 1, 0).unwrap();
    receive(second, 0, block, bytes, 0);
    // All that the second rank has of its own is on its way.
    while second.lend(0, 1).is_some() {}
    let parts: Vec<u64> = (0..4).map(|value| send(second, 0, SLOT, value).unwrap()).collect();
    assert_eq!(send(second, 0, 1, 0), None);
    let expected: Vec<u64> = [0, 3, 2, 1].into_iter().map(|at| (block & !7) + 8 * at).collect();
    assert_eq!(parts.iter().map(|word| word & !7).collect::<Vec<_>>(), expected);
    parts.into_iter().zip(0..).for_each(|(word, value)| receive(first, 1, word, SLOT, value));
    assert_eq!(first.kept[1].count(), TOGETHER);
}

#[test]
fn what_no_slot_holds_goes_in_blocks_but_the_end_of_what_a_receiver_waits_for() {
    use Receiver::{IsBehind, Sends, Waits};
    let (block, behind) = (BLOCK, BEHIND_IN_BLOCKS_FROM);
    for (bytes, left, receiver, room) in [
        (SLOT + 1, SLOT + 1, Sends, BLOCK_ROOM),
        (SLOT, SLOT, Sends, SLOT),
        (behind, block, IsBehind, BLOCK_ROOM),
        (behind - 1, block, IsBehind, SLOT),
        (SLOT + 1, SLOT + 1, Waits, BLOCK_ROOM),
        (IN_BLOCKS_FROM_CROWDED - 1, block, Waits, BLOCK_ROOM),
        (IN_BLOCKS_FROM_CROWDED, block, Waits, BLOCK_ROOM),
        (SLOT, SLOT, Waits, SLOT),
        // The end of a message.
        (2 * block, SLOT + 1, Sends, BLOCK_ROOM),
        (2 * block, SLOT, Sends, SLOT),
        (2 * behind, SLOT + 1, IsBehind, BLOCK_ROOM),
        (2 * behind, SLOT, IsBehind, SLOT),
        (2 * block, block - SLOT + 1, Waits, BLOCK_ROOM),
        (2 * block, block - SLOT, Waits, SLOT),
    ] {
        let message = Pooled { bytes, backwards: true, receiver };
        let filling = pools(2)[0].open(1, left, message).unwrap();
        assert_eq!(filling.room(), room, "{left} of {bytes}, {receiver:?}");
        if receiver == Waits {
            // Where another rank may have the receiver's cpu, and where no block may hold a message that comes early.
            for mut pool in [Pool::new(Segment::private(2, 2).unwrap(), 0, true), pools(3).swap_remove(0)] {
                let room = if bytes < IN_BLOCKS_FROM_CROWDED { SLOT } else { BLOCK_ROOM };
                assert_eq!(pool.open(1, left, message).unwrap().room(), room, "{left} of {bytes}, crowded");
            }
        }
    }
}

#[test]
fn the_slot_or_block_that_came_first_goes_home_first() {
    let message = |in_block| {
        let receiver = if in_block { Receiver::Sends } else { Receiver::Waits };
        Pooled { bytes: 2 * SLOT, backwards: false, receiver }
    };
    for blocks_first in [true, false] {
        let segment = Segment::private(2, 2).unwrap();
        segment.set_turnover_bytes(4 << 20);
        let mut pools = [0, 1].map(|rank| Pool::new(segment, rank, false));
        let [first, second] = &mut pools;
        let most = second.most_kept;
        let mut come = |in_block, slots| {
            for _ in 0..slots / if in_block { TOGETHER } else { 1 } {
                let filling =
                    first.open(1, if in_block { 2 * SLOT } else { SLOT }, message(in_block)).unwrap();
                let stretch = second.arrived(0, filling.word()).unwrap();
                assert_eq!(stretch.count > 1, in_block);
                second.keep(0, &stretch);
            }
            (second.kept[0].single.count(), TOGETHER * second.kept[0].blocks.count())
        };
        let kept = |in_block, slots| if in_block { (most - slots, slots) } else { (slots, most - slots) };
        assert_eq!(come(blocks_first, most), kept(blocks_first, most));
        for slots in (TOGETHER..=most).step_by(TOGETHER) {
            assert_eq!(come(!blocks_first, TOGETHER), kept(!blocks_first, slots), "{blocks_first}");
        }
    }
}

#[test]
fn blocks_are_found_though_single_slots_of_many_are_kept() {
    let segment = Segment::private(2, 2).unwrap();
    segment.set_turnover_bytes(4 << 20);
    let mut pool = Pool::new(segment, 0, false);
    for block in (0..3).map(|turn| turn * pool.stride) {
        pool.lent[block * TOGETHER + 1] = 1;
    }
    assert!(pool.lend(1, BLOCK).is_some_and(|stretch| stretch.count == TOGETHER));
}

#[test]
fn blocks_are_lent_until_no_slot_is_here_and_each_slot_comes_home() {
    let mut pools = pools(2);
    let [first, second] = &mut pools[..] else { panic!("two ranks") };
    for value in 0..3 {
        // One that is refused may find a slot when it tries again.
        let pieces: Vec<_> = (0..200).filter_map(|_| send_large(first, 1, value)).collect();
        let slots: usize = pieces.iter().map(|(_, bytes)| bytes / SLOT).sum();
        assert_eq!(slots + if value == 0 { 1 } else { 1 + second.kept[0].count() }, first.slots);
        assert!(pieces.iter().filter(|&&(_, bytes)| bytes == SLOT).count() < 2 * TOGETHER);
        pieces.into_iter().for_each(|(word, bytes)| receive(second, 0, word, bytes, value));
        let kept = second.kept[0].count();
        assert!((second.most_kept - TOGETHER + 1..=second.most_kept).contains(&kept), "{kept}");
    }
}

#[test]
fn a_rank_that_never_answers_gives_slots_home_and_the_sender_does_not_run_out() {
    let mut pools = pools(2);
    let [first, second] = &mut pools[..] else { panic!("two ranks") };
    for number in 0..1000 {
        let word = send(first, 1, 9, number as u8).expect("a slot");
        receive(second, 0, word, 9, number as u8);
    }
    assert_eq!(second.kept[0].count(), second.most_kept);
}

#[test]
fn one_look_at_a_line_of_flags_sees_all_slots_that_came_home() {
    let segment = Segment::private(2, 2).unwrap();
    segment.set_turnover_bytes(4 << 20);
    let [mut first, mut second] = [0, 1].map(|rank| Pool::new(segment, rank, false));
    let most = second.most_kept;
    let sent: Vec<u64> = (0..most + 3).map(|_| send(&mut first, 1, SLOT, 7).unwrap()).collect();
    for &word in &sent {
        receive(&mut second, 0, word, SLOT, 7);
    }
    // Those that came first are at home, which the sender has not seen.
    let numbers = sent.iter().map(|&word| usize::from(Stretch::of(word, first.slots).unwrap().first.number));
    let (home, away): (Vec<_>, Vec<_>) = numbers.enumerate().partition(|&(place, _)| place < 3);
    assert!(home.iter().all(|&(_, number)| number / LINE == home[0].1 / LINE), "{home:?}");
    assert!(first.is_here(home[0].1));
    for &(_, number) in &home {
        assert_eq!(first.home(0, number as u16).load(Ordering::Relaxed), 0, "its flag was seen");
        assert!(first.is_here(number) && !first.seen_home[number], "{number}");
    }
    assert_eq!(first.lent_to[1], most);
    assert!(away.iter().all(|&(_, number)| !first.is_here(number)));
}

#[test]
fn no_slot_will_come_where_each_rank_has_it_in_messages_that_no_receive_has() {
    let mut pools = pools(2);
    let [first, second] = &mut pools[..] else { panic!("two ranks") };
    let hold = |pool: &mut Pool, from: usize, word: u64| {
        assert!(pool.arrived(from, word).is_some_and(|stretch| pool.hold(from, &stretch)));
    };
    (0..second.most_held).for_each(|_| hold(second, 0, send(first, 1, 9, 0).unwrap()));
    let answered: Vec<u64> = (0..first.most_held).map(|_| send(first, 1, 9, 0).unwrap()).collect();
    answered.into_iter().for_each(|word| receive(second, 0, word, 9, 0));
    (0..first.most_held).for_each(|_| hold(first, 1, send(second, 0, 9, 0).unwrap()));
    let on_the_way: Vec<u64> = std::iter::from_fn(|| send(first, 1, 9, 0)).collect();
    on_the_way.into_iter().for_each(|word| receive(second, 0, word, 9, 0));
    assert!(send(first, 1, 9, 0).is_none() && !first.will_come_from(1));
}

#[test]
fn what_goes_backwards_takes_the_slots_that_were_read_last_first() {
    let mut pools = pools(2);
    let [first, second] = &mut pools[..] else { panic!("two ranks") };
    let sent: Vec<u64> = (0..3).map(|value| send(first, 1, SLOT, value).unwrap()).collect();
    (0..3).for_each(|value| receive(second, 0, sent[value as usize], SLOT, value));
    let mut open =
        |backwards| second.open(0, SLOT, Pooled { backwards, ..message(SLOT) }).expect("a slot").word() + 1;
    assert_eq!([open(true), open(false), open(true)], [sent[2], sent[0], sent[1]]);
}

#[test]
fn own_slots_have_their_turn_again_after_half_of_the_pool_and_small_pieces_use_all() {
    for (bytes, part) in [(SLOT, LAP), (64, 1)] {
        // A rank keeps a quarter of a pool of another one.
        let mut pools = pools(3);
        let [first, second, _] = &mut pools[..] else { panic!("three ranks") };
        let mut used = BTreeSet::new();
        for number in 0..4 * first.slots {
            let word = send(first, 1, bytes, number as u8).expect("a slot");
            receive(second, 0, word, bytes, number as u8);
            used.insert(word);
        }
        // What the other rank keeps is of the first half: the second one has its turn then.
        let kept = second.most_kept;
        assert!((first.slots / part..=first.slots / part + kept).contains(&(used.len() + 1)), "{used:?}");
    }
}

#[test]
fn no_slot_is_used_twice_at_a_time_whatever_goes_where() {
    [false, true].into_iter().for_each(send_and_receive_at_random);
}

/// `shares_cpu`: ranks move to the cpu where others are, and away.
fn send_and_receive_at_random(shares_cpu: bool) {
    const RANKS: usize = 3;
    let segment = Segment::private(RANKS, 2).unwrap();
    let mut pools: Vec<Pool> = (0..RANKS).map(|rank| Pool::new(segment, rank, shares_cpu)).collect();
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut on_the_way: [[VecDeque<(u64, usize, u8)>; RANKS]; RANKS] = Default::default();
    let (mut sent, mut refused) = (0, 0);
    for number in 0..if cfg!(miri) { 300 } else { 30_000 } {
        let from = random(RANKS);
        let to = (from + 1 + random(RANKS - 1)) % RANKS;
        let cpu = [u32::MAX, 1 + host::pin::this_cpu()][random(2)];
        segment.rank(to).cpu.store(cpu, Ordering::Relaxed);
        if random(100) < 55 {
            let (bytes, value) = (1 + random(64), number as u8);
            let piece = match random(4) {
                0 => send_large(&mut pools[from], to, value),
                _ => send(&mut pools[from], to, bytes, value).map(|word| (word, bytes)),
            };
            match piece {
                Some((word, bytes)) => on_the_way[from][to].push_back((word, bytes, value)),
                None => refused += 1,
            }
            sent += 1;
        } else if let Some((word, bytes, value)) = on_the_way[from][to].pop_front() {
            receive(&mut pools[to], from, word, bytes, value);
        }
    }
    assert!(refused > 0 && refused < sent, "{refused} of {sent}: pools have to run out, and come back");
}

#[test]
fn every_slot_has_its_turn_in_a_pool_of_any_size() {
    for (blocks, shares_cpu) in
        [4, 7, 21, 64, 105].into_iter().flat_map(|blocks| [false, true].map(|shares| (blocks, shares)))
    {
        let segment = Segment::private(2, 2).unwrap();
        segment.set_turnover_bytes((blocks * TOGETHER * SLOT) as u64);
        let mut pool = Pool::new(segment, 0, shares_cpu);
        assert_eq!(pool.slots, blocks * TOGETHER);
        let (far, near) = (pool.near, pool.slots - pool.near);
        assert_eq!(near > 0, shares_cpu);
        let mut turns: Vec<usize> = (1..far).map(|_| pool.turn()).collect();
        turns.extend((0..near).map(|_| pool.near_turn()));
        turns.sort_unstable();
        assert!(turns.into_iter().eq(1..pool.slots), "{blocks} blocks");
    }
}

#[test]
fn a_rank_that_has_left_this_cpu_gets_the_slots_that_it_gave_home_there() {
    let segment = Segment::private(2, 2).unwrap();
    let [mut first, mut second] = [0, 1].map(|rank| Pool::new(segment, rank, true));
    for cpu in [1 + host::pin::this_cpu(), u32::MAX, 1 + host::pin::this_cpu()] {
        segment.rank(1).cpu.store(cpu, Ordering::Relaxed);
        let words: Vec<u64> = std::iter::from_fn(|| send(&mut first, 1, 9, 0)).collect();
        // All but the one with the flags, and what the other rank keeps.
        assert!(words.len() >= first.slots - 1 - second.most_kept, "{} of {}", words.len(), first.slots);
        words.into_iter().for_each(|word| receive(&mut second, 0, word, 9, 0));
    }
}

#[test]
fn where_ranks_share_cpus_what_goes_to_another_cpu_is_filled_as_costs_least() {
    let segment = Segment::private(2, 2).unwrap();
    let costs = &segment.header().costs;
    for (fill, ns) in Fill::OWN.iter().zip([4000, 4000, 1000]) {
        for sort in [Sort::Pooled(*fill), Sort::ReadPooled(*fill)] {
            (0..20).for_each(|_| costs.learn(sort, SLOT, SLOT, ns));
        }
    }
    let elsewhere = if can_copy_past() { Fill::PastCaches } else { Fill::ByInstruction };
    let here = 1 + host::pin::this_cpu();
    for (shares_cpu, other, fill) in
        [(true, u32::MAX, elsewhere), (true, here, Fill::ByInstruction), (false, here, elsewhere)]
    {
        let mut pool = Pool::new(segment, 0, shares_cpu);
        segment.rank(1).cpu.store(other, Ordering::Relaxed);
        let filling = pool.open(1, SLOT, message(SLOT)).expect("a slot");
        assert_eq!(pool.choose_fill(&filling, 1, SLOT, SLOT).fill, fill, "{shares_cpu} {other}");
    }
}

#[test]
fn a_rank_that_sends_in_one_slot_twice_harms_its_own_messages_alone() {
    let mut pools = pools(2);
    let [first, second] = &mut pools[..] else { panic!("two ranks") };
    let word = send(first, 1, 1, 0).unwrap() - 1;
    for _ in 0..first.most_kept {
        let slot = first.arrived(1, word).unwrap();
        first.keep(1, &slot);
    }
    // Now what was kept twice goes home twice.
    for number in 0..100 {
        let word = send(second, 0, 9, number).unwrap();
        receive(first, 1, word, 9, number);
    }
    assert_eq!((first.lent_to[1], first.arrived(1, word)), (0, None));
}

#[test]
fn a_slot_that_a_rank_cannot_have_is_refused() {
    let mut pools = pools(3);
    let own = send(&mut pools[0], 1, 1, 0).unwrap();
    assert!(pools[0].arrived(1, own - 1).is_some(), "lent to this rank");
    assert_eq!(pools[0].arrived(2, own - 1), None, "lent to another rank");
    assert_eq!(pools[0].arrived(1, 8 * 7), None, "not lent");
    let slots = pools[0].slots as u64;
    let (block, _) = send_large(&mut pools[0], 2, 1).unwrap();
    assert!(pools[0].arrived(2, block - 1).is_some_and(|stretch| stretch.bytes() == BLOCK_ROOM));
    pools[0].came_home(usize::try_from(block >> 3).unwrap() + TOGETHER - 1);
    assert_eq!(pools[0].arrived(2, block - 1), None, "not all of it is lent");
    // A block starts where blocks do.
    (8..16).for_each(|number| pools[0].lent[number] = 1);
    assert!(pools[0].arrived(1, 8 << 3 | 6).is_some_and(|stretch| stretch.bytes() == BLOCK_ROOM));
    for word in [8 << 3 | 2, 8 << 3 | 4, 9 << 3 | 6] {
        assert_eq!(pools[0].arrived(1, word), None, "{word}");
    }
    let last = 8 * (slots - 1) + 1;
    assert!(pools[0].arrived(1, last).is_some());
    for word in [0, 1, last + 2, last + 8, last + 7, u64::MAX] {
        assert_eq!(pools[0].arrived(1, word), None, "{word}");
    }
}
