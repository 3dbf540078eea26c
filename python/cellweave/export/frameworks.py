"""What frameworks of streaming programs read: GNU Radio, FutureSDR, ROS 2, DPDK."""

from __future__ import annotations

import json
import keyword
import re
from typing import TYPE_CHECKING

from cellweave.export.registry import Format, Names, title

if TYPE_CHECKING:
    from cellweave.export.pinning import Pinned, Pinning

_PYTHON = Names(
    "names of Python variables (the parts of a placement are numbers: export a plan)",
    lambda name: name.isidentifier() and not keyword.iskeyword(name),
)
# The Rust Reference (edition 2024), section 2.2: no variable has one of these names.
_RUST_KEYWORDS = """
as async await break const continue crate dyn else enum extern false fn for gen if impl in let loop match mod move mut
pub ref return self static struct super trait true type unsafe use where while
abstract become box do final macro override priv try typeof unsized virtual yield
"""
_RUST = Names(
    "names of Rust variables (the parts of a placement are numbers: export a plan)",
    lambda name: re.fullmatch(r"[a-z][a-z0-9_]*", name) is not None and name not in _RUST_KEYWORDS.split(),
)


def _gnuradio(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    return [
        f"# {title(pinning)}",
        "def pin(top):",
        '    """Call it with the top block before start(): each block, by the name of its variable, on its cpu."""',
        *(f"    top.{one.name}.set_processor_affinity([{one.cpu}])" for one in pinned),
    ]


def _futuresdr(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    # A worker per cpu that the process may use: FutureSDR 0.0.39 starts them from the lowest cpu on, and numbers them
    # as they come to run.
    worker = {cpu: i for i, cpu in enumerate(sorted(pinning.ranks_of_cpus()))}
    return [
        f'// {title(pinning)}: the worker of each block; put include!("FILE") where the blocks\' variables are known.',
        "futuresdr::runtime::scheduler::CpuPinScheduler::new(std::collections::HashMap::from([",
        *(
            f"    (futuresdr::runtime::BlockId::from(&{one.name}).0, {worker[one.cpu]}), // cpu {one.cpu}"
            for one in pinned
        ),
        "]))",
    ]


def _ros2(pinned: list[Pinned], pinning: Pinning) -> list[str]:
    """As REP 2017 has it: every key is there; a thread keeps the kernel's usual policy."""
    lines = [f"# {title(pinning)}"]
    for one in pinned:
        lines += [
            f"- tag: {json.dumps(one.name, ensure_ascii=False)}",
            "  scheduling_policy: OTHER",
            "  priority: 0",
            f"  core_affinity: [{one.cpu}]",
        ]
    return lines


def _dpdk(pinned: list[Pinned], _: Pinning) -> list[str]:
    return ["--lcores=" + ",".join(f"{i}@{one.cpu}" for i, one in enumerate(pinned))]


FORMATS = [
    Format(
        "gnuradio",
        "the cpu of each block: calls of set_processor_affinity",
        "from FILE import pin; pin(top), before top.start()",
        "memory",
        _gnuradio,
        _PYTHON,
    ),
    Format(
        "futuresdr",
        "the worker of each block: the map of a CpuPinScheduler",
        'Runtime::with_scheduler(include!("FILE"))',
        "memory; in some starts FutureSDR numbers its workers in another order than the cpus",
        _futuresdr,
        _RUST,
    ),
    Format(
        "ros2",
        "the cpu of each executor's thread, by its tag: the thread attributes of REP 2017, a draft",
        "ROS_THREAD_ATTRS_FILE=FILE ros2 run ...",
        "memory",
        _ros2,
    ),
    Format(
        "dpdk",
        "the cpu of each lcore",
        "PROGRAM $(cat FILE) --",
        "names of lcores; memory",
        _dpdk,
        # RTE_MAX_LCORE and CPU_SETSIZE of a build by default.
        parts_max=128,
        cpu_max=1023,
    ),
]
