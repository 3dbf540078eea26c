//! Ranks that are threads of one process. Miri sees every race and alias, and every byte that is read before it is
//! written; under it there are fewer messages: `cargo +nightly miri test -p cellweave-transport --test threads`.
#![cfg(not(loom))]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use transport::claims::{ClaimEnd, Claims};
use transport::ring::{Area, PieceHeader, PieceReader, PieceWriter};
use transport::slots::{SLOT_BYTES, SlotFlow};
use transport::{
    Buffer, Completion, Criteria, DataUse, Engine, EngineCounters, Envelope, Exit, Layout, Mode, Passage,
    Passing, Segment, Shape, Showing, Span, Spot, WaitingRoom,
};

const ROUNDS: usize = if cfg!(miri) { 1 } else { 20 };
/// Bytes of a message that is announced before it is sent.
const LARGE: usize = if cfg!(miri) { 70_000 } else { 150_000 };
const CONTEXT: u32 = 4;

fn sample(bytes: usize, seed: usize) -> Vec<u8> {
    let period: Vec<u8> = (0..251).map(|at| (at * 7 + seed) as u8).collect();
    period.repeat(bytes / period.len() + 1)[..bytes].to_vec()
}

/// The header of the next piece, as soon as it is there.
fn next_header(reader: &mut PieceReader<Area>) -> PieceHeader {
    loop {
        match reader.peek() {
            Some(header) => return header,
            None => {
                // The writer may wait for lines that were consumed since the counters were last published.
                reader.publish();
                thread::yield_now();
            }
        }
    }
}

#[test]
fn a_ring_hands_on_every_byte_over_several_laps() {
    // More than two laps of 240 lines: stamps, and lines that had data in the lap before.
    const PIECES: usize = if cfg!(miri) { 150 } else { 20_000 };
    const SIZES: [usize; 5] = [0, 48, 49, 200, 700];
    let segment = Segment::private(2, 2).unwrap();
    let area = Area::of(&segment, 0, 1);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut writer = PieceWriter::new(area);
            for number in 0..PIECES {
                let bytes = SIZES[number % SIZES.len()];
                while !writer.fits(bytes) {
                    thread::yield_now();
                }
                let header = PieceHeader::new(1, 0, CONTEXT, number as i32, bytes as u32);
                writer.put_piece(header, bytes, |data| data.fill(number as u8));
            }
        });
        let mut reader = PieceReader::new(area);
        for number in 0..PIECES {
            let header = next_header(&mut reader);
            assert_eq!(header.tag(), number as i32);
            let left = header.length() as usize;
            // A piece ends at the end of the ring; this writer does not go on behind it.
            // SAFETY: peeked, and consumed below.
            assert!(unsafe { reader.data(left) }.iter().all(|&byte| byte == number as u8));
            reader.consume(left);
        }
        assert!(reader.peek().is_none());
    });
}

#[test]
fn so_do_the_pages_beside_its_lines() {
    const PIECES: usize = if cfg!(miri) { 300 } else { 20_000 };
    const SIZES: [usize; 5] = [1, 300, 4096, 1024, 48];
    let segment = Segment::private(2, 2).unwrap();
    let area = Area::of(&segment, 0, 1);
    let back = PieceWriter::new(Area::of(&segment, 1, 0));
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut writer = PieceWriter::new(area);
            for number in 0..PIECES {
                while !writer.fits(0) {
                    thread::yield_now();
                }
                let bytes = SIZES[number % SIZES.len()];
                let header = PieceHeader::new(1, 0, CONTEXT, number as i32, bytes as u32);
                let fill = |page: &mut [u8]| page.fill(number as u8);
                writer.put_beside(header, number as u64, bytes, None, bytes.min(1024), fill);
            }
        });
        let mut reader = PieceReader::new(area);
        for number in 0..PIECES {
            let header = next_header(&mut reader);
            if let Some((_, words)) = reader.peek_behind() {
                reader.fetch_beside(words, 1024);
            }
            // SAFETY: peeked, and consumed below.
            let (word, data) = unsafe { reader.beside(&back, header.length() as usize) }.unwrap();
            assert_eq!((header.tag(), word, data.len()), (number as i32, number as u64, SIZES[number % 5]));
            assert!(data.iter().all(|&byte| byte == number as u8));
            reader.consume(0);
            assert!(!reader.has_page_that_came(), "none was lent");
        }
        // SAFETY: nothing is read: it is more than a page.
        assert!(unsafe { reader.beside(&back, 4097) }.is_none());
    });
    // Ranks that share cpus have none.
    let segment = Segment::private(3, 2).unwrap();
    let back = PieceWriter::new(Area::of(&segment, 1, 0));
    let mut reader = PieceReader::new(Area::of(&segment, 0, 1));
    // SAFETY: as above: nothing is read.
    assert!(unsafe { reader.beside(&back, 1) }.is_none());
}

