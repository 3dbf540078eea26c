//! Receiving: pieces from the rings, straight into the user's buffer when they are matched. When not, large ones stay
//! in their slots, and small ones go to the heap.

use super::afar::AFAR;
use super::crossing::counts;
use super::headers::{sum, words};
use super::kept::{Held, Message, SlotPart, Unread};
use super::lines::is_one_line;
use super::own::SentBeside;
use super::pending::{NONE, Stage, due};
use super::send::{ASKED_EACH, ASKED_EACH_TRIED, MOST_EAGER, UNASKED, WHOLE, credit_of_announced};
use super::{ClaimId, Engine, TransferId, kind};
use crate::buffer::Buffer;
use crate::copy::fence_past;
use crate::landing::Landing;
use crate::lists::Key;
use crate::matching::{Criteria, Envelope};
use crate::ring::{Area, INLINE, PieceHeader, PieceReader};
use crate::segment::Segment;
use host::clock::kernel_ns;

/// The most pieces taken from one ring before the next ring has its turn.
const TURN: usize = 64;
/// The line behind a piece of more bytes is fetched while that is copied; behind a shorter one, it would be taken from
/// the sender, which writes it soon. A choice.
const FETCHED_BEHIND: usize = 4096;
/// The place of a piece that lies in a ring: behind what came before without a gap.
pub(super) const IN_ORDER: u64 = u64::MAX;
/// Credit is given back at once when a sender has one of so many parts of it to come.
const CREDIT_STEPS: u64 = 4;

/// Pieces of at least so many bytes stay in their slots when they come before their receives: copies of smaller ones
/// cost little. A choice. (Exchanges on an EPYC, us, held and copied: 1 kB 1.48 and 1.15, 2 kB 1.24 and 1.26; 1.77 and
/// 1.65, 2.28 and 2.66 while a line takes 200 ns.)
pub(super) const HELD_FROM: usize = 2048;

/// Bytes of a message that is set aside for a receive that asks for that.
pub const ASIDE: usize = 32;

/// What comes in from one rank.
pub(crate) struct Incoming {
    pub(super) consumer: PieceReader<Area>,
    /// The sender has used its ring.
    pub(super) connected: bool,
    /// The eager message that is arriving: where it goes, its bytes, how many have come, and the first that has not.
    pub(super) target: Destination,
    pub(super) bytes: usize,
    pub(super) got: usize,
    first_missing: usize,
    /// The sender's transfer when it waits for the next eager message to be matched; 0: it doesn't.
    synchronous: u64,
    /// How far the ring was read when the message began that was matched last.
    pub(super) began: u64,
    /// Eager bytes handed on when the sender was last told.
    told: u64,
    /// The last eager message had one line.
    pub(super) is_short: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Nothing,
    Transfer(u32),
    Message(u32),
}

impl Incoming {
    pub(super) fn new(segment: &Segment, from: usize, to: usize) -> Self {
        Self {
            consumer: PieceReader::new(Area::of(segment, from, to)),
            connected: false,
            target: Destination::Nothing,
            bytes: 0,
            got: 0,
            first_missing: 0,
            synchronous: 0,
            began: 0,
            told: 0,
            is_short: false,
        }
    }

    /// Another short message is likely to be next: no part of one is here, and no word about one.
    #[inline]
    pub(super) fn expects_short(&self) -> bool {
        self.is_short && self.connected && self.is_between_messages()
    }

    /// No part of a message is here, and no word about one.
    #[inline]
    pub(super) fn is_between_messages(&self) -> bool {
        self.target == Destination::Nothing && self.synchronous == 0
    }

    /// So many bytes of the eager message that is arriving are here, at a place.
    #[inline]
    pub(super) fn came(&mut self, place: usize, bytes: usize) {
        self.got += bytes;
        if place == self.first_missing {
            self.first_missing += bytes;
        }
        if self.got == self.bytes {
            self.target = Destination::Nothing;
        }
    }

    /// Copies a piece into a buffer, from a byte of it on. The line behind a large one comes meanwhile.
    #[inline]
    pub(super) fn write(&self, buffer: &Buffer, at: usize, piece: &[u8], landing: Landing) {
        if piece.len() > FETCHED_BEHIND {
            self.consumer.fetch_next();
        }
        buffer.land(landing, at, piece);
    }
}

