//! Patterns of traffic that have names.
//!
//! A name may carry the sides of its grid: `torus-2d:4x2`. Otherwise sides are as equal as the number of parts allows.

use crate::{Traffic, TrafficFlow, TrafficPhase};
use ground::{Located, did_you_mean, quoted};

/// A pattern with a name.
#[derive(Debug, Clone, Copy)]
pub struct NamedTraffic {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// A line for lists.
    pub about: &'static str,
    /// Dimensions of the grid that the parts form; 0: the pattern has none.
    pub dimensions: usize,
    /// Of so many parts on a grid of these sides: for each phase, its flows in messages.
    phases: fn(usize, &[usize]) -> Vec<Messages>,
}

/// Messages of one phase: from, to, and how many times the size of one.
type Messages = Vec<(usize, usize, f64)>;

/// Every pattern, in the order in which to list them.
pub const PATTERNS: [NamedTraffic; 12] = [
    NamedTraffic { name: "ring", about: "each sends to the next", dimensions: 0, phases: ring },
    NamedTraffic {
        name: "ring-both",
        about: "each sends to both neighbours",
        dimensions: 0,
        phases: ring_both,
    },
    NamedTraffic {
        name: "binomial-tree",
        about: "a broadcast: in step s, parts below 2^s send to the part 2^s above",
        dimensions: 0,
        phases: binomial_tree,
    },
    NamedTraffic {
        name: "recursive-doubling",
        about: "an allgather: in step s, parts exchange with the one whose bit s differs, twice as much each step",
        dimensions: 0,
        phases: recursive_doubling,
    },
    NamedTraffic { name: "all-to-all", about: "each sends to each other", dimensions: 0, phases: all_to_all },
    NamedTraffic {
        name: "stencil-2d",
        about: "each exchanges with its neighbours on a grid of two dimensions",
        dimensions: 2,
        phases: |_, sides| vec![grid(sides, false)],
    },
    NamedTraffic {
        name: "stencil-3d",
        about: "each exchanges with its neighbours on a grid of three dimensions",
        dimensions: 3,
        phases: |_, sides| vec![grid(sides, false)],
    },
    NamedTraffic {
        name: "torus-2d",
        about: "stencil-2d whose borders are neighbours",
        dimensions: 2,
        phases: |_, sides| vec![grid(sides, true)],
    },
    NamedTraffic {
        name: "torus-3d",
        about: "stencil-3d whose borders are neighbours",
        dimensions: 3,
        phases: |_, sides| vec![grid(sides, true)],
    },
    NamedTraffic {
        name: "butterfly",
        about: "in step s, parts exchange with the one whose bit s differs, as much each step",
        dimensions: 0,
        phases: |parts, _| steps(parts, |_| 1.0),
    },
    NamedTraffic {
        name: "pipeline",
        about: "each sends to the next, the last to nobody",
        dimensions: 0,
        phases: pipeline,
    },
    NamedTraffic {
        name: "master-worker",
        about: "part 0 exchanges with every other",
        dimensions: 0,
        phases: master_worker,
    },
];

/// Whether `pattern` is a name, with or without sides, and not a file.
pub fn is_named(pattern: &str) -> bool {
    !(pattern.contains(['/', '.']))
}