/// A rank's sides of the two rings between it and another one.
struct Sides {
    writer: PieceWriter<Area>,
    reader: PieceReader<Area>,
    sent: usize,
    received: usize,
    /// Messages that went in pages which had come.
    returned: usize,
}

impl Sides {
    fn of(segment: &Segment, rank: usize) -> Self {
        let area = |from, to| Area::of(segment, from, to);
        let (writer, reader) =
            (PieceWriter::new(area(rank, 1 - rank)), PieceReader::new(area(1 - rank, rank)));
        Self { writer, reader, sent: 0, received: 0, returned: 0 }
    }

    /// Sends a message in a page, if there is one, else in a line.
    fn send(&mut self) {
        while !self.writer.fits(0) {
            thread::yield_now();
        }
        let (number, bytes) = (self.sent as u64, 1 + self.sent % 4096);
        let header = |kind| PieceHeader::new(kind, 0, CONTEXT, number as i32, bytes as u32);
        let fill = |page: &mut [u8]| page.fill(number as u8);
        if self.reader.has_page_that_came() {
            self.writer.put_in_page_that_came(&mut self.reader, header(1), number, bytes, fill);
            self.returned += 1;
        } else if self.writer.gets_page(&self.reader) {
            self.writer.put_beside(header(1), number, bytes, Some(self.reader.consumed()), 0, fill);
        } else {
            self.writer.put_line(header(2), &[]);
        }
        self.sent += 1;
    }

    fn receive(&mut self) {
        let header = next_header(&mut self.reader);
        assert_eq!(header.tag(), self.received as i32);
        if header.kind() == 1 {
            // SAFETY: peeked, and consumed below.
            let beside = unsafe { self.reader.beside(&self.writer, header.length() as usize) };
            let (word, data) = beside.unwrap();
            assert_eq!(word, self.received as u64);
            assert!(data.iter().all(|&byte| byte == self.received as u8), "message {}", self.received);
        }
        self.reader.consume(0);
        self.received += 1;
    }
}

#[test]
fn pages_go_to_and_fro_and_are_never_written_by_both_sides() {
    const ROUNDS: usize = if cfg!(miri) { 150 } else { 30_000 };
    // How many messages each of the two sends in a round, and whether they cross.
    const PATTERNS: [([usize; 2], bool); 6] =
        [([1, 1], false), ([1, 1], false), ([3, 1], false), ([1, 2], true), ([0, 1], false), ([70, 1], true)];
    let segment = Segment::private(2, 2).unwrap();
    let run = |rank: usize| {
        let mut sides = Sides::of(&segment, rank);
        for round in 0..ROUNDS {
            let (messages, cross) = PATTERNS[round / 50 % PATTERNS.len()];
            let (sent, received) = (messages[rank], messages[1 - rank]);
            let receives_first = rank == 1 && !cross;
            if receives_first {
                (0..received).for_each(|_| sides.receive());
            }
            (0..sent).for_each(|_| sides.send());
            if !receives_first {
                (0..received).for_each(|_| sides.receive());
            }
        }
        assert!(sides.returned > ROUNDS / 4, "rank {rank}: {} of {}", sides.returned, sides.sent);
    };
    thread::scope(|scope| {
        scope.spawn(|| run(0));
        run(1);
    });
}