impl Engine<'_> {
    /// Posts a receive. `from`: the job's rank of the sender, when it is known.
    // Inlined whole. The cpu cannot forward a value that was just written in parts and is read as a whole: it waits
    // until all earlier stores are done, among them the last message's line.
    #[inline(always)]
    pub fn receive(&mut self, criteria: Criteria, from: Option<usize>, buffer: &Buffer) -> TransferId {
        let _ = from;
        let key = criteria.key();
        let transfer = self.transfers.start(buffer, key);
        self.match_or_post(transfer, key);
        self.transfers.id(transfer)
    }

    #[inline(always)]
    fn match_or_post(&mut self, transfer: u32, key: Key) {
        if self.matching.has_kept() {
            self.receive_kept(transfer, key);
        } else {
            self.transfers.at(transfer).posted = true;
            self.matching.post(key, transfer);
        }
    }

    /// As `receive`, of large data of a collective. A message of `ASIDE` bytes is not written to the buffer:
    /// `take_aside` gives it. What is no data of the program's must not lie in its memory, where other messages may be
    /// written, too.
    ///
    /// `beside_own`: in the collective, this rank copies data of its own by `copy_own`, too, and sends that. Where
    /// ranks have cpus of their own, what is received then lands where it is best with own data of this size.
    pub fn receive_or_set_aside(
        &mut self,
        criteria: Criteria,
        buffer: &Buffer,
        beside_own: Option<SentBeside>,
    ) -> TransferId {
        let key = criteria.key();
        let transfer = self.transfers.start(buffer, key);
        let lands_past = beside_own.is_some_and(|sent| self.own_landings.receives_past(sent, buffer.bytes));
        self.transfers.at(transfer).due = if lands_past { due::ASIDE | due::PAST_CACHES } else { due::ASIDE };
        self.match_or_post(transfer, key);
        self.transfers.id(transfer)
    }

    /// What was set aside for a receive that is complete; its id may have been taken.
    pub fn take_aside(&mut self, id: TransferId) -> Option<[u8; ASIDE]> {
        let at = self.aside.iter().position(|(receive, _)| *receive == id)?;
        Some(self.aside.swap_remove(at).1)
    }

    /// Whether a whole message is set aside for a receive; if so, it is.
    #[inline]
    fn sets_aside(&mut self, receive: u32, message: &[u8], bytes: usize) -> bool {
        let Some(message) = self.transfers.at(receive).aside(message, bytes) else { return false };
        self.aside.push((self.transfers.id(receive), message));
        true
    }

    #[inline(never)]
    fn receive_kept(&mut self, transfer: u32, key: Key) {
        match self.matching.find(key) {
            Some(message) => {
                self.matching.remove(message);
                self.receive_message(transfer, message);
            }
            None => {
                self.transfers.at(transfer).posted = true;
                self.matching.post(key, transfer);
            }
        }
    }

    /// Receives a message that was claimed.
    pub fn receive_claimed(&mut self, id: ClaimId, buffer: &Buffer) -> TransferId {
        let key = self.messages.at(id.0).envelope.key(0);
        let transfer = self.transfers.start(buffer, key);
        self.receive_message(transfer, id.0);
        self.transfers.id(transfer)
    }

    /// Forgets a message from a rank that no receive has; false: there is none.
    pub(super) fn forget(&mut self, from: usize, is_it: impl Fn(&Message) -> bool) -> bool {
        let Some(index) = self.messages.find(|message| message.from == from && is_it(message)) else {
            return false;
        };
        if self.messages.at(index).came < self.messages.at(index).unasked {
            self.corrupt(from, "a message that is cancelled before it has come");
        }
        let is_kept = self.matching.remove(index);
        if is_kept {
            let message = self.messages.remove(index);
            self.give_credit(from, message.credit());
            let is_last = |held: &Held| !held.part.more;
            message
                .held
                .into_iter()
                .filter(is_last)
                .for_each(|held| self.keep_held(from, &held.part.stretch));
        }
        is_kept
    }

    /// Forgets a message of this rank to itself that no receive has; false: there is none.
    pub(super) fn forget_own(&mut self, transfer: u32) -> bool {
        let found = self.messages.find(|message| message.own == transfer);
        let Some(index) = found.filter(|&index| self.matching.remove(index)) else { return false };
        self.messages.remove(index);
        true
    }

    /// Lets a sender send so many bytes more.
    fn give_credit(&mut self, from: usize, bytes: usize) {
        if bytes > INLINE {
            self.incoming[from].consumer.handed_on += bytes as u64;
            self.tell_credit(from);
        }
    }

    /// Tells a sender of its credit, when there is much to tell.
    #[inline]
    fn tell_credit(&mut self, from: usize) {
        let step = self.credit() / CREDIT_STEPS;
        let incoming = &mut self.incoming[from];
        if incoming.consumer.handed_on - incoming.told >= step {
            incoming.consumer.publish();
            self.told(from);
        }
    }

    /// A receive has its message: what is to come.
    #[inline]
    pub(super) fn accept(&mut self, receive: u32, envelope: Envelope, bytes: usize) {
        let received = self.transfers.at(receive).accept(envelope, bytes);
        self.counters.messages_received.add(1);
        self.counters.bytes_received.add(received as u64);
    }

    /// Gives a message that was kept to a receive.
    fn receive_message(&mut self, receive: u32, index: u32) {
        let mut message = self.messages.remove(index);
        let from = message.from;
        self.accept(receive, message.envelope, message.bytes);
        if message.own != NONE {
            let (receive_buffer, send_buffer) =
                (self.transfers.at(receive).buffer.clone(), self.transfers.at(message.own).buffer.clone());
            // SAFETY: both are lent until their transfers are complete, which is below.
            unsafe { receive_buffer.copy_from(&send_buffer) };
            self.transfers.complete(receive);
            self.transfers.complete(message.own);
            return;
        }
        // What is short, or still arriving, is read now but for what lies in slots. So is what nobody waits for
        // meanwhile: this rank's own, and all on simulated cores, which take no time to read.
        let is_whole = message.came == message.unasked;
        let is_later = counts(message.bytes) && is_whole && from != self.rank && self.afar.is_none();
        let mut data = std::mem::take(&mut message.data);
        if !is_later {
            if !self.sets_aside(receive, &data, message.bytes) {
                self.transfers.at(receive).buffer.write(0, &data);
            }
            self.messages.recycle(std::mem::take(&mut data));
        }
        // Slots of which a part is still to come are kept when that has come.
        let mut held = std::mem::take(&mut message.held);
        let whole = held.iter().rposition(|held| !held.part.more).map_or(0, |last| last + 1);
        let open = held.split_off(whole);
        open.iter().for_each(|held| self.read_held(receive, from, held));
        if let Some(held) = open.first() {
            self.pool.hold_no_more(from, &held.part.stretch);
        }
        let left = if is_later { message.came } else { held.iter().map(|piece| piece.bytes).sum() };
        let transfer = self.transfers.at(receive);
        transfer.moved = message.came - left;
        transfer.bytes = message.unasked;
        if left > 0 {
            self.unread.push_back(Unread { receive, from, bytes: left, data, held });
        }
        let incoming = &mut self.incoming[from];
        incoming.began = message.began;
        if incoming.target == Destination::Message(index) {
            incoming.target = Destination::Transfer(receive);
        }
        self.give_credit(from, message.credit());
        if let Some(offer) = message.announced {
            return self.answer(receive, from, message.token, offer, message.came == 0);
        }
        if message.token != 0 {
            self.tell(from, kind::COMPLETE, [message.token, 0, 0, 0, 0, 0]);
        }
        self.complete_when_here(from, receive);
    }

    /// Answers the announcement of a message that is matched: asks for what didn't come unasked. `was_expected`: the
    /// receive was there before any of its data.
    fn answer(&mut self, receive: u32, from: usize, token: u64, offer: [u64; 2], was_expected: bool) {
        if offer[0] == AFAR {
            return self.fetch(receive, from, offer[1]);
        }
        let id = self.transfers.id(receive).0;
        let transfer = self.transfers.at(receive);
        let wanted = transfer.ended.bytes();
        let unasked = transfer.bytes;
        if wanted > unasked {
            transfer.bytes = wanted;
            transfer.first_missing = unasked;
            if self.copies(receive, from, token, unasked, offer) {
                return;
            }
            let asked_each = match was_expected {
                true if self.sharing.ways[from].is_trying() => ASKED_EACH_TRIED,
                true => ASKED_EACH,
                false => 0,
            };
            let downwards = u64::from(self.sharing.turn(from));
            self.tell(from, kind::STREAM, [token, id, wanted as u64, asked_each.into(), downwards, 0]);
        } else {
            self.tell(from, kind::COMPLETE, [token, 0, 0, 0, 0, 0]);
        }
        self.complete_when_here(from, receive);
    }

    /// A receive is complete when all of its data has come.
    #[inline]
    pub(super) fn complete_when_here(&mut self, from: usize, receive: u32) {
        let transfer = self.transfers.at(receive);
        if transfer.moved == transfer.bytes {
            if transfer.due & due::TIMED != 0 {
                self.sharing.ways[from].complete(transfer.bytes, kernel_ns());
            }
            let bytes = transfer.bytes;
            self.transfers.complete(receive);
            if counts(bytes) {
                self.note_read(from);
            }
        }
    }

    /// Keeps a message of this process to itself.
    pub(super) fn keep_own(&mut self, envelope: Envelope, bytes: usize, data: Vec<u8>, own: u32) {
        let from = self.rank;
        let began = self.own_sends;
        let came = data.len();
        let message = Message { came, data, own, began, ..Message::new(envelope, from, bytes) };
        let index = self.messages.insert(message);
        self.counters.unexpected_received.add(1);
        self.matching.keep(envelope, index);
    }

    /// Takes the next piece from a rank, when it is there, and what is there of the same message. A look at the line
    /// behind that would cost the transfer of that line, for which the reply would wait. True when there was anything.
    #[inline]
    pub(super) fn take_one(&mut self, from: usize) -> bool {
        let mut any = false;
        while let Some(header) = self.incoming[from].consumer.peek() {
            any = true;
            if is_one_line(header) && self.take_row(from, 1) > 0 {
                break;
            }
            self.take_piece(from, header);
            if self.incoming[from].target == Destination::Nothing {
                break;
            }
        }
        self.fence_landed();
        any
    }

    /// Takes what has come from a rank, up to the end of a receive of several pieces: the program may be about to post
    /// the one that the next message belongs to. True when there was anything.
    #[inline]
    pub(super) fn drain(&mut self, from: usize) -> bool {
        let (mut any, mut turn) = (false, TURN);
        while turn > 0
            && let Some(header) = self.incoming[from].consumer.peek()
        {
            if any {
                self.incoming[from].consumer.fetch_ahead();
            }
            any = true;
            if is_one_line(header)
                && let taken @ 1.. = self.take_row(from, turn)
            {
                turn -= taken;
                continue;
            }
            turn -= 1;
            self.fetch_behind(from, header);
            let before = self.transfers.active();
            if self.take_piece(from, header) && self.transfers.active() < before {
                break;
            }
        }
        self.fence_landed();
        any
    }

    /// What has landed past the caches is there before anything that this thread does next.
    #[inline]
    fn fence_landed(&mut self) {
        if std::mem::take(&mut self.landed_past) {
            fence_past();
        }
    }

    /// Takes a piece, and what else is there of a message in slots; whether it took one that is not the first of its
    /// message.
    #[inline]
    fn take_piece(&mut self, from: usize, header: PieceHeader) -> bool {
        let is_further = matches!(header.kind() & !kind::POOLED, kind::MORE | kind::DATA);
        if header.kind() & kind::POOLED != 0 {
            return self.take_pooled(from, header) || is_further;
        }
        if header.kind() & kind::BESIDE != 0 {
            self.take_beside(from, header.of_kind(header.kind() & !kind::BESIDE));
            return false;
        }
        let left = self.left(from, header);
        if left > INLINE {
            // On its way while the message is matched.
            self.incoming[from].consumer.fetch_next();
        }
        self.take_data(from, header, IN_ORDER, self.piece(from, left), &mut None);
        if self.incoming[from].consumer.consume(left) {
            self.told(from);
        }
        is_further
    }

    /// Goes on behind a piece, whose sender may hear of it.
    #[inline]
    pub(super) fn consumed(&mut self, from: usize, left: usize) {
        if self.incoming[from].consumer.consume(left) {
            self.told(from);
        } else {
            self.tell_credit(from);
        }
    }

    /// The sender was told how far this side is: it may wait for that.
    pub(super) fn told(&mut self, from: usize) {
        let incoming = &mut self.incoming[from];
        incoming.told = incoming.consumer.handed_on;
        self.wake_for_room(from);
    }

    /// Bytes that are left of the message that a piece belongs to, from the piece on.
    #[inline]
    pub(super) fn left(&self, from: usize, header: PieceHeader) -> usize {
        match header.kind() {
            kind::EAGER | kind::DATA => header.length() as usize,
            kind::MORE => self.incoming[from].bytes - self.incoming[from].got,
            _ => INLINE,
        }
    }

    /// `part`: where it lies in slots; the piece may be left there, which takes this.
    #[inline]
    pub(super) fn take_data(
        &mut self,
        from: usize,
        header: PieceHeader,
        place: u64,
        piece: &[u8],
        part: &mut Option<SlotPart>,
    ) {
        match header.kind() {
            kind::EAGER => self.eager(from, header, place, piece, part),
            kind::MORE => self.more(from, place, piece, part),
            kind::DATA => self.data(from, header, place, piece),
            _ => return self.news(from, header, piece),
        }
        let is_last = match header.kind() {
            kind::DATA => header.length() as usize <= piece.len(),
            _ => self.incoming[from].target == Destination::Nothing,
        };
        self.midway = (!is_last).then_some(from);
    }

    /// The data of the piece that is there.
    #[inline]
    pub(super) fn piece<'a>(&self, from: usize, left: usize) -> &'a [u8] {
        // SAFETY: `drain` peeked, and consumes when the piece was dealt with.
        unsafe { std::mem::transmute::<&[u8], &'a [u8]>(self.incoming[from].consumer.data(left)) }
    }

    /// The first piece of an eager message.
    #[inline(always)]
    fn eager(
        &mut self,
        from: usize,
        header: PieceHeader,
        place: u64,
        piece: &[u8],
        part: &mut Option<SlotPart>,
    ) {
        let bytes = header.length() as usize;
        if bytes > WHOLE {
            self.corrupt(from, &format!("an eager message of {bytes} bytes"));
        }
        let place = self.place_of(from, place, piece, 0, bytes);
        let is_large = bytes > MOST_EAGER && bytes > self.most_eager();
        self.incoming[from].is_short = bytes <= INLINE;
        if is_large {
            self.sharing.downwards[from] = place > 0;
            self.sharing.ways[from].came(bytes);
        }
        let envelope = Envelope::new(header.context(), header.source(), header.tag());
        match self.matching.take_posted(envelope) {
            Some(receive) => {
                self.accept(receive, envelope, bytes);
                let incoming = &mut self.incoming[from];
                incoming.began = incoming.consumer.consumed();
                let token = std::mem::take(&mut incoming.synchronous);
                if bytes > INLINE {
                    incoming.consumer.handed_on += bytes as u64;
                }
                let is_aside = self.sets_aside(receive, piece, bytes);
                let transfer = self.transfers.at(receive);
                if !is_aside {
                    self.incoming[from].write(&transfer.buffer, place, piece, Landing::InCaches);
                }
                if piece.len() == bytes {
                    self.transfers.complete(receive);
                    if counts(bytes) {
                        self.note_read(from);
                    }
                } else {
                    transfer.moved = piece.len();
                    transfer.bytes = bytes;
                    self.begin(from, Destination::Transfer(receive), bytes);
                    self.incoming[from].came(place, piece.len());
                }
                if token != 0 {
                    self.tell(from, kind::COMPLETE, [token, 0, 0, 0, 0, 0]);
                }
            }
            None => {
                let token = std::mem::take(&mut self.incoming[from].synchronous);
                let index = self.keep(from, envelope, bytes, bytes, token, None);
                if piece.len() < bytes {
                    self.begin(from, Destination::Message(index), bytes);
                    self.incoming[from].came(place, piece.len());
                }
                if is_large && !self.messages.at(index).is_held {
                    self.tell(from, kind::EARLY, [0; 6]);
                }
                self.add(index, place, piece, part);
            }
        }
    }

    /// Keeps a message that came before its receive, without data so far.
    fn keep(
        &mut self,
        from: usize,
        envelope: Envelope,
        bytes: usize,
        unasked: usize,
        token: u64,
        announced: Option<[u64; 2]>,
    ) -> u32 {
        let (is_held, began) = (self.pool.can_hold(from, unasked), self.incoming[from].consumer.consumed());
        let message = Message::new(envelope, from, bytes);
        let message = Message { unasked, is_held, token, announced, began, ..message };
        let index = self.messages.insert(message);
        self.counters.unexpected_received.add(1);
        self.matching.keep(envelope, index);
        index
    }

    /// A piece of a message that no receive has: it stays in its slot when it may, and is copied otherwise.
    fn add(&mut self, index: u32, place: usize, piece: &[u8], part: &mut Option<SlotPart>) {
        let message = self.messages.at(index);
        let from = message.from;
        let held = part.take_if(|part| match message.open_slots() {
            Some(open) => part.stretch == *open,
            None => piece.len() >= HELD_FROM && message.is_held && self.pool.hold(from, &part.stretch),
        });
        match held {
            Some(part) => message.hold(Held { part, place, bytes: piece.len() }),
            None if message.open_slots().is_some() => self.corrupt(from, "a slot of which a part never came"),
            None => self.messages.add(index, place, piece),
        }
    }

    /// A message of which so many bytes come unasked begins.
    fn begin(&mut self, from: usize, target: Destination, bytes: usize) {
        let incoming = &mut self.incoming[from];
        let before = incoming.target;
        (incoming.target, incoming.bytes, incoming.got, incoming.first_missing) = (target, bytes, 0, 0);
        if before != Destination::Nothing {
            self.corrupt(from, "a message that begins inside another");
        }
    }

    /// Where a piece of a message of so many bytes goes: where its line says, or, in the ring, to the first byte that
    /// is missing.
    #[inline]
    fn place_of(&self, from: usize, place: u64, piece: &[u8], first_missing: usize, bytes: usize) -> usize {
        let place = if place == IN_ORDER { first_missing as u64 } else { place };
        if place.checked_add(piece.len() as u64).is_none_or(|end| end > bytes as u64) {
            self.corrupt(from, "a piece that lies outside of its message");
        }
        place as usize
    }

    /// The next piece of the eager message that is arriving.
    fn more(&mut self, from: usize, place: u64, piece: &[u8], part: &mut Option<SlotPart>) {
        let Incoming { target, bytes, first_missing, .. } = self.incoming[from];
        let over = match target {
            Destination::Transfer(receive) => self.transfers.stage(receive) != Stage::Active,
            Destination::Message(_) => false,
            Destination::Nothing => true,
        };
        if over {
            self.corrupt(from, "a piece of no message");
        }
        let place = self.place_of(from, place, piece, first_missing, bytes);
        match target {
            Destination::Transfer(receive) => self.more_of_receive(from, receive, place, piece),
            Destination::Message(index) => {
                self.add(index, place, piece, part);
                self.incoming[from].came(place, piece.len());
            }
            Destination::Nothing => {}
        }
    }

    /// The same of a message that has its receive.
    #[inline]
    fn more_of_receive(&mut self, from: usize, receive: u32, place: usize, piece: &[u8]) {
        let transfer = self.transfers.at(receive);
        self.incoming[from].write(&transfer.buffer, place, piece, Landing::InCaches);
        transfer.moved += piece.len();
        self.incoming[from].came(place, piece.len());
        if self.incoming[from].target == Destination::Nothing {
            self.here(from, receive);
        }
    }

    /// A piece of a message that was announced, from a byte of it on.
    fn data(&mut self, from: usize, header: PieceHeader, place: u64, piece: &[u8]) {
        let token = u64::from(header.context()) | u64::from(header.tag() as u32) << 32;
        let index = self.transfer_of(from, token);
        let transfer = self.transfers.at(index);
        if transfer.posted || transfer.to != NONE || piece.is_empty() {
            self.corrupt(from, "data that nobody asked for");
        }
        let (bytes, first_missing) = (transfer.bytes, transfer.first_missing);
        if bytes - transfer.moved < piece.len() {
            self.corrupt(from, "more data than was asked for");
        }
        let place = self.place_of(from, place, piece, first_missing, bytes);
        let transfer = self.transfers.at(index);
        if place == first_missing {
            transfer.first_missing += piece.len();
        }
        let landing = transfer.landing();
        self.landed_past |= landing == Landing::PastCaches;
        self.incoming[from].write(&transfer.buffer, place, piece, landing);
        transfer.moved += piece.len();
        self.here(from, index);
    }

    /// Data of an announced message is here.
    pub(super) fn here(&mut self, from: usize, index: u32) {
        if self.copying.is_empty() {
            self.complete_when_here(from, index);
        } else {
            self.here_shared(from, index);
        }
    }

    /// The transfer of this process that another rank speaks of.
    pub(super) fn transfer_of(&mut self, from: usize, token: u64) -> u32 {
        match self.transfers.index(TransferId(token)) {
            Some(index) if self.transfers.stage(index) == Stage::Active => index,
            _ => self.corrupt(from, "news of a transfer that is not under way"),
        }
    }

    /// A piece that is not data.
    fn news(&mut self, from: usize, header: PieceHeader, piece: &[u8]) {
        let words = words(piece);
        if header.length() != sum(&words) {
            self.corrupt(
                from,
                &format!("a piece of kind {} whose words are not what its sum says", header.kind()),
            );
        }
        match header.kind() {
            kind::SYNCHRONOUS => self.incoming[from].synchronous = words[0],
            kind::ANNOUNCE => {
                let envelope = Envelope::new(header.context(), header.source(), header.tag());
                if counts(words[1] as usize) {
                    self.note_message(from, words[1] as usize, words[5]);
                }
                self.announced(from, envelope, words);
            }
            kind::STREAM => {
                let transfer = self.answered(from, words[0]);
                if words[2] > self.transfers.at(transfer).buffer.bytes as u64 {
                    self.corrupt(from, "more data asked for than was announced");
                }
                self.outgoing[from].asked_each = words[3].min(u64::from(ASKED_EACH)) as u32;
                self.sharing.downwards[from] = words[4] != 0;
                self.stream(from, transfer, words[1], words[2] as usize);
            }
            kind::COMPLETE => {
                for token in words.into_iter().take_while(|&token| token != 0) {
                    let index = self.answered(from, token);
                    let transfer = self.transfers.at(index);
                    if transfer.bytes < transfer.buffer.bytes && transfer.buffer.bytes > MOST_EAGER {
                        self.outgoing[from].asked_each = 0;
                    }
                    self.transfers.happened(index, due::ANSWER);
                }
            }
            kind::EARLY => self.outgoing[from].came_early(),
            kind::SHARE => self.help(from, false, words),
            kind::PUSH => self.help(from, true, words),
            kind::PUSHED => self.pushed(from, words),
            kind::CANCEL => self.asked_back(from, words),
            kind::CANCELLED => self.cancelled(from, words[0], words[1] == 1),
            other => self.corrupt(from, &format!("a piece of kind {other}")),
        }
    }

    /// The send that another rank answers.
    pub(super) fn answered(&mut self, from: usize, token: u64) -> u32 {
        let index = self.transfer_of(from, token);
        if self.transfers.at(index).due & due::ANSWER == 0 || self.transfers.at(index).to as usize != from {
            self.corrupt(from, "an answer that nobody waits for");
        }
        index
    }

    pub(super) fn announced(&mut self, from: usize, envelope: Envelope, words: [u64; 6]) {
        let (token, bytes, unasked) = (words[0], words[1] as usize, words[2] as usize);
        if unasked > bytes.min(UNASKED) {
            self.corrupt(from, "more data unasked than is allowed");
        }
        match self.matching.take_posted(envelope) {
            Some(receive) => {
                self.accept(receive, envelope, bytes);
                let incoming = &mut self.incoming[from];
                incoming.began = incoming.consumer.consumed();
                let transfer = self.transfers.at(receive);
                transfer.moved = 0;
                transfer.bytes = unasked;
                if unasked > 0 {
                    self.incoming[from].consumer.handed_on += credit_of_announced(unasked) as u64;
                    self.begin(from, Destination::Transfer(receive), unasked);
                }
                self.answer(receive, from, token, [words[3], words[4]], true);
            }
            None => {
                let index = self.keep(from, envelope, bytes, unasked, token, Some([words[3], words[4]]));
                if unasked > 0 {
                    self.begin(from, Destination::Message(index), unasked);
                }
            }
        }
    }
}
