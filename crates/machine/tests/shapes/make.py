"""Writes the files of this folder: computers of many shapes, each as one of the tools shows it whose files are read.

``python crates/machine/tests/shapes/make.py`` writes them anew; a test compares. The files that end in ``.xml`` are
``lstopo``'s (hwloc 2.9.0), made from the synthetic description that stands in each.

No latency here was measured by us. Each file says whose published figures its levels follow; within a level all pairs
are equal, but for a small pattern that stands for noise and is the same every time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parent
PUBLISHED = "https://github.com/nviennot/core-to-core-latency, README"


def latencies(source: str, n: int, ns: Callable[[int, int], float], whole: bool = False) -> str:
    """The lower half of a matrix, as core-to-core-latency writes it, or all of it."""

    def cell(i: int, j: int) -> str:
        return f"{ns(i, j) + (7 * i + 3 * j) % 10 / 10:.1f}" if j < i or (whole and i != j) else ""

    rows = [",".join(cell(i, j) for j in range(n)) for i in range(n)]
    return "\n".join([f"# {source}", *rows]) + "\n"


def levels(*steps: tuple[Callable[[int], int], float], far: float) -> Callable[[int, int], float]:
    """Nanoseconds of the first level whose group two cpus share."""

    def ns(i: int, j: int) -> float:
        return next((ns for group, ns in steps if group(i) == group(j)), far)

    return ns


def mesh(columns: int, per_tile: int, near: float, hop: float) -> Callable[[int, int], float]:
    """Nanoseconds by hops over a mesh of tiles."""

    def ns(i: int, j: int) -> float:
        (a, b), (c, d) = divmod(i // per_tile, columns), divmod(j // per_tile, columns)
        return near + hop * (abs(a - c) + abs(b - d))

    return ns


def likwid(
    source: str,
    name: str,
    threads: list[Thread],
    caches: list[tuple[str, Callable[[int], object]]],
    domains: Callable[[int], int],
    available: Callable[[int], bool] = lambda _: True,
) -> str:
    """The text of likwid-topology: `threads` are number, thread of its core, core, socket."""
    line, star = "-" * 80, "*" * 80
    socket = {number: s for number, _, _, s in threads}

    def groups(of: Callable[[int], object]) -> list[list[int]]:
        found: dict[object, list[int]] = {}
        for number, *_ in threads:
            if available(number):
                found.setdefault(of(number), []).append(number)
        return list(found.values())

    def text(group: list[int]) -> str:
        return "( " + " ".join(map(str, group)) + " )"

    sockets = sorted(set(socket.values()))
    out = [line, f"CPU name:\t{name}", f"CPU type:\tsynthetic: {source}", "CPU stepping:\t1", star]
    out += ["Hardware Thread Topology", star, f"Sockets:\t\t{len(sockets)}"]
    out += [f"Cores per socket:\t{len({c for _, _, c, s in threads if s == 0})}"]
    out += [f"Threads per core:\t{max(t for _, t, _, _ in threads) + 1}", line]
    out += ["HWThread        Thread        Core        Die        Socket        Available"]
    for number, thread, core, s in threads:
        mark = "*" if available(number) else ""
        out.append(f"{number:<16}{thread:<14}{core:<12}{0:<11}{s:<14}{mark:<17}")
    out.append(line)
    out += [f"Socket {s}:\t\t{text([n for n, *_ in threads if socket[n] == s])}" for s in sockets]
    out += [line, star, "Cache Topology", star]
    for level, (size, of) in enumerate(caches, 1):
        out += [
            f"Level:\t\t\t{level}",
            f"Size:\t\t\t{size}",
            "Cache groups:\t\t" + " ".join(map(text, groups(of))),
            line,
        ]
    nodes = groups(domains)
    out += [star, "NUMA Topology", star, f"NUMA domains:\t\t{len(nodes)}", line]
    for i, node in enumerate(nodes):
        distances = " ".join("10" if j == i else "21" for j in range(len(nodes)))
        out += [f"Domain:\t\t\t{i}", f"Processors:\t\t{text(node)}", f"Distances:\t\t{distances}"]
        out += ["Free memory:\t\t1893.86 MB", "Total memory:\t\t15689.5 MB", line]
    out += ["", star, "Graphical Topology", star, "Socket 0:", "+-----+", "| +-+ |", "| |0| |", "| +-+ |", "+-----+"]
    return "\n".join(out) + "\n"


Thread = tuple[int, int, int, int]


def threads(
    sockets: int, cores: int, smt: int, number: Callable[[int, int, int], int]
) -> list[tuple[int, int, int, int]]:
    """Threads of equal sockets; `number` makes a cpu's number of socket, core in it, and thread of that."""
    found = [(number(s, c, t), t, s * cores + c, s) for s in range(sockets) for c in range(cores) for t in range(smt)]
    return sorted(found)


