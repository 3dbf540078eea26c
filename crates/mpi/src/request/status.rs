//! What a status says of how a request ended (MPI 5.0, section 3.2.5).

use crate::abi::Status;
use crate::abi::values::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_SUCCESS};
use crate::call::{In, Out};
use crate::check::Failure;
use std::ffi::c_int;
use transport::Completion;

impl Status {
    /// Nothing was received: of sends, null and inactive requests.
    pub const EMPTY: Self =
        Self { MPI_SOURCE: MPI_ANY_SOURCE, MPI_TAG: MPI_ANY_TAG, MPI_ERROR: MPI_SUCCESS, internal: [0; 5] };

    /// What a status says of a transfer.
    #[inline]
    pub fn of(ended: &Completion) -> Self {
        Self {
            MPI_SOURCE: ended.source,
            MPI_TAG: ended.tag,
            MPI_ERROR: MPI_SUCCESS,
            internal: [ended.bytes as i32, (ended.bytes >> 32) as i32, ended.cancelled.into(), 0, 0],
        }
    }
}

/// Words of a status, each an `int`. They are read and written one by one: programs leave those unset that nobody asks
/// for.
mod word {
    pub(super) const COUNT: usize = 8;
    pub(super) const SOURCE: usize = 0;
    pub(super) const TAG: usize = 1;
    pub(super) const ERROR: usize = 2;
    pub(super) const INTERNAL: usize = 3;
    pub(super) const BYTES: usize = INTERNAL;
    pub(super) const CANCELLED: usize = INTERNAL + 2;
}

const _: () = assert!(size_of::<Status>() == word::COUNT * size_of::<c_int>());

impl<'call> In<'call, Status> {
    fn words(self) -> Result<In<'call, [c_int]>, Failure> {
        self.present()?;
        // SAFETY: a status is so many ints in a row.
        Ok(unsafe { self.cast::<c_int>().array(word::COUNT) })
    }

    /// `MPI_SOURCE`
    ///
    /// # Errors
    /// A null pointer; so have the others.
    pub fn source(self) -> Result<c_int, Failure> {
        Ok(self.words()?.get(word::SOURCE))
    }

    /// `MPI_TAG`
    pub fn tag(self) -> Result<c_int, Failure> {
        Ok(self.words()?.get(word::TAG))
    }

    /// `MPI_ERROR`
    pub fn error(self) -> Result<c_int, Failure> {
        Ok(self.words()?.get(word::ERROR))
    }

    /// 1 when the operation was cancelled, else 0.
    pub fn cancelled(self) -> Result<c_int, Failure> {
        Ok(self.words()?.get(word::CANCELLED))
    }

    /// Bytes received.
    pub fn bytes(self) -> Result<usize, Failure> {
        let words = self.words()?;
        let half = |index| words.get(word::BYTES + index) as u32 as usize;
        Ok(half(0) | half(1) << 32)
    }
}

impl Out<'_, Status> {
    /// Writes words from one on, unless the program wants no status.
    #[inline]
    fn offer_words<const N: usize>(self, first: usize, words: [c_int; N]) {
        // SAFETY: a status is so many ints in a row.
        let place = unsafe { self.cast::<c_int>().array(word::COUNT) };
        for (index, word) in words.into_iter().enumerate() {
            place.at(first + index).offer(word);
        }
    }

    /// Gives a status to a program; `MPI_ERROR` stays what it was, as section 3.2.5 wants of functions that complete
    /// one request.
    #[inline]
    pub fn give(self, status: Status) {
        if self.is_null() {
            return;
        }
        self.offer_words(word::SOURCE, [status.MPI_SOURCE, status.MPI_TAG]);
        self.offer_words(word::INTERNAL, status.internal);
    }

    /// Sets `MPI_ERROR`.
    pub fn set_error(self, code: c_int) {
        self.offer_words(word::ERROR, [code]);
    }

    /// Sets `MPI_SOURCE`.
    pub fn set_source(self, source: c_int) {
        self.offer_words(word::SOURCE, [source]);
    }

    /// Sets `MPI_TAG`.
    pub fn set_tag(self, tag: c_int) {
        self.offer_words(word::TAG, [tag]);
    }

    /// Says whether the operation was cancelled.
    pub fn set_cancelled(self, cancelled: bool) {
        self.offer_words(word::CANCELLED, [cancelled.into()]);
    }

    /// Says how many bytes were received.
    pub fn set_bytes(self, bytes: usize) {
        self.offer_words(word::BYTES, [bytes as u32 as c_int, (bytes >> 32) as u32 as c_int]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_holds_more_bytes_than_an_int() {
        let ended = Completion { source: 3, tag: 7, bytes: 0x1_2345_6789, lost: 0, cancelled: true };
        let status = Status::of(&ended);
        assert_eq!((status.MPI_SOURCE, status.MPI_TAG), (3, 7));
        assert_eq!(status.internal[..3], [0x2345_6789, 1, 1]);
    }
}
