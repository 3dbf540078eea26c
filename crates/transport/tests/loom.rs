//! Every interleaving of what two processes do with a ring's lines, with the claims of a message that both copy, with
//! the slots of a window, and with the word that one of them sleeps on.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::thread;
use std::sync::Arc;
use transport::asleep::Asleep;
use transport::claims::{ClaimEnd, Claims};
use transport::ring::{Counters, HEADER, LINE, LINES, PieceHeader, PieceReader, PieceWriter, RingLines};
use transport::segment::PAGE;
use transport::slots::{Owed, SlotCount};

/// A ring's lines as loom knows them. The data is ordinary memory, whose use is told to loom line by line.
struct Lines {
    stamps: Vec<AtomicU64>,
    rests: Vec<AtomicU64>,
    counters: [AtomicU64; 3],
    used: Vec<UnsafeCell<()>>,
    data: std::cell::UnsafeCell<Vec<u8>>,
    pages: std::cell::UnsafeCell<Vec<u8>>,
    pages_used: Vec<UnsafeCell<()>>,
}
// SAFETY: that the data is used by one side at a time is what the model finds out, by `used`.
unsafe impl Sync for Lines {}
// SAFETY: as above.
unsafe impl Send for Lines {}

impl Lines {
    fn new() -> Arc<Self> {
        let words = || (0..LINES).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self {
            stamps: words(),
            rests: words(),
            counters: [0; 3].map(AtomicU64::new),
            used: (0..LINES).map(|_| UnsafeCell::new(())).collect(),
            data: std::cell::UnsafeCell::new(vec![0; LINES as usize * LINE]),
            pages: std::cell::UnsafeCell::new(vec![0; LINES as usize * PAGE]),
            pages_used: (0..LINES).map(|_| UnsafeCell::new(())).collect(),
        })
    }

    /// What tells loom of a use of the page that starts there, if it is one of these.
    fn use_of(&self, start: *const u8) -> Option<&UnsafeCell<()>> {
        // SAFETY: the vector stays where it is, and only its address is used.
        let first = unsafe { (*self.pages.get()).as_ptr() };
        self.pages_used.get((start as usize).wrapping_sub(first as usize) / PAGE)
    }
}

/// One side's view.
struct Side {
    lines: Arc<Lines>,
    writes: bool,
}

impl RingLines for Side {
    fn stamp(&self, line: u32) -> u64 {
        self.lines.stamps[line as usize].load(Ordering::Acquire)
    }

    fn rest(&self, line: u32) -> u64 {
        self.lines.rests[line as usize].load(Ordering::Relaxed)
    }

    fn set_rest(&self, line: u32, word: u64) {
        self.lines.rests[line as usize].store(word, Ordering::Relaxed);
    }

    fn publish(&self, line: u32, word: u64) {
        self.lines.stamps[line as usize].store(word, Ordering::Release);
    }

    fn clear(&self, line: u32) {
        self.lines.stamps[line as usize].store(0, Ordering::Relaxed);
    }

    fn take(&self, line: u32) {
        self.lines.used[line as usize].with_mut(|_| ());
    }

    fn data(&self, line: u32) -> *mut u8 {
        let used = &self.lines.used[line as usize];
        if self.writes {
            used.with_mut(|_| ());
        } else {
            used.with(|_| ());
        }
        // SAFETY: inside the vector, whose memory stays where it is.
        unsafe { (*self.lines.data.get()).as_mut_ptr().add(line as usize * LINE + HEADER) }
    }

    fn page(&self, line: u32) -> Option<*mut u8> {
        // Who uses it tells loom by `pages_used`.
        // SAFETY: inside the vector, whose memory stays where it is.
        Some(unsafe { (*self.lines.pages.get()).as_mut_ptr().add(line as usize * PAGE) })
    }

    fn counters(&self) -> Counters {
        let consumed = self.lines.counters[0].load(Ordering::Acquire);
        let [handed_on, answered] = [1, 2].map(|index| self.lines.counters[index].load(Ordering::Relaxed));
        Counters { consumed, handed_on, answered }
    }

    fn publish_counters(&self, counters: Counters) {
        self.lines.counters[1].store(counters.handed_on, Ordering::Relaxed);
        self.lines.counters[2].store(counters.answered, Ordering::Relaxed);
        self.lines.counters[0].store(counters.consumed, Ordering::Release);
    }

