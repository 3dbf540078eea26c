//! This computer, from `/sys`, the affinity mask and the cgroup quota.
