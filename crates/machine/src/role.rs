//! What elements of a kind are there for.

use crate::{ElementId, Machine};

/// What elements of a kind are there for; planners work on roles and know no kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// One of a few that run anything: it takes what the accelerators have no room for, and manages those of its chip.
    /// A PPE.
    General,
    /// One of many that do most of the work, out of a local memory of their own. An SPE.
    Accelerator,
    /// One among equals that neither manage nor are managed. A host's core.
    Peer,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 3] = [Role::General, Role::Accelerator, Role::Peer];

    /// What the machine file calls it.
    pub fn name(self) -> &'static str {
        match self {
            Role::General => "general",
            Role::Accelerator => "accelerator",
            Role::Peer => "peer",
        }
    }

    /// The role that is called `name`.
    pub fn from_name(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

impl Machine {
    /// The role of the elements of kind `kind`: the one that the machine states. A machine that states none has
    /// accelerators where all elements of a kind have hard memory; its other kinds are general beside accelerators,
    /// and peers where there are none.
    ///
    /// ```
    /// use machine::Role;
    /// let qs22 = machine::load("qs22").unwrap();
    /// assert_eq!((qs22.role("ppe"), qs22.role("spe")), (Role::General, Role::Accelerator));
    /// let pair = machine::file::parse("name = 'pair'\n[[element]]\nname = 'A'\n[[element]]\nname = 'B'", "pair.toml");
    /// assert_eq!(pair.unwrap().role("core"), Role::Peer);
    /// ```
    pub fn role(&self, kind: &str) -> Role {
        if let Some(&stated) = self.roles.get(kind) {
            return stated;
        }
        let has_hard_memory = |kind: &str| {
            let mut own = self.elements.iter().filter(|e| e.kind == kind).peekable();
            own.peek().is_some() && own.all(|e| e.memory.as_ref().is_some_and(|m| m.hard))
        };
        let accelerates = |kind: &&str| match self.roles.get(*kind) {
            Some(&stated) => stated == Role::Accelerator,
            None => has_hard_memory(kind),
        };
        if has_hard_memory(kind) {
            Role::Accelerator
        } else if self.kinds().iter().any(accelerates) {
            Role::General
        } else {
            Role::Peer
        }
    }

    /// The elements that the parts of a pattern run on: the accelerators of a machine that has any (the SPEs of a
    /// Cell), every element of any other.
    ///
    /// ```
    /// let ps3 = machine::load("ps3").unwrap();
    /// assert_eq!(ps3.elements[ps3.workers()[0]].name, "SPE0");
    /// ```
    pub fn workers(&self) -> Vec<ElementId> {
        // By kind, of which there are few: patterns of large machines ask for this often.
        let accelerate: Vec<&str> =
            self.kinds().into_iter().filter(|kind| self.role(kind) == Role::Accelerator).collect();
        let accelerates = |e: &ElementId| accelerate.contains(&self.elements[*e].kind.as_str());
        let all = 0..self.elements.len();
        let accelerators: Vec<ElementId> = all.clone().filter(accelerates).collect();
        if accelerators.is_empty() { all.collect() } else { accelerators }
    }
}
