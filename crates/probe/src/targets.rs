//! The target that a name means.

use crate::Error;
use host::HostTarget;
use machine::target::Target;
use sim::SimTarget;

/// What can be chosen about a simulated target.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choices {
    /// The bus arbiter's rule set; the default one where none is named.
    pub rules: Option<String>,
    /// Physical SPEs that no program gets.
    pub hidden: Option<Vec<usize>>,
}

/// A simulated machine (`ps3`, `cell`, `qs20`, `qs22`), `host` (or a part of it: `host:cpus=0-1`), or a machine file of
/// this computer.
///
/// # Errors
/// When there is no such target, or a choice makes no sense for it; says what there is.
///
/// ```
/// use probe::targets::{Choices, load};
/// assert_eq!(load("ps3", &Choices::default()).unwrap().machine().elements.len(), 7);
/// assert!(load("qs23", &Choices::default()).err().unwrap().to_string().contains("did you mean qs2"));
/// ```
pub fn load(spec: &str, choices: &Choices) -> Result<Box<dyn Target>, Error> {
    if sim::target::NAMES.contains(&spec) {
        let parameters = sim::target::parameters(spec, choices.rules.as_deref(), choices.hidden.as_deref())?;
        return Ok(Box::new(SimTarget::new(parameters)?));
    }
    if let Some((name, _)) = spec.split_once(':').filter(|(name, _)| sim::target::NAMES.contains(name)) {
        return Err(Error::Request(format!(
            "{spec}: a simulated machine is simulated whole; measure a part of {name} with --spes, or with a pattern written out"
        )));
    }
    let machine = machine::load(spec).map_err(|e| Error::Request(e.to_string()))?;
    let chosen = [("rules", choices.rules.is_some()), ("hidden", choices.hidden.is_some())];
    if let Some((what, _)) = chosen.iter().find(|(_, given)| *given) {
        return Err(Error::Request(format!(
            "{what} is a choice of simulated machines; {spec} is this computer"
        )));
    }
    Ok(Box::new(HostTarget::new(machine)?))
}