    fn connect(&self) {}
}

fn header(number: u32, bytes: usize) -> PieceHeader {
    PieceHeader::new(1, 2, number, -3, bytes as u32)
}

/// Bytes of the messages of the model: of one line, of two, and of one with a page, over more than a lap.
const MESSAGES: [usize; 4] = [8, 60, 100, 8];
/// More than so many lie beside a line.
const MOST_IN_LINES: usize = 60;

#[test]
fn messages_come_whole_and_in_order_through_a_ring_that_wraps() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let lines = Lines::new();
        let side = |writes| Side { lines: lines.clone(), writes };
        let mut producer = PieceWriter::new(side(true));
        let mut consumer = PieceReader::new(side(false));
        let back = PieceWriter::new(Side { lines: Lines::new(), writes: true });
        let sender = thread::spawn(move || {
            for (number, bytes) in MESSAGES.into_iter().enumerate() {
                let mut sent = 0;
                if bytes > MOST_IN_LINES {
                    while !producer.fits(0) {
                        thread::yield_now();
                    }
                    let fill = |page: &mut [u8]| page.fill(number as u8 + 1);
                    producer.put_beside(header(number as u32, bytes), 7, bytes, None, 0, fill);
                    sent = bytes;
                }
                while sent < bytes {
                    while !producer.fits(bytes - sent) {
                        thread::yield_now();
                    }
                    let header = header(number as u32, bytes);
                    sent += producer.put_piece(header, bytes - sent, |data| data.fill(number as u8 + 1));
                }
                producer.take_ahead(true);
            }
        });
        for (number, bytes) in MESSAGES.into_iter().enumerate() {
            let mut got = 0;
            loop {
                let seen = loop {
                    match consumer.peek() {
                        Some(header) => break header,
                        None => thread::yield_now(),
                    }
                };
                assert_eq!(seen, header(number as u32, bytes));
                if bytes > MOST_IN_LINES {
                    // SAFETY: peeked, and consumed below.
                    let (word, data) = unsafe { consumer.beside(&back, bytes) }.unwrap();
                    assert!(word == 7 && data.len() == bytes);
                    assert!(data.iter().all(|&byte| byte == number as u8 + 1));
                    consumer.consume(0);
                    break;
                }
                // SAFETY: peeked, and consumed below.
                let data = unsafe { consumer.data(bytes - got) };
                assert!(data.iter().all(|&byte| byte == number as u8 + 1));
                let piece = data.len();
                consumer.consume(bytes - got);
                got += piece;
                if got == bytes {
                    break;
                }
            }
        }
        assert_eq!(consumer.peek(), None);
        sender.join().unwrap();
    });
}

/// A rank's sides of two rings.
struct Sides {
    rings: [Arc<Lines>; 2],
    producer: PieceWriter<Side>,
    consumer: PieceReader<Side>,
    sent: u32,
    received: u32,
    /// Messages that went in pages which had come.
    returned: u32,
}

impl Sides {
    fn of(rings: &[Arc<Lines>; 2], rank: usize) -> Self {
        let side = |ring: usize, writes| Side { lines: rings[ring].clone(), writes };
        let (producer, consumer) =
            (PieceWriter::new(side(rank, true)), PieceReader::new(side(1 - rank, false)));
        Self { rings: rings.clone(), producer, consumer, sent: 0, received: 0, returned: 0 }
    }

    /// Sends a message in a page, if there is one, else in a line.
    fn send(&mut self) {
        while !self.producer.fits(0) {
            thread::yield_now();
        }
        let (number, rings) = (self.sent, &self.rings);
        let header = |kind| PieceHeader::new(kind, 0, number, 0, 8);
        let fill = |page: &mut [u8]| {
            let used = rings.iter().find_map(|ring| ring.use_of(page.as_ptr())).unwrap();
            used.with_mut(|_| page.fill(number as u8));
        };
        if self.consumer.has_page_that_came() {
            self.producer.put_in_page_that_came(&mut self.consumer, header(1), 0, 8, fill);
            self.returned += 1;
        } else if self.producer.gets_page(&self.consumer) {
            self.producer.put_beside(header(1), 0, 8, Some(self.consumer.consumed()), 0, fill);
        } else {
            self.producer.put_line(header(2), &[]);
        }
        self.sent += 1;
    }

