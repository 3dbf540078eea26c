//! How good and how quick placing is; see `benches/placement/README.md`.
//!
//! `cargo run --release -p cellweave-place --example placement -- benches/placement [GMAP]` writes `results.md` there.
//! GMAP is Scotch's program of that name.

use ground::Draws;
use place::named::{PATTERNS, named};
use place::{
    Distance, Objective, Period, PlaceOptions, SearchMethod, SeatDistances, SymmetryRule, Traffic, search,
};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Chips, caches of a chip, cores of a cache.
const TREE: [usize; 3] = [2, 8, 8];
/// The distance of two cores on two chips, on one chip, in one cache: what Scotch's `tleaf` calls the cost of a link.
const LINKS: [usize; 3] = [4, 2, 1];
const RANKS: usize = 128;
const GRIDS: [&str; 8] = [
    "stencil-2d:32x4",
    "torus-2d:32x4",
    "stencil-2d:64x2",
    "torus-2d:64x2",
    "stencil-3d:16x4x2",
    "torus-3d:16x4x2",
    "stencil-3d:32x2x2",
    "torus-3d:8x8x2",
];
/// Runs of everything that is timed; the median counts.
const RUNS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: placement FOLDER [GMAP]")?;
    let gmap = arguments.next().filter(|gmap| !gmap.is_empty());
    let mut text = String::new();
    on_cells(&mut text)?;
    on_cores(gmap.as_deref(), &mut text)?;
    many(&mut text)?;
    std::fs::write(Path::new(&folder).join("results.md"), &text)?;
    print!("{text}");
    Ok(())
}

/// Runs something a few times: the last result, and the median of the seconds.
fn timed<T>(mut run: impl FnMut() -> T) -> (T, f64) {
    let mut seconds = Vec::new();
    let mut last = None;
    for _ in 0..RUNS {
        let start = now();
        last = Some(run());
        seconds.push(now() - start);
    }
    seconds.sort_by(f64::total_cmp);
    (last.expect("at least one run"), seconds[RUNS / 2])
}

/// Seconds of some clock.
#[allow(clippy::disallowed_methods, reason = "a bench below the floor of `host`")]
fn now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// All 8! mappings to one Cell, and 16 SPEs of a blade, by limits.
fn on_cells(text: &mut String) -> Result<(), Box<dyn Error>> {
    let rows = [("cell", 8, SymmetryRule::None), ("qs22", 16, SymmetryRule::Tested)];
    writeln!(text, "By limits (`model`), one thread; median of {RUNS} runs.\n")?;
    writeln!(text, "| pattern | machine | mappings tried | ms | proved |\n|---|---|---:|---:|---|")?;
    for (name, parts, symmetry) in rows {
        let machine = machine::load(name)?;
        for pattern in ["ring", "ring-both", "binomial-tree", "recursive-doubling", "all-to-all"] {
            let traffic = named(pattern, parts, 16384.0)?;
            let options =
                PlaceOptions { method: SearchMethod::Exhaustive, symmetry, ..PlaceOptions::default() };
            let (found, seconds) = timed(|| {
                let mut objective = Period::new(&traffic, &machine, &machine.workers())?;
                search(&mut objective, &options, &mut |_| true)
            });
            let found = found?;
            let (tried, proved) = (found.evaluated, if found.is_proved() { "yes" } else { "no" });
            writeln!(text, "| {pattern} | {name} | {tried} | {:.1} | {proved} |", seconds * 1e3)?;
        }
    }
    Ok(())
}

fn distances(ranks: usize) -> SeatDistances {
    let (cache, chip) = (TREE[2], TREE[1] * TREE[2]);
    SeatDistances::new(ranks, |a, b| match (a / cache == b / cache, a / chip == b / chip) {
        (true, _) => LINKS[2] as f64,
        (_, true) => LINKS[1] as f64,
        _ => LINKS[0] as f64,
    })
}

/// 128 ranks beside Scotch.
fn on_cores(gmap: Option<&str>, text: &mut String) -> Result<(), Box<dyn Error>> {
    writeln!(
        text,
        "\n{RANKS} ranks on {TREE:?} cores by `distance`, ranks named at random; median of {RUNS} runs.\n"
    )?;
    writeln!(text, "| pattern | cost | s | Scotch | s | cost by Scotch's |\n|---|---:|---:|---:|---:|---:|")?;
    let regular = PATTERNS.iter().map(|pattern| pattern.name).chain(GRIDS);
    let regular = regular.map(|name| named(name, RANKS, 1.0)).collect::<Result<Vec<_>, _>>()?;
    for traffic in regular.into_iter().chain(irregular(RANKS)) {
        let traffic = renamed(&traffic);
        let mut objective = Distance::new(&traffic, distances(RANKS));
        let (found, seconds) = timed(|| search(&mut objective, &PlaceOptions::default(), &mut |_| true));
        let cost = found?.cost;
        write!(text, "| {} | {cost:.0} | {seconds:.2} |", traffic.name)?;
        let Some(gmap) = gmap else {
            writeln!(text, " - | - | - |")?;
            continue;
        };
        let (mapping, seconds) = timed(|| scotch(gmap, &traffic));
        let theirs = objective.cost(&mapping?);
        writeln!(text, " {theirs:.0} | {seconds:.2} | {:.3} |", cost / theirs)?;
    }
    Ok(())
}

