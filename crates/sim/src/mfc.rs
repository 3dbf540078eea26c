//! A memory flow controller: its two queues, tag groups, fences and barriers. Which line goes out next is decided here;
//! when it goes, in the engine.

use crate::address::Address;
use crate::dma::{Dma, ListElement, Ordering};
use crate::ids::{CommandId, byte};
use crate::line::Line;
use crate::parameters::MfcParameters as Times;
use std::collections::VecDeque;

/// Slots: the SPE's own queue first, then the one for the PPE's commands.
const SLOTS: usize = 24;
/// Tag groups.
pub(crate) const TAGS: usize = 32;

#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub put: bool,
    pub order: Ordering,
    pub tag: u8,
    pub proxy: bool,
    /// Elements of a list that are still to come, last first.
    list: Vec<ListElement>,
    ls: u32,
    ea: Address,
    /// Bytes of this element that no line carries yet.
    left: u32,
    /// The line with the first of them, and how many of them lie in the same memory or local store; not known before
    /// the first line of an element goes out.
    next: Option<Line>,
    within: u64,
    /// In the order in which commands were queued.
    sequence: u64,
    /// When its first (or next element's) line may go out.
    ready: u64,
    /// Lines that have not left, and that have not arrived.
    unsent: u32,
    unarrived: u32,
    issued: bool,
}

#[derive(Debug)]
pub(crate) struct Mfc {
    slots: [Option<Command>; SLOTS],
    /// Commands with lines to send out, oldest first.
    order: VecDeque<CommandId>,
    sequence: u64,
    own: usize,
    proxied: usize,
    /// Commands of each tag group that are not done: the SPE's own, and the PPE's.
    pending: [[u16; TAGS]; 2],
    /// Fences and barriers in the queues.
    ordered: usize,
    pub lines_out: u32,
    /// Lines of puts that have not arrived in main memory.
    pub puts_out: u32,
    pub remote_out: u32,
    /// When its next line may go out as a command.
    pub next_line_at: u64,
    pub next_token: u64,
    /// When an `Issue` is already on its way.
    pub issues_at: u64,
    /// When a PPE may see that the last command it handed over with a tag is done.
    pub seen_at: [u64; TAGS],
    /// Pages whose translation is known, by their number modulo the entries.
    translations: Vec<u64>,
}

impl Mfc {
    pub(crate) fn new(tlb_entries: usize) -> Self {
        Self {
            slots: Default::default(),
            order: VecDeque::with_capacity(SLOTS),
            sequence: 0,
            own: 0,
            proxied: 0,
            pending: [[0; TAGS]; 2],
            ordered: 0,
            lines_out: 0,
            puts_out: 0,
            remote_out: 0,
            next_line_at: 0,
            next_token: 0,
            issues_at: u64::MAX,
            seen_at: [0; TAGS],
            translations: vec![u64::MAX; tlb_entries],
        }
    }

    /// Commands that the queue still takes.
    pub(crate) fn space(&self, proxy: bool, times: &Times) -> usize {
        if proxy { times.proxy_queue - self.proxied } else { times.queue - self.own }
    }

    /// Queues a command, and says which one it is; the caller has made sure that there is room.
    pub(crate) fn queue(
        &mut self,
        dma: Dma,
        mut list: Option<Vec<ListElement>>,
        proxy: bool,
        now: u64,
        times: &Times,
    ) -> CommandId {
        let slot = self.slots.iter().position(Option::is_none).expect("the caller looked for room");
        self.sequence += 1;
        let mut ready = now + times.to_bus;
        let (mut ls, mut ea, mut left) = (dma.ls.0, dma.ea, dma.bytes.0);
        if let Some(list) = &mut list {
            list.reverse();
            let first = list.pop().expect("lists are not empty");
            (ls, ea, left) = (first.store_offset(ls), first.ea, first.bytes.0);
            ready += times.list_element + self.translate(ea, times);
        } else {
            ready += self.translate(ea, times);
        }
        self.slots[slot] = Some(Command {
            put: dma.put,
            order: dma.order,
            tag: byte(dma.tag.index()),
            proxy,
            list: list.unwrap_or_default(),
            ls,
            ea,
            left,
            next: None,
            within: 0,
            sequence: self.sequence,
            ready,
            unsent: 0,
            unarrived: 0,
            issued: false,
        });
        let id = CommandId(byte(slot));
        self.order.push_back(id);
        self.pending[usize::from(proxy)][dma.tag.index()] += 1;
        self.ordered += usize::from(dma.order != Ordering::Free);
        *(if proxy { &mut self.proxied } else { &mut self.own }) += 1;
        id
    }

    /// The cost of an address's page; the next access finds the page known.
    fn translate(&mut self, ea: Address, times: &Times) -> u64 {
        if times.tlb_entries == 0 {
            return 0;
        }
        let page = ea.0 / times.page_bytes;
        let entry = &mut self.translations[(page % times.tlb_entries as u64) as usize];
        if *entry == page {
            return 0;
        }
        *entry = page;
        times.tlb_miss
    }

    /// The place in the order of the command whose line goes out next.
    #[inline]
    pub(crate) fn next_command(&self) -> Option<usize> {
        if self.ordered == 0 {
            return (!self.order.is_empty()).then_some(0);
        }
        (0..self.order.len()).find(|&i| self.may_start(self.order[i]))
    }

    #[inline]
    fn command(&mut self, position: usize) -> &mut Command {
        self.slots[self.order[position].index()].as_mut().expect("it is in the order")
    }