    fn receive(&mut self) {
        let seen = loop {
            match self.consumer.peek() {
                Some(header) => break header,
                None => thread::yield_now(),
            }
        };
        assert_eq!(seen.context(), self.received);
        if seen.kind() == 1 {
            // SAFETY: peeked, and consumed below.
            let (_, data) = unsafe { self.consumer.beside(&self.producer, 8) }.unwrap();
            let used = self.rings.iter().find_map(|ring| ring.use_of(data.as_ptr())).unwrap();
            used.with(|_| assert!(data.iter().all(|&byte| byte == self.received as u8)));
        }
        self.consumer.consume(0);
        self.received += 1;
    }
}

/// What the two ranks do one after the other, over more than a lap, and whether an answer goes in the page that came.
/// To and fro; an answer that is not read before its page has its turn; and one that comes when its page may have been
/// taken back.
const ORDERS: [([&str; 2], bool); 3] =
    [(["srsrsr", "rsrsrs"], true), (["ssssssr", "rsrrrrr"], true), (["ssssssr", "rrsrrrr"], false)];

#[test]
fn a_page_that_goes_to_and_fro_is_one_sides_at_a_time() {
    for (orders, returns) in ORDERS {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(move || {
            let rings = [Lines::new(), Lines::new()];
            let run = |mut sides: Sides, order: &str| {
                for what in order.chars() {
                    if what == 's' { sides.send() } else { sides.receive() }
                }
                sides.returned
            };
            let (first, second) = (Sides::of(&rings, 0), Sides::of(&rings, 1));
            let other = thread::spawn(move || run(second, orders[1]));
            run(first, orders[0]);
            assert_eq!(other.join().unwrap() > 0, returns, "{orders:?}");
        });
    }
}

#[test]
fn each_piece_is_copied_once_and_seen_when_all_are_done_and_who_is_late_gets_none() {
    pieces_are_copied_once(|claims, generation, pieces, _| claims.claim(generation, pieces));
}

#[test]
fn so_is_each_piece_that_is_claimed_from_an_end() {
    pieces_are_copied_once(|claims, generation, pieces, end| claims.claim_from(end, generation, pieces));
}

fn pieces_are_copied_once(claim: fn(&Claims, u32, u32, ClaimEnd) -> Option<u32>) {
    const PIECES: u32 = 2;
    loom::model(move || {
        let claims = Arc::new(Claims::default());
        let pieces: Arc<Vec<UnsafeCell<u32>>> = Arc::new((0..PIECES).map(|_| UnsafeCell::new(0)).collect());
        claims.open(1);
        let done = Arc::new(AtomicU32::new(0));
        let copy = move |end, claims: &Claims, pieces: &[UnsafeCell<u32>], done: &AtomicU32| {
            while let Some(piece) = claim(claims, 1, PIECES, end) {
                // SAFETY: loom checks that nobody else is at it.
                pieces[piece as usize].with_mut(|place| unsafe { *place += 1 });
                done.fetch_add(1, Ordering::Release);
            }
        };
        let sender = {
            let (claims, pieces, done) = (claims.clone(), pieces.clone(), done.clone());
            thread::spawn(move || copy(ClaimEnd::Last, &claims, &pieces, &done))
        };
        copy(ClaimEnd::First, &claims, &pieces, &done);
        while done.load(Ordering::Acquire) < PIECES {
            thread::yield_now();
        }
        for piece in pieces.iter() {
            // SAFETY: loom checks that nobody writes.
            assert_eq!(piece.with(|place| unsafe { *place }), 1);
        }
        // The place is used for the next message, while the sender may still look for pieces of the last one.
        claims.open(2);
        assert_eq!(claim(&claims, 1, PIECES, ClaimEnd::Last), None);
        assert_eq!(claim(&claims, 2, 1, ClaimEnd::First), Some(0));
        assert_eq!(claim(&claims, 2, 1, ClaimEnd::Last), None);
        sender.join().unwrap();
        for piece in pieces.iter() {
            // SAFETY: as above.
            assert_eq!(piece.with(|place| unsafe { *place }), 1);
        }
    });
}

