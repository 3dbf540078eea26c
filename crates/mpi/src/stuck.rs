//! What this rank waits for, told to the launcher (`cellrun --stuck-after`): said in the rank's page before it sleeps
//! long, with the call, and taken back when something moved.

use crate::abi::Comm;
use crate::abi::values::{MPI_COMM_SELF, MPI_COMM_WORLD};
use crate::comm::{self, COMMS};
use crate::profile;
use crate::runtime::{State, Telling};
use std::cell::Cell;
use std::fmt::Write;
use transport::segment::hook;
use transport::{Awaited, Criteria};

/// Messages that are named one by one.
const NAMED: usize = 3;

thread_local! {
    /// The messages that this thread probes for.
    static PROBED: Cell<Option<Criteria>> = const { Cell::new(None) };
}

/// How the launcher hears it.
pub(crate) const TELLING: Telling = Telling { tell, take_back };

/// This thread waits for a message without receiving it (`MPI_Probe`), or does so no more.
pub(crate) fn probes(pattern: Option<Criteria>) {
    if profile::sees(hook::STUCK) {
        PROBED.set(pattern);
    }
}

/// Says in this rank's page what it waits for, unless it is said there already. False when nobody waits: what sleeps is
/// a thread of the library's.
#[cold]
fn tell(state: &State) -> bool {
    let Some(function) = profile::inside() else { return false };
    let page = state.engine.segment().rank(state.engine.rank());
    if page.waits_for().is_some() {
        return true;
    }
    let mut text = function.to_string();
    let probed =
        PROBED.get().map(|Criteria { context, source, tag }| Awaited::Receive { context, source, tag });
    let mut awaited = probed.into_iter().chain(state.engine.awaited());
    for (place, one) in awaited.by_ref().take(NAMED).enumerate() {
        text.push_str(if place == 0 { " for " } else { ", " });
        describe(&mut text, state, &one);
    }
    let more = awaited.count();
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    page.waits(&text);
    true
}

fn describe(text: &mut String, state: &State, one: &Awaited) {
    let _ = match *one {
        Awaited::Receive { source: Some(rank), .. } => write!(text, "a message from rank {rank}"),
        Awaited::Receive { source: None, .. } => write!(text, "a message from any rank"),
        Awaited::Send { to, bytes, .. } => write!(text, "rank {to} to receive {bytes} bytes"),
    };
    let (context, tag) = match *one {
        Awaited::Receive { context, tag, .. } => (context, tag),
        Awaited::Send { context, tag, .. } => (context, Some(tag)),
    };
    let is_message = context % comm::CONTEXTS == 0;
    let _ = match tag {
        _ if !is_message => Ok(()),
        Some(tag) => write!(text, " with tag {tag}"),
        None => write!(text, " with any tag"),
    };
    let base = context - context % comm::CONTEXTS;
    if base != comm::WORLD_CONTEXT {
        let found =
            [MPI_COMM_WORLD, MPI_COMM_SELF].map(Comm).into_iter().filter_map(|handle| state.comm(handle));
        let named = found
            .chain(COMMS.of(state).made.iter().map(|(_, comm)| comm))
            .find(|comm| comm.context == base)
            .map(|comm| String::from_utf8_lossy(&comm.name.lock().unwrap()).into_owned())
            .filter(|name| !name.is_empty());
        let _ = match named {
            Some(name) => write!(text, " in {name}"),
            None => write!(text, " in communicator {}", base / comm::CONTEXTS),
        };
    }
}

/// Takes it back: something moved.
#[cold]
fn take_back(state: &State) {
    state.engine.segment().rank(state.engine.rank()).waits("");
}
