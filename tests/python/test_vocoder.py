"""The vocoder's audio is that of its equations at every setting, however firings are split and mapped."""

import ctypes as c
import importlib.util
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import cellweave as cw
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "vocoder"
SETTINGS = [
    (1.0, 1.0),
    (0.5, 1.0),
    (2.0, 1.0),
    (1.0, 0.5),
    (1.0, 2.0),
    (1.25, 0.8),
    (0.75, 1.5),
    (2.0, 2.0),
    (0.5, 0.5),
]


def load(name):
    spec = importlib.util.spec_from_file_location(f"vocoder_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_app = load("make_app")
reference = load("reference")
spectrogram = load("spectrogram")


def structure(name, fields):
    """A struct of cellweave.h, from `field:type` words: s text, p pointer, I uint32, Q uint64."""
    types = {"s": c.c_char_p, "p": c.c_void_p, "I": c.c_uint32, "Q": c.c_uint64}
    pairs = [field.split(":") for field in fields.split()]
    return type(name, (c.Structure,), {"_fields_": [(n, types[t]) for n, t in pairs]})


Port = structure("Port", "name:s dtype:s shape:p dimensions:I items:I bytes:Q flags:I reserved:I")
In = structure("In", "base:p stride:Q bytes:Q peek:Q real:Q")
Out = structure("Out", "base:p stride:Q bytes:Q")
Batch = structure("Batch", "firings:Q first:Q inputs:I outputs:I in_:p out:p error:s error_bytes:Q")
Result = structure("Result", "fired:Q status:I reserved:I")
Param = structure("Param", "name:s text:s numbers:p count:Q")
Connection = structure("Connection", "name:s bytes:Q peek:Q")
Task = structure(
    "Task",
    "name:s params:p params_count:Q inputs:p outputs:p inputs_count:I outputs_count:I error:p error_bytes:Q",
)
KernelHead = structure(
    "KernelHead",
    "abi_version:I struct_bytes:I name:s flags:I inputs:I outputs:I reserved:I input_ports:p output_ports:p",
)


class Kernel(c.Structure):
    _fields_ = (
        ("head", KernelHead),
        ("init", c.CFUNCTYPE(c.c_uint32, c.POINTER(Task), c.POINTER(c.c_void_p))),
        ("fire", c.CFUNCTYPE(Result, c.c_void_p, c.POINTER(Batch))),
        ("finish", c.CFUNCTYPE(c.c_uint32, c.c_void_p, c.c_char_p, c.c_uint64)),
    )


def array(kind, rows):
    """A C array of structs; its address is valid as long as the array is."""
    return (kind * max(1, len(rows)))(*(kind(*row) for row in rows))


class Refused(Exception):
    """`init` refused."""


def init(kernel, name, params, inputs, outputs):
    """Calls a kernel's `init`; connections as (name, bytes, peek)."""
    numbers = [c.c_double(v) for v in params.values()]
    named = zip(params, numbers, strict=True)
    told = array(Param, [(k.encode(), None, c.addressof(v), 1) for k, v in named])
    ends = [array(Connection, [(n.encode(), *rest) for n, *rest in side]) for side in (inputs, outputs)]
    error = c.create_string_buffer(256)
    task = Task(name.encode(), c.addressof(told), len(params), *map(c.addressof, ends), len(inputs),
                len(outputs), c.addressof(error), len(error))  # fmt: skip
    state = c.c_void_p()
    if kernel.init(c.byref(task), c.byref(state)) != 0:
        raise Refused(error.value.decode())
    return state


class Sequential:
    """Fires the graph's tasks one after the other, each over all instances in calls of the given sizes."""

    def __init__(self, library, setting):
        self.setting = setting
        self.library = c.CDLL(str(library))
        self.tasks, self.edges = make_app.graph(setting, {}, {})

    def ports(self, name, kernel):
        """A task's edges in its kernel's order of ports: inputs, outputs, each (port, bytes, peek, edge)."""
        head = kernel.head
        return (
            self.side(name, [end for _, end, *_ in self.edges], head.input_ports, head.inputs),
            self.side(name, [start for start, *_ in self.edges], head.output_ports, head.outputs),
        )

    def side(self, name, ends, ports, count):
        mine = {}
        for edge, (end, (_, _, size, peek)) in enumerate(zip(ends, self.edges, strict=True)):
            task, port = end.split(".")
            if task == name:
                mine.setdefault(port, (port, size, peek, edge))
        described = (Port * count).from_address(ports)
        order = [port.name.decode() for port in described]
        if described[-1].flags & 8:  # CW_REPEATED
            last = order.pop()
            order += [f"{last}{i}" for i in range(len(mine) - len(order))]
        assert set(order) == set(mine), f"{name}: {order} != {set(mine)}"
        return [mine[port] for port in order]

    def run(self, audio, calls):
        """audio: f32 [samples, channels] -> f32 [instances * synthesis_hop, channels]."""
        s = self.setting
        count = -(-len(audio) // s.analysis_hop)
        source = np.zeros((count + s.peek, s.analysis_hop * s.channels), np.float32)
        source.reshape(-1)[: audio.size] = audio.reshape(-1)
        buffers = {"read.out": source}
        for name, symbol, params in self.tasks[1:-1]:
            kernel = Kernel.in_dll(self.library, symbol.split(":")[1])
            assert (kernel.head.abi_version, kernel.head.struct_bytes) == (1, c.sizeof(Kernel))
            ins, outs = self.ports(name, kernel)
            state = init(kernel, name, params, [p[:3] for p in ins], [p[:3] for p in outs])
            for (
                port,
                size,
                _,
                _,
            ) in outs:  # one further instance of zeros: what a peek of 1 sees after the end
                buffers[f"{name}.{port}"] = np.zeros((count + 1, size), np.uint8)
            at = {end: buffer.ctypes.data for end, buffer in buffers.items()}
            first = 0
            for firings in calls(count):
                seen = [
                    (
                        at[self.edges[edge][0]] + first * size,
                        size,
                        size,
                        peek,
                        min(firings + peek, count - first),
                    )
                    for _, size, peek, edge in ins
                ]
                made = [(at[f"{name}.{port}"] + first * size, size, size) for port, size, *_ in outs]
                views_in, views_out = array(In, seen), array(Out, made)
                batch = Batch(firings, first, len(ins), len(outs), c.addressof(views_in), c.addressof(views_out))
                result = kernel.fire(state, c.byref(batch))
                assert (result.fired, result.status) == (firings, 0)
                first += firings
            assert first == count
            assert kernel.finish(state, None, 0) == 0
        return buffers["overlap.out"][:count].view(np.float32).reshape(-1, s.channels).copy()


def at_once(count):
    yield count


def one_by_one(count):
    yield from (1 for _ in range(count))


def uneven(count):
    sizes = np.random.default_rng(5)
    while count:
        firings = min(count, int(sizes.integers(1, 20)))
        yield firings
        count -= firings


def snr_db(wanted, got):
    return 10 * np.log10(np.sum(wanted**2) / max(np.sum((wanted - got) ** 2), 1e-300))


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocoder")
    shutil.copytree(FOLDER / "kernels", folder / "kernels")
    shutil.copy(FOLDER / "Makefile", folder)
    include = ROOT / "python" / "cellweave" / "include"
    subprocess.run(["make", "-s", "-C", folder, f"CELLWEAVE_INCLUDE={include}"], check=True)
    return folder / "libvocoder.so"


@pytest.fixture(scope="session")
def speech():
    return spectrogram.read_wav(FOLDER / "speech.wav")[0].astype(np.float32)


@pytest.mark.parametrize(("pitch", "tempo"), SETTINGS)
def test_the_audio_is_that_of_the_equations(library, speech, pitch, tempo):
    s = make_app.setting(pitch, tempo)
    got = Sequential(library, s).run(speech, at_once)[:, 0]
    wanted = reference.vocode(speech[:, 0].astype(float), pitch, s.analysis_hop, s.synthesis_hop)
    assert len(got) == len(wanted)
    assert snr_db(wanted, got) >= 80


def test_unchanged_pitch_and_tempo_give_the_input_back(library, speech):
    s = make_app.setting(1, 1)
    got = Sequential(library, s).run(speech, at_once)[: len(speech), 0]
    after = s.frame  # the first frame fades in
    assert snr_db(speech[after:, 0].astype(float), got[after:]) >= 100


@pytest.mark.parametrize("groups", [4, 8, 32])
def test_any_number_of_groups_gives_the_same_audio(library, speech, groups):
    short = speech[:20000]
    wanted = Sequential(library, make_app.setting(1.25, 0.8)).run(short, at_once)
    got = Sequential(library, make_app.setting(1.25, 0.8, groups=groups)).run(short, at_once)
    assert snr_db(wanted.astype(float), got) >= 80


@pytest.mark.parametrize("calls", [one_by_one, uneven])
def test_batches_do_not_change_a_bit_of_the_audio(library, speech, calls):
    graph = Sequential(library, make_app.setting(1.25, 0.8))
    short = speech[:20000]
    assert np.array_equal(graph.run(short, at_once), graph.run(short, calls))


def test_channels_are_processed_each_on_its_own(library, speech):
    left, right = speech[:20000], speech[30000:50000]
    one = Sequential(library, make_app.setting(0.75, 1.25))
    two = Sequential(library, make_app.setting(0.75, 1.25, channels=2))
    both = two.run(np.hstack([left, right]), at_once)
    assert np.array_equal(both[:, :1], one.run(left, at_once))
    assert np.array_equal(both[:, 1:], one.run(right, at_once))


@pytest.mark.parametrize(("pitch", "tempo"), [(2.0, 1.0), (0.5, 1.0), (1.25, 0.8), (1.0, 0.5), (1.0, 2.0)])
def test_the_pitch_moves_and_the_duration_changes(library, speech, pitch, tempo):
    got = Sequential(library, make_app.setting(pitch, tempo)).run(speech, at_once)[:, 0]
    assert len(got) == pytest.approx(len(speech) / tempo, rel=0.005)
    moved = spectrogram.fundamental_hz(got, 22050) / spectrogram.fundamental_hz(speech[:, 0], 22050)
    assert moved == pytest.approx(pitch, rel=0.04)


@pytest.mark.parametrize("tempo", [0.25, 0.3, 0.5, 0.777, 0.8, 1, 1.1, 1.5, 3.14159, 4])
def test_the_hops_meet_the_tempo_within_half_a_percent(tempo):
    s = make_app.setting(tempo=tempo)
    assert s.tempo == pytest.approx(tempo, rel=0.005)
    assert max(s.analysis_hop, s.synthesis_hop) <= make_app.LONGEST_HOP


@pytest.mark.parametrize(
    ("symbol", "change", "connection", "message"),
    [
        ("polar", {"frame": 1000}, {}, "frame = 1000: a power of two from 256 to 4096 is needed"),
        ("polar", {"groups": 3}, {}, "groups = 3: a power of two"),
        ("polar", {"channels": 0}, {}, "channels = 0: 1 to 8"),
        ("polar", {"pitch": float("nan")}, {}, "pitch = nan: 0.25 to 4"),
        ("dft", {"group": 16}, {}, "group = 16: 0 to groups - 1 = 15"),
        ("dft", {}, {"peek": 3}, "peeks at 3 further instances, a frame of 1024 samples needs 7"),
        ("unwrap", {"group": 0}, {"peek": 0}, "needs peek = 1"),
        ("polar", {}, {"bytes": 8}, "carries 8 bytes per instance, this setting needs 512"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_is_allowed(library, symbol, change, connection, message):
    graph = Sequential(library, make_app.setting())
    name, _, params = next(t for t in graph.tasks if t[1].endswith(":" + symbol))
    kernel = Kernel.in_dll(graph.library, symbol)
    ins, outs = graph.ports(name, kernel)
    ins = [(p, connection.get("bytes", b), connection.get("peek", k)) for p, b, k, _ in ins]
    with pytest.raises(Refused, match=message.replace("(", r"\(")):
        init(kernel, name, params | change, ins, [p[:3] for p in outs])


def write_float_wav(path, audio, rate):
    """audio: f32 [samples, channels]."""
    channels, data = audio.shape[1], audio.astype("<f4").tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 3, channels, rate,
                       rate * channels * 4, channels * 4, 32, b"data", len(data))  # fmt: skip
    path.write_bytes(head + data)


def write_app(library, path, setting, source, sink):
    """The application beside its kernels, all tasks at one cost: mappings are given, not searched."""
    text = make_app.application(setting, source, sink)
    path.write_text(text.replace("{ name =", '{ cost_ns = { "*" = 400.0 }, name ='))
    shutil.copy(library, path.parent)
    return path


def mappings(tasks, elements):
    """Name -> (task -> element)."""
    random = np.random.default_rng(11)
    return {
        "one element": {t: elements[0] for t in tasks},
        "first half, second half": {t: elements[i * len(elements) // len(tasks)] for i, t in enumerate(tasks)},
        "in turn": {t: elements[i % len(elements)] for i, t in enumerate(tasks)},
        "by chance": {t: elements[random.integers(len(elements))] for t in tasks},
        "source and sink apart": {t: elements[-1 if t in ("read", "write") else 0] for t in tasks},
    }


def test_any_mapping_and_batch_gives_bit_identical_audio(library, speech, tmp_path):
    s = make_app.setting(1.25, 0.8)
    short = speech[:30000]
    wanted = Sequential(library, s).run(short, at_once)
    app = write_app(library, tmp_path / "app.toml", s, {"path": "-"}, {"path": "-"})
    rows = np.zeros((-(-len(short) // s.analysis_hop), s.analysis_hop), np.float32)
    rows.reshape(-1)[: len(short)] = short[:, 0]
    graph, machine = cw.Graph.load(app), cw.Machine.load("host")
    tasks = [name for name, *_ in make_app.graph(s, {}, {})[0]]
    for name, mapping in mappings(tasks, machine.element_names()).items():
        for batch in (1, 3, 16):
            plan = cw.plan(graph, machine, mapping=mapping, batch=batch)
            result = cw.run(graph, machine, plan, inputs={"read": rows}, outputs={"write": "float32"})
            assert result.instances == len(rows)
            same = np.array_equal(result.outputs["write"].reshape(-1, 1), wanted)
            assert same, f"mapping: {name}, batch: {batch}"


@pytest.mark.parametrize("channels", [1, 2])
def test_a_wav_file_goes_in_and_another_comes_out(library, speech, tmp_path, channels):
    audio = np.hstack([speech[:30000], speech[30000:60000]])[:, :channels]
    write_float_wav(tmp_path / "in.wav", audio, 44100)
    made = [sys.executable, FOLDER / "make_app.py", "--pitch", "0.8", "--tempo", "1.5", "--format", "f32"]
    files = ["--input", "in.wav", "--output", "out.wav", "-o", "app.toml"]
    subprocess.run([*made, *files], cwd=tmp_path, check=True)
    shutil.copy(library, tmp_path)
    ran = [sys.executable, "-m", "cellweave", "run", "app.toml", "--quiet"]
    subprocess.run(ran, cwd=tmp_path, check=True, timeout=300)
    got, rate = spectrogram.read_wav(tmp_path / "out.wav")
    wanted = Sequential(library, make_app.setting(0.8, 1.5, channels)).run(audio, at_once)
    assert rate == 44100
    assert np.array_equal(got, wanted.astype(float))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pitch", "5"], "--pitch 5.0: 0.25 to 4 is allowed"),
        (["--tempo", "nan"], "--tempo nan: 0.25 to 4 is allowed"),
        (["--groups", "7"], "--groups 7: 4, 8, 16 or 32 are allowed"),
        (["--input", "none.wav"], "No such file"),
        (["--input", "make_app.py"], "make_app.py: not a WAV file"),
    ],
)
def test_a_wrong_request_for_an_application_says_what_is_allowed(arguments, message):
    line = [sys.executable, "make_app.py", *arguments]
    done = subprocess.run(line, cwd=FOLDER, capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_application_that_ships_is_the_generators(speech):
    line = [sys.executable, "make_app.py"]
    made = subprocess.run(line, cwd=FOLDER, capture_output=True, text=True, check=True).stdout
    assert (FOLDER / "app.toml").read_text() == made


def test_the_graph_has_the_shape_that_its_page_says():
    tasks, edges = make_app.graph(make_app.setting(1.25, 0.8), {}, {})
    peeking = [edge for edge in edges if edge[3]]
    assert (len(tasks), len(edges), len(peeking)) == (105, 165, 32)
    page = " ".join((FOLDER / "README.md").read_text().split())
    assert "105 tasks and 165 edges, of which 32 peek" in page
