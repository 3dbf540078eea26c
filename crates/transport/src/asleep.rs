//! How a rank goes to sleep and is woken, so that no message is slept through. `tests/loom.rs` explores it.
//!
//! A sender writes its message and then looks whether the receiver sleeps, without a fence between the two. The
//! sleeper announces itself, makes the kernel run a barrier on all cores, and looks for messages once more. If a sender
//! has written before the barrier, the sleeper sees the message; if not, the sender sees the announcement.

/// A rank that sleeps is woken when something was written for it.
pub const FOR_NEWS: u32 = 1;
/// And when there is room again for what it has to write. Most sleepers have nothing to write: each look of theirs
/// would take the cpu from those that they wait for. (8 ranks on 2 cpus of a Xeon, gather of 1 kB, senders that ran
/// ahead and were woken each time when one of their messages was taken: 45 us, and 6 with this.)
pub const FOR_ROOM: u32 = 2;

/// The word that says that a rank sleeps, and what the kernel does with it.
pub trait Asleep {
    /// What the rank has announced that it is to be woken for; 0: it does not sleep. Orders nothing.
    fn announced(&self) -> u32;
    /// Adds to the word.
    fn set(&self, what: u32);
    /// Clears the word, as one step; whether it was set.
    fn take(&self) -> bool;
    /// Runs a barrier on all cores that run senders; false where the kernel can't.
    fn barrier(&self) -> bool;
    /// Wakes the threads that sleep on the word.
    fn wake(&self);

    /// The rank is going to sleep. Look for messages once more after this, then sleep while the word is set. False: a
    /// message may be missed, so sleep only for a moment.
    ///
    /// `for_room`: it has something to write, too.
    fn announce(&self, for_room: bool) -> bool {
        self.set(if for_room { FOR_NEWS | FOR_ROOM } else { FOR_NEWS });
        self.barrier()
    }

    /// Something was written for the rank: wakes it if it sleeps.
    #[inline]
    fn ring(&self) {
        if self.announced() != 0 && self.take() {
            self.wake();
        }
    }

    /// There is room for what the rank may have to write: wakes it if it sleeps and waits for that.
    #[inline]
    fn ring_for_room(&self) {
        if self.announced() & FOR_ROOM != 0 && self.take() {
            self.wake();
        }
    }
}
