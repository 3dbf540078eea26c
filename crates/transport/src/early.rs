//! Whether the line of an answer is taken when the message comes, or when the answer is written.
//!
//! Who waits for an answer looks at its line all the time, so that the answer first has to take the line from there.
//! That may begin as soon as the message is here. But a line that is here before the answer is written goes back, and
//! has to be taken once more. So it pays where a line is clearly longer on its way than an answer takes to be written:
//! both are measured now and then, because the way may be four times as long a minute later.
//!
//! (8 B to and fro on an EPYC, us, with the answer and early: .39 and .35 while a line takes 200 ns from one cpu to the
//! other; 0 B .097 and .101 while it takes 50.)

/// One of so many messages is timed: that costs the way of a line. A choice.
const TIMED_EACH: u32 = 1024;
/// A line's way is clearly longer where it takes so many times as long. A choice, between the two states above.
const CLEAR: u64 = 2;

/// What is known of a line's way and of the time until an answer.
#[derive(Default)]
pub(crate) struct EarlyLine {
    messages: u32,
    pays: bool,
    /// Of the message that is timed: how long its line was on its way, and since when it is here.
    way_ns: u64,
    here_ns: Option<u64>,
}

/// What is done with the line when a message comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// It is taken with the answer.
    No,
    /// It is taken.
    Take,
    /// It is taken, and `is_here` hears how long that took.
    Timed,
}

impl EarlyLine {
    /// A message came.
    #[inline]
    pub(crate) fn next(&mut self) -> Early {
        self.messages = self.messages.wrapping_add(1);
        if self.messages.is_multiple_of(TIMED_EACH) {
            Early::Timed
        } else if self.pays {
            Early::Take
        } else {
            Early::No
        }
    }

    /// The line of a message that is timed is here.
    pub(crate) fn is_here(&mut self, began_ns: u64, now_ns: u64) {
        (self.way_ns, self.here_ns) = (now_ns.saturating_sub(began_ns), Some(now_ns));
    }

    /// Whether `is_written` wants to hear when the answer is written.
    #[inline]
    pub(crate) fn is_timed(&self) -> bool {
        self.here_ns.is_some()
    }

    /// The answer to a message that is timed is written.
    #[cold]
    pub(crate) fn is_written(&mut self, now_ns: u64) {
        if let Some(here_ns) = self.here_ns.take() {
            self.pays = self.way_ns > CLEAR * now_ns.saturating_sub(here_ns);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// What is done with most lines, where one is so long on its way, and an answer is written after so long.
    fn mostly(early: &mut EarlyLine, way_ns: u64, written_ns: u64) -> Early {
        let mut timed = 0;
        for _ in 0..2 * TIMED_EACH {
            if early.next() == Early::Timed {
                assert!(!early.is_timed());
                early.is_here(1000, 1000 + way_ns);
                timed += 1;
            }
            if early.is_timed() {
                early.is_written(1000 + way_ns + written_ns);
            }
        }
        assert_eq!(timed, 2);
        early.next()
    }

    #[test]
    fn a_line_is_taken_early_while_its_way_is_clearly_longer_than_an_answer_takes() {
        let mut early = EarlyLine::default();
        assert_eq!(early.next(), Early::No);
        assert_eq!(mostly(&mut early, 60, 40), Early::No);
        assert_eq!(mostly(&mut early, 220, 40), Early::Take);
        assert_eq!(mostly(&mut early, 220, 4000), Early::No);
        assert_eq!(mostly(&mut early, 220, 40), Early::Take);
        assert_eq!(mostly(&mut early, 60, 40), Early::No);
    }
}
