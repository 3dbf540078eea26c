//! How a rank goes to sleep and is woken, so that no message is slept through. `tests/loom.rs` explores it.
//!
//! A sender writes its message and then looks whether the receiver sleeps, without a fence between the two. The
//! sleeper announces itself, makes the kernel run a barrier on all cores, and looks for messages once more. If a sender
//! has written before the barrier, the sleeper sees the message; if not, the sender sees the announcement.

/// The word that says that a rank sleeps, and what the kernel does with it.
pub trait Asleep {
    /// Whether the rank has announced that it sleeps. Orders nothing.
    fn is_announced(&self) -> bool;
    /// Sets the word.
    fn set(&self);
    /// Clears the word, as one step; whether it was set.
    fn take(&self) -> bool;
    /// Runs a barrier on all cores that run senders; false where the kernel can't.
    fn barrier(&self) -> bool;
    /// Wakes the threads that sleep on the word.
    fn wake(&self);

    /// The rank is going to sleep. Look for messages once more after this, then sleep while the word is set. False: a
    /// message may be missed, so sleep only for a moment.
    fn announce(&self) -> bool {
        self.set();
        self.barrier()
    }

    /// Something was written for the rank: wakes it if it sleeps.
    #[inline]
    fn ring(&self) {
        if self.is_announced() && self.take() {
            self.wake();
        }
    }
}
