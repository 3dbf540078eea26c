//! How ranks communicate while they make a communicator: small blocking exchanges.
//!
//! They have a context of their own and a tag per making, so that neither user messages, nor collectives, nor another
//! making that is under way can be taken for them.

use super::{Comm, Group};
use crate::abi::values::MPI_ERR_OTHER;
use crate::check::Failure;
use crate::runtime::{self, State};
use std::sync::atomic::Ordering;
use transport::{Buffer, Criteria, Envelope, Mode, TransferId};

/// One side of an exchange: its rank in the job, and the rank in its envelopes.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    /// The rank in the job.
    pub job: usize,
    /// The rank in the communicator whose context is used.
    pub source: u16,
}

/// The tag of the next making of a communicator by all ranks of `comm`. Negative: all that is not negative is for
/// `MPI_Comm_create_group`.
pub(crate) fn making_tag(comm: &Comm) -> i32 {
    !((comm.offspring.fetch_add(1, Ordering::Relaxed) & 0x3fff_ffff) as i32)
}

/// The tag by which the leaders of `MPI_Intercomm_create` find each other.
pub(crate) fn leaders_tag(tag: i32) -> i32 {
    i32::MIN | (tag & 0x3fff_ffff)
}

fn mismatch() -> Failure {
    Failure::new(MPI_ERR_OTHER, "other ranks call a different function on this communicator")
}

/// Bytes on their way. They stay where they are until `wait`.
pub(crate) struct SendingBytes {
    transfer: Option<TransferId>,
    _bytes: Vec<u8>,
}

/// Starts to send bytes.
pub(crate) fn start_send(state: &mut State, to: Peer, envelope: Envelope, bytes: Vec<u8>) -> SendingBytes {
    // SAFETY: `SendingBytes` keeps the bytes where they are.
    let buffer = unsafe { Buffer::new(bytes.as_ptr().cast_mut(), bytes.len()) };
    SendingBytes { transfer: state.engine.send(to.job, envelope, &buffer, Mode::Standard), _bytes: bytes }
}

impl SendingBytes {
    /// Whether the bytes are no longer needed.
    pub(crate) fn is_over(&mut self, state: &mut State) -> bool {
        let over = self.transfer.is_none_or(|id| state.engine.take_if_complete(id).is_some());
        if over {
            self.transfer = None;
        }
        over
    }
}

/// Bytes that are being received. They stay where they are until they are complete.
pub(crate) struct ReceivingBytes {
    transfer: TransferId,
    bytes: Vec<u8>,
}

/// Starts to receive at most `room` bytes.
pub(crate) fn start_receive(
    state: &mut State,
    from: Peer,
    context: u32,
    tag: i32,
    room: usize,
) -> ReceivingBytes {
    let mut bytes = vec![0; room];
    // SAFETY: `ReceivingBytes` keeps the room where it is.
    let buffer = unsafe { Buffer::new(bytes.as_mut_ptr(), room) };
    let pattern = Criteria { context, source: Some(from.source), tag: Some(tag) };
    ReceivingBytes { transfer: state.engine.receive(pattern, Some(from.job), &buffer), bytes }
}

impl ReceivingBytes {
    /// The bytes, once they are complete; nothing when asked again after that.
    pub(crate) fn take(&mut self, state: &mut State) -> Option<Result<Vec<u8>, Failure>> {
        let completion = state.engine.take_if_complete(self.transfer)?;
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.truncate(completion.bytes);
        Some(if completion.truncated().is_some() { Err(mismatch()) } else { Ok(bytes) })
    }
}

/// Sends and receives at the same time.
///
/// # Errors
/// More bytes came than `room`.
pub(crate) fn swap(with: Peer, own: Envelope, bytes: Vec<u8>, room: usize) -> Result<Vec<u8>, Failure> {
    let (mut sending, mut receiving) = {
        let mut state = runtime::enter();
        let receiving = start_receive(&mut state, with, own.context(), own.tag(), room);
        (start_send(&mut state, with, own, bytes), receiving)
    };
    let received = runtime::wait_until(|state| receiving.take(state));
    runtime::wait_until(|state| sending.is_over(state).then_some(()));
    received
}

/// Ranks that exchange bytes among themselves, as a binomial tree.
pub(crate) struct Circle {
    members: Vec<Peer>,
    /// This process's place among them.
    pub place: usize,
    context: u32,
    tag: i32,
}

impl Circle {
    /// The (local) group of a communicator; takes the tag of the next making.
    pub(crate) fn local(comm: &Comm, tag: i32) -> Self {
        let peer = |(source, &job): (usize, &u32)| Peer { job: job as usize, source: source as u16 };
        let members = comm.group.members.iter().enumerate().map(peer).collect();
        Self { members, place: comm.rank, context: comm.construction(), tag }
    }

    /// Some ranks of a communicator; nothing when this process is none of them.
    pub(crate) fn of(comm: &Comm, context: u32, members: &Group, tag: i32) -> Option<Self> {
        let own = comm.group.members[comm.rank];
        let peer = |&job: &u32| Some(Peer { job: job as usize, source: comm.group.rank_of(job)? as u16 });
        let place = members.rank_of(own)?;
        Some(Self { members: members.members.iter().map(peer).collect::<Option<_>>()?, place, context, tag })
    }

    fn envelope(&self) -> Envelope {
        Envelope::new(self.context, self.members[self.place].source, self.tag)
    }