def toml(source: str, name: str, elements: list[dict[str, object]], more: str = "") -> str:
    """A machine file."""

    def value(x: object) -> str:
        return f'"{x}"' if isinstance(x, str) else str(x)

    out = [f"# {source}", "format = 1", f'name = "{name}"', f'description = "{name}: {source}"']
    if "quota_cpus" in more:
        line, _, more = more.partition("\n")
        out.append(line)
    for element in elements:
        out += ["", "[[element]]", *(f"{key} = {value(x)}" for key, x in element.items())]
    return "\n".join(out) + "\n" + more


def core(cpu: int, kind: str = "core", **place: object) -> dict[str, object]:
    return {"name": f"CPU{cpu}", "kind": kind, "os_cpu": cpu, **place}


def csv_files() -> dict[str, str]:
    """Matrices of latencies."""
    smt = lambda i: i // 2  # noqa: E731
    p_or_e = lambda i: i // 2 if i < 16 else 8 + (i - 16) // 4  # noqa: E731
    asymmetric = lambda i, j: 40.0 if i // 4 == j // 4 else 120.0 if i < j else 180.0  # noqa: E731
    return {
        "desktop-4": latencies(f"a desktop of 4 cores, after the i5-4590 in {PUBLISHED}", 4, levels(far=21)),
        "zen1-2ccx": latencies(
            f"two CCXs of 4 cores with 2 threads, after the Ryzen 7 2700X in {PUBLISHED}",
            16,
            levels((smt, 9), (lambda i: i // 8, 23), far=92),
        ),
        "zen3-2ccd": latencies(
            f"two CCDs of 6 cores, after the Ryzen 9 5900X in {PUBLISHED}", 12, levels((lambda i: i // 6, 25), far=84)
        ),
        "zen2-8ccx": latencies(
            f"4 dies of two CCXs of 3 cores, after the Threadripper 3960X in {PUBLISHED}",
            24,
            levels((lambda i: i // 3, 23), (lambda i: i // 6, 92), far=98),
        ),
        "arm-mesh-64": latencies(
            f"a mesh of 8 x 4 tiles of two cores, after the Graviton2 in {PUBLISHED}", 64, mesh(8, 2, 40, 3)
        ),
        "two-sockets": latencies(
            f"two sockets of 8 cores, after the dual E5-2690 in {PUBLISHED}", 16, levels((lambda i: i // 8, 33), far=85)
        ),
        "knights-landing": latencies(
            f"a mesh of 6 x 6 tiles of two cores, after the Xeon Phi 7210 in {PUBLISHED}", 64, mesh(6, 2, 110, 9)
        ),
        "hybrid-8p-8e": latencies(
            f"8 cores with 2 threads and two clusters of 4 small ones, after the i9-12900K in {PUBLISHED}",
            24,
            levels((p_or_e, 5), far=37),
        ),
        "clusters-2-4-4": latencies(
            f"clusters of 2, 4 and 4 cores, after the Apple M1 Pro in {PUBLISHED}",
            10,
            levels((lambda i: 0 if i < 2 else 1 + (i - 2) // 4, 40), far=145),
        ),
        "one-way-slower": latencies("two groups of 4, one way slower; made up", 8, asymmetric, whole=True),
    }


def likwid_files() -> dict[str, str]:
    """Texts of likwid-topology."""
    intel = lambda cores: lambda s, c, t: t * 2 * cores + s * cores + c  # noqa: E731
    made_up = "no computer's own"
    own = [("32 kB", lambda n: n), ("256 kB", lambda n: n)]
    return {
        "laptop-4c8t": likwid(
            "after the layout of an i5-8265U",
            "a laptop of 4 cores",
            threads(1, 4, 2, lambda s, c, t: 4 * t + c),
            [("32 kB", lambda n: n % 4), ("256 kB", lambda n: n % 4), ("6 MB", lambda n: 0)],
            lambda n: 0,
        ),
        "xeon-2x20": likwid(
            "after the layout of two Xeon 6248",
            "two sockets of 20 cores",
            threads(2, 20, 1, intel(20)),
            [("32 kB", lambda n: n), ("1 MB", lambda n: n), ("27.5 MB", lambda n: n // 20)],
            lambda n: n // 20,
        ),
        "epyc-nps4": likwid(
            "after the layout of an EPYC 7543 with four NUMA nodes per socket",
            "32 cores, NPS4",
            threads(1, 32, 1, lambda s, c, t: c),
            [("32 kB", lambda n: n), ("512 kB", lambda n: n), ("32 MB", lambda n: n // 4)],
            lambda n: n // 8,
        ),
        "xeon-snc2": likwid(
            "after the layout of two Xeon 6230 with sub-NUMA clusters",
            "two sockets of 10 cores, SNC2",
            threads(2, 10, 2, intel(10)),
            [("32 kB", lambda n: n % 20), ("1 MB", lambda n: n % 20), ("27.5 MB", lambda n: n % 20 // 10)],
            lambda n: n % 20 // 5,
        ),
        "one-core": likwid(made_up, "one core", [(0, 0, 0, 0)], own, lambda n: 0),
        "hybrid-2p-8e": likwid(
            "after the layout of an i7-1255U",
            "two cores with 2 threads and 8 small ones",
            [(n, n % 2 if n < 4 else 0, n // 2 if n < 4 else n - 2, 0) for n in range(12)],
            [
                ("48 kB", lambda n: n // 2 if n < 4 else n),
                ("1.25 MB", lambda n: n // 2 if n < 4 else 2 + (n - 4) // 4),
                ("12 MB", lambda n: 0),
            ],
            lambda n: 0,
        ),
        "half-disabled": likwid(
            made_up,
            "16 cpus of which every second is not available",
            threads(1, 16, 1, lambda s, c, t: c),
            [*own, ("16 MB", lambda n: 0)],
            lambda n: 0,
            available=lambda n: n % 2 == 0,
        ),
        "power9-smt4": likwid(
            "after the layout of two POWER9",
            "two sockets of 4 cores with 4 threads",
            threads(2, 4, 4, lambda s, c, t: 16 * s + 4 * c + t),
            [("32 kB", lambda n: n // 4), ("512 kB", lambda n: n // 8), ("10 MB", lambda n: n // 8)],
            lambda n: n // 16,
        ),
    }


def machine_files() -> dict[str, str]:
    """Machine files."""
    board = [core(i, "little", capacity=446, l2=0, core=i) for i in range(4)]
    board += [core(i, l2=i, capacity=1024, core=i) for i in range(4, 8)]
    phone = [core(i, "little", capacity=160, core=i) for i in range(4)]
    phone += [core(i, "mid", capacity=740, core=i) for i in range(4, 7)] + [core(7, capacity=1024, core=7)]
    pairs = '[{ from = "CPU0..CPU3", to = "CPU4..CPU7" }]', '[{ from = "CPU4..CPU7", to = "CPU0..CPU3" }]'
    links = "".join(
        f'\n[[limit]]\nname = "{name}"\ncapacity_bytes_per_s = {capacity}\npairs = {of}\n'
        for name, capacity, of in [("chip 1 reads chip 0", 6e9, pairs[0]), ("chip 0 reads chip 1", 18e9, pairs[1])]
    )
    return {
        "big-little": toml("4 and 4, after an RK3588's layout", "big.LITTLE", board),
        "phone-4-3-1": toml("three sizes of cores, after a phone's layout", "phone", phone),
        "unequal-links": toml("made up", "unequal links", [core(i, chip=i // 4, core=i) for i in range(8)], links),
        "guest-quota": toml("made up", "a cloud guest", [core(i, core=i) for i in range(4)], "quota_cpus = 1.5\n"),
        "holes": toml("made up", "holes in the numbers", [core(i, core=i) for i in (0, 2, 5, 9, 64, 700)]),
    }


def files() -> dict[str, str]:
    """Name -> content of every file here that is not lstopo's."""
    made = {".csv": csv_files(), ".txt": likwid_files(), ".toml": machine_files()}
    return {name + ending: text for ending, some in made.items() for name, text in some.items()}


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text)
