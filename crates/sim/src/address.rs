//! Effective addresses: main memory from 0, then every SPE's local store and its problem-state registers.

use crate::LOCAL_STORE_BYTES;
use crate::ids::byte;

/// An effective address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(pub u64);

/// Where the local store of SPE 0 starts; those of others follow at [`SPE_STRIDE`].
const STORES: u64 = 1 << 40;
/// From one SPE's local store to the next one's.
const SPE_STRIDE: u64 = 1 << 20;
/// Registers of an SPE, from the start of its local store.
const IN_MAILBOX: u64 = 0x4_400c;
const SIGNAL: [u64; 2] = [0x5_400c, 0x5_c00c];

/// The thing that an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// Main memory of a chip; the offset counts over all chips.
    Memory { chip: u8, offset: u64 },
    /// An SPE's local store.
    Store { spe: u8, offset: u32 },
    /// An SPE's inbound mailbox.
    Mailbox { spe: u8 },
    /// An SPE's signal register, 0 or 1.
    Signal { spe: u8, register: u8 },
    /// Nothing.
    Nowhere,
}

impl Location {
    /// What is so many bytes further on, in the same memory or local store.
    #[inline]
    pub(crate) fn further(self, bytes: u32) -> Self {
        match self {
            Self::Memory { chip, offset } => Self::Memory { chip, offset: offset + u64::from(bytes) },
            Self::Store { spe, offset } => Self::Store { spe, offset: offset + bytes },
            other => other,
        }
    }
}

impl Address {
    /// The start of an SPE's local store.
    pub const fn local_store(spe: usize) -> Self {
        Self((spe as u64).saturating_mul(SPE_STRIDE).saturating_add(STORES))
    }

    /// An SPE's inbound mailbox, for a put of four bytes.
    pub const fn mailbox(spe: usize) -> Self {
        Self(Self::local_store(spe).0.saturating_add(IN_MAILBOX))
    }

    /// An SPE's signal register 1 or 2, for a put of four bytes.
    ///
    /// # Panics
    /// When `register` is neither.
    pub const fn signal(spe: usize, register: u32) -> Self {
        Self(Self::local_store(spe).0.saturating_add(SIGNAL[register as usize - 1]))
    }

    /// Whether it can only be of main memory.
    pub(crate) const fn is_memory(self) -> bool {
        self.0 < STORES
    }

    /// Whether it is of an SPE, but not of its local store.
    pub(crate) const fn is_register(self) -> bool {
        !self.is_memory() && (self.0 - STORES) % SPE_STRIDE >= LOCAL_STORE_BYTES as u64
    }

    /// The thing that the address belongs to, on a machine with so many SPEs and chips with so much memory.
    pub(crate) fn place(self, spes: usize, chips: usize, memory_bytes: u64) -> Location {
        if self.0 < memory_bytes * chips as u64 {
            let chip = if self.0 < memory_bytes { 0 } else { byte((self.0 / memory_bytes) as usize) };
            return Location::Memory { chip, offset: self.0 };
        }
        if self.0 < STORES {
            return Location::Nowhere;
        }
        let (spe, offset) = (((self.0 - STORES) / SPE_STRIDE) as usize, (self.0 - STORES) % SPE_STRIDE);
        if spe >= spes {
            return Location::Nowhere;
        }
        let spe = byte(spe);
        if offset < u64::from(LOCAL_STORE_BYTES) {
            Location::Store { spe, offset: offset as u32 }
        } else if offset == IN_MAILBOX {
            Location::Mailbox { spe }
        } else if let Some(register) = SIGNAL.iter().position(|&s| s == offset) {
            Location::Signal { spe, register: byte(register) }
        } else {
            Location::Nowhere
        }
    }
}

impl std::ops::Add<u64> for Address {
    type Output = Self;

    /// Beyond the last address there is nothing: no address comes round to memory again.
    fn add(self, bytes: u64) -> Self {
        Self(self.0.saturating_add(bytes))
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 < STORES {
            return write!(f, "memory {:#x}", self.0);
        }
        let (spe, offset) = ((self.0 - STORES) / SPE_STRIDE, (self.0 - STORES) % SPE_STRIDE);
        match offset {
            o if o < u64::from(LOCAL_STORE_BYTES) => write!(f, "local store of SPE{spe} {offset:#x}"),
            IN_MAILBOX => write!(f, "mailbox of SPE{spe}"),
            o if o == SIGNAL[0] => write!(f, "signal register 1 of SPE{spe}"),
            o if o == SIGNAL[1] => write!(f, "signal register 2 of SPE{spe}"),
            _ => write!(f, "{:#x} (nothing)", self.0),
        }
    }
}
