//! Large messages, once they are matched.
//!
//! | sender's data | receiver's buffer | how |
//! |---|---|---|
//! | contiguous | contiguous | see below |
//! | contiguous | not | the receiver copies from the sender's memory |
//! | not | contiguous | the sender copies to the receiver's memory |
//! | not | not | packed pieces go through the pool |
//!
//! Contiguous data has several ways (see [`Way`]), and the receiver says which. By the kernel, both copy what they
//! claim, at once: the receiver the first pieces, the sender the last. So both find theirs in their caches when the
//! next message uses the same buffers. (By hand on a Xeon, us one way, by the receiver alone, by both, and by both with
//! halves that change: 64 kB 4.4, 3.0 and 6.2; 256 kB 12.6, 8.6 and 15; 1 MB 65, 25 and 71.) By the receiver, nobody is
//! asked. By the pool, a sender that moves messages sends what it claims through the pool; a receiver to which nothing
//! comes claims pieces itself, and copies them by the kernel while the sender computes; a sender that has no slot left,
//! because the receiver computes, copies by the kernel, too. Messages of less than `SHARED_FROM` bytes that take that
//! way are the sender's alone; those of more are never the receiver's alone. Where ranks share cpus, a message of a
//! collective is copied by its sender alone, by the kernel: others send at the same time, each on its own cpu.

use super::crossing::Crossing;
use super::headers::{data_header, plain};
use super::pending::{Pending, due};
use super::send::{MOST_EAGER_CROWDED, Piece, PieceOrder};
use super::streams::OutgoingStream;
use super::{Engine, Mode, kind};
use crate::buffer::Span;
use crate::claims::{ClaimEnd, Claims, MOST_FROM_ENDS};
use crate::costs::Sort;
use crate::pool::lap_bytes;
use crate::remote::{self, Access, MOST_SPANS, Probe};
use crate::ring::INLINE;
use crate::segment::{PLACES, Segment};
use crate::wait::LEAST_PATIENCE_NS;
use crate::ways::{SHARED_FROM, Way, Ways};
use host::clock::kernel_ns;

/// Bytes of a piece that one side claims and sends through the pool.
const PIECE: usize = 64 * 1024;
/// The most bytes of a piece that one side claims and copies by the kernel. Each of its calls costs about 1 us: 4 MB
/// take 264 us in pieces of 64 kB and 230 in these (on a Xeon).
const KERNEL_PIECE: usize = 256 * 1024;
/// The most messages of which a receiver copies so much at once: for more, Linux has to get memory (`UIO_FASTIOV`).
const MOST_AT_ONCE: usize = 8;
/// So long one side waits for the other to do its part through the pool, before it copies a piece by the kernel. A
/// choice: who moves messages sends several pieces in that time (one takes 1.1 to 2.5 us on an EPYC).
const PATIENCE_NS: u64 = 10_000;
/// The same when there are more ranks than cpus: the other side may have to wait for a cpu. A choice, not measured: it
/// has to be over before this side sleeps.
const PATIENCE_CROWDED_NS: u64 = LEAST_PATIENCE_NS / 2;
/// The longest time that the process which started the job takes to see that a rank has ended.
const ENDED_NS: u64 = 500_000_000;

/// A message of which this process copies pieces, alone or with the other side.
pub(crate) struct Copying {
    /// The other side's rank in the job.
    other: usize,
    /// This process's transfer.
    transfer: u32,
    receives: bool,
    /// The whole message's address at the other side.
    address: u64,
    /// From which byte to which.
    from: usize,
    end: usize,
    pub(super) way: Way,
    /// The last piece is the first one.
    downwards: bool,
    claims: Share,
    /// What this process took to copy by the kernel.
    took_ns: u64,
    /// What is left to send of the piece that this sender claimed: from which byte to which.
    claimed: (usize, usize),
    /// The other side's transfer, to be told of the end.
    token: u64,
}

/// Who copies.
#[derive(Clone, Copy)]
enum Share {
    /// This process alone: the next piece.
    Alone(u32),
    /// Both: the place in the receiver's page, and the generation.
    Both(u32, u32),
}

