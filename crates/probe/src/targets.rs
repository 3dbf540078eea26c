//! The target that a name means.

use crate::TargetError;
use ground::did_you_mean;
use host::HostTarget;
use machine::target::Target;
use sim::{Parameters, SimTarget};

/// What can be chosen about a simulated target.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choices {
    /// The bus arbiter's rule set; the default one where none is named.
    pub rules: Option<String>,
    /// Physical SPEs that no program gets.
    pub hidden: Option<Vec<usize>>,
    /// Numbers of the machine, by name: `memory.bank`, `mfc.tlb_entries`.
    pub parameters: Vec<(String, u64)>,
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
/// assert!(load("qs23", &Choices::default()).err().unwrap().to_string().contains("did you mean `qs2"));
/// ```
pub fn load(spec: &str, choices: &Choices) -> Result<Box<dyn Target>, TargetError> {
    if sim::target::NAMES.contains(&spec) {
        let mut parameters =
            sim::target::parameters(spec, choices.rules.as_deref(), choices.hidden.as_deref())?;
        for (name, value) in &choices.parameters {
            set(&mut parameters, name, *value)?;
        }
        return Ok(Box::new(SimTarget::new(parameters)?));
    }
    if let Some((name, _)) = spec.split_once(':').filter(|(name, _)| sim::target::NAMES.contains(name)) {
        return Err(TargetError::Request(format!(
            "{spec}: a simulated machine is simulated whole; \
             measure a part of {name} with --spes, or with a pattern written out"
        )));
    }
    let machine = machine::load(spec).map_err(|e| TargetError::Request(e.to_string()))?;
    let chosen = [
        ("rules", choices.rules.is_some()),
        ("hidden", choices.hidden.is_some()),
        ("set", !choices.parameters.is_empty()),
    ];
    if let Some((what, _)) = chosen.iter().find(|(_, given)| *given) {
        return Err(TargetError::Request(format!(
            "{what} is a choice of simulated machines; {spec} is this computer"
        )));
    }
    Ok(Box::new(HostTarget::new(machine)?))
}

fn set(parameters: &mut Parameters, name: &str, value: u64) -> Result<(), TargetError> {
    let names: Vec<&str> = parameters.numbers().into_iter().map(|(name, _)| name).collect();
    if !names.contains(&name) {
        let start: String = name.chars().take(40).collect();
        return Err(TargetError::Request(format!(
            "set: no parameter {start:?}; there are {}{}",
            names.join(", "),
            did_you_mean(name, names.iter().copied())
        )));
    }
    parameters.set(name, value).map_err(|e| TargetError::Request(e.to_string()))
}
