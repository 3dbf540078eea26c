//! `ps3`, `cell`, `qs20`, `qs22` with the limits of `streaming-schedule`, equations (1) to (9), as they are settled:
//!
//! | equation | limit | pairs | capacity |
//! |---|---|---|---|
//! | (1) | `input of SPE3 (1)` | everything that the element reads | 25 GB/s |
//! | (2) | `output of SPE3 (2)` | everything that is read from it | 25 GB/s |
//! | (3) | `PPE0 reads SPE3 (3)` | one per PPE and element that it reads | 2 GB/s |
//! | (4) | `bus of chip 0 (4)` | either end on the chip | 149 GB/s |
//! | (5) | `SPE3 reads chip 1 (5)` | an SPE of chip 0, everything on chip 1 | 4.91 GB/s |
//! | (6) | `SPE11 reads chip 0 (6)` | an SPE of chip 1, everything on chip 0 | 3.38 GB/s |
//! | (7) | `chip 0 reads chip 1 (7)` | | 13 GB/s |
//! | (8) | `chip 1 reads chip 0 (8)` | | 11.5 GB/s |
//! | (9) | `between the chips (9)` | both ways | 19 GB/s |
//!
//! (16) is the local store, a hard budget, from which the application's code is subtracted when it is checked; (17) and
//! (18) are [`Element::incoming_max`] and [`Element::outgoing_max`]. Times that an element spends itself are zero in
//! the paper. All presets have the figures that the paper measured on a QS22; those of one chip stop at (4).

use crate::{Block, Element, ElementId, Limit, Machine, Memory, Place, Role};
use std::collections::BTreeMap;

/// An SPE's local store, for code, stack and buffers; section 3.1.1.
pub const LOCAL_STORE_BYTES: u64 = 256 * 1024;

const PORT: f64 = 25e9;
const PPE_READ: f64 = 2e9;
const BUS: f64 = 149e9;
const SPE_OF_0_READS_1: f64 = 4.91e9;
const SPE_OF_1_READS_0: f64 = 3.38e9;
const CHIP_0_READS_1: f64 = 13e9;
const CHIP_1_READS_0: f64 = 11.5e9;
const BETWEEN_CHIPS: f64 = 19e9;
/// (17): an SPE's own DMA queue.
const INCOMING_MAX: u32 = 16;
/// (18): an SPE's queue for commands from PPEs.
const OUTGOING_TO_PPES_MAX: u32 = 8;

/// The most elements that a preset has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// The name that loads it.
    pub name: &'static str,
    /// One line for lists.
    pub description: &'static str,
    /// Cells; each has one PPE.
    pub chips: u32,
    /// SPEs of each Cell that a program may use.
    pub spes_per_chip: u32,
}

/// Every preset, smallest first.
pub const PRESETS: [Preset; 4] = [
    Preset {
        name: "ps3",
        description: "Playstation 3: a Cell with 6 usable SPEs",
        chips: 1,
        spes_per_chip: 6,
    },
    Preset {
        name: "cell",
        description: "one Cell Broadband Engine: a PPE and 8 SPEs",
        chips: 1,
        spes_per_chip: 8,
    },
    Preset {
        name: "qs20",
        description: "QS20 blade: two Cells, 2 PPEs and 16 SPEs",
        chips: 2,
        spes_per_chip: 8,
    },
    Preset {
        name: "qs22",
        description: "QS22 blade: two Cells, 2 PPEs and 16 SPEs",
        chips: 2,
        spes_per_chip: 8,
    },
];

/// Which part of a preset to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresetOptions {
    /// PPEs, from 1; PPE0 sits on chip 0, PPE1 on chip 1.
    pub ppe: u32,
    /// SPEs, from 0; chip 0 is filled before chip 1.
    pub spe: u32,
    /// (1) and (2) of a PPE, whose port is its chip's main memory, as one limit of 25 GB/s for reads and writes
    /// together (section 3.1.1) instead of two.
    pub joint_memory: bool,
}

impl Preset {
    /// The preset that is called `name`.
    pub fn named(name: &str) -> Option<Self> {
        PRESETS.into_iter().find(|p| p.name == name)
    }

    /// All of it.
    pub fn all(self) -> PresetOptions {
        PresetOptions { ppe: self.chips, spe: self.chips * self.spes_per_chip, joint_memory: false }
    }

