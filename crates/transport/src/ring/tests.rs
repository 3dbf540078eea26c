use std::sync::Mutex;

use super::*;

/// The memory of all rings, which is kept to the end, as `Area::new` asks.
static MEMORIES: Mutex<Vec<Vec<u64>>> = Mutex::new(Vec::new());

fn pair() -> (PieceWriter<Area>, PieceReader<Area>) {
    let mut memory = vec![0u64; crate::segment::PAIR_BYTES / 8 + 16];
    let start = memory.as_mut_ptr();
    MEMORIES.lock().unwrap().push(memory);
    // SAFETY: aligned up to a line inside the allocation, which is never freed; its last word says who is
    // connected.
    let area = unsafe {
        let last = start.add(crate::segment::PAIR_BYTES / 8 + 15).cast();
        Area::new(start.cast::<u8>().add(start.align_offset(64) * 8), None, (last, 1))
    };
    (PieceWriter::new(area), PieceReader::new(area))
}

#[test]
fn pieces_of_all_sizes_come_out_as_they_went_in_over_many_laps() {
    let (mut producer, mut consumer) = pair();
    let mut seed = 1u64;
    let mut ahead = std::collections::VecDeque::new();
    for number in 0..20_000u32 {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let left = [0, 1, 8, 47, 48, 49, 64, 500, 2000, 5000][(seed >> 33) as usize % 10];
        while !producer.fits(left) {
            let (number, left): (u32, usize) = ahead.pop_front().expect("a full ring holds something");
            let header = consumer.peek().expect("what was published is there");
            assert_eq!(header.context(), number);
            // SAFETY: peeked.
            let data = unsafe { consumer.data(left) };
            assert!(data.iter().all(|&byte| byte == 0xffu8.wrapping_sub(number as u8)));
            consumer.consume(left);
        }
        let header = PieceHeader::new(3, 9, number, -1, left as u32);
        producer.put_piece(header, left, |data| data.fill(0xffu8.wrapping_sub(number as u8)));
        producer.take_ahead(number % 100 > 3);
        producer.expect_answer();
        ahead.push_back((number, left));
    }
    for (number, left) in ahead {
        assert_eq!(consumer.peek().map(PieceHeader::context), Some(number));
        consumer.consume(left);
    }
    assert_eq!(consumer.peek(), None);
}

#[test]
fn short_messages_of_one_size_are_whole_and_start_at_the_same_lines_lap_after_lap() {
    for bytes in [0, INLINE, INLINE + 1, 100, 200, POOLED_FROM] {
        let (mut producer, mut consumer) = pair();
        let header = PieceHeader::new(3, 0, 0, 0, bytes as u32);
        let mut put = |bytes| {
            assert!(producer.fits(bytes));
            let (line, lap) = (producer.line, producer.lap);
            assert_eq!(producer.put_piece(header, bytes, |data| data.fill(1)), bytes);
            consumer.consume(bytes);
            consumer.publish();
            (lap, line)
        };
        // Other sizes before shift the places of the first lap alone.
        for other in [8, 60, 130] {
            put(other);
        }
        let starts: Vec<_> = (0..1000).map(|_| put(bytes)).collect();
        let of = |lap| starts.iter().filter(|at| at.0 == lap).map(|at| at.1).collect::<Vec<_>>();
        assert!(of(2).len() > 20 && of(2) == of(3) && of(2)[0] == 0, "{bytes}");
    }
}

#[test]
fn the_next_line_is_seen_behind_the_one_that_is_there_once_it_is_written() {
    let (mut producer, mut consumer) = pair();
    let header = |number| PieceHeader::new(3, 0, number, 7, 48);
    let mut seen = 0;
    for number in 0..2000u32 {
        assert!(producer.fits(INLINE));
        producer.put_words(header(number), &[u64::from(number), 5, 0, 0, 0, 0]);
        if number == 0 {
            assert_eq!(consumer.peek_behind(), None);
            continue;
        }
        // The first line of the next lap is not looked at.
        let behind = consumer.peek_behind();
        assert_eq!(behind.is_none(), number.is_multiple_of(STARTS));
        assert!(behind.is_none_or(|behind| behind == (header(number), [u64::from(number), 5, 0])));
        seen += u32::from(behind.is_some());
        consumer.consume(INLINE);
        assert_eq!((consumer.peek(), consumer.peek_behind()), (Some(header(number)), None));
        consumer.publish();
    }
    assert!(seen > 1950);
}