/// 1,024 ranks on eight times as many chips.
fn many(text: &mut String) -> Result<(), Box<dyn Error>> {
    writeln!(text, "\n1,024 ranks on 16 such chips; one run.\n")?;
    writeln!(text, "| pattern | cost | identity | s |\n|---|---:|---:|---:|")?;
    let grids = ["torus-2d", "stencil-3d"].map(|name| named(name, 1024, 1.0));
    let grids = grids.into_iter().collect::<Result<Vec<_>, _>>()?;
    for traffic in grids.into_iter().chain(irregular(1024).into_iter().take(1)) {
        let traffic = renamed(&traffic);
        let mut objective = Distance::new(&traffic, distances(1024));
        let start = now();
        let found = search(&mut objective, &PlaceOptions::default(), &mut |_| true)?;
        let seconds = now() - start;
        let identity = objective.cost(&(0..1024).collect::<Vec<_>>());
        writeln!(text, "| {} | {:.0} | {identity:.0} | {seconds:.1} |", traffic.name, found.cost)?;
    }
    Ok(())
}

/// The same traffic, parts named at random: the order of the names must not be the answer.
fn renamed(traffic: &Traffic) -> Traffic {
    let mut names: Vec<usize> = (0..traffic.parts).collect();
    Draws::new(11).shuffle(&mut names);
    let whole = traffic.merged();
    let flows = whole.phases[0].flows.iter().map(|flow| (names[flow.from], names[flow.to], flow.bytes));
    Traffic::of(traffic.name.clone(), traffic.parts, flows)
}

/// Patterns without a grid: neighbours drawn at random, few parts with many neighbours, points of a plane that are
/// near, and the same with messages of very different sizes.
fn irregular(ranks: usize) -> Vec<Traffic> {
    let mut draws = Draws::new(7);
    let random: Vec<_> = (0..4 * ranks).map(|_| (draws.below(ranks), draws.below(ranks), 1.0)).collect();
    // Each new part tells parts that were told of before: who has many neighbours gets more.
    let mut told = vec![0, 1];
    let mut preferred = vec![(0, 1, 1.0)];
    for part in 2..ranks {
        for _ in 0..3 {
            let other = told[draws.below(told.len())];
            preferred.push((part, other, 1.0));
            told.extend([part, other]);
        }
    }
    let points: Vec<(f64, f64)> = (0..ranks).map(|_| (draws.unit(), draws.unit())).collect();
    let reach = (2.5 / ranks as f64).sqrt();
    let near = |a: usize, b: usize| (points[a].0 - points[b].0).hypot(points[a].1 - points[b].1) < reach;
    let pairs = || (0..ranks).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|&(a, b)| near(a, b));
    let plane: Vec<_> = pairs().map(|(a, b)| (a, b, 1.0)).collect();
    let sizes: Vec<_> = pairs().map(|(a, b)| (a, b, draws.octaves(1.0, 8.0).round())).collect();
    [("random", random), ("preferred", preferred), ("plane", plane), ("plane, sizes", sizes)]
        .map(|(name, flows)| Traffic::of(name, ranks, flows))
        .into()
}

/// Scotch's mapping: its program, given the graph and the tree as files. Two ranks on one core get the cores that are
/// left, in order.
fn scotch(gmap: &str, traffic: &Traffic) -> Result<Vec<usize>, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("cellweave-scotch-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let [graph, tree, out] = ["graph.grf", "tree.tgt", "out.map"].map(|name| folder.join(name));
    let partners = traffic.partners();
    let edges: usize = partners.iter().map(Vec::len).sum();
    // Version; vertices and arcs; numbers from 0, edges have weights.
    let mut text = format!("0\n{} {edges}\n0 010\n", traffic.parts);
    for list in &partners {
        write!(text, "{}", list.len())?;
        list.iter().try_for_each(|(other, bytes)| write!(text, " {} {other}", bytes.max(1.0).round()))?;
        text.push('\n');
    }
    std::fs::write(&graph, text)?;
    let levels: Vec<String> = TREE.iter().zip(LINKS).map(|(arity, link)| format!("{arity} {link}")).collect();
    std::fs::write(&tree, format!("tleaf {} {}\n", TREE.len(), levels.join(" ")))?;
    let done = Command::new(gmap).arg("-b0").args([&graph, &tree, &out]).output()?;
    if !done.status.success() {
        return Err(format!("{gmap}: {}", String::from_utf8_lossy(&done.stderr)).into());
    }
    let mut mapping = vec![usize::MAX; traffic.parts];
    let mut taken = vec![false; traffic.parts];
    for line in std::fs::read_to_string(&out)?.lines().skip(1) {
        let numbers: Vec<usize> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [part, seat] = numbers[..] else { return Err(format!("{gmap} wrote {line:?}").into()) };
        if !taken[seat] {
            taken[seat] = true;
            mapping[part] = seat;
        }
    }
    let mut free = (0..traffic.parts).filter(|&seat| !taken[seat]);
    for seat in mapping.iter_mut().filter(|seat| **seat == usize::MAX) {
        *seat = free.next().ok_or("too few cores")?;
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(mapping)
}
