//! How fast elements compute at some moment: alone, and while the others compute.

use host::Speed;
use machine::{ElementId, Machine};
use run::{ElementSpeed, SpeedLook};
use std::collections::BTreeMap;
use work::ProfiledSpeed;

/// Each element of the list alone takes some ms: on a large machine only the first ones are looked at alone.
const ALONE_MAX: usize = 16;

/// Looks that a steady one is the middle of: some tens of milliseconds.
pub(crate) const LOOKS: usize = 5;
/// Looks that it is the middle of where the first ones tell of another speed: neighbours that come and go within tenths
/// of a second do not make a cpu slower for the whole of a run.
pub(crate) const LOOKS_AGAIN: usize = 25;

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

    /// The middle of a few looks: one alone may meet a moment in which something else runs.
    pub(crate) fn steady(machine: &Machine, elements: &[ElementId], looks: usize) -> Look {
        let looks: Vec<Look> = (0..looks).map(|_| Look::at(machine, elements)).collect();
        Look::middle(&looks)
    }

    /// Element by element, kernel by kernel, the middle of `looks`.
    pub(crate) fn middle(looks: &[Look]) -> Look {
        let part = |speeds: Vec<Speed>| {
            let of = |part: usize| {
                let mut ns: Vec<f64> = speeds.iter().map(|speed| speed.parts_ns()[part]).collect();
                ns.sort_by(f64::total_cmp);
                ground::quantile(&ns, 0.5)
            };
            let [integer_ns, floating_ns, memory_ns] = [of(0), of(1), of(2)];
            (!speeds.is_empty()).then_some(Speed { integer_ns, floating_ns, memory_ns })
        };
        let names = looks.first().map_or_else(Vec::new, |look| look.0.keys().cloned().collect());
        let all = |name: &String| looks.iter().filter_map(|look| look.0.get(name)).collect::<Vec<_>>();
        let of = |name: String| {
            let alone = all(&name).iter().filter_map(|look| look.0).collect();
            let together = all(&name).iter().filter_map(|look| look.1).collect();
            (name, (part(alone), part(together)))
        };
        Look(names.into_iter().map(of).collect())
    }

    /// As a profile keeps it.
    pub(crate) fn profiled(&self) -> BTreeMap<String, ProfiledSpeed> {
        let ns = |speed: Option<Speed>| speed.map_or(Vec::new(), |s| s.parts_ns().to_vec());
        let speed = |&(alone, together): &(Option<Speed>, Option<Speed>)| ProfiledSpeed {
            alone_ns: ns(alone),
            together_ns: ns(together),
        };
        self.0.iter().map(|(name, look)| (name.clone(), speed(look))).collect()
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