    /// The machine. PPEs come first, then SPEs.
    ///
    /// ```
    /// let preset = machine::presets::Preset::named("qs22").unwrap();
    /// let qs22 = preset.machine(machine::presets::PresetOptions { ppe: 1, ..preset.all() });
    /// let (spe0, spe8) = (qs22.element("SPE0").unwrap(), qs22.element("SPE8").unwrap());
    /// let link = qs22.limits.iter().find(|l| l.name == "SPE0 reads chip 1 (5)").unwrap();
    /// assert!(link.holds(spe8, spe0) && !link.holds(spe0, spe8));
    /// assert_eq!(link.capacity_bytes_per_s, 4.91e9);
    /// ```
    ///
    /// # Panics
    /// When `options` asks for more than the preset has, or for no PPE; [`load`](crate::load()) returns an error
    /// instead.
    pub fn machine(self, options: PresetOptions) -> Machine {
        let all = self.all();
        assert!((1..=all.ppe).contains(&options.ppe) && options.spe <= all.spe, "{options:?} of {self:?}");
        let ppes = (0..options.ppe).map(|i| ppe(i, i));
        let spes = (0..options.spe).map(|i| spe(i, i / self.spes_per_chip));
        let elements: Vec<Element> = ppes.chain(spes).collect();
        let stated = [("ppe", Role::General), ("spe", Role::Accelerator)];
        let roles = stated.into_iter().filter(|(kind, _)| elements.iter().any(|e| e.kind == *kind));
        let roles = roles.map(|(kind, role)| (kind.to_string(), role)).collect();
        let limits = limits(&elements, self.chips, options.joint_memory);
        Machine {
            name: self.name.into(),
            description: format!(
                "{}; limits as streaming-schedule measured them on a QS22",
                self.description
            ),
            roles,
            elements,
            limits,
            measured: true,
            ..Machine::default()
        }
    }
}

fn ppe(index: u32, chip: u32) -> Element {
    Element {
        name: format!("PPE{index}"),
        kind: "ppe".into(),
        place: Place { chip, ..Place::default() },
        memory: None,
        incoming_max: None,
        outgoing_max: BTreeMap::new(),
        os_cpu: None,
    }
}

fn spe(index: u32, chip: u32) -> Element {
    Element {
        name: format!("SPE{index}"),
        kind: "spe".into(),
        place: Place { chip, ..Place::default() },
        memory: Some(Memory {
            bytes: LOCAL_STORE_BYTES,
            hard: true,
            holds_code: true,
            l1_bytes: None,
            overflow_bytes_per_s: None,
        }),
        incoming_max: Some(INCOMING_MAX),
        outgoing_max: BTreeMap::from([("ppe".into(), OUTGOING_TO_PPES_MAX)]),
        os_cpu: None,
    }
}

fn limits(elements: &[Element], chips: u32, joint_memory: bool) -> Vec<Limit> {
    let all: Vec<ElementId> = (0..elements.len()).collect();
    let kind = |kind: &'static str| all.iter().copied().filter(move |&i| elements[i].kind == kind);
    let on = |chip: u32| -> Vec<ElementId> {
        all.iter().copied().filter(|&i| elements[i].place.chip == chip).collect()
    };
    let block = |from: &[ElementId], to: &[ElementId]| Block { from: from.into(), to: to.into() };
    let is_joint = |i: ElementId| joint_memory && elements[i].kind == "ppe";
    let mut limits = Vec::new();
    let mut limit = |name: String, capacity_bytes_per_s: f64, pairs: Vec<Block>| {
        limits.push(Limit { name, capacity_bytes_per_s, pairs, error: None });
    };

    for &i in &all {
        let name = &elements[i].name;
        if is_joint(i) {
            limit(format!("memory of {name} (1)(2)"), PORT, vec![block(&all, &[i]), block(&[i], &all)]);
        } else {
            limit(format!("input of {name} (1)"), PORT, vec![block(&all, &[i])]);
        }
    }
    for &i in all.iter().filter(|&&i| !is_joint(i)) {
        limit(format!("output of {} (2)", elements[i].name), PORT, vec![block(&[i], &all)]);
    }
    for i in kind("ppe") {
        for &j in all.iter().filter(|&&j| j != i) {
            let name = format!("{} reads {} (3)", elements[i].name, elements[j].name);
            limit(name, PPE_READ, vec![block(&[j], &[i])]);
        }
    }
    for chip in 0..chips {
        let here = on(chip);
        if !here.is_empty() {
            limit(format!("bus of chip {chip} (4)"), BUS, vec![block(&here, &all), block(&all, &here)]);
        }
    }
    if chips == 2 && !on(1).is_empty() {
        for (reader, source, equation, capacity) in [(0, 1, 5, SPE_OF_0_READS_1), (1, 0, 6, SPE_OF_1_READS_0)]
        {
            for i in kind("spe").filter(|&i| elements[i].place.chip == reader) {
                let name = format!("{} reads chip {source} ({equation})", elements[i].name);
                limit(name, capacity, vec![block(&on(source), &[i])]);
            }
        }
        let (to_0, to_1) = (block(&on(1), &on(0)), block(&on(0), &on(1)));
        limit("chip 0 reads chip 1 (7)".into(), CHIP_0_READS_1, vec![to_0.clone()]);
        limit("chip 1 reads chip 0 (8)".into(), CHIP_1_READS_0, vec![to_1.clone()]);
        limit("between the chips (9)".into(), BETWEEN_CHIPS, vec![to_0, to_1]);
    }
    limits
}