/// The pattern `pattern` of so many parts, each message of `bytes`.
///
/// # Errors
/// No such name, too few parts, sides that do not make as many parts.
///
/// ```
/// let ring = place::named::named("ring", 8, 1024.0)?;
/// assert_eq!((ring.parts, ring.phases[0].flows.len()), (8, 8));
/// let tree = place::named::named("binomial-tree", 8, 1024.0)?;
/// assert_eq!(tree.phases.len(), 3);
/// let wrong = place::named::named("rinq", 8, 1024.0).unwrap_err().to_string();
/// assert!(wrong.contains("did you mean `ring`"), "{wrong}");
/// # Ok::<(), ground::Located>(())
/// ```
pub fn named(pattern: &str, parts: usize, bytes: f64) -> Result<Traffic, Located> {
    let wrong = |message: String| Located::new(message).key("pattern");
    let (name, sides) = pattern.split_once(':').map_or((pattern, None), |(name, sides)| (name, Some(sides)));
    let Some(found) = PATTERNS.iter().find(|known| known.name == name) else {
        let names = || PATTERNS.iter().map(|known| known.name);
        return Err(wrong(format!(
            "no pattern {}; there are {}, and files (.csv, .mtx, .json of cellrun --profile, .prof and .mat of Open \
             MPI's monitoring){}",
            quoted(name),
            names().collect::<Vec<_>>().join(", "),
            did_you_mean(name, names())
        )));
    };
    if parts < 2 {
        return Err(wrong(format!("{name} of {parts} parts: at least 2 communicate")));
    }
    let sides = match sides {
        None => equal_sides(parts, found.dimensions),
        Some(text) => sides_of(text, found, parts).map_err(wrong)?,
    };
    let phases = (found.phases)(parts, &sides);
    let several = phases.len() > 1;
    let phases = phases.into_iter().enumerate().map(|(step, messages)| {
        let name = if several { format!("step {step}") } else { "all".into() };
        let flow = |(from, to, times)| TrafficFlow { from, to, bytes: times * bytes };
        TrafficPhase::new(name, messages.into_iter().map(flow).collect())
    });
    Ok(Traffic { name: pattern.into(), parts, phases: phases.collect() })
}

/// Reads `4x2`.
fn sides_of(text: &str, pattern: &NamedTraffic, parts: usize) -> Result<Vec<usize>, String> {
    let (name, dimensions) = (pattern.name, pattern.dimensions);
    let sides: Option<Vec<usize>> = text.split('x').map(|side| side.parse().ok()).collect();
    let product = |sides: &[usize]| sides.iter().try_fold(1usize, |product, &side| product.checked_mul(side));
    match sides {
        _ if dimensions == 0 => Err(format!("{name} has no sides; write {name}")),
        Some(sides) if sides.len() == dimensions && product(&sides) == Some(parts) => Ok(sides),
        _ => Err(format!(
            "{name}:{text}: allowed are {dimensions} sides whose product is {parts}, the number of parts: {name}:{}",
            equal_sides(parts, dimensions).iter().map(usize::to_string).collect::<Vec<_>>().join("x")
        )),
    }
}

/// The sides of a grid of so many parts, the largest first, as equal as can be.
fn equal_sides(parts: usize, dimensions: usize) -> Vec<usize> {
    let (mut left, mut sides) = (parts, Vec::new());
    for dimension in (1..=dimensions).rev() {
        // The smallest divisor that is at least the root.
        let enough = |side: &usize| left % side == 0 && side.pow(dimension as u32) >= left;
        let side = (1..=left).find(enough).unwrap_or(left);
        sides.push(side);
        left /= side;
    }
    sides
}

fn ring(parts: usize, _: &[usize]) -> Vec<Messages> {
    vec![(0..parts).map(|part| (part, (part + 1) % parts, 1.0)).collect()]
}

fn ring_both(parts: usize, sides: &[usize]) -> Vec<Messages> {
    let up = ring(parts, sides).remove(0);
    let down: Vec<_> = up.iter().map(|&(from, to, times)| (to, from, times)).collect();
    vec![[up, down].concat()]
}

fn binomial_tree(parts: usize, _: &[usize]) -> Vec<Messages> {
    let starts = (0..).map(|step| 1usize << step).take_while(|&start| start < parts);
    let step = |start: usize| (0..start.min(parts - start)).map(|part| (part, part + start, 1.0)).collect();
    starts.map(step).collect()
}

fn recursive_doubling(parts: usize, _: &[usize]) -> Vec<Messages> {
    steps(parts, |step| f64::from(1u32 << step))
}

/// In step s each exchanges with the part whose bit s differs. Parts beyond the largest power of two hand what they
/// have to a part below before the first step, and get the result after the last.
fn steps(parts: usize, times: impl Fn(u32) -> f64) -> Vec<Messages> {
    let within = 1usize << parts.ilog2();
    let extra = parts - within;
    let mut phases = Vec::new();
    if extra > 0 {
        phases.push((0..extra).map(|part| (within + part, part, times(0))).collect());
    }
    for step in 0..parts.ilog2() {
        phases.push((0..within).map(|part| (part, part ^ 1 << step, times(step))).collect());
    }
    if extra > 0 {
        phases.push((0..extra).map(|part| (part, within + part, times(parts.ilog2()))).collect());
    }
    phases
}

