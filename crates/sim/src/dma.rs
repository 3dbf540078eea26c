//! DMA commands as programs give them.

use crate::Address;
use crate::numbers::{Bytes, LocalAddress, Tag};

/// What holds a command of a tag group back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ordering {
    /// Nothing.
    #[default]
    Free,
    /// Earlier commands of its tag group go first.
    Fence,
    /// Earlier commands of its tag group go first, and later ones wait for it.
    Barrier,
}

/// The name of a DMA command: its direction and its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DmaKind {
    /// From the local store (a put) or into it (a get).
    pub put: bool,
    /// What holds it back.
    pub order: Ordering,
}

impl DmaKind {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 6] =
        [("get", GET), ("getf", GETF), ("getb", GETB), ("put", PUT), ("putf", PUTF), ("putb", PUTB)];
}

pub(crate) const GET: DmaKind = DmaKind { put: false, order: Ordering::Free };
pub(crate) const GETF: DmaKind = DmaKind { put: false, order: Ordering::Fence };
pub(crate) const GETB: DmaKind = DmaKind { put: false, order: Ordering::Barrier };
pub(crate) const PUT: DmaKind = DmaKind { put: true, order: Ordering::Free };
pub(crate) const PUTF: DmaKind = DmaKind { put: true, order: Ordering::Fence };
pub(crate) const PUTB: DmaKind = DmaKind { put: true, order: Ordering::Barrier };

/// A DMA command: `ls` is an offset in the SPE's own local store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dma {
    /// From the local store (a put) or into it (a get).
    pub put: bool,
    /// Offset in the local store.
    pub ls: LocalAddress,
    /// The other end.
    pub ea: Address,
    /// 1, 2, 4, 8, or a multiple of 16 up to 16384.
    pub bytes: Bytes,
    /// Tag group, 0 to 31.
    pub tag: Tag,
    /// The condition that it waits for.
    pub order: Ordering,
}

impl Dma {
    /// A command by its name.
    pub fn new(
        kind: DmaKind,
        ls: impl Into<LocalAddress>,
        ea: Address,
        bytes: impl Into<Bytes>,
        tag: impl Into<Tag>,
    ) -> Self {
        let DmaKind { put, order } = kind;
        Self { put, ls: ls.into(), ea, bytes: bytes.into(), tag: tag.into(), order }
    }
}

/// An element of a DMA list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListElement {
    /// The other end.
    pub ea: Address,
    /// 1, 2, 4, 8, or a multiple of 16 up to 16384.
    pub bytes: Bytes,
}

impl ListElement {
    /// So many bytes from an address on.
    pub fn new(ea: Address, bytes: impl Into<Bytes>) -> Self {
        Self { ea, bytes: bytes.into() }
    }

    /// Where it starts in the local store, when the one before it has ended before `ls`: in the quadword from there on,
    /// at its address's place in a quadword.
    pub(crate) fn store_offset(&self, ls: u32) -> u32 {
        ls / 16 * 16 + (self.ea.0 % 16) as u32
    }
}

/// The elements of a DMA list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListElements(pub Vec<ListElement>);

impl From<Vec<ListElement>> for ListElements {
    fn from(list: Vec<ListElement>) -> Self {
        Self(list)
    }
}

impl<T: AsRef<[ListElement]> + ?Sized> From<&T> for ListElements {
    fn from(list: &T) -> Self {
        Self(list.as_ref().to_vec())
    }
}
