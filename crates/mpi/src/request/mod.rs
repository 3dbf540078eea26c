//! Requests: everything that `MPI_Wait` waits for (MPI 5.0, sections 3.7 and 3.9, chapter 13).
//!
//! A send or receive alone is no object here: its handle is its `TransferId`. What is more than that has an entry in
//! `REQUESTS`. Whatever the kind, there are three steps: `poll` says whether it is over, `take` gives how it ended and
//! frees it, `peek` only gives how it ended.

pub(crate) mod generalized;
mod many;
mod ongoing;
mod outcome;
mod status;

pub(crate) use many::{give, poll_at, poll_each, present};
pub(crate) use ongoing::{Activity, Ongoing, start};
pub(crate) use outcome::{Outcome, failure};

use crate::abi;
use crate::abi::values::{MPI_ERR_REQUEST, MPI_REQUEST_NULL};
use crate::call::In;
use crate::check::{Failure, not_an};
use crate::handles::{Handles, Kind, kind_of, transfer_id};
use crate::runtime::{self, Entered, Guarded, State, Stepwise};
use generalized::Generalized;
use std::sync::Arc;
use transport::{Ending, TransferId};

/// What a request's handle stands for when it isn't a lone send or receive.
pub(crate) enum Request {
    /// A send and a receive (`MPI_Isendrecv`); the status is the receive's.
    Both(Both),
    /// Made to be started again and again.
    Persistent(Persistent),
    /// Goes on in steps: a non-blocking collective.
    Activity(Arc<Ongoing>),
    /// The program's own.
    Generalized(Arc<Generalized>),
}

/// A send and a receive that end together.
pub(crate) struct Both {
    pub send: abi::Request,
    pub receive: abi::Request,
    /// Data that the send reads.
    pub keeps: Option<Box<[u8]>>,
}

/// An operation that is started again and again.
pub(crate) struct Persistent {
    /// What to start.
    pub recipe: Arc<dyn Recipe>,
    /// What was started and not waited for yet.
    pub active: Option<abi::Request>,
}

/// How a persistent operation starts: it becomes an ordinary request.
pub(crate) trait Recipe: Send + Sync {
    /// Starts it once.
    ///
    /// # Errors
    /// As the operation's function has.
    fn start(&self, state: &mut State) -> Result<abi::Request, Failure>;
}

/// How far a request is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Poll {
    /// Not over.
    Pending,
    /// Over; `take` gives how it ended.
    Ready,
    /// Null, or persistent and not started: there is nothing to wait for.
    Inactive,
}

/// Requests that are more than a send or a receive, by handle.
pub(crate) static REQUESTS: Guarded<Handles<Request>> = Guarded::new(Handles::new(Kind::Request));

/// No request.
pub(crate) const NULL: abi::Request = abi::Request(MPI_REQUEST_NULL);

/// Puts a request into the table and gives its handle.
pub(crate) fn insert(state: &mut State, request: Request) -> abi::Request {
    abi::Request(REQUESTS.of_mut(state).insert(request))
}

/// The id of a lone send or receive.
#[inline]
pub(crate) fn transfer(handle: abi::Request) -> Option<TransferId> {
    (kind_of(handle.0) == Some(Kind::Transfer)).then(|| transfer_id(handle.0))
}

/// That a handle names no request that lives.
#[cold]
pub(crate) fn not_a_request(handle: abi::Request, name: &str) -> Failure {
    not_an(name, "request", handle.0, MPI_ERR_REQUEST)
}

/// How far a request is. `name` is the argument's, for the failure.
///
/// # Errors
/// The handle is no request, or was freed.
pub(crate) fn poll(state: &mut State, handle: abi::Request, name: &str) -> Result<Poll, Failure> {
    let over = |over: bool| if over { Poll::Ready } else { Poll::Pending };
    if handle == NULL {
        return Ok(Poll::Inactive);
    }
    if let Some(id) = transfer(handle) {
        if !state.engine.is_live(id) {
            return Err(not_a_request(handle, name));
        }
        return Ok(over(state.engine.is_complete(id)));
    }
    let parts = match REQUESTS.of(state).get(handle.0) {
        None => return Err(not_a_request(handle, name)),
        Some(Request::Activity(ongoing)) => return Ok(over(ongoing.is_over())),
        Some(Request::Generalized(own)) => return Ok(over(own.is_complete())),
        Some(Request::Persistent(persistent)) => match persistent.active {
            None => return Ok(Poll::Inactive),
            Some(active) => [active, NULL],
        },
        Some(Request::Both(both)) => [both.send, both.receive],
    };
    for part in parts {
        if poll(state, part, name)? == Poll::Pending {
            return Ok(Poll::Pending);
        }
    }
    Ok(Poll::Ready)
}