    /// The member that is `offset` places behind `root`.
    fn behind(&self, root: usize, offset: usize) -> Peer {
        self.members[(root + offset) % self.members.len()]
    }

    /// All members get the root's bytes, at most `room`.
    ///
    /// # Errors
    /// More bytes came than `room`.
    pub(crate) fn broadcast(&self, root: usize, bytes: Vec<u8>, room: usize) -> Result<Vec<u8>, Failure> {
        let mut broadcast = TreeBroadcast::start(&mut runtime::enter(), self, root, bytes, room);
        runtime::wait_until(|state| broadcast.advance(state))
    }

    /// The first member gets the bytes of all, `each` of them per member, in order; the others get nothing of use.
    ///
    /// # Errors
    /// A member sent another number of bytes.
    pub(crate) fn gather(&self, own: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut bytes = own.to_vec();
        for child in children(self.place, self.members.len()).rev() {
            let members = subtree(child, self.members.len());
            let mut receiving = {
                let from = self.members[child];
                start_receive(&mut runtime::enter(), from, self.context, self.tag, members * own.len())
            };
            bytes.extend(runtime::wait_until(|state| receiving.take(state))?);
        }
        if bytes.len() != subtree(self.place, self.members.len()) * own.len() {
            return Err(mismatch());
        }
        if let Some(parent) = parent(self.place) {
            let own = std::mem::take(&mut bytes);
            let mut sending = start_send(&mut runtime::enter(), self.members[parent], self.envelope(), own);
            runtime::wait_until(|state| sending.is_over(state).then_some(()));
        }
        Ok(bytes)
    }
}

/// The parent of a place in a binomial tree whose root is 0: without its lowest bit.
fn parent(place: usize) -> Option<usize> {
    (place > 0).then(|| place & (place - 1))
}

/// The children of a place, the nearest last: that with the largest subtree first.
fn children(place: usize, members: usize) -> impl DoubleEndedIterator<Item = usize> {
    let bits = if place == 0 { usize::BITS - members.leading_zeros() } else { place.trailing_zeros() };
    (0..bits).rev().map(move |bit| place + (1 << bit)).filter(move |&child| child < members)
}

/// Members in the subtree of a place.
fn subtree(place: usize, members: usize) -> usize {
    if place == 0 { members } else { (1 << place.trailing_zeros()).min(members - place) }
}

/// A broadcast in steps.
pub(crate) struct TreeBroadcast {
    receiving: Option<ReceivingBytes>,
    bytes: Vec<u8>,
    envelope: Envelope,
    children: Vec<Peer>,
    sending: Vec<SendingBytes>,
}

impl TreeBroadcast {
    /// Starts it; nothing is waited for.
    pub(crate) fn start(
        state: &mut State,
        circle: &Circle,
        root: usize,
        bytes: Vec<u8>,
        room: usize,
    ) -> Self {
        let members = circle.members.len();
        let offset = (circle.place + members - root) % members;
        let receiving = parent(offset).map(|parent| {
            let from = circle.behind(root, parent);
            start_receive(state, from, circle.context, circle.tag, room)
        });
        let children = children(offset, members).map(|child| circle.behind(root, child)).collect();
        Self { receiving, bytes, envelope: circle.envelope(), children, sending: Vec::new() }
    }

    /// Goes on without waiting; gives the bytes when it is over.
    pub(crate) fn advance(&mut self, state: &mut State) -> Option<Result<Vec<u8>, Failure>> {
        if let Some(receiving) = &mut self.receiving {
            match receiving.take(state)? {
                Ok(bytes) => self.bytes = bytes,
                Err(failure) => return Some(Err(failure)),
            }
            self.receiving = None;
        }
        for child in self.children.drain(..) {
            self.sending.push(start_send(state, child, self.envelope, self.bytes.clone()));
        }
        self.sending.retain_mut(|sending| !sending.is_over(state));
        self.sending.is_empty().then(|| Ok(std::mem::take(&mut self.bytes)))
    }
}

/// Numbers as bytes, and back: what one process writes another on the same machine reads.
pub(crate) fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_ne_bytes).collect()
}

/// The numbers that `words` wrote.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().expect("4 bytes"))).collect()
}

/// A colour or key as it is sent.
pub(crate) fn word(value: i32) -> u32 {
    u32::from_ne_bytes(value.to_ne_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_of_a_tree_has_one_parent_and_subtrees_add_up() {
        for members in 1..40 {
            let mut met = vec![0; members];
            for place in 0..members {
                for child in children(place, members) {
                    assert_eq!(parent(child), Some(place));
                    met[child] += 1;
                }
                let below: usize = children(place, members).map(|child| subtree(child, members)).sum();
                assert_eq!(subtree(place, members), below + 1, "{place} of {members}");
                // Gathered in this order, the ranks of a subtree follow each other.
                let mut next = place + 1;
                for child in children(place, members).rev() {
                    assert_eq!(child, next);
                    next += subtree(child, members);
                }
            }
            assert!(met[0] == 0 && met[1..].iter().all(|&times| times == 1));
        }
    }

    #[test]
    fn tags_of_makings_leaders_and_groups_never_meet() {
        let comm = Comm::world(0, 1);
        assert_eq!((making_tag(&comm), making_tag(&comm)), (-1, -2));
        comm.offspring.store(0x3fff_ffff, Ordering::Relaxed);
        assert_eq!(making_tag(&comm), -0x4000_0000);
        assert!(leaders_tag(i32::MAX) < -0x4000_0000 && leaders_tag(0) < -0x4000_0000);
    }
}
