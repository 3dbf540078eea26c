"""The tables of ``docs/scheduler-paper.md``, and the sentences there that have figures, from what is beside this file.

``page.py`` writes the tables between their marks and says which sentences the page lacks. ``page.py --count`` also
repeats the figures that are not in the campaigns' rows (tables 2 and 5, figure 10), and counts all verdicts in
``verdicts.json``. A test compares all this with the page.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections import Counter
from itertools import product
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import cellweave as cw
from cellweave.reproduce.campaigns import campaign_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cellweave.reproduce.rows import Row

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "scheduler-paper.md"
CAMPAIGNS = [HERE / name for name in ("sixteen.csv", "alone.csv", "scaling-part.csv")]
RUN = [
    f"streaming-schedule/{name}" for name in ("table-3", "fig-11", "fig-13a", "table-1", "table-4", "fig-13b", "fig-12")
]
MORE = [f"streaming-schedule/{name}" for name in ("table-2", "table-5", "fig-10")]
NAMES = {"greedy": "GREEDY", "delegate": "DELEGATE", "cluster": "CLUSTER", "mip": "MIP"}
HEURISTICS, ALL = list(NAMES.values())[:3], list(NAMES.values())
# As the rows name them: `auto` is MIP.
METHODS = ("greedy", "delegate", "cluster", "auto")
# The numbers of SPEs in scaling-part.toml.
SPREAD_COUNTS = 5
# Those on which mappings of large graphs fit the simulated local stores.
LARGE_COUNTS = (8, 12, 16)
HALF_LINK = "half of what a line takes of the link between chips"
CHAIN = "daggen-20-seed1-ccr0.001"
FIGURE_10 = ("steady state reached after, graph 9(b), CCR 0.004, 16 SPE", "experimental/theoretical throughput, same")
# Throughputs that differ by less count as equal, as in the tables' best cases.
EQUAL = 1e-6
SHOWN_CCRS = (0.001, 0.004, 0.01, 0.02, 0.05, 0.1)


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """As Markdown; the first column holds names."""
    lines = [f"| {' | '.join(head)} |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


class Figures:
    """What the campaigns' rows and the other files say."""

    def __init__(self) -> None:
        self.done = cw.reproduce(RUN, campaigns=CAMPAIGNS)
        self.rows = {(row.quantity, row.conditions): row for row in self.done.rows()}
        self.groups = {row.group.partition("/")[2]: row for row in self.done.rows()}
        self.pictures = {name: data for result in self.done.results for name, data in result.pictures.items()}
        ran = [row for path in CAMPAIGNS for row in campaign_rows(path)]
        self.sixteen = [row for row in ran if row["machine"].endswith("spe=16")]
        self.spread = [row for row in ran if not row["machine"].endswith(("spe=0", "spe=16"))]
        self.alone = [row for row in ran if row["machine"].endswith("spe=0")]
        self.planned = json.loads((HERE / "whatif.json").read_text())
        self.changed = list(csv.DictReader((HERE / "whatif.csv").read_text().splitlines()))
        self.verdicts = json.loads((HERE / "verdicts.json").read_text())

    def both(self, quantity: str, conditions: str, form: str) -> tuple[str, str]:
        """Published and obtained."""
        if (row := self.rows.get((quantity, conditions))) is not None:
            return format(row.published, form), format(row.obtained, form)
        published, obtained = self.verdicts["rows"][f"{quantity}, {conditions}"]
        return format(published, form), format(obtained, form)

    def scaled(self) -> dict[float, list[int]]:
        """CCR -> tasks of the graphs that all methods ran on every number of SPEs."""
        ran = Counter((row["ccr"], row["graph"], row["tasks"]) for row in self.spread if not row["error"])
        whole = {graph for graph in self.whole()}
        each: dict[float, list[int]] = {}
        for (ccr, graph, tasks), cells in ran.items():
            if cells == len(NAMES) * SPREAD_COUNTS and graph in whole:
                each.setdefault(ccr, []).append(tasks)
        return {ccr: sorted(tasks) for ccr, tasks in sorted(each.items())}

    def gain(self, method: str, ccr: float, without: str) -> float:
        """What a method gains where a cost is taken away: the mean ratio."""
        own = {row["graph"]: row for row in self.changed if row["method"] == method and row["without"] == "nothing"}
        there = [row for row in self.changed if row["method"] == method and row["without"] == without]
        return mean(
            float(row["highest_per_s"]) / float(own[row["graph"]]["highest_per_s"])
            for row in there
            if row["graph"].endswith(f"-ccr{ccr:g}")
        )

    def whole(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Graph -> method -> row, of the scenarios that all methods ran on 16 SPEs."""
        each: dict[str, dict[str, dict[str, Any]]] = {}
        for row in self.sixteen:
            if not row["error"]:
                each.setdefault(row["graph"], {})[row["method"]] = row
        return {graph: methods for graph, methods in each.items() if len(methods) == 4}

    def by_ccr(self) -> dict[float, float]:
        """Achieved over predicted of MIP: the mean of each CCR."""
        told = self.groups["fig-13a-pessimistic"].detail.split(", ")
        return {float(ccr): float(value) for ccr, value in (one.split(": ") for one in told)}

    def sped(self) -> dict[float, float]:
        """Speed-up of all methods together by CCR, 16 SPEs."""
        told = self.groups["fig-13b-bend"].detail.split(", ")
        return {float(ccr): float(value) for ccr, value in (one.split(": ") for one in told)}

    def gains(self, method: str, most: float) -> float:
        """What a method's share of MIP's throughput gains at most when it is run, at the CCRs up to `most`."""
        return max(
            self.over_mip(method, "highest_per_s", ccr) - self.over_mip(method, "predicted_per_s", ccr)
            for ccr in self.by_ccr()
            if ccr <= most
        )

    def best_of_large(self, method: str) -> tuple[int, int]:
        """In how many scenarios of large graphs no run is faster than the method's, and where MIP's is as fast."""
        best = [
            each["auto"]["highest_per_s"] >= each[method]["highest_per_s"] * (1 - EQUAL)
            for each in self.whole().values()
            if each["auto"]["size"] == "large"
            if each[method]["highest_per_s"] >= max(row["highest_per_s"] for row in each.values()) * (1 - EQUAL)
        ]
        return len(best), sum(best)

    def over_mip(self, method: str, figure: str, ccr: float | None = None) -> float:
        """Mean of a method's figure over that of MIP, at one CCR or at all."""
        chosen = [each for each in self.whole().values() if ccr is None or each["auto"]["ccr"] == ccr]
        return mean(each[method][figure] / each["auto"][figure] for each in chosen)


def over_mip_tables(figures: Figures, quantity: str, word: str) -> str:
    """Averages and best cases of table 2 or 3."""

    def rows(methods: list[str], what: str, form: str) -> list[list[str]]:
        found = []
        for size in ("all", "small", "large"):
            each = [figures.both(f"{quantity} ({size})", f"{method} {what}", form) for method in methods]
            found += [[f"{size}, published", *(one[0] for one in each)], [f"{size}, {word}", *(one[1] for one in each)]]
        return found

    averages = text_table(["over MIP, average", *HEURISTICS], rows(HEURISTICS, "avg", ".2f"))
    return averages + "\n\n" + text_table(["best cases, in percent", *ALL], rows(ALL, "best", ".0f"))


def accuracy(figures: Figures) -> str:
    """Figures 11 and 13(a)."""
    means = figures.by_ccr()
    head = [
        "MIP, achieved by predicted",
        *(f"CCR {ccr:g}" if ccr == 0.001 else f"{ccr:g}" for ccr in SHOWN_CCRS),
        "all",
        "large",
    ]
    obtained = [figures.groups[name].obtained for name in ("fig-11-mean", "fig-11-large")]
    published = ["\\> 0.77"] * 4 + ["", "\\> 1", "0.91", "1.10"]
    values = [*(means[ccr] for ccr in SHOWN_CCRS), *obtained]
    return text_table(head, [["published", *published], ["simulated", *(f"{value:.2f}" for value in values)]])


def steady(figures: Figures) -> str:
    """Tables 1 and 4, and the other way to count."""
    rows = []
    for quantity, name in (
        ("Table1 steady-state instances (all)", "all CCRs"),
        ("Table4 steady-state CCR 0.001", "CCR 0.001"),
        ("Table4 steady-state CCR 0.1", "CCR 0.1"),
    ):
        each = [figures.both(quantity, f"{method} avg", ",.0f") for method in ALL]
        whole = [figures.rows[quantity, f"{method} avg, of whole runs"].obtained for method in ALL]
        rows += [[f"{name}, published", *(one[0] for one in each)], [f"{name}, simulated", *(one[1] for one in each)]]
        rows.append([f"{name}, by whole runs", *(f"{value:,.0f}" for value in whole)])
    return text_table(["instances until steady, average", *ALL], rows)


def scaling(figures: Figures) -> str:
    """Figure 12."""
    rows, counts = [], []
    for ccr in (0.001, 0.02, 0.1):
        picture: Any = figures.pictures[f"fig-12-{ccr:g}"]
        counts = picture["x_names"]
        for method, name in NAMES.items():
            rows.append([f"CCR {ccr:g}, {name}", *(f"{value:.2f}" for value in picture["lines"][method])])
    return text_table(["speed-up by SPEs", *counts], rows)


def large_scaling(figures: Figures) -> str:
    """Speed-ups of the large graphs in `scaling-part.csv`, where the mappings of all methods fit."""
    cells = {
        (row["graph"], row["method"], row["elements"] - 1): row["highest_per_s"]
        for row in [*figures.alone, *figures.spread, *figures.sixteen]
        if not row["error"]
    }
    graphs = sorted({row["graph"] for row in figures.spread if row["size"] == "large"})
    rows = []
    for ccr, method in product((0.001, 0.02, 0.1), METHODS):
        chosen = [
            graph
            for graph in graphs
            if graph.endswith(f"-ccr{ccr:g}")
            and all((graph, of, spes) in cells for of in METHODS for spes in LARGE_COUNTS)
        ]
        ups = [mean(cells[g, method, spes] / cells[g, "greedy", 0] for g in chosen) for spes in LARGE_COUNTS]
        name = NAMES["mip" if method == "auto" else method]
        rows.append([f"CCR {ccr:g}, {name}", str(len(chosen)), *(f"{up:.2f}" for up in ups)])
    return text_table(["large graphs, speed-up by SPEs", "graphs", *map(str, LARGE_COUNTS)], rows)


def changed(figures: Figures) -> str:
    """What the same mappings reach when a cost is taken away."""
    whats = list(dict.fromkeys(row["without"] for row in figures.changed))
    ccrs = sorted({float(row["graph"].rpartition("-ccr")[2]) for row in figures.changed})
    rows = []
    for what in whats:
        own = [row for row in figures.changed if row["without"] == what]
        cells = []
        for ccr in ccrs:
            per_s = {(r["graph"], r["method"]): r for r in own if r["graph"].endswith(f"-ccr{ccr:g}")}
            mips = [row for (_, method), row in per_s.items() if method == "Auto"]
            cells.append(f"{mean(float(r['highest_per_s']) / float(r['predicted_per_s']) for r in mips):.2f}")
        for ccr in ccrs:
            per_s = {(r["graph"], r["method"]): r for r in own if r["graph"].endswith(f"-ccr{ccr:g}")}
            over = [
                float(row["highest_per_s"]) / float(per_s[graph, "Auto"]["highest_per_s"])
                for (graph, method), row in per_s.items()
                if method == "Delegate"
            ]
            cells.append(f"{mean(over):.2f}")
        cells.append(f"{mean(int(row['steady_after']) for row in own):.0f}")
        rows.append([what, *cells])
    head = ["without", *(f"MIP, {ccr:g}" for ccr in ccrs), *(f"DELEGATE, {ccr:g}" for ccr in ccrs), "steady after"]
    return text_table(head, rows)


def blocks(figures: Figures) -> dict[str, str]:
    """The page's tables by the names of their marks."""
    return {
        "table 2": over_mip_tables(figures, "Table2 predicted", "here"),
        "table 3": over_mip_tables(figures, "Table3 experimental", "simulated"),
        "figure 13(a)": accuracy(figures),
        "tables 1 and 4": steady(figures),
        "figure 12": scaling(figures),
        "figure 12, large graphs": large_scaling(figures),
        "what-ifs": changed(figures),
    }


def judged(rows: Sequence[Row]) -> dict[str, Any]:
    """How many averages and shares are how near, spreads aside; and which contradict."""
    numbers = [row for row in rows if row.role in ("scheduling", "fitted") and row.verdict not in ("yes", "no")]
    numbers = [row for row in numbers if not row.conditions.endswith((" std", " min", " max"))]
    count = Counter("within 25 %" if row.verdict.startswith("within") else row.verdict for row in numbers)
    claims = {row.group.partition("/")[2]: row.verdict for row in rows if row.verdict in ("yes", "no")}
    return {
        "numbers": len(numbers),
        **dict(sorted(count.items())),
        "contradicting": [
            f"{row.quantity}, {row.conditions}: {row.published}, here {row.obtained}"
            for row in numbers
            if row.verdict == "contradicts"
        ],
        "claims": claims,
    }


def marked(page: str, name: str) -> re.Match[str]:
    """The place of a table: its two marks, and what is between."""
    mark = re.escape(f"<!-- {name}: benches/scheduler-paper/page.py -->")
    found = re.search(rf"({mark}\n).*?(\n<!-- end -->)", page, re.DOTALL)
    assert found is not None, f"{PAGE}: no place for {name}"
    return found


def sentences(figures: Figures) -> list[str]:
    """What the page says in words."""
    one = figures.planned["period of one task"]
    (greedy, greedy_there), (cluster, cluster_there) = one["best"]["greedy"], one["best"]["cluster"]
    over = one["cluster_over_mip"]
    free, doubled = figures.planned["without (17) and (18)"], figures.planned["data twice as large"]
    whole = figures.whole()
    attempts = Counter(row["graph"] for row in figures.sixteen)
    tried = [graph for graph, methods in attempts.items() if methods == 4]
    unfit = sorted({int(graph.split("-")[1]) for graph in tried if graph not in whole})
    large = sum(each["auto"]["size"] == "large" for each in whole.values())
    fast, even = figures.best_of_large("delegate")
    unfit_spread = sum(bool(row["error"]) for row in figures.spread)
    means = figures.by_ccr()
    ran = [row["ran"] for row in figures.sixteen if not row["error"]]
    sped = figures.sped()
    count = figures.verdicts
    chain = {
        row["without"]: row["steady_after"]
        for row in figures.changed
        if row["graph"] == CHAIN
        if row["method"] == "Auto"
    }
    keeps = figures.groups["fig-13b-sensitivity"].detail
    kept = {method: re.search(rf"{method} keeps (\d+)%", keeps) for method in ("delegate", "mip")}
    most = {
        what: max(
            float(r["highest_per_s"]) / float(r["predicted_per_s"]) for r in figures.changed if r["without"] == what
        )
        for what in ("nothing", "all of these")
    }
    steady, ratio = (figures.verdicts["rows"][name][1] for name in FIGURE_10)
    return [
        f"In {one['scenarios']} of the 250 scenarios, all of small graphs, the period is what one task costs",
        f"GREEDY is the best in {greedy} scenarios (graphs: {one['graphs_of_best']['greedy']}), CLUSTER in {cluster} "
        f"(graphs: {one['graphs_of_best']['cluster']}): {greedy_there} and {cluster_there} of them are such",
        f"There CLUSTER averages {over['there']:.2f} of MIP, elsewhere {over['elsewhere']:.2f}",
        f"Without (17) and (18) MIP gains {100 * free['mip_gains_at_most']:.1f} % at most",
        f"With data twice as large CLUSTER averages {doubled['average']['cluster']:.2f}",
        f"{mean(ran):,.0f} instances on average, {max(ran):,} at most",
        f"All four methods were run in {'all ' * (len(tried) == 250)}{len(tried)} scenarios",
        f"In {len(tried) - len(whole)} of them, those of the graphs of {' and '.join(map(str, unfit))} tasks, "
        "CLUSTER's mapping does not fit",
        f"The tables are over the other {len(whole)}, {large} of them of large graphs",
        f"GREEDY goes from {figures.over_mip('greedy', 'predicted_per_s'):.2f} predicted to "
        f"{figures.over_mip('greedy', 'highest_per_s'):.2f}, DELEGATE from "
        f"{figures.over_mip('delegate', 'predicted_per_s'):.2f} to {figures.over_mip('delegate', 'highest_per_s'):.2f}",
        f"up to a CCR of 0.02 GREEDY gains at most {figures.gains('greedy', 0.02):.2f} and DELEGATE "
        f"{figures.gains('delegate', 0.02):.2f}",
        f"in {fast} of the {large} scenarios of large graphs DELEGATE is the best, but in {even} of these MIP is as "
        "fast",
        f"on average by {100 / means[0.01] - 100:.0f} % at a CCR of 0.01 (published: at most 30 %), by "
        f"{100 / means[0.02] - 100:.0f} % at 0.02",
        f"On 1 to 4 SPEs {unfit_spread} mappings of the larger ones",
        f"At a CCR of 0.1 GREEDY goes from {figures.over_mip('greedy', 'predicted_per_s', 0.1):.2f} of MIP to "
        f"{figures.over_mip('greedy', 'highest_per_s', 0.1):.2f}, DELEGATE from "
        f"{figures.over_mip('delegate', 'predicted_per_s', 0.1):.2f} to "
        f"{figures.over_mip('delegate', 'highest_per_s', 0.1):.2f}",
        f"a speed-up of {sped[0.001]:.1f} at 0.001, {sped[0.01]:.1f} at 0.01, {sped[0.02]:.1f} at 0.02 and "
        f"{sped[0.1]:.1f} at 0.1",
        f"It stays within 10 % up to {figures.groups['fig-13b-bend'].obtained:g}; published is 0.02",
        f"after {chain['nothing']} instances as it is, and after {chain['all of these']} without any of these costs",
        " and ".join(f"{NAMES[method]} {found[1]} %" for method, found in kept.items() if found is not None),
        f"{ratio:.0f} % of the prediction (published 95 %), after {steady:.0f} instances (about 1,000)",
        f"Of the {count['numbers']} averages and shares",
        f"{count['within 25 %']} are within 25 %, {count.get('same direction', 0)} have the same direction, and "
        f"{count.get('contradicts', 0)} contradict the paper",
        f"of {', '.join(map(str, figures.scaled()[0.001][:-1]))} and {figures.scaled()[0.001][-1]} tasks",
        f"With a link that is twice as fast GREEDY gains {100 * figures.gain('Greedy', 0.1, HALF_LINK) - 100:.0f} % "
        f"at a CCR of 0.1, MIP {abs(100 * figures.gain('Auto', 0.1, HALF_LINK) - 100):.0f} %",
        f"the largest ratio of achieved to predicted, of any method, is {most['all of these']:.2f} then, and "
        f"{most['nothing']:.2f} as it is",
    ]


def lacking(page: str, figures: Figures) -> list[str]:
    """The sentences that the page does not have."""
    words = " ".join(page.split())
    return [one for one in sentences(figures) if " ".join(one.split()) not in words]


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", action="store_true", help="repeat the rest too, and count the verdicts")
    given = parser.parse_args()
    if given.count:
        done = cw.reproduce([*RUN, *MORE], campaigns=CAMPAIGNS)
        found = judged(done.rows())
        more = [row for result in done.results if result.experiment.id in MORE for row in result.rows]
        found["rows"] = {f"{row.quantity}, {row.conditions}": [row.published, row.obtained] for row in more}
        (HERE / "verdicts.json").write_text(json.dumps(found, indent=1) + "\n")
    figures = Figures()
    page = PAGE.read_text()
    for name, table in blocks(figures).items():
        place = marked(page, name)
        page = page[: place.start()] + place[1] + table + place[2] + page[place.end() :]
    PAGE.write_text(page)
    for one in lacking(page, figures):
        print(f"the page lacks: {one}")


if __name__ == "__main__":
    main()
