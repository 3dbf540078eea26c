#!/usr/bin/env python3
"""Measures the vocoder's throughput on one core and on all of them, in turn.

    make && python speedup.py

Both run the same kernels on the same speech; only the mapping differs. Other programs disturb two cores more than one,
so that the best of many runs is shown beside the median.
"""

import argparse
from pathlib import Path

import cellweave as cw
import numpy as np
from spectrogram import read_wav

FOLDER = Path(__file__).parent
REPEATED = 4  # times the speech, so that the start does not matter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=20, help="of each mapping (default 20)")
    runs = parser.parse_args().runs
    machine = cw.Machine.load("host")
    graph = cw.profile(FOLDER / "app.toml", machine).graph
    hop_bytes = next(e["bytes"] for e in graph.to_dict()["edge"] if e["from"] == "read.out")
    speech = np.tile(read_wav(FOLDER / "speech.wav")[0].astype(np.float32).reshape(-1), REPEATED)
    rows = speech[: len(speech) // (hop_bytes // 4) * (hop_bytes // 4)].reshape(-1, hop_bytes // 4)

    first = machine.element_names()[0]
    tasks = [task["name"] for task in graph.to_dict()["task"]]
    plans = {
        "one core": cw.plan(graph, machine, mapping=dict.fromkeys(tasks, first)),
        "all cores": cw.plan(graph, machine),
    }
    achieved = {name: [] for name in plans}
    for _ in range(runs):
        for name, plan in plans.items():
            result = cw.run(graph, machine, plan, inputs={"read": rows}, outputs=["write"])
            achieved[name].append(result.instances / result.elapsed_s)
    print(f"instances/s, start and end included; {runs} runs of {len(rows)} instances each")
    for name, plan in plans.items():
        rates = achieved[name]
        print(
            f"{name:10} predicted {plan.throughput_per_s:6.0f}  best {max(rates):6.0f}  median {np.median(rates):6.0f}"
        )
    print(f"ratio of the best: {max(achieved['all cores']) / max(achieved['one core']):.2f}")


if __name__ == "__main__":
    main()