fn all_to_all(parts: usize, _: &[usize]) -> Vec<Messages> {
    let pairs = (0..parts).flat_map(|from| (0..parts).map(move |to| (from, to, 1.0)));
    vec![pairs.filter(|(from, to, _)| from != to).collect()]
}

fn pipeline(parts: usize, _: &[usize]) -> Vec<Messages> {
    vec![(1..parts).map(|part| (part - 1, part, 1.0)).collect()]
}

fn master_worker(parts: usize, _: &[usize]) -> Vec<Messages> {
    vec![(1..parts).flat_map(|worker| [(0, worker, 1.0), (worker, 0, 1.0)]).collect()]
}

/// Each with its neighbours; the last dimension runs fastest. On a side of two, both neighbours are the same one.
fn grid(sides: &[usize], wraps: bool) -> Messages {
    let parts: usize = sides.iter().product();
    let mut messages = Messages::new();
    for part in 0..parts {
        let mut stride = 1;
        for &side in sides.iter().rev() {
            let at = part / stride % side;
            let neighbour = |next: usize| part - at * stride + next * stride;
            if at + 1 < side {
                messages.push((part, neighbour(at + 1), 1.0));
                messages.push((neighbour(at + 1), part, 1.0));
            } else if wraps && side > 2 {
                messages.push((part, neighbour(0), 1.0));
                messages.push((neighbour(0), part, 1.0));
            }
            stride *= side;
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(pattern: &str, parts: usize) -> Vec<Vec<(usize, usize, f64)>> {
        let made = named(pattern, parts, 1.0).unwrap();
        let of = |phase: &TrafficPhase| phase.flows.iter().map(|f| (f.from, f.to, f.bytes)).collect();
        made.phases.iter().map(of).collect()
    }

    #[test]
    fn every_pattern_is_sound_for_every_number_of_parts() {
        for pattern in PATTERNS {
            for parts in 2..=33 {
                let made = named(pattern.name, parts, 16.0).unwrap();
                made.check().unwrap();
                assert!(made.silent().is_empty(), "{} of {parts}", pattern.name);
                for phase in &made.phases {
                    let mut pairs: Vec<_> = phase.flows.iter().map(|f| (f.from, f.to)).collect();
                    pairs.sort_unstable();
                    assert!(pairs.windows(2).all(|two| two[0] != two[1]) || parts == 2, "{}", pattern.name);
                }
            }
        }
    }

    #[test]
    fn patterns_are_what_their_lines_say() {
        assert_eq!(flows("binomial-tree", 6)[2], [(0, 4, 1.0), (1, 5, 1.0)]);
        assert_eq!(flows("recursive-doubling", 4)[1], [(0, 2, 2.0), (1, 3, 2.0), (2, 0, 2.0), (3, 1, 2.0)]);
        assert_eq!(flows("recursive-doubling", 5)[0], [(4, 0, 1.0)]);
        assert_eq!(flows("butterfly", 4).len(), 2);
        assert_eq!(flows("stencil-2d:2x3", 6)[0].len(), 14);
        assert_eq!(flows("torus-2d:3x3", 9)[0].len(), 36);
        assert_eq!(flows("master-worker", 3)[0].len(), 4);
        assert_eq!(flows("pipeline", 4)[0].len(), 3);
    }

    #[test]
    fn sides_are_as_equal_as_can_be_and_wrong_ones_are_refused() {
        assert_eq!(equal_sides(16, 2), [4, 4]);
        assert_eq!(equal_sides(12, 2), [4, 3]);
        assert_eq!(equal_sides(128, 3), [8, 4, 4]);
        assert_eq!(equal_sides(7, 2), [7, 1]);
        let refused = |pattern: &str| named(pattern, 8, 1.0).unwrap_err().to_string();
        assert!(refused("torus-2d:3x3").contains("torus-2d:4x2"));
        assert!(refused("torus-2d:8").contains("2 sides"));
        assert!(refused("ring:8").contains("no sides"));
        assert!(named("ring", 1, 1.0).unwrap_err().to_string().contains("at least 2"));
    }
}