#[test]
fn two_threads_that_claim_pieces_copy_each_once() {
    const PIECES: usize = 4;
    const PIECE: usize = 64;
    /// A message's bytes at its receiver, as the two threads that copy it see them.
    #[derive(Clone, Copy)]
    struct Place(*mut u8);
    // SAFETY: a piece is written by the thread that claimed it alone; this is what is tested.
    unsafe impl Sync for Place {}
    impl Place {
        fn copy_claimed(
            self,
            claims: &Claims,
            generation: u32,
            end: ClaimEnd,
            from: &[u8],
            done: &AtomicUsize,
        ) {
            // By turns from both ends.
            let claim = || match generation % 2 {
                0 => claims.claim(generation, PIECES as u32),
                _ => claims.claim_from(end, generation, PIECES as u32),
            };
            while let Some(piece) = claim() {
                let at = piece as usize * PIECE;
                // SAFETY: inside both by the number of pieces, and this thread's alone, because it claimed the piece.
                unsafe { std::ptr::copy_nonoverlapping(from[at..].as_ptr(), self.0.add(at), PIECE) };
                done.fetch_add(1, Ordering::Release);
            }
        }
    }
    let claims = Claims::default();
    for generation in 1..=ROUNDS as u32 * 10 {
        let from = sample(PIECES * PIECE, generation as usize);
        let mut to = vec![0; PIECES * PIECE];
        let place = Place(to.as_mut_ptr());
        let done = AtomicUsize::new(0);
        claims.open(generation);
        thread::scope(|scope| {
            scope.spawn(|| place.copy_claimed(&claims, generation, ClaimEnd::Last, &from, &done));
            place.copy_claimed(&claims, generation, ClaimEnd::First, &from, &done);
            while done.load(Ordering::Acquire) < PIECES {
                thread::yield_now();
            }
            // Read while the other thread may still look for pieces.
            // SAFETY: every piece is copied, and nobody writes any more.
            assert_eq!(unsafe { std::slice::from_raw_parts(place.0, PIECES * PIECE) }, from);
        });
    }
}

