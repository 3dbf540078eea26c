//! A machine file of this computer says what its hand-overs cost beside moving their lines, too.

use crate::{Error, calibrate};
use probe::{Fitted, ProbeOptions, ProbeProgress, Probed, TargetError};

/// Parts of the work that progress is told in.
const PARTS: usize = 100;

/// Measures on the target that `spec` means, as [`probe::probe`]; the machine of a computer gets the overheads that
/// [`calibrate()`] measures, so that plans for it need no profile's.
///
/// # Errors
/// As [`probe::probe`] and [`calibrate()`].
pub fn probe(
    spec: &str,
    options: &ProbeOptions,
    progress: &mut dyn FnMut(&ProbeProgress) -> bool,
) -> Result<(Probed, Option<Fitted>), TargetError> {
    let (probed, fitted) = ::probe::probe(spec, options, progress)?;
    let Some(mut fitted) = fitted else { return Ok((probed, None)) };
    if probed.exact {
        return Ok((probed, Some(fitted)));
    }
    let mut tell = |part: f64| {
        let done = (part * PARTS as f64) as usize;
        progress(&ProbeProgress {
            done,
            total: PARTS,
            pattern: "hand-overs in a run",
            size_bytes: 0,
            buffers: 0,
            expected_ns: None,
        })
    };
    match calibrate(&fitted.machine, &mut tell) {
        Ok(overheads) => fitted.machine.overheads = overheads,
        Err(Error::Stopped) => return Ok((Probed { stopped: true, ..probed }, None)),
        Err(e) => return Err(TargetError::Failed(e.to_string())),
    }
    fitted.machine.computer = Some(host::identity().computer());
    for (kind, o) in &fitted.machine.overheads {
        let (ns, per_byte) = (o.per_transfer_ns, o.per_byte_ns);
        fitted.notes.push(format!(
            "overhead of a {kind}, by a chain of copies cut in two: {ns:.0} ns, {per_byte:.3} ns/B"
        ));
    }
    Ok((probed, Some(fitted)))
}
