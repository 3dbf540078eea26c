//! What programs pass to calls, each kind with a type of its own: no tag is taken for a mask, and no size for a place.

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($of:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $of);

        impl From<$of> for $name {
            fn from(number: $of) -> Self {
                Self(number)
            }
        }
    )*};
}

numbers! {
    /// An SPE, as programs count them: from 0 over the whole machine.
    SpeId(usize);
    /// An offset in a local store.
    LocalAddress(u32);
    /// A number of bytes.
    Bytes(u32);
    /// A tag group; a queue has those from 0 to 31.
    Tag(u32);
    /// Tag groups: a bit for each.
    TagMask(u32);
    /// A signal register: 1 or 2.
    SignalRegister(u32);
    /// Four bytes as a little-endian number.
    DataWord(u32);
    /// Nanoseconds.
    Ns(u64);
    /// SPU cycles of 312.5 ps.
    Cycles(u64);
}

impl std::fmt::Display for SpeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SPE{}", self.0)
    }
}

impl Tag {
    /// Its place among the groups of a queue.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl SignalRegister {
    /// Its place among an SPE's registers; a message when there is no such register.
    pub(crate) fn checked(self) -> Result<usize, String> {
        match self.0 {
            1 => Ok(0),
            2 => Ok(1),
            other => Err(format!("signal register {other}; there are 1 and 2")),
        }
    }

    /// Its place among an SPE's registers, once it has been checked.
    pub(crate) fn index(self) -> usize {
        self.checked().expect("calls of other registers are refused")
    }
}

impl From<Ns> for Cycles {
    /// Rounded up.
    fn from(time: Ns) -> Self {
        Self(time.0.saturating_mul(16).div_ceil(5))
    }
}

/// Bytes that a program writes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Payload(pub Vec<u8>);

impl Payload {
    /// How many they are.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.len() as u64
    }
}

impl From<Vec<u8>> for Payload {
    fn from(data: Vec<u8>) -> Self {
        Self(data)
    }
}

impl<T: AsRef<[u8]> + ?Sized> From<&T> for Payload {
    fn from(data: &T) -> Self {
        Self(data.as_ref().to_vec())
    }
}

impl From<DataWord> for Payload {
    fn from(word: DataWord) -> Self {
        Self(word.0.to_le_bytes().to_vec())
    }
}
