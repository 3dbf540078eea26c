//! What the published experiments need beyond patterns of transfers: programs on the simulated machine.
//!
//! | module | what it is |
//! |---|---|
//! | [`chosen`] | the machine that an experiment runs on |
//! | [`loads`] | transfers that run at the same time, on the simulator as a [`machine::target::Target`] |
//! | [`mailbox`] | a message from an SPE to the PPE |
//! | [`ppe_read`] | a PPE that reads an SPE's local store |
//! | [`streams`] | SPEs that read from each other for a given time, and which ways the packets went |
//! | [`rings`] | the ring of `ring-mapping` under many mappings |
//! | [`lists`] | no measurement: the lists of published groups, as JSON |
//!
//! What was published never comes in here: setting published beside obtained is done with what comes out.

pub mod chosen;
pub mod lists;
pub mod loads;
pub mod mailbox;
pub mod ppe_read;
pub mod rings;
pub mod streams;
