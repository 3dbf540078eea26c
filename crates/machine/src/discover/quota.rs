//! How many cpus' time the cgroups leave to this process.

use super::Tree;

/// The smallest quota of this process's groups and of all groups above them, in cpus; `None` without any.
pub(super) fn cpus(tree: &Tree) -> Option<f64> {
    let groups = tree.text("proc/self/cgroup").unwrap_or_default();
    let mut quota: Option<f64> = None;
    let mut see = |found: Option<f64>| {
        quota = match (quota, found) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    };
    // Each line is `number:controllers:path`; the line without controllers is version 2's.
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        if controllers.is_empty() {
            for mount in ["sys/fs/cgroup", "sys/fs/cgroup/unified"] {
                for group in self_and_above(path) {
                    see(version_2(tree, &format!("{mount}{group}/cpu.max")));
                }
            }
        } else if controllers.split(',').any(|c| c == "cpu") {
            for mount in ["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"] {
                for group in self_and_above(path) {
                    see(version_1(tree, &format!("{mount}{group}")));
                }
            }
        }
    }
    quota
}

/// `/a/b` -> `/a/b`, `/a`, ``. A container sees its own group at the mount's root, whatever its path says.
fn self_and_above(path: &str) -> Vec<&str> {
    /// Deeper trees are not made; a path that goes up could leave the mount.
    const DEPTH_MAX: usize = 32;
    let path = path.trim_end_matches('/');
    if !path.starts_with('/') || path.split('/').any(|name| name == "..") {
        return vec![""];
    }
    let mut groups: Vec<&str> = std::iter::successors(Some(path), |p| p.rfind('/').map(|slash| &p[..slash]))
        .filter(|p| !p.is_empty())
        .take(DEPTH_MAX)
        .collect();
    groups.push("");
    groups
}

/// `max 100000` or `150000 100000`: us of cpu time per us.
fn version_2(tree: &Tree, path: &str) -> Option<f64> {
    let text = tree.text(path)?;
    let (quota, period) = text.split_once(' ')?;
    share(quota.trim().parse().ok()?, period.trim().parse().ok()?)
}

/// -1 is no quota.
fn version_1(tree: &Tree, group: &str) -> Option<f64> {
    let read = |file: &str| tree.text(&format!("{group}/{file}"))?.trim().parse::<i64>().ok();
    share(read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)
}

fn share(quota_us: i64, period_us: i64) -> Option<f64> {
    (quota_us > 0 && period_us > 0).then(|| quota_us as f64 / period_us as f64)
}