/// Waits until transfers are complete that all end well, without taking them. Nothing: one of them did not, or one of
/// the requests is no transfer that lives, and then this did not wait.
#[inline]
pub(crate) fn wait_for_all(mut state: Entered, requests: In<'_, [abi::Request]>) -> Option<Entered> {
    let ending = |state: &State, index| state.engine.ending(transfer_id(requests.get(index).0));
    let (mut over, mut well) = (0, true);
    for index in 0..requests.len() {
        let ended = ending(&state, index)?;
        if over == index && ended != Ending::Open {
            well &= ended == Ending::Well;
            over += 1;
        }
    }
    if over < requests.len() {
        let mut next = |state: &mut State| {
            while over < requests.len() {
                match state.engine.ending_of_live(transfer_id(requests.get(over).0)) {
                    Ending::Open => return false,
                    ended => well &= ended == Ending::Well,
                }
                over += 1;
            }
            true
        };
        if !runtime::soon(&mut state, None, &mut next) {
            drop(state);
            runtime::wait_until(|state| next(state).then_some(()));
            state = runtime::enter();
        }
    }
    well.then_some(state)
}

/// How a request ended that is `Poll::Ready`, and the handle that the program has from now on: null, or that of a
/// persistent request, which becomes inactive. Call this only while not holding the state: a generalized request's
/// functions are called.
pub(crate) fn take(handle: abi::Request) -> (Outcome, abi::Request) {
    let outcome = conclude(handle, false);
    let stays = matches!(REQUESTS.of(&runtime::enter()).get(handle.0), Some(Request::Persistent(_)));
    (outcome, if stays { handle } else { NULL })
}

/// How a request ended that is `Poll::Ready`; it stays. Call this only while not holding the state.
pub(crate) fn peek(handle: abi::Request) -> Outcome {
    conclude(handle, true)
}

/// What is left to do for a request that is over, once the state is released.
enum Conclusion {
    Nothing,
    Request(abi::Request),
    Both(abi::Request, abi::Request),
    Activity(Arc<Ongoing>),
    Generalized(Arc<Generalized>),
}

fn conclude(handle: abi::Request, stays: bool) -> Outcome {
    let mut state = runtime::enter();
    if let Some(id) = transfer(handle) {
        let context = state.engine.context(id);
        let ended = if stays { state.engine.peek(id) } else { state.engine.take_if_complete(id) };
        return ended.map_or_else(Outcome::empty, |ended| Outcome::of(&state, &ended, context));
    }
    let mut object_stays = stays;
    let end = match REQUESTS.of_mut(&mut state).get_mut(handle.0) {
        None => Conclusion::Nothing,
        Some(Request::Both(both)) => Conclusion::Both(both.send, both.receive),
        Some(Request::Activity(ongoing)) => Conclusion::Activity(ongoing.clone()),
        Some(Request::Generalized(own)) => Conclusion::Generalized(own.clone()),
        Some(Request::Persistent(persistent)) => {
            object_stays = true;
            let active = if stays { persistent.active } else { persistent.active.take() };
            active.map_or(Conclusion::Nothing, Conclusion::Request)
        }
    };
    if !object_stays {
        REQUESTS.of_mut(&mut state).remove(handle.0);
    }
    drop(state);
    match end {
        Conclusion::Nothing => Outcome::empty(),
        Conclusion::Request(active) => conclude(active, stays),
        Conclusion::Both(send, receive) => conclude(send, stays).then(conclude(receive, stays)),
        Conclusion::Activity(ongoing) => ongoing.outcome(),
        Conclusion::Generalized(own) => own.finish(!stays),
    }
}
