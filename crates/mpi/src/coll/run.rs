//! Carrying a schedule out: to the end, beside the program, or again and again.

use super::arguments::Scene;
use super::schedule::{LANES, Lane, Schedule, Standing, Wire};
use crate::abi;
use crate::abi::values::MPI_ERR_TRUNCATE;
use crate::check::{self, Failure};
use crate::comm::Comm;
use crate::engine::{Buffer, Completion, Engine, Envelope, Mode, Pattern, TransferId};
use crate::runtime::{self, State};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Numbers of collectives; then they start again. Nobody has so many of one communicator under way.
const NUMBERS: u32 = 1 << 28;
/// Schedules that are kept to be used again.
const MOST_KEPT: usize = 16;

/// The engine, as the ranks of a communicator use it in one collective.
struct Lines<'a> {
    engine: &'a mut Engine,
    comm: &'a Comm,
    tag: i32,
}

impl Wire for Lines<'_> {
    #[inline]
    fn send(&mut self, to: usize, lane: Lane, buffer: &Buffer) -> Option<TransferId> {
        let (context, source) = (self.comm.collective(), self.comm.rank as u16);
        let envelope = Envelope { context, source, tag: self.tag | i32::from(lane) };
        self.engine.send(self.comm.peers().members[to] as usize, envelope, buffer, Mode::Standard)
    }

    #[inline]
    fn receive(&mut self, from: usize, lane: Lane, buffer: &Buffer) -> TransferId {
        let tag = Some(self.tag | i32::from(lane));
        let pattern = Pattern { context: self.comm.collective(), source: Some(from as u16), tag };
        self.engine.receive(pattern, Some(self.comm.peers().members[from] as usize), buffer)
    }

    #[inline]
    fn take_if_complete(&mut self, id: TransferId) -> Option<Completion> {
        self.engine.take_if_complete(id)
    }
}

/// A collective of a communicator, as one rank carries it out.
pub struct Run {
    comm: Arc<Comm>,
    tag: i32,
    schedule: Schedule,
}

impl Run {
    /// Builds the schedule of a collective, the next of its communicator.
    ///
    /// # Errors
    /// What is wrong with an argument.
    #[inline]
    fn build(
        state: &mut State,
        handle: abi::Comm,
        build: impl FnOnce(&mut Scene) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let comm = check::comm(state, handle)?.clone();
        let mut schedule = state.schedules.pop().unwrap_or_default();
        let built = build(&mut Scene { state, comm: &comm, schedule: &mut schedule });
        let mut run = Self { comm, tag: 0, schedule };
        if let Err(failure) = built {
            run.give_back(state);
            return Err(failure);
        }
        let number = run.comm.collectives.fetch_add(1, Ordering::Relaxed) % NUMBERS;
        run.tag = number as i32 * LANES;
        Ok(run)
    }

    /// The schedule is kept to be used again.
    #[inline]
    fn give_back(&mut self, state: &mut State) {
        if state.schedules.len() < MOST_KEPT {
            let mut schedule = std::mem::take(&mut self.schedule);
            schedule.clear();
            state.schedules.push(schedule);
        }
    }

    #[inline]
    fn advance(&mut self, engine: &mut Engine) -> Standing {
        self.schedule.advance(&mut Lines { engine, comm: &self.comm, tag: self.tag })
    }

    /// How it ended.
    fn result(&self) -> Result<(), Failure> {
        match self.schedule.truncated() {
            None => Ok(()),
            Some(told) => Err(Failure::new(
                MPI_ERR_TRUNCATE,
                format_args!(
                    "rank {} sent {} bytes where {} are expected; counts and datatypes must agree on all ranks",
                    told.source, told.sent, told.expected
                ),
            )),
        }
    }
}

/// Does a collective. Not inside.
///
/// # Errors
/// What is wrong with an argument; a message that is too long.
#[inline]
pub fn blocking(
    handle: abi::Comm,
    build: impl FnOnce(&mut Scene) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut state = check::running()?;
    let mut run = Run::build(&mut state, handle, build)?;
    let mut standing = run.advance(&mut state.engine);
    drop(state);
    loop {
        match standing {
            Standing::Over => break,
            Standing::AtUserCode => {
                run.schedule.run_user_code();
                standing = run.advance(&mut runtime::enter().engine);
            }
            Standing::Waiting => {
                standing = runtime::wait_until(|state| match run.advance(&mut state.engine) {
                    Standing::Waiting => None,
                    other => Some(other),
                });
            }
        }
    }
    let result = run.result();
    run.give_back(&mut runtime::enter());
    result
}