/// Runs each rank of a job in a thread of its own, until all have done their work.
fn job(ranks: usize, work: impl Fn(&mut Engine<'_>, u16) + Sync) {
    // With too few cpus, ranks that wait yield at once: under Miri, polls are slow.
    let segment = Segment::private(ranks, if cfg!(miri) { 1 } else { ranks }).unwrap();
    let (work, done) = (&work, &AtomicUsize::new(0));
    thread::scope(|scope| {
        for rank in 0..ranks {
            scope.spawn(move || {
                let (room, counters) = (WaitingRoom::new(&Exit), EngineCounters::new());
                let mut engine = Engine::new(&room, &counters);
                if cfg!(miri) {
                    // It has no copies between processes.
                    engine.set_copy_from(usize::MAX);
                }
                segment.rank(rank).pid.store(std::process::id(), Ordering::Relaxed);
                engine.attach(segment, rank);
                work(&mut engine, rank as u16);
                done.fetch_add(1, Ordering::AcqRel);
                while done.load(Ordering::Acquire) < ranks {
                    engine.progress();
                    thread::yield_now();
                }
                assert_eq!((engine.under_way(), engine.queues()), (0, (0, 0)));
            });
        }
    });
}

/// Sends one buffer to the other of two ranks and receives another from it; how the receive ended.
fn exchange(
    engine: &mut Engine<'_>,
    tag: i32,
    from: &Buffer,
    to: &Buffer,
    mode: Mode,
    early: bool,
) -> Completion {
    let source = engine.rank() as u16;
    let other = 1 - source;
    let criteria = Criteria { context: CONTEXT, source: Some(other), tag: Some(tag) };
    let receive = |engine: &mut Engine<'_>| engine.receive(criteria, Some(usize::from(other)), to);
    let posted = early.then(|| receive(engine));
    let sent = engine.send(usize::from(other), Envelope::new(CONTEXT, source, tag), from, mode);
    let posted = posted.unwrap_or_else(|| receive(engine));
    let ended = engine.wait(posted);
    if let Some(sent) = sent {
        engine.wait(sent);
    }
    ended
}

#[test]
fn messages_cross_each_other_by_line_ring_pool_and_announcement() {
    const SIZES: [usize; 9] = [0, 1, 48, 49, 1000, 5000, 16_384, 20_000, LARGE];
    job(2, |engine, rank| {
        for round in 0..ROUNDS {
            for (number, bytes) in SIZES.into_iter().enumerate() {
                let mode = if (round + number) % 2 == 0 { Mode::Standard } else { Mode::Synchronous };
                let mut from = sample(bytes, usize::from(rank));
                // Memory that nobody has written: the receive must write all of it.
                let mut to: Vec<u8> = Vec::with_capacity(bytes);
                // SAFETY: both are left alone until `exchange` returns.
                let buffers =
                    unsafe { [Buffer::new(from.as_mut_ptr(), bytes), Buffer::new(to.as_mut_ptr(), bytes)] };
                let early = (number + usize::from(rank)) % 2 == 0;
                let ended = exchange(engine, round as i32, &buffers[0], &buffers[1], mode, early);
                assert_eq!((ended.bytes, ended.truncated()), (bytes, None));
                // SAFETY: `bytes` bytes were received.
                unsafe { to.set_len(bytes) };
                assert!(to == sample(bytes, usize::from(1 - rank)), "{bytes} bytes, {mode:?}");
            }
        }
    });
}

#[test]
fn a_stream_arrives_whole_through_the_pool_and_by_the_kernel_in_its_turn() {
    const BYTES: usize = 20_000;
    const AT_ONCE: usize = 16;
    // The kernel's first turn is after 64 times 64 messages.
    const WINDOWS: usize = if cfg!(miri) { 1 } else { 80 * 64 / AT_ONCE };
    job(2, |engine, rank| {
        let mut data = sample(BYTES + AT_ONCE + WINDOWS, 0);
        for window in 0..WINDOWS {
            let mut into = vec![0; BYTES * AT_ONCE];
            let transfers: Vec<_> = (0..AT_ONCE)
                .filter_map(|at| {
                    let criteria = Criteria { context: CONTEXT, source: Some(0), tag: Some(at as i32) };
                    let place = if rank == 0 { &mut data[window + at..] } else { &mut into[at * BYTES..] };
                    // SAFETY: both are left alone until all transfers are complete.
                    let buffer = unsafe { Buffer::new(place.as_mut_ptr(), BYTES) };
                    match rank {
                        0 => engine.send(1, Envelope::new(CONTEXT, 0, at as i32), &buffer, Mode::Standard),
                        _ => Some(engine.receive(criteria, Some(0), &buffer)),
                    }
                })
                .collect();
            transfers.into_iter().for_each(|transfer| _ = engine.wait(transfer));
            let is_whole = |(at, into): (usize, &[u8])| *into == data[window + at..][..BYTES];
            assert!(rank == 0 || into.chunks(BYTES).enumerate().all(is_whole), "window {window}");
        }
    });
}

/// Sends a word to another rank.
fn tell(engine: &mut Engine<'_>, to: u16, word: usize) {
    let (mut bytes, source) = (word.to_ne_bytes(), engine.rank() as u16);
    // SAFETY: left alone until the send is complete.
    let buffer = unsafe { Buffer::new(bytes.as_mut_ptr(), bytes.len()) };
    let envelope = Envelope::new(CONTEXT, source, 0);
    if let Some(sent) = engine.send(usize::from(to), envelope, &buffer, Mode::Standard) {
        engine.wait(sent);
    }
}

/// The next word from another rank.
fn hear(engine: &mut Engine<'_>, from: u16) -> usize {
    let mut bytes = [0; size_of::<usize>()];
    // SAFETY: left alone until the receive is complete.
    let buffer = unsafe { Buffer::new(bytes.as_mut_ptr(), bytes.len()) };
    let criteria = Criteria { context: CONTEXT, source: Some(from), tag: Some(0) };
    let received = engine.receive(criteria, Some(usize::from(from)), &buffer);
    engine.wait(received);
    usize::from_ne_bytes(bytes)
}

#[test]
fn readers_get_all_of_what_is_still_being_copied_to_where_it_is_shown() {
    // In pieces, and by turns at both spots.
    const SHOWN: [usize; 2] = [300_000, 100_000];
    const READERS: [u16; 2] = [1, 2];
    job(1 + READERS.len(), |engine, rank| {
        for round in 0..5 * ROUNDS {
            let shown = SHOWN[round % SHOWN.len()];
            if rank == 0 {
                let mut data = sample(shown, round);
                // SAFETY: left alone until it is copied.
                let buffer = unsafe { Buffer::new(data.as_mut_ptr(), shown) };
                let Showing { at, spot } = engine.begin_to_show(&buffer).expect("room");
                engine.show_again();
                for reader in READERS {
                    tell(engine, reader, at);
                    tell(engine, reader, spot as usize);
                }
                engine.go_on_showing();
                drop(data);
                for reader in READERS {
                    hear(engine, reader);
                    engine.was_read();
                }
            } else {
                let at = hear(engine, 0);
                let spot = if hear(engine, 0) == Spot::Next as usize { Spot::Next } else { Spot::Again };
                // Memory that nobody has written: all of it must be.
                let mut read: Vec<u8> = Vec::with_capacity(shown);
                // SAFETY: left alone until it is read; rank 0 has told of it.
                unsafe {
                    let buffer = Buffer::new(read.as_mut_ptr(), shown);
                    assert!(engine.read_shown(0, Showing { at, spot }, shown, &buffer));
                    read.set_len(shown);
                }
                assert!(read == sample(shown, round));
                tell(engine, 0, 0);
            }
        }
    });
}

#[test]
fn slots_pass_every_byte_from_rank_to_rank_and_to_all() {
    // Each round one rank passes data to some, which come when they like; each takes what all others pass in turn.
    const RANKS: usize = 3;
    const BYTES: [usize; 3] = [3 * SLOT_BYTES + 77, 100, 2 * SLOT_BYTES];
    let readers_of = |round: usize, writer: usize| {
        let is_reader =
            move |&rank: &usize| rank != writer && !(round % 2 == 1 && rank == (writer + 1) % RANKS);
        (0..RANKS).filter(is_reader).collect::<Vec<usize>>()
    };
    job(RANKS, |engine, rank| {
        let rank = usize::from(rank);
        for round in 0..6 * ROUNDS {
            let (writer, bytes) = (round % RANKS, BYTES[round / 2 % BYTES.len()]);
            let readers = readers_of(round, writer);
            if rank == writer {
                let mut data = sample(bytes, round);
                let pieces = bytes.div_ceil(SLOT_BYTES);
                let [filled_by, taken_by] = [DataUse::Copies; 2];
                let alone = round % 5 < 3;
                let passing = Passing { bytes, pieces, filled_by, taken_by, takers: &readers, alone };
                let words = engine.begin_to_fill(passing).words();
                for &reader in &readers {
                    words.iter().for_each(|&word| tell(engine, reader as u16, word as usize));
                }
                for from in (0..bytes).step_by(SLOT_BYTES) {
                    let slot = loop {
                        match engine.free_slot() {
                            Some(slot) => break slot,
                            None => thread::yield_now(),
                        }
                    };
                    // SAFETY: the slot that is free; the data is left alone until it is copied.
                    unsafe { engine.fill_slot(slot, &Buffer::new(data.as_mut_ptr(), bytes), from) };
                    engine.filled(&readers);
                }
            } else if readers.contains(&rank) {
                let words = [(); 3].map(|()| hear(engine, writer as u16) as u64);
                let all = Passage::of(words).expect("what was told");
                // Memory that nobody has written: all of it must be.
                let mut read: Vec<u8> = Vec::with_capacity(bytes);
                engine.begin_to_take(SlotFlow::FromOne, bytes, readers[0]);
                for (index, from) in (0..bytes).step_by(SLOT_BYTES).enumerate() {
                    let slot = loop {
                        match engine.slot_of(writer, all, index) {
                            Some(slot) => break slot,
                            None => thread::yield_now(),
                        }
                    };
                    // SAFETY: the slot that holds this piece, and room for all of them.
                    unsafe {
                        let into = Buffer::new(read.as_mut_ptr(), bytes);
                        engine.take_slot((writer, all), slot, bytes - from, &into, from);
                    }
                    engine.took(writer, all, index);
                }
                // SAFETY: all pieces have come.
                unsafe { read.set_len(bytes) };
                assert!(read == sample(bytes, round));
            }
        }
    });
}

/// Bytes of data, then as many that are none.
struct Comb;

/// Bytes in a row; not a multiple of anything that the engine cuts messages into.
const TOOTH: usize = 50;

impl Comb {
    /// Where bytes `from .. from + most` of the packed data lie, tooth by tooth: from which byte on, how many.
    fn teeth(count: usize, from: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
        let end = (TOOTH * count).min(from + most);
        (from / TOOTH..end.div_ceil(TOOTH)).map(move |tooth| {
            let (start, end) = (from.max(tooth * TOOTH), end.min((tooth + 1) * TOOTH));
            (start + tooth * TOOTH, end - start)
        })
    }
}

impl Shape for Comb {
    unsafe fn pack(&self, base: *const u8, count: usize, from: usize, into: &mut [u8]) -> usize {
        let mut done = 0;
        for (at, bytes) in Self::teeth(count, from, into.len()) {
            // SAFETY: data, by the caller's promise, and not more than `into` has room for.
            unsafe { std::ptr::copy_nonoverlapping(base.add(at), into[done..].as_mut_ptr(), bytes) };
            done += bytes;
        }
        done
    }

    unsafe fn unpack(&self, base: *mut u8, count: usize, from: usize, data: &[u8]) -> usize {
        let mut done = 0;
        for (at, bytes) in Self::teeth(count, from, data.len()) {
            // SAFETY: room for data, by the caller's promise, and not more than `data` has.
            unsafe { std::ptr::copy_nonoverlapping(data[done..].as_ptr(), base.add(at), bytes) };
            done += bytes;
        }
        done
    }

    fn spans(
        &self,
        base: *mut u8,
        count: usize,
        from: usize,
        most: usize,
        pieces: usize,
        into: &mut Vec<Span>,
    ) -> usize {
        let first = into.len();
        let teeth = Self::teeth(count, from, most).take(pieces);
        into.extend(teeth.map(|(at, bytes)| Span { address: base.wrapping_add(at), bytes }));
        into[first..].iter().map(|span| span.bytes).sum()
    }
}

/// Packed data as it lies in a comb with this between the teeth.
fn combed(data: &[u8], between: u8) -> Vec<u8> {
    let gap = [between; TOOTH];
    data.chunks(TOOTH).flat_map(|tooth| [tooth, &gap]).collect::<Vec<_>>().concat()
}

#[test]
fn a_message_touches_nothing_between_the_pieces_of_its_buffer() {
    job(2, |engine, rank| {
        for teeth in [1, 12, 180, LARGE / TOOTH] {
            let bytes = teeth * TOOTH;
            let mut from = combed(&sample(bytes, usize::from(rank)), 0);
            let mut to = vec![0xee; 2 * bytes];
            let layout = || Layout { shape: Arc::new(Comb), count: teeth };
            // SAFETY: both are left alone until `exchange` returns, and have room for the teeth and what lies between.
            let buffers = unsafe {
                [
                    Buffer::of_layout(from.as_mut_ptr(), bytes, layout()),
                    Buffer::of_layout(to.as_mut_ptr(), bytes, layout()),
                ]
            };
            let ended = exchange(engine, 1, &buffers[0], &buffers[1], Mode::Standard, rank == 0);
            assert_eq!(ended.bytes, bytes);
            assert!(to == combed(&sample(bytes, usize::from(1 - rank)), 0xee), "{bytes} bytes");
        }
    });
}

#[test]
fn a_message_that_is_cut_leaves_the_memory_behind_its_buffer_alone() {
    job(2, |engine, rank| {
        for bytes in [40, 900, 6000, LARGE] {
            let mut from = sample(bytes, usize::from(rank));
            // Only ten bytes: Miri would see a write behind them.
            let mut to = [0; 10];
            // SAFETY: both are left alone until `exchange` returns.
            let buffers =
                unsafe { [Buffer::new(from.as_mut_ptr(), bytes), Buffer::new(to.as_mut_ptr(), 10)] };
            let ended = exchange(engine, 2, &buffers[0], &buffers[1], Mode::Standard, rank == 1);
            assert_eq!((ended.bytes, ended.truncated()), (10, Some(bytes)));
            assert_eq!(to[..], sample(10, usize::from(1 - rank)));
        }
    });
}

#[test]
fn three_ranks_receive_from_anyone_what_was_sent_before_and_what_was_not() {
    job(3, |engine, rank| {
        let mut data: Vec<Vec<u8>> = (0..3).map(|to| sample(100 + to, usize::from(rank))).collect();
        let mut sent = Vec::new();
        for (to, data) in data.iter_mut().enumerate() {
            // SAFETY: left alone until the sends are complete.
            let buffer = unsafe { Buffer::new(data.as_mut_ptr(), data.len()) };
            sent.extend(engine.send(to, Envelope::new(CONTEXT, rank, 7), &buffer, Mode::Standard));
        }
        let mut seen = [false; 3];
        for _ in 0..3 {
            let mut to = [0; 102];
            // SAFETY: left alone until the receive is complete.
            let buffer = unsafe { Buffer::new(to.as_mut_ptr(), to.len()) };
            let id = engine.receive(Criteria { context: CONTEXT, source: None, tag: None }, None, &buffer);
            let ended = engine.wait(id);
            let source = ended.source as usize;
            assert!(!std::mem::replace(&mut seen[source], true), "one message of each rank");
            assert_eq!(to[..ended.bytes], sample(100 + usize::from(rank), source));
        }
        for id in sent {
            engine.wait(id);
        }
    });
}