/// This rank's places for claims, and what it knows of other ranks.
#[derive(Default)]
pub(crate) struct Sharing {
    free: Vec<u32>,
    generation: u32,
    reading: Vec<Access>,
    writing: Vec<Access>,
    /// Since when no data of announced messages has come from each rank, and none could be sent to it (`kernel_ns`);
    /// 0: some has.
    none_came_since_ns: Vec<u64>,
    none_went_since_ns: Vec<u64>,
    /// Which way messages from each rank take.
    pub(super) ways: Vec<Ways>,
    /// Whether they cross this rank's.
    pub(super) crossing: Vec<Crossing>,
    /// Whether the kernel copies streams to each rank.
    pub(super) streams: Vec<OutgoingStream>,
    /// The last large message between this rank and each other one began with its end.
    pub(super) downwards: Vec<bool>,
    spans: Vec<Span>,
    pub(super) probe: Probe,
}

impl Sharing {
    pub(super) fn new(segment: &Segment, rank: usize) -> Self {
        let ranks = segment.ranks();
        Self {
            free: (0..PLACES as u32).collect(),
            reading: vec![Access::Unknown; ranks],
            writing: vec![Access::Unknown; ranks],
            none_came_since_ns: vec![0; ranks],
            none_went_since_ns: vec![0; ranks],
            downwards: vec![false; ranks],
            streams: (0..ranks).map(|_| OutgoingStream::default()).collect(),
            ways: (0..ranks)
                .map(|other| {
                    Ways::new(segment.agreed_ways(rank, other), usize::from(rank > other), lap_bytes(segment))
                })
                .collect(),
            crossing: (0..ranks)
                .map(|other| {
                    Crossing::new(segment.agreed_ways(rank, other).kernel_copies_crossing(), rank < other)
                })
                .collect(),
            ..Self::default()
        }
    }

    /// Whether the next large message between this rank and another begins with its end: by turns. What was received or
    /// sent last lies in this cpu's cache, and is sent first, before what comes behind it drives it out. (By hand on an
    /// EPYC with 1 MB of second cache, 1 MB to and fro takes 26 us so and 35 in one direction; through buffers that
    /// nobody rewrites 32 and 37; 512 kB 12 and 14, 4 MB 133 and 142.)
    pub(super) fn turn(&mut self, other: usize) -> bool {
        let downwards = &mut self.downwards[other];
        *downwards = !*downwards;
        *downwards
    }

    /// Whether a rank's memory can be read; tried once.
    pub(super) fn readable(&mut self, segment: &Segment, rank: usize) -> Access {
        let access = &mut self.reading[rank];
        if *access == Access::Unknown {
            *access = remote::try_reading(segment, rank);
        }
        *access
    }

    /// The same of writing to it.
    pub(super) fn writable(&mut self, segment: &Segment, rank: usize) -> Access {
        let access = &mut self.writing[rank];
        if *access == Access::Unknown {
            *access = remote::try_writing(segment, rank);
        }
        *access
    }
}

/// What became of one look at a message that is being copied.
enum Step {
    Nothing,
    /// A piece was copied, or will be soon.
    Moved,
    /// There is nothing left to copy for this process.
    Over,
}

/// Whether the patience is over that began with the first call; if not, what to do meanwhile.
fn is_over(since_ns: &mut u64, crowded: bool) -> Result<(), Step> {
    let now_ns = host::clock::kernel_ns();
    if *since_ns == 0 {
        *since_ns = now_ns;
    }
    // Where ranks share cpus, others may need this one.
    let (patience_ns, meanwhile) =
        if crowded { (PATIENCE_CROWDED_NS, Step::Nothing) } else { (PATIENCE_NS, Step::Moved) };
    if now_ns - *since_ns >= patience_ns { Ok(()) } else { Err(meanwhile) }
}

impl Copying {
    /// Whether this process is the receiver.
    pub(super) fn receives(&self) -> bool {
        self.receives
    }

    /// Bytes of a piece: the same at both sides.
    fn piece_bytes(&self) -> usize {
        match (self.claims, self.way) {
            (Share::Both(..), Way::Pool) => PIECE,
            (Share::Both(..), _) => {
                let bytes = self.end - self.from;
                bytes.div_ceil(2).clamp(1, KERNEL_PIECE.max(bytes.div_ceil(MOST_FROM_ENDS as usize)))
            }
            (Share::Alone(_), _) => KERNEL_PIECE,
        }
    }

