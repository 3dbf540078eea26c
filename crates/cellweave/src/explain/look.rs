//! How fast elements compute at some moment: alone, and while the others compute.

use host::Speed;
use machine::{ElementId, Machine};
use run::{ElementSpeed, SpeedLook};
use std::collections::BTreeMap;
use work::ProfiledSpeed;

/// Each element of the list alone takes some ms: on a large machine only the first ones are looked at alone.
const ALONE_MAX: usize = 16;

/// The speeds of some elements at some moment, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Look(pub(super) BTreeMap<String, (Option<Speed>, Option<Speed>)>);

impl Look {
    /// Measures those of `elements` that have a cpu: some ms each alone, then all together.
    pub(crate) fn at(machine: &Machine, elements: &[ElementId]) -> Look {
        let real: Vec<(ElementId, u32)> =
            elements.iter().filter_map(|&e| Some((e, machine.elements[e].os_cpu?))).collect();
        let cpus: Vec<u32> = real.iter().map(|&(_, cpu)| cpu).collect();
        let together = host::speeds(&cpus);
        let alone = |i: usize| match cpus.len() {
            1 => together[i],
            _ if i < ALONE_MAX => host::speeds(&cpus[i..=i])[0],
            _ => None,
        };
        let named = |(i, &(e, _)): (usize, &(ElementId, u32))| {
            (machine.elements[e].name.clone(), (alone(i), together[i]))
        };
        Look(real.iter().enumerate().map(named).collect())
    }

    /// Of two looks, the faster times, as a profile keeps them.
    pub(crate) fn fastest(&self, other: &Look) -> BTreeMap<String, ProfiledSpeed> {
        let faster = |a: Option<Speed>, b: Option<Speed>| match (a, b) {
            (Some(a), Some(b)) => a.parts_ns().iter().zip(b.parts_ns()).map(|(a, b)| a.min(b)).collect(),
            (a, b) => a.or(b).map_or(Vec::new(), |speed| speed.parts_ns().to_vec()),
        };
        let nothing = (None, None);
        self.0
            .iter()
            .map(|(name, &(alone, together))| {
                let (alone_too, together_too) = *other.0.get(name).unwrap_or(&nothing);
                let alone_ns = faster(alone, alone_too);
                (name.clone(), ProfiledSpeed { alone_ns, together_ns: faster(together, together_too) })
            })
            .collect()
    }

    /// As a result file has it.
    fn of(&self, name: &str) -> SpeedLook {
        let ns = |speed: &Option<Speed>| speed.map_or(Vec::new(), |s| s.parts_ns().to_vec());
        self.0.get(name).map_or(SpeedLook::default(), |(alone, together)| SpeedLook {
            alone_ns: ns(alone),
            together_ns: ns(together),
        })
    }
}

/// Per element, its speed when it was profiled, before the run and after it.
pub(crate) fn speeds(
    profiled: Option<&BTreeMap<String, ProfiledSpeed>>,
    before: &Look,
    after: &Look,
) -> BTreeMap<String, ElementSpeed> {
    let then = |name: &str| {
        profiled.and_then(|p| p.get(name)).map(|speed| SpeedLook {
            alone_ns: speed.alone_ns.clone(),
            together_ns: speed.together_ns.clone(),
        })
    };
    let named = |name: &String| {
        let speed = ElementSpeed { profiled: then(name), before: before.of(name), after: after.of(name) };
        (name.clone(), speed)
    };
    before.0.keys().map(named).collect()
}
