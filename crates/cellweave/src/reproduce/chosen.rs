//! The machine that an experiment runs on.

use serde::Deserialize;
use sim::{Parameters, Rules};

/// A simulated machine by its preset, with what an experiment may choose about it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Chosen {
    /// `ps3`, `cell`, `qs20` or `qs22`.
    pub machine: String,
    /// The bus arbiter's rule set; the default one where none is named.
    #[serde(default)]
    pub rules: Option<String>,
    /// SPEs, as the hardware numbers them, that no program gets; the preset's where none are given.
    #[serde(default)]
    pub hidden: Option<Vec<usize>>,
}

impl Chosen {
    /// What the simulator needs to know.
    ///
    /// # Errors
    /// Names the preset or the rule set that there is not.
    ///
    /// ```
    /// use cellweave::reproduce::chosen::Chosen;
    /// let ps3 = Chosen { machine: "ps3".into(), rules: None, hidden: Some(vec![0, 3]) };
    /// assert_eq!(ps3.parameters().unwrap().hidden, [0, 3]);
    /// let wrong = Chosen { rules: Some("text".into()), ..ps3 };
    /// assert!(wrong.parameters().unwrap_err().contains("textbook"));
    /// ```
    pub fn parameters(&self) -> Result<Parameters, String> {
        sim::target::parameters(&self.machine, self.rules.as_deref(), self.hidden.as_deref())
            .map_err(|e| e.to_string())
    }
}

/// The names of the rule sets, the default first.
///
/// ```
/// assert!(cellweave::reproduce::chosen::rule_sets().contains(&"textbook".to_string()));
/// ```
pub fn rule_sets() -> Vec<String> {
    Rules::all().into_iter().map(|r| r.name).collect()
}