    fn pieces(&self) -> u32 {
        (self.end - self.from).div_ceil(self.piece_bytes()) as u32
    }

    /// The next piece that this process copies, of those that both do. By the kernel, the receiver copies the first
    /// ones and the sender the last.
    fn claim(&self, claims: &Claims, generation: u32) -> Option<u32> {
        let end = if self.receives { ClaimEnd::First } else { ClaimEnd::Last };
        match self.way {
            Way::Pool => claims.claim(generation, self.pieces()),
            _ => claims.claim_from(end, generation, self.pieces()),
        }
    }

    fn is_corrupt(&self, claims: &Claims, generation: u32) -> bool {
        match self.way {
            Way::Pool => claims.is_corrupt(generation, self.pieces()),
            _ => claims.is_corrupt_from_ends(generation, self.pieces()),
        }
    }

    /// From which byte to which a piece goes.
    fn piece(&self, number: u32) -> (usize, usize) {
        let bytes = self.piece_bytes();
        let number = if self.downwards { self.pieces() - 1 - number } else { number };
        let from = self.from + number as usize * bytes;
        (from, self.end.min(from + bytes))
    }
}

fn place(segment: &Segment, receiver: usize, place: u32) -> &'static Claims {
    &segment.rank(receiver).rendezvous[place as usize]
}

/// What an announcement says of where the data is: its address, when it is contiguous and may be read from there.
pub(super) fn address(
    sharing: &mut Sharing,
    segment: Option<&Segment>,
    rank: usize,
    copy_from: usize,
    send: &Pending,
) -> [u64; 2] {
    let (buffer, Some(segment)) = (&send.buffer, segment) else { return [NOT_BY_COPY, 0] };
    // What would have gone at once through the pool goes that way when there is credit again. (4 ranks on 2 cpus of an
    // EPYC, alltoall of 64 kB: 60 us by the kernel, 48 so.)
    let waits_for_credit =
        send.mode == Mode::Standard && segment.is_crowded() && buffer.bytes <= MOST_EAGER_CROWDED;
    if buffer.bytes < copy_from && send.mode != Mode::ByKernel || waits_for_credit {
        return [NOT_BY_COPY, 0];
    }
    sharing.probe.allow(segment, rank);
    match &buffer.layout {
        None => {
            let how = match send.mode {
                Mode::Pooled => POOLED,
                Mode::ByKernel => BY_KERNEL,
                Mode::Standard | Mode::Synchronous => CONTIGUOUS,
            };
            [how, buffer.address as u64]
        }
        Some(layout) if layout.shape.has_spans() => [SCATTERED, 0],
        Some(_) => [NOT_BY_COPY, 0],
    }
}

/// The bit of a way's word that says that the message begins with its end.
const DOWNWARDS: u32 = 8;

/// The sender wants its data to go through shared memory.
const NOT_BY_COPY: u64 = 0;
const CONTIGUOUS: u64 = 1;
const SCATTERED: u64 = 2;
/// As `CONTIGUOUS`, but the sender knows that the pool is the shortest way. (3 is `afar::AFAR`.)
const POOLED: u64 = 4;
/// The same of the kernel's copy.
const BY_KERNEL: u64 = 5;

