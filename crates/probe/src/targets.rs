//! The target that a name means.

use crate::Error;
use host::HostTarget;
use machine::target::Target;

/// What can be chosen about a simulated target.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choices {
    /// The bus arbiter's rule set; the default one where none is named.
    pub rules: Option<String>,
    /// Physical SPEs that no program gets.
    pub hidden: Option<Vec<usize>>,
}

/// `host` (or a part of it: `host:cpus=0-1`) or a machine file of this computer.
///
/// # Errors
/// When there is no such target, or a choice makes no sense for it; says what there is.
pub fn load(spec: &str, choices: &Choices) -> Result<Box<dyn Target>, Error> {
    let machine = machine::load(spec).map_err(|e| Error::Request(e.to_string()))?;
    let chosen = [("rules", choices.rules.is_some()), ("hidden", choices.hidden.is_some())];
    if let Some((what, _)) = chosen.iter().find(|(_, given)| *given) {
        return Err(Error::Request(format!(
            "{what} is a choice of simulated machines; {spec} is this computer"
        )));
    }
    Ok(Box::new(HostTarget::new(machine)?))
}
