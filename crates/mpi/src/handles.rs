//! Objects behind handles: a table per kind of object, whose handles name a slot and its generation, so that a freed
//! handle is recognised, never followed.

use std::marker::PhantomData;
use transport::TransferId;

/// The kind of object that a handle names; part of its value, so that a group passed as a communicator is told from a
/// freed communicator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
    Comm = 1,
    Group,
    Datatype,
    Op,
    Request,
    Message,
    Errhandler,
    Info,
    Transfer,
}

const INDEX_BITS: u32 = 26;
const KIND_SHIFT: u32 = INDEX_BITS;
const GENERATION_SHIFT: u32 = 32;
const GENERATIONS: usize = (1 << 31) - 1;
/// No address of a process has its highest bit set: an uninitialised handle, which often holds one, is not taken for
/// ours.
const OURS: usize = 1 << 63;

/// The kind of object that a handle of ours was made for; nothing for predefined handles and foreign values.
#[inline]
pub(crate) fn kind_of(handle: usize) -> Option<Kind> {
    use Kind::*;
    if handle & OURS == 0 {
        return None;
    }
    const KINDS: [Kind; 9] = [Comm, Group, Datatype, Op, Request, Message, Errhandler, Info, Transfer];
    KINDS.get(((handle >> KIND_SHIFT) & 0x3f).wrapping_sub(1)).copied()
}

/// The value of a handle: a mark, generation, kind, index. Larger than every predefined handle and every address.
#[inline]
pub(crate) const fn value(kind: Kind, index: u32, generation: u32) -> usize {
    OURS | (generation as usize & GENERATIONS) << GENERATION_SHIFT
        | (kind as usize) << KIND_SHIFT
        | index as usize
}

/// What marks the id of a transfer as a handle: in bits that the transport leaves 0.
const TRANSFER: usize = OURS | (Kind::Transfer as usize) << KIND_SHIFT;

/// The handle of a transfer.
#[inline]
pub(crate) const fn of_transfer(id: TransferId) -> usize {
    id.number() as usize | TRANSFER
}

/// The transfer of a handle; of any other value, an id that no transfer has.
#[inline]
pub(crate) const fn transfer_id(handle: usize) -> TransferId {
    TransferId::of_number((handle ^ TRANSFER) as u64)
}

/// The slot that a handle names.
#[inline]
pub(crate) fn index(handle: usize) -> usize {
    handle & ((1 << INDEX_BITS) - 1)
}

struct Slot<T> {
    generation: u32,
    object: Option<T>,
}

/// Objects of one kind by handle.
pub(crate) struct Handles<T> {
    kind: Kind,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    objects: PhantomData<T>,
}

impl<T> Handles<T> {
    /// An empty table.
    pub(crate) const fn new(kind: Kind) -> Self {
        Self { kind, slots: Vec::new(), free: Vec::new(), objects: PhantomData }
    }

    /// Puts an object in and gives its handle.
    pub(crate) fn insert(&mut self, object: T) -> usize {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 1, object: None });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.object = Some(object);
        value(self.kind, index, slot.generation)
    }

    fn slot(&self, handle: usize) -> Option<&Slot<T>> {
        let named = self.slots.get(index(handle))?;
        (value(self.kind, index(handle) as u32, named.generation) == handle).then_some(named)
    }

    /// The object of a handle; nothing when it was freed or is no handle of this table.
    #[inline]
    pub(crate) fn get(&self, handle: usize) -> Option<&T> {
        self.slot(handle)?.object.as_ref()
    }

    /// As `get`, to change it.
    #[inline]
    pub(crate) fn get_mut(&mut self, handle: usize) -> Option<&mut T> {
        self.slot(handle)?;
        self.slots[index(handle)].object.as_mut()
    }

    /// Takes the object out; its handle is invalid from now on.
    pub(crate) fn remove(&mut self, handle: usize) -> Option<T> {
        self.slot(handle)?;
        let slot = &mut self.slots[index(handle)];
        let object = slot.object.take()?;
        slot.generation = slot.generation.wrapping_add(1).max(1);
        self.free.push(index(handle) as u32);
        Some(object)
    }

    /// A handle as an `int` (`MPI_Comm_toint` and its like); only while it lives.
    pub(crate) fn to_int(&self, handle: usize) -> i32 {
        (handle & 0xffff_ffff) as i32
    }

    /// The live handle that `to_int` made this of.
    pub(crate) fn handle_of(&self, int: i32) -> Option<usize> {
        let slot = self.slots.get(index(int as usize))?;
        slot.object.as_ref()?;
        Some(value(self.kind, index(int as usize) as u32, slot.generation))
    }

    /// All live handles with their objects.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            Some((value(self.kind, index as u32, slot.generation), slot.object.as_ref()?))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_handle_is_not_followed_even_when_its_slot_is_used_again() {
        let mut table = Handles::new(Kind::Info);
        let first = table.insert("a");
        assert_eq!(table.remove(first), Some("a"));
        let second = table.insert("b");
        assert_eq!(index(first), index(second));
        assert_eq!(table.get(first), None);
        assert_eq!(table.get(second), Some(&"b"));
        assert_eq!(kind_of(first), Some(Kind::Info));
        assert_eq!(table.handle_of(table.to_int(second)), Some(second));
    }

    #[test]
    fn a_handle_says_its_kind_and_comes_back_from_an_int() {
        use Kind::*;
        for kind in [Comm, Group, Datatype, Op, Request, Message, Errhandler, Info, Transfer] {
            assert_eq!(kind_of(value(kind, 5, u32::MAX)), Some(kind));
            let mut table = Handles::new(kind);
            let handle = table.insert(());
            assert!(table.to_int(handle) > 0);
            assert_eq!(table.handle_of(table.to_int(handle)), Some(handle));
        }
    }

    #[test]
    fn another_kinds_handle_is_not_followed() {
        let mut infos = Handles::new(Kind::Info);
        let mut groups = Handles::new(Kind::Group);
        let info = infos.insert(1);
        groups.insert(2);
        assert_eq!(groups.get(info), None);
        assert_eq!(kind_of(0x101), None);
        assert_eq!(kind_of(0x7ffd_1000_0000), None);
    }
}