impl Engine<'_> {
    /// Starts copying the rest of a matched message, when that is possible; it is behind the `unasked` first bytes.
    /// False: it isn't.
    pub(super) fn copies(
        &mut self,
        receive: u32,
        from: usize,
        token: u64,
        unasked: usize,
        offer: [u64; 2],
    ) -> bool {
        let [how, address] = offer;
        let transfer = self.transfers.at(receive);
        let (end, contiguous) = (transfer.ended.bytes(), transfer.buffer.layout.is_none());
        let has_spans = transfer.buffer.layout.as_ref().is_none_or(|layout| layout.shape.has_spans());
        let own = transfer.buffer.address as u64;
        if how == NOT_BY_COPY || self.copy_from == usize::MAX || !has_spans {
            return false;
        }
        let segment = self.segment();
        self.sharing.probe.allow(&segment, self.rank);
        let id = self.transfers.id(receive).0;
        if how == SCATTERED {
            if contiguous {
                self.tell(from, kind::PUSH, [token, id, own, end as u64, 0, 0]);
            }
            return contiguous;
        }
        if !matches!(self.sharing.readable(&segment, from), Access::Works(_)) {
            if how == BY_KERNEL {
                segment.header().costs.learn_failure(Sort::ByKernel, end);
            }
            return false;
        }
        let of_collective = self.transfers.at(receive).due & due::ASIDE != 0;
        if contiguous && of_collective && self.crowded() {
            self.tell(from, kind::PUSH, [token, id, own, end as u64, 0, 0]);
            return true;
        }
        let way = match (contiguous, how) {
            (false, POOLED) => return false,
            (true, POOLED) => Way::Pool,
            (true, BY_KERNEL) if end < SHARED_FROM => Way::Receiver,
            (true, _) => self.way(receive, from),
            (false, _) => Way::Receiver,
        };
        let shared = way == Way::Kernel || way == Way::Pool && end >= SHARED_FROM;
        let number = shared.then(|| self.sharing.free.pop()).flatten();
        if number.is_none() && way != Way::Receiver {
            // There may be more messages at once than places for claims: then this one is the sender's alone, too.
            return false;
        }
        // Nothing goes back for which this cpu's cache would hold the end of it.
        let is_one_way = way == Way::Kernel && self.sharing.ways[from].is_one_way();
        let downwards = number.is_some() && !is_one_way && self.sharing.turn(from);
        let claims = match number {
            None => Share::Alone(0),
            Some(number) => {
                self.sharing.generation = self.sharing.generation.wrapping_add(1);
                let generation = self.sharing.generation;
                place(&segment, self.rank, number).open(generation);
                let where_to = u64::from(number) | u64::from(generation) << 32;
                let how = way as u64 | u64::from(downwards) << DOWNWARDS;
                self.tell(from, kind::SHARE, [token, id, own, end as u64, where_to, how]);
                Share::Both(number, generation)
            }
        };
        self.sharing.none_came_since_ns[from] = 0;
        self.copying.push(Copying {
            other: from,
            transfer: receive,
            receives: true,
            address,
            from: unasked,
            end,
            way,
            downwards,
            claims,
            took_ns: 0,
            claimed: (0, 0),
            token,
        });
        true
    }

    /// The way of a message from a rank whose rest both sides could copy.
    fn way(&mut self, receive: u32, from: usize) -> Way {
        if self.crowded() {
            return Way::Pool;
        }
        let transfer = self.transfers.at(receive);
        if transfer.due & due::PAST_CACHES != 0 {
            // Decided when it was posted, together with what else the collective copies.
            return Way::Pool;
        }
        transfer.due |= due::TIMED;
        let shared = transfer.ended.bytes() >= SHARED_FROM;
        match self.sharing.ways[from].choose(transfer.bytes, shared, host::clock::kernel_ns()) {
            Way::PastCaches => {
                transfer.due |= due::PAST_CACHES;
                Way::Pool
            }
            way => way,
        }
    }

    /// The receiver of a message asks this sender to help, or to do it alone.
    pub(super) fn help(&mut self, from: usize, alone: bool, words: [u64; 6]) {
        let [token, receiver, address, end, where_to, how] = words;
        let index = self.answered(from, token);
        let transfer = self.transfers.at(index);
        let (unasked, end) = (transfer.bytes, end as usize);
        if end > transfer.buffer.bytes || end < unasked || (!alone && where_to as u32 as usize >= PLACES) {
            self.corrupt(from, "data asked for that was not announced");
        }
        let segment = self.segment();
        let works = matches!(self.sharing.writable(&segment, from), Access::Works(_));
        if alone && !works {
            segment.header().costs.learn_failure(Sort::ByKernel, end);
            return self.stream(from, index, receiver, end);
        }
        if !works {
            return;
        }
        let claims =
            if alone { Share::Alone(0) } else { Share::Both(where_to as u32, (where_to >> 32) as u32) };
        let downwards = !alone && how >> DOWNWARDS != 0;
        let way = if !alone && how & !(u64::MAX << DOWNWARDS) == Way::Pool as u64 {
            Way::Pool
        } else {
            Way::Kernel
        };
        if !alone {
            self.sharing.downwards[from] = downwards;
        }
        self.outgoing[from].asked_each = 0;
        self.sharing.none_went_since_ns[from] = 0;
        self.copying.push(Copying {
            other: from,
            transfer: index,
            receives: false,
            address,
            from: unasked,
            end,
            way,
            downwards,
            claims,
            took_ns: 0,
            claimed: (0, 0),
            token: receiver,
        });
    }

    /// Copies pieces of the messages that are being copied, for each rank in their order; true when anything moved, or
    /// will soon.
    pub(super) fn copy_pieces(&mut self) -> bool {
        let mut moved = false;
        let mut at = 0;
        let mut served = None;
        while let Some(copying) = self.copying.get(at) {
            let (other, receives) = (copying.other, copying.receives);
            if served == Some((other, receives)) {
                at += 1;
                continue;
            }
            if let Some(messages) = self.read_at_once(at) {
                self.read_whole(at, messages);
                (moved, served) = (true, Some((other, receives)));
                continue;
            }
            match self.copy_next(at) {
                Step::Nothing => at += 1,
                Step::Moved => {
                    moved = true;
                    served = Some((other, receives));
                    at += 1;
                }
                Step::Over => {
                    let copying = self.copying.remove(at);
                    self.copied(&copying);
                    moved = true;
                }
            }
        }
        moved
    }

    /// How many messages this receiver copies in one call of the kernel, from one on; nothing: none.
    fn read_at_once(&mut self, at: usize) -> Option<usize> {
        let other = self.copying[at].other;
        let (transfers, mut bytes) = (&mut self.transfers, 0);
        let whole = self.copying[at..].iter().take(MOST_AT_ONCE).take_while(|copying| {
            bytes += copying.end - copying.from;
            let is_alone = copying.receives && matches!(copying.claims, Share::Alone(0));
            is_alone
                && copying.other == other
                && bytes <= KERNEL_PIECE
                && transfers.at(copying.transfer).buffer.is_contiguous()
        });
        Some(whole.count()).filter(|&messages| messages > 0)
    }

    /// Copies whole messages from one rank, and tells it so: a call of the kernel takes as long as 16 kB in caches, and
    /// each line to the sender is one more that both want.
    fn read_whole(&mut self, at: usize, messages: usize) {
        let start_ns = kernel_ns();
        let whole: Vec<Copying> = self.copying.drain(at..at + messages).collect();
        let (own, there): (Vec<Span>, Vec<Span>) = whole
            .iter()
            .map(|copying| {
                let address = self.transfers.at(copying.transfer).buffer.address;
                let (from, bytes) = (copying.from, copying.end - copying.from);
                let there = remote::there(copying.address.wrapping_add(from as u64), bytes);
                (Span { address: address.wrapping_add(from), bytes }, there)
            })
            .unzip();
        let other = whole[0].other;
        let copied = match self.sharing.reading[other] {
            // SAFETY: the spans are the buffers', lent until their transfers are complete.
            Access::Works(pid) => unsafe { remote::read(pid, &own, &there) },
            Access::Unknown | Access::Forbidden => false,
        };
        if !copied {
            self.lost(other, true);
        }
        let took_ns = kernel_ns() - start_ns;
        for some in whole.chunks(INLINE / size_of::<u64>()) {
            let mut tokens = [0; INLINE / size_of::<u64>()];
            tokens.iter_mut().zip(some).for_each(|(token, copying)| *token = copying.token);
            self.tell(other, kind::COMPLETE, tokens);
        }
        let all: usize = own.iter().map(|span| span.bytes).sum();
        for copying in &whole {
            let took_ns = took_ns * (copying.end - copying.from) as u64 / all as u64;
            self.came_alone(copying, took_ns);
            self.complete_when_here(other, copying.transfer);
        }
    }

    /// This receiver has copied a message alone, which took so long.
    fn came_alone(&mut self, copying: &Copying, took_ns: u64) {
        let (transfer, bytes) = (self.transfers.at(copying.transfer), copying.end - copying.from);
        transfer.moved += bytes;
        if transfer.buffer.is_contiguous() && !self.crowded() {
            self.segment().header().costs.learn(Sort::ByKernel, bytes, bytes, took_ns);
        }
    }

    /// Copies the next piece of a message that is being copied.
    fn copy_next(&mut self, at: usize) -> Step {
        let segment = self.segment();
        let crowded = self.crowded();
        let (rank, copying) = (self.rank, &mut self.copying[at]);
        let (pieces, other, way) = (copying.pieces(), copying.other, copying.way);
        match copying.claims {
            Share::Alone(next) if next == pieces => Step::Over,
            Share::Alone(next) => {
                copying.claims = Share::Alone(next + 1);
                let (from, end) = copying.piece(next);
                self.copy(at, from, end);
                Step::Moved
            }
            Share::Both(number, generation) if copying.receives => {
                if way == Way::Pool
                    && let Err(meanwhile) = is_over(&mut self.sharing.none_came_since_ns[other], crowded)
                {
                    return meanwhile;
                }
                let claims = place(&segment, rank, number);
                let Some(piece) = copying.claim(claims, generation) else {
                    if copying.is_corrupt(claims, generation) {
                        self.corrupt(other, "pieces claimed that there are not");
                    }
                    return Step::Nothing;
                };
                let (from, end) = copying.piece(piece);
                let receive = copying.transfer;
                self.copy(at, from, end);
                self.transfers.at(receive).moved += end - from;
                self.shared_is_here(receive);
                Step::Moved
            }
            Share::Both(number, generation) => {
                if copying.claimed.0 == copying.claimed.1 {
                    let Some(piece) = copying.claim(place(&segment, other, number), generation) else {
                        return Step::Over;
                    };
                    copying.claimed = copying.piece(piece);
                }
                self.send_claimed(at)
            }
        }
    }

    /// Sends what is left of a claimed piece through the pool. By the kernel, or when the receiver gives no slot back
    /// because it computes, it is copied into its buffer.
    fn send_claimed(&mut self, at: usize) -> Step {
        let crowded = self.crowded();
        let copying = &mut self.copying[at];
        let (to, receiver, (start, end)) = (copying.other, copying.token, copying.claimed);
        let mut from = start;
        let buffer = &self.transfers.at(copying.transfer).buffer;
        let producer = &mut self.outgoing[to].producer;
        let by_pool = copying.way == Way::Pool;
        while by_pool && from < end {
            let left = end - from;
            let piece = Piece::of(data_header(receiver, left), buffer, &(from..end), PieceOrder::Upwards);
            let Some(sent) = piece.put_pooled(producer, &mut self.pool, to, 0) else { break };
            from = sent.end;
        }
        copying.claimed.0 = from;
        if from > start {
            self.sharing.none_went_since_ns[to] = 0;
            self.wake(to);
            return Step::Moved;
        }
        if !producer.fits(INLINE) {
            return Step::Nothing;
        }
        if by_pool && let Err(meanwhile) = is_over(&mut self.sharing.none_went_since_ns[to], crowded) {
            return meanwhile;
        }
        copying.claimed.0 = end;
        self.copy(at, from, end);
        let words = [receiver, (end - from) as u64, 0, 0, 0, 0];
        self.outgoing[to].producer.put_words(plain(kind::PUSHED, &words), &words);
        self.wake(to);
        Step::Moved
    }

    /// Data of an announced message is here, which this process may be copying pieces of.
    #[cold]
    pub(super) fn here_shared(&mut self, from: usize, receive: u32) {
        match self.shared(receive) {
            None => self.complete_when_here(from, receive),
            Some(at) => {
                self.sharing.none_came_since_ns[self.copying[at].other] = 0;
                self.shared_is_here(receive);
            }
        }
    }

    /// Ends the sharing of a received message when all of it is here.
    fn shared_is_here(&mut self, receive: u32) {
        let transfer = self.transfers.at(receive);
        if transfer.moved < transfer.bytes {
            return;
        }
        if let Some(at) = self.shared(receive) {
            let copying = self.copying.remove(at);
            self.copied(&copying);
        }
    }

    /// Where in `copying` a received message is that both sides copy.
    fn shared(&self, receive: u32) -> Option<usize> {
        let is = |copying: &Copying| {
            copying.receives && copying.transfer == receive && matches!(copying.claims, Share::Both(..))
        };
        self.copying.iter().position(is)
    }

    fn copied(&mut self, copying: &Copying) {
        let (transfer, bytes) = (copying.transfer, copying.end - copying.from);
        match (copying.receives, copying.claims) {
            (true, claims) => {
                match claims {
                    Share::Both(number, _) => self.sharing.free.push(number),
                    Share::Alone(_) => self.came_alone(copying, copying.took_ns),
                }
                self.tell(copying.other, kind::COMPLETE, [copying.token, 0, 0, 0, 0, 0]);
                self.complete_when_here(copying.other, transfer);
            }
            (false, Share::Alone(_)) => {
                if self.crowded() && !self.segment().shares_cpu(self.rank, copying.other) {
                    let costs = &self.segment().header().costs;
                    costs.learn(Sort::ByKernel, bytes, bytes, copying.took_ns);
                }
                self.tell(copying.other, kind::PUSHED, [copying.token, bytes as u64, 0, 0, 0, 0]);
                self.transfers.happened(transfer, due::ANSWER);
            }
            // The receiver says when all is there.
            (false, Share::Both(..)) => {}
        }
    }

    /// The sender has written so many bytes of a message into our buffer.
    pub(super) fn pushed(&mut self, from: usize, words: [u64; 6]) {
        let index = self.transfer_of(from, words[0]);
        let transfer = self.transfers.at(index);
        if words[1] > (transfer.bytes - transfer.moved) as u64 {
            self.corrupt(from, "more bytes copied than asked for");
        }
        transfer.moved += words[1] as usize;
        self.here(from, index);
    }

    /// Copies bytes of a message by the kernel.
    fn copy(&mut self, at: usize, mut from: usize, end: usize) {
        let copying = &self.copying[at];
        let (other, receives, address) = (copying.other, copying.receives, copying.address);
        // A piece could be claimed, so the message isn't over, nor is its transfer.
        let buffer = self.transfers.at(copying.transfer).buffer.clone();
        let start_ns = kernel_ns();
        let mut spans = std::mem::take(&mut self.sharing.spans);
        while from < end {
            spans.clear();
            let bytes = match &buffer.layout {
                None => {
                    spans.push(Span { address: buffer.address.wrapping_add(from), bytes: end - from });
                    end - from
                }
                Some(layout) => {
                    layout.shape.spans(buffer.address, layout.count, from, end - from, MOST_SPANS, &mut spans)
                }
            };
            let there = remote::there(address.wrapping_add(from as u64), bytes);
            let access = if receives { self.sharing.reading[other] } else { self.sharing.writing[other] };
            let copied = match access {
                Access::Works(_) if bytes == 0 => false,
                // SAFETY: the spans are the buffer's, lent until the transfer is complete.
                Access::Works(pid) if receives => unsafe { remote::read(pid, &spans, &[there]) },
                // SAFETY: as above.
                Access::Works(pid) => unsafe { remote::write(pid, &spans, there) },
                Access::Unknown | Access::Forbidden => false,
            };
            if !copied {
                self.lost(other, receives);
            }
            from += bytes;
        }
        spans.clear();
        self.sharing.spans = spans;
        self.copying[at].took_ns += kernel_ns() - start_ns;
    }

    /// Memory of another rank could not be copied. A rank that has ended has none: the process that started the job
    /// ends it then, and says why. Returns when that has not happened for some time.
    #[cold]
    pub(super) fn wait_for_end(&self) {
        self.room.wait_for_end(ENDED_NS);
    }

    #[cold]
    fn lost(&self, other: usize, receives: bool) -> ! {
        let error = std::io::Error::last_os_error();
        self.wait_for_end();
        let (verb, where_from) = if receives { ("read", "from") } else { ("write", "to") };
        self.room.abort().abort(&format!(
            "can't {verb} a message's data {where_from} the memory of rank {other}: {error} (is the buffer valid?)"
        ))
    }
}
