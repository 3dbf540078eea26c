//! The Rust tier: a trait with typed views, lowered to the ABI. A panic becomes an error with its text.
//!
//! | module | what it does |
//! |---|---|
//! | `batch` | a call: which views a kernel may have |
//! | `views` | what it may do with them |
//! | `data` | the types that instances hold |
//! | `lower` | the three functions of the ABI around a kernel |
//! | `export` | [`export_kernel!`](crate::export_kernel) |

mod batch;
mod data;
mod export;
mod lower;
mod views;

pub use batch::Batch;
pub use data::{Data, Dtype};
pub use lower::{finish, fire, init};
pub(crate) use lower::{guarded, state_of};
pub use views::{InPlace, Input, Output, VariableInput, VariableOutput};

use super::abi;

/// The code of a task in Rust.
///
/// ```
/// use run::{Batch, Failed, Fired, Kernel};
/// struct Gain(f32);
/// impl Kernel for Gain {
///     fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
///         let (input, mut output) = (batch.input::<f32>(0)?, batch.output::<f32>(0)?);
///         for (y, x) in output.together().iter_mut().zip(input.together()) {
///             *y = self.0 * x;
///         }
///         Ok(Fired::All)
///     }
/// }
/// ```
pub trait Kernel: Send {
    /// Fires `batch.firings()` times, in order.
    ///
    /// # Errors
    /// The firing that failed and why; the run then ends with the task's name.
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed>;

    /// After the last firing, also when the run failed: writes out what was accepted.
    ///
    /// # Errors
    /// A sentence, without the task's name.
    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}

impl Kernel for Box<dyn Kernel> {
    fn fire(&mut self, batch: &mut Batch) -> Result<Fired, Failed> {
        (**self).fire(batch)
    }

    fn finish(&mut self) -> Result<(), String> {
        (**self).finish()
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Fired {
    /// As often as the batch says.
    All,
    /// So often; a source has no more instances.
    End(u64),
    /// So often; there is nothing more right now.
    Again(u64),
}

impl Fired {
    /// What a kernel means that counts: `made` of the `asked` firings. Fewer end the stream; the runtime refuses more,
    /// and an end that does not come from a source.
    pub fn counted(made: u64, asked: u64) -> Fired {
        if made == asked { Fired::All } else { Fired::End(made) }
    }
}

/// Which firing of a batch failed, and why. A sentence becomes a failure of the first firing: `Err(why)?`.
///
/// It is boxed, so that a result without a failure is small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed(Box<(u64, String)>);

impl Failed {
    /// Firing number `firing` of the batch failed; those before it are done.
    pub fn at(firing: u64, why: impl Into<String>) -> Failed {
        Failed(Box::new((firing, why.into())))
    }
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed::at(0, why)
    }
}

impl From<&str> for Failed {
    fn from(why: &str) -> Failed {
        Failed::at(0, why)
    }
}
