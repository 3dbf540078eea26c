//! `cellweave._core`: converts and calls, no logic.