    /// When the next line of the command at `position` may go out, and that line if it is known.
    #[inline]
    pub(crate) fn next_line(&mut self, position: usize) -> (u64, Option<&Line>) {
        let command = self.command(position);
        (command.ready, command.next.as_ref())
    }

    /// What the next line of the command at `position` is made of: the command, whether it is a put, and both ends.
    pub(crate) fn ends(&mut self, position: usize) -> (CommandId, bool, u32, Address) {
        let id = self.order[position];
        let Command { put, ls, ea, .. } = *self.command(position);
        (id, put, ls, ea)
    }

    /// Says what the next line of the command at `position` is; `within` bytes lie in the same memory or local store.
    pub(crate) fn set_next_line(&mut self, position: usize, line: Line, within: u64) {
        let command = self.command(position);
        (command.next, command.within) = (Some(line), within);
    }

    /// Takes up to `most` lines of the command at `position`: the first of them, and how many bytes they carry.
    #[inline]
    pub(crate) fn take(&mut self, position: usize, most: u32, times: &Times, now: u64) -> (Line, u32) {
        let command = self.command(position);
        let next = command.next.as_mut().expect("it was set");
        let line = *next;
        let mut bytes = u64::from(most) * 128 - line.ea % 128;
        bytes = bytes.min(command.left.into()).min(command.within);
        if times.tlb_entries > 0 {
            bytes = bytes.min(times.page_bytes - line.ea % times.page_bytes);
        }
        command.within -= bytes;
        let taken = bytes as u32;
        next.advance(taken);
        command.ls += taken;
        command.ea = command.ea + bytes;
        command.left -= taken;
        let lines = line.lines(taken);
        command.unsent += lines;
        command.unarrived += lines;
        if command.left == 0 || command.within == 0 {
            command.next = None;
        }
        if command.left == 0 {
            self.next_element(position, times, now);
        } else if times.tlb_entries > 0 && command.ea.0.is_multiple_of(times.page_bytes) {
            let ea = command.ea;
            let miss = self.translate(ea, times);
            self.command(position).ready = now + miss;
        }
        (line, taken)
    }

    /// The element of the command at `position` is sent out: its list goes on, or its last line is on its way.
    fn next_element(&mut self, position: usize, times: &Times, now: u64) {
        let command = self.command(position);
        if let Some(element) = command.list.pop() {
            // An element of a list starts on its address's place in a quadword.
            command.ls = element.store_offset(command.ls.next_multiple_of(16));
            (command.ea, command.left) = (element.ea, element.bytes.0);
            let miss = self.translate(element.ea, times);
            self.command(position).ready = now + times.list_element + miss;
            return;
        }
        command.issued = true;
        if position == 0 {
            self.order.pop_front();
        } else {
            self.order.remove(position);
        }
    }

    /// Whether fences and barriers let a command's lines out.
    fn may_start(&self, id: CommandId) -> bool {
        let command = self.slots[id.index()].as_ref().expect("it is in the order");
        !self.slots.iter().flatten().any(|other| {
            other.tag == command.tag
                && other.proxy == command.proxy
                && other.sequence < command.sequence
                && (command.order != Ordering::Free || other.order == Ordering::Barrier)
        })
    }

    /// A line has left its local store. `true` when its tag group may be done by it.
    #[inline]
    pub(crate) fn sent(&mut self, id: CommandId) -> bool {
        let command = self.slots[id.index()].as_mut().expect("its lines are under way");
        command.unsent -= 1;
        let done = command.issued && command.unsent == 0;
        if done {
            self.pending[usize::from(command.proxy)][command.tag as usize] -= 1;
        }
        done
    }

    /// A line is where it should be; `also_sent` says that this is also when it counts as [`sent`](Self::sent). Whether
    /// its tag group may be done by it, and whether that was the command's last: its slot is free.
    #[inline]
    pub(crate) fn arrived(&mut self, id: CommandId, also_sent: bool) -> (bool, bool) {
        let command = self.slots[id.index()].as_mut().expect("its lines are under way");
        command.unsent -= u32::from(also_sent);
        command.unarrived -= 1;
        if !command.issued || command.unsent > 0 {
            return (false, false);
        }
        let Command { proxy, tag, order, unarrived, .. } = *command;
        if also_sent {
            self.pending[usize::from(proxy)][tag as usize] -= 1;
        }
        let last = unarrived == 0;
        if last {
            self.ordered -= usize::from(order != Ordering::Free);
            *(if proxy { &mut self.proxied } else { &mut self.own }) -= 1;
            self.slots[id.index()] = None;
        }
        (also_sent, last)
    }

    /// The groups of `mask` that are done.
    #[inline]
    pub(crate) fn done(&self, mask: u32, proxy: bool) -> u32 {
        let pending = &self.pending[usize::from(proxy)];
        let (mut done, mut left) = (0, mask);
        while left != 0 {
            let tag = left.trailing_zeros() as usize;
            left &= left - 1;
            if pending[tag] == 0 {
                done |= 1 << tag;
            }
        }
        done
    }

    /// Which of the groups `done` a PPE may see by now, and in how many cycles the next and the last of the others.
    pub(crate) fn seen(&self, done: u32, now: u64) -> (u32, u64, u64) {
        let (mut seen, mut soonest, mut latest) = (0, u64::MAX, 0);
        for (tag, &at) in self.seen_at.iter().enumerate().filter(|(tag, _)| done >> tag & 1 != 0) {
            if at <= now {
                seen |= 1 << tag;
            } else {
                soonest = soonest.min(at - now);
                latest = latest.max(at - now);
            }
        }
        (seen, soonest, latest)
    }
}