/// A rank's word as loom knows it: the kernel's barrier, and the futex (compare and sleep are one step).
struct Word {
    set: AtomicU32,
    /// The barrier was asked for, and has run on the sender's core.
    barrier: [AtomicU32; 2],
    sleepers: loom::sync::Mutex<()>,
    woken: loom::sync::Condvar,
}

impl Asleep for Word {
    fn announced(&self) -> u32 {
        self.set.load(Ordering::Relaxed)
    }

    fn set(&self, what: u32) {
        self.set.fetch_or(what, Ordering::SeqCst);
    }

    fn take(&self) -> bool {
        self.set.swap(0, Ordering::SeqCst) != 0
    }

    fn barrier(&self) -> bool {
        self.barrier[0].store(1, Ordering::Release);
        while self.barrier[1].load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        true
    }

    fn wake(&self) {
        drop(self.sleepers.lock().unwrap());
        self.woken.notify_all();
    }
}

impl Word {
    fn sleep(&self) {
        let guard = self.sleepers.lock().unwrap();
        if self.set.load(Ordering::Relaxed) != 0 {
            drop(self.woken.wait(guard).unwrap());
        }
    }
}

#[test]
fn a_slot_is_filled_again_only_when_its_reader_has_taken_it() {
    const SLOTS: u64 = 2;
    const NUMBERS: u64 = 3;
    struct Window {
        filled: SlotCount,
        taken: SlotCount,
        slots: [UnsafeCell<u64>; SLOTS as usize],
    }
    // SAFETY: that a slot is used by one side at a time is what the model finds out.
    unsafe impl Sync for Window {}
    // SAFETY: as above.
    unsafe impl Send for Window {}

    loom::model(|| {
        let window = Arc::new(Window {
            filled: SlotCount::default(),
            taken: SlotCount::default(),
            slots: [0, 0].map(UnsafeCell::new),
        });
        let reader = {
            let window = window.clone();
            thread::spawn(move || {
                for number in 0..NUMBERS {
                    while window.filled.read() <= number {
                        thread::yield_now();
                    }
                    let slot = &window.slots[(number % SLOTS) as usize];
                    // SAFETY: nobody writes to it meanwhile.
                    slot.with(|slot| assert_eq!(unsafe { *slot }, 10 + number));
                    window.taken.publish(number + 1);
                }
            })
        };
        let mut owed = Owed::default();
        (0..NUMBERS).for_each(|number| owed.add(0, number));
        for number in 0..NUMBERS {
            while !owed.may_fill(number, SLOTS, |_| window.taken.read()) {
                thread::yield_now();
            }
            // SAFETY: nobody reads it meanwhile.
            window.slots[(number % SLOTS) as usize].with_mut(|slot| unsafe { *slot = 10 + number });
            window.filled.publish(number + 1);
        }
        reader.join().unwrap();
    });
}

#[test]
fn a_message_is_never_slept_through_wherever_the_barrier_meets_its_sender() {
    // The kernel's barrier interrupts the sender before it writes, between its write and its look, or after it.
    // What comes is a message, or room that the sleeper waits for.
    for (meets, for_room) in (0..3).flat_map(|meets| [(meets, false), (meets, true)]) {
        loom::model(move || {
            let word = Arc::new(Word {
                set: AtomicU32::new(0),
                barrier: [AtomicU32::new(0), AtomicU32::new(0)],
                sleepers: loom::sync::Mutex::new(()),
                woken: loom::sync::Condvar::new(),
            });
            let message = Arc::new(AtomicU64::new(0));
            let sender = {
                let (word, message) = (word.clone(), message.clone());
                thread::spawn(move || {
                    let interrupt = |here| {
                        if here == meets {
                            while word.barrier[0].load(Ordering::Acquire) == 0 {
                                thread::yield_now();
                            }
                            word.barrier[1].store(1, Ordering::Release);
                        }
                    };
                    interrupt(0);
                    message.store(1, Ordering::Release);
                    interrupt(1);
                    if for_room {
                        word.ring_for_room()
                    } else {
                        word.ring()
                    }
                    interrupt(2);
                })
            };
            let come = || message.load(Ordering::Acquire) == 1;
            word.announce(for_room);
            if !come() {
                word.sleep();
            }
            while !come() {
                thread::yield_now();
            }
            sender.join().unwrap();
        });
    }
}
