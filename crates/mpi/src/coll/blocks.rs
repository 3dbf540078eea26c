//! Buffers of blocks, one for each rank or neighbour.

use super::arguments::{Numbers, Row, Scene, is_in_place, present, present_array};
use crate::abi;
use crate::call::In;
use crate::check::Failure;
use crate::datatype::MessageData;
use crate::datatype::elements::Elements;
use crate::runtime::State;
use std::ffi::c_void;

/// A buffer of blocks as C functions take it.
#[derive(Clone, Copy)]
pub(super) enum Blocks<'call> {
    /// Blocks of as many elements each, one behind the other.
    Even(MessageData),
    /// Blocks of one datatype, each with its count and its displacement in elements.
    Uneven {
        buffer: *const c_void,
        name: &'static str,
        counts: Numbers<'call>,
        displacements: Numbers<'call>,
        datatype: abi::Datatype,
    },
    /// Blocks each of its own datatype, with its count and its displacement in bytes.
    Typed {
        buffer: *const c_void,
        name: &'static str,
        counts: Numbers<'call>,
        displacements: Numbers<'call>,
        datatypes: In<'call, abi::Datatype>,
    },
}

/// Where the blocks lie; checked.
pub(super) enum PlacedBlocks<'a, 'call> {
    /// The first of them.
    Even(Elements<'a>),
    Uneven {
        start: Elements<'a>,
        counts: Row<'call>,
        displacements: Row<'call>,
    },
    Typed {
        buffer: *const c_void,
        counts: Row<'call>,
        displacements: Row<'call>,
        datatypes: In<'call, [abi::Datatype]>,
        state: &'a State,
        nothing: Elements<'a>,
    },
}

impl<'call> Blocks<'call> {
    /// What C passes as the buffer.
    pub(super) fn address(self) -> *const c_void {
        match self {
            Self::Even(data) => data.address,
            Self::Uneven { buffer, .. } | Self::Typed { buffer, .. } => buffer,
        }
    }

    /// Where so many blocks lie.
    ///
    /// # Errors
    /// As `Scene::elements`, of any block.
    ///
    /// # Safety
    /// Each array is null, or has that many elements.
    #[inline(always)]
    pub(super) unsafe fn placed<'a>(
        self,
        scene: &Scene<'a>,
        blocks: usize,
    ) -> Result<PlacedBlocks<'a, 'call>, Failure> {
        match self {
            Self::Even(data) => scene.elements(data).map(PlacedBlocks::Even),
            // SAFETY: as the caller promises.
            uneven => unsafe { uneven.placed_apart(scene, blocks) },
        }
    }

    /// The same of blocks that have a place each.
    ///
    /// # Errors
    /// As `placed`.
    ///
    /// # Safety
    /// As for `placed`.
    unsafe fn placed_apart<'a>(
        self,
        scene: &Scene<'a>,
        blocks: usize,
    ) -> Result<PlacedBlocks<'a, 'call>, Failure> {
        match self {
            Self::Even(data) => scene.elements(data).map(PlacedBlocks::Even),
            Self::Uneven { buffer, name, counts, displacements, datatype } => {
                // SAFETY: as the caller promises.
                let (counts, displacements) =
                    unsafe { (counts.array(blocks)?, displacements.array(blocks)?) };
                let counts = counts.counts()?;
                let datatype = scene.state.committed_datatype(datatype)?;
                let some = (0..blocks).any(|index| counts.at(index) > 0);
                present(buffer, usize::from(some), datatype, name)?;
                let start = Elements { address: buffer.cast_mut().cast(), count: 0, datatype };
                Ok(PlacedBlocks::Uneven { start, counts, displacements })
            }
            Self::Typed { buffer, name, counts, displacements, datatypes } => {
                // SAFETY: as the caller promises.
                let (counts, displacements, datatypes) = unsafe {
                    (
                        counts.array(blocks)?,
                        displacements.array(blocks)?,
                        present_array(datatypes.array(blocks))?,
                    )
                };
                let counts = counts.counts()?;
                for index in 0..blocks {
                    // A block of no element needs no datatype that may be used: programs pass MPI_DATATYPE_NULL there.
                    if counts.at(index) > 0 {
                        let found = scene.state.committed_datatype(datatypes.get(index))?;
                        // The buffer may be MPI_BOTTOM, and the displacements absolute addresses.
                        let start =
                            if is_in_place(buffer) { buffer } else { moved(buffer, displacements.at(index)) };
                        present(start, counts.at(index) as usize, found, name)?;
                    }
                }
                let (state, nothing) = (scene.state, scene.nothing());
                Ok(PlacedBlocks::Typed { buffer, counts, displacements, datatypes, state, nothing })
            }
        }
    }
}

impl<'a> PlacedBlocks<'a, '_> {
    /// The block of a rank or neighbour.
    #[inline]
    pub(super) fn at(&self, index: usize) -> Elements<'a> {
        match self {
            Self::Even(first) => first.block(index),
            Self::Uneven { start, counts, displacements } => {
                let bytes = displacements.at(index) as isize * start.datatype.extent;
                let address = start.address.wrapping_offset(bytes);
                Elements { address, count: counts.at(index) as usize, datatype: start.datatype }
            }
            Self::Typed { buffer, counts, displacements, datatypes, state, nothing } => {
                let count = counts.at(index) as usize;
                let address = moved(*buffer, displacements.at(index)).cast_mut().cast();
                match state.datatype(datatypes.get(index)) {
                    Some(datatype) if count > 0 => Elements { address, count, datatype },
                    _ => *nothing,
                }
            }
        }
    }

    /// Whether all blocks are alike, and one behind the other.
    pub(super) fn are_even(&self) -> bool {
        matches!(self, Self::Even(_))
    }
}

/// The address so many bytes on.
fn moved(buffer: *const c_void, bytes: i64) -> *const c_void {
    buffer.wrapping_byte_offset(bytes as isize)
}
