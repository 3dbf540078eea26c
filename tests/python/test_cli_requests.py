"""A wrong flag, file, name or number: the message says what, where and what is allowed; exit code 2; no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Command

# Command line -> what the message must contain. {files} are written into the folder first.
FILES = {
    "broken.toml": 'name = "x"\n[[task]]\nname = \n',
    "empty.toml": "",
    "unknown_task.toml": '[[task]]\nname = "band1"\n[[edge]]\nfrom = "band1"\nto = "bnad1"\nbytes = 4\n',
    "unknown_key.toml": '[[task]]\nname = "a"\nkernle = "cellweave:copy"\n',
    "cycle.toml": '[[task]]\nname = "a"\n[[task]]\nname = "b"\n[[edge]]\nfrom = "a"\nto = "b"\nbytes = 4\n'
    '[[edge]]\nfrom = "b"\nto = "a"\nbytes = 4\n',
    "twice.toml": '[[task]]\nname = "a"\n[[task]]\nname = "a"\n',
    "negative.toml": '[[task]]\nname = "a"\ncost_ns = { spe = -5.0 }\n',
    "zero_bytes.toml": '[[task]]\nname = "a"\n[[task]]\nname = "b"\n[[edge]]\nfrom = "a"\nto = "b"\nbytes = 0\n',
    "no_cost.toml": '[[task]]\nname = "a"\n',
    "no_kernel.toml": '[[task]]\nname = "a"\ncost_ns = { "*" = 5.0 }\n',
    "bad_kernel.toml": '[[task]]\nname = "a"\nkernel = "cellweave:cuont"\n',
    "no_library.toml": '[[task]]\nname = "a"\nkernel = "libnone.so:none"\n',
    "no_module.toml": '[[task]]\nname = "a"\nkernel = "python:nowhere_at_all:f"\n',
    "no_function.toml": '[[task]]\nname = "a"\nkernel = "python:kernels_here:f"\n',
    "not_marked.toml": '[[task]]\nname = "a"\nkernel = "python:kernels_here:plain"\n',
    "kernels_here.py": "def plain(x): pass\n",
    "app.xyz": "",
    "broken.json": '{"task": [',
    "binary.toml": "\0\1\2",
    "plan.json": '{"format": 2}',
    "not_a_plan.json": "[]",
    "machine.toml": 'name = "m"\n[[element]]\nnmae = "a"\n',
    "exists.json": "{}",
    "half_result.json": '{"instances": 1, "elapsed_s": 1, "elements": []}',
    "half_trace.json": '{"traceEvents": [{"ph": "X"}]}',
    "no_wav.toml": '[[task]]\nname = "in"\nkernel = "cellweave:read-wav"\nparams = { path = "nowhere.wav" }\n'
    '[[task]]\nname = "out"\nkernel = "cellweave:discard"\n[[edge]]\nfrom = "in"\nto = "out"\nbytes = 64\n',
}

REQUESTS: list[tuple[str, list[str]]] = [
    # words and flags
    ("plann costed.toml", ["plann", "plan"]),
    ("plan", ["APP"]),
    ("plan costed.toml --methd greedy", ["--methd", "--method"]),
    ("plan costed.toml --method", ["--method"]),
    ("plan costed.toml extra", ["extra"]),
    ("machine shwo qs22", ["shwo", "show"]),
    ("generate dagen", ["dagen", "daggen"]),
    # machines
    ("machine show qs23", ["qs23", "qs22"]),
    ("machine show nowhere.toml", ["nowhere.toml"]),
    ("machine show machine.toml", ["machine.toml", "nmae", "name"]),
    ("machine show qs22:spe=17", ["17", "16"]),
    ("machine show qs22:ppe=0", ["ppe", "0"]),
    ("machine show qs22:spx=1", ["spx", "spe"]),
    ("machine show qs22:spe=many", ["many"]),
    ("machine show qs22:spe=-1", ["-1"]),
    ("machine show qs22 --picture chip.bmp", ["bmp", "png"]),
    ("machine show qs22 --picture exists.json", ["exists.json", "--force"]),
    ("machine show qs22 -o nowhere/m.toml", ["nowhere"]),
    ("machine show qs22 -o .", ["folder"]),
    ("plan costed.toml --on qs2", ["qs2"]),
    # applications
    ("plan nowhere.toml --on qs22", ["nowhere.toml"]),
    ("plan . --on qs22", ["."]),
    ("plan app.xyz --on qs22", ["app.xyz", "toml"]),
    ("plan broken.toml --on qs22", ["broken.toml:3"]),
    ("plan broken.json --on qs22", ["broken.json"]),
    ("plan binary.toml --on qs22", ["binary.toml"]),
    ("plan empty.toml --on qs22", ["empty.toml", "task"]),
    ("plan unknown_task.toml --on qs22", ["unknown_task.toml:5", "bnad1", "band1"]),
    ("plan unknown_key.toml --on qs22", ["unknown_key.toml", "kernle", "kernel"]),
    ("plan cycle.toml --on qs22", ["cycle.toml", "a", "b", "delay"]),
    ("plan twice.toml --on qs22", ["twice.toml", "a"]),
    ("plan negative.toml --on qs22", ["negative.toml", "cost_ns", "-5"]),
    ("plan zero_bytes.toml --on qs22", ["zero_bytes.toml", "bytes", "0"]),
    ("plan no_cost.toml --on qs22", ["a", "cost"]),
    # planning
    ("plan costed.toml --on qs22 --method anneel", ["--method", "anneel", "anneal", "greedy"]),
    ("plan costed.toml --on qs22 --buffering sharde", ["--buffering", "sharde", "shared", "duplicated"]),
    ("plan costed.toml --on qs22 --time -1", ["--time", "-1"]),
    ("plan costed.toml --on qs22 --time soon", ["--time", "soon"]),
    ("plan costed.toml --on qs22 --time nan", ["--time", "nan"]),
    ("plan costed.toml --on qs22 --moves -5", ["--moves", "-5"]),
    ("plan costed.toml --on qs22 --moves 1.5", ["--moves", "1.5"]),
    ("plan costed.toml --on qs22 --gap 2", ["--gap", "2"]),
    ("plan costed.toml --on qs22 --batch 0", ["--batch", "0"]),
    ("plan costed.toml --on qs22 --seed -1", ["--seed", "-1"]),
    ("plan costed.toml --on qs22 --seed 18446744073709551616", ["--seed"]),
    ("plan costed.toml --on qs22 --map a", ["--map", "TASK=ELEMENT"]),
    ("plan costed.toml --on qs22 --map c=SPE0", ["`c`"]),
    ("plan costed.toml --on qs22 --map a=SPE0 --map b=SPX0", ["SPX0", "SPE0"]),
    ("plan costed.toml --on qs22 --map a=SPE0 --map a=SPE1", ["a", "SPE0", "SPE1"]),
    ("plan costed.toml --on qs22 -o exists.json", ["exists.json", "--force"]),
    ("plan costed.toml --on qs22 --picture exists.json", ["exists.json", "--force"]),
    ("plan costed.toml --on qs22 --max-batch 0", ["--max-batch", "0"]),
    ("plan costed.toml --on qs22 --dmax 65", ["--dmax", "65", "64"]),
    ("plan costed.toml --on qs22 --read-back 0", ["--read-back", "0"]),
    ("plan costed.toml --on qs22 --method exact --formulation papre", ["--formulation", "papre", "paper"]),
    # running
    ("run nowhere.toml", ["nowhere.toml"]),
    ("run chain.toml --instances 0", ["--instances", "0"]),
    ("run chain.toml --instances many", ["--instances", "many"]),
    ("run chain.toml --batch 0", ["--batch", "0"]),
    ("run chain.toml --plan nowhere.json", ["nowhere.json"]),
    ("run chain.toml --plan plan.json", ["plan.json", "application"]),
    ("run chain.toml --plan not_a_plan.json", ["not_a_plan.json"]),
    ("run chain.toml --trace exists.json", ["exists.json", "--force"]),
    ("run chain.toml -o exists.json", ["exists.json", "--force"]),
    ("run no_kernel.toml --instances 10", ["a", "kernel"]),
    ("run bad_kernel.toml --instances 10", ["cuont", "count"]),
    ("run no_library.toml --instances 10", ["libnone.so"]),
    ("run no_module.toml --instances 10", ["nowhere_at_all"]),
    ("run no_function.toml --instances 10", ["kernels_here", "f"]),
    ("run not_marked.toml --instances 10", ["plain", "@cellweave.kernel"]),
    ("run no_wav.toml", ["in", "nowhere.wav"]),
    # profiling
    ("profile chain.toml --on qs22", ["qs22", "host"]),
    ("profile nowhere.toml", ["nowhere.toml"]),
    ("profile no_kernel.toml --again", ["a", "kernel"]),
    ("profile chain.toml --instances 0", ["--instances", "0"]),
    ("profile chain.toml -o exists.json", ["exists.json", "--force"]),
    # generating
    ("generate daggen --tasks 0", ["--tasks", "0", "1"]),
    ("generate daggen --tasks 100001", ["--tasks", "100001"]),
    ("generate daggen --fat 2", ["--fat", "2", "1"]),
    ("generate daggen --regular -1", ["--regular", "-1"]),
    ("generate daggen --density nan", ["--density", "nan"]),
    ("generate daggen --jump 0", ["--jump", "0"]),
    ("generate daggen --ccr 0", ["--ccr", "0"]),
    ("generate daggen --peek 65", ["--peek", "65", "64"]),
    ("generate daggen --seed -1", ["--seed", "-1"]),
    ("generate daggen -o exists.json", ["exists.json", "--force"]),
    # reporting
    ("report", ["RESULT"]),
    ("report nowhere.json", ["nowhere.json"]),
    ("report exists.json", ["exists.json"]),
    ("report half_result.json", ["half_result.json", "application"]),
    ("report half_trace.json", ["half_trace.json"]),
    ("report broken.json", ["broken.json"]),
    ("report broken.toml", ["broken.toml:3"]),
    ("report costed.toml -o exists.json", ["exists.json", "--force"]),
]


@pytest.mark.parametrize(("line", "fragments"), REQUESTS, ids=[line for line, _ in REQUESTS])
def test_a_wrong_request_is_named_and_exits_with_2(
    command: Command, tmp_path: Path, line: str, fragments: list[str]
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    before = sorted(tmp_path.iterdir())
    done = command(*line.split())
    assert done.returncode == 2, done.stderr or done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("cellweave")
    for fragment in fragments:
        assert fragment in done.stderr, done.stderr
    assert [p for p in sorted(tmp_path.iterdir()) if p.name != "__pycache__"] == before, "something was written"