#[test]
fn no_stamp_of_a_sound_ring_is_corrupt_and_nonsense_is() {
    let (mut producer, mut consumer) = pair();
    let header = PieceHeader::new(3, 0, 0, 0, 0);
    let sizes = [0, 700, 48, 49, 4000, 1];
    for left in (0..60_000).map(|number| sizes[number % 7 % sizes.len()]) {
        assert!(!consumer.is_corrupt() && consumer.peek().is_none());
        assert!(producer.fits(left));
        producer.put_piece(header, left, |data| data.fill(0xa5));
        assert!(!consumer.is_corrupt());
        consumer.consume(left);
        consumer.publish();
    }
    let lap = consumer.lap;
    consumer.memory.publish(consumer.line, u64::from(lap.wrapping_add(9)));
    assert!(consumer.is_corrupt());
}

#[test]
fn lines_are_taken_for_a_row_of_messages_and_for_nothing_else() {
    let (mut producer, _) = pair();
    let header = PieceHeader::new(3, 0, 0, 0, 8);
    let mut put = |in_row| {
        assert!(producer.fits(8));
        producer.put_line(header, &[1; 8]);
        producer.take_ahead(in_row);
        producer.taken
    };
    assert!((0..40).all(|_| put(false) == 0));
    // As many as the row has had: 1; 3 when that is used up; 7.
    assert_eq!(Vec::from_iter((0..9).map(|_| put(true))), [1, 2, 1, 4, 3, 2, 1, 8, 7]);
    assert_eq!((put(false), put(false)), (6, 5));
}

#[test]
fn a_receiver_that_says_it_is_ahead_is_not_believed() {
    let (mut producer, consumer) = pair();
    consumer.memory.publish_counters(Counters { consumed: 7, ..Counters::default() });
    producer.refresh();
    assert!(producer.corrupt);
}

/// A rank's sides of the two rings between two ranks that have pages.
fn sides(segment: &Segment, rank: usize) -> (PieceWriter<Area>, PieceReader<Area>) {
    let area = |from, to| Area::of(segment, from, to);
    (PieceWriter::new(area(rank, 1 - rank)), PieceReader::new(area(1 - rank, rank)))
}

/// Sends a message in the page that came, or else beside its line; which of the two.
fn send(sides: &mut (PieceWriter<Area>, PieceReader<Area>)) -> bool {
    let (writer, reader) = sides;
    let header = PieceHeader::new(1, 0, 0, 0, 8);
    assert!(writer.fits(0));
    let came = reader.has_page_that_came();
    match came {
        true => writer.put_in_page_that_came(reader, header, 0, 8, |page| page.fill(1)),
        false => writer.put_beside(header, 0, 8, Some(reader.consumed()), 0, |page| page.fill(1)),
    }
    came
}

fn read((writer, reader): &mut (PieceWriter<Area>, PieceReader<Area>)) {
    assert!(reader.peek().is_some());
    // SAFETY: peeked, and consumed below.
    assert!(unsafe { reader.beside(writer, 8) }.is_some());
    reader.consume(0);
}

#[test]
fn a_page_has_its_turn_with_its_line_once_it_is_not_with_the_other_side_nor_kept_for_an_answer() {
    let segment = Segment::private(2, 2).unwrap();
    let (mut one, mut other) = (sides(&segment, 0), sides(&segment, 1));
    // The page beside the first line goes to and fro until that line has its turn again.
    for line in 0..STARTS {
        assert_eq!(send(&mut one), line > 0);
        if line + 1 < STARTS {
            read(&mut other);
            assert!(send(&mut other));
            // Who has no page says how far it has read.
            other.1.publish();
            read(&mut one);
        }
    }
    let gets_page = |one: &mut (PieceWriter<Area>, PieceReader<Area>)| {
        one.0.refresh();
        one.0.gets_page(&one.1)
    };
    assert!(one.0.line == 0 && one.0.has_pages());
    assert!(!gets_page(&mut one), "it is on its way");
    read(&mut other);
    assert!(!gets_page(&mut one), "the other side may answer there");
    assert!(send(&mut other));
    other.1.publish();
    assert!(!gets_page(&mut one), "an answer is there");
    read(&mut one);
    assert!(one.1.has_page_that_came() && !gets_page(&mut one), "it is kept for the next message");
    assert!(send(&mut one) && one.0.line == 1 && one.0.has_page());
    // The other side keeps none that it may not use any more.
    read(&mut other);
    assert!(other.1.has_page_that_came());
    other.1.publish();
    assert!(!other.1.has_page_that_came());
}
