//! WAV files as a source and a sink of f32 frames.

use crate::kernel::Opened;
use std::path::PathBuf;

pub(super) fn read(folder: Option<PathBuf>) -> Opened {
    super::file::read(folder)
}
pub(super) fn write(folder: Option<PathBuf>) -> Opened {
    super::file::write(folder)
}
