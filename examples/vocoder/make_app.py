#!/usr/bin/env python3
"""Writes the vocoder's application file for a pitch, a tempo, and a WAV file.

    python make_app.py --pitch 1.5 --tempo 0.75 --input speech.wav --output higher.wav -o higher.toml

The graph is single rate: every task fires once per instance. An instance is one hop of input and one hop of
output; the tempo is the ratio of their lengths, so a setting is a graph of its own.
"""

import argparse
import struct
import sys
from dataclasses import dataclass

F32, F64 = 4, 8
LONGEST_HOP = 128  # samples; the other hop is shorter or equal: an eighth of the frame or less
FRAME = 1024


@dataclass(frozen=True)
class Setting:
    """What the kernels are told. Hops and frame in samples per channel."""

    pitch: float
    analysis_hop: int
    synthesis_hop: int
    channels: int
    groups: int
    frame: int = FRAME

    @property
    def tempo(self) -> float:
        """The tempo that the hops give: input samples per output sample."""
        return self.analysis_hop / self.synthesis_hop

    @property
    def points(self) -> int:
        """Bins of one group."""
        return self.frame // (2 * self.groups)

    @property
    def peek(self) -> int:
        """Further hops that a frame covers."""
        return -(-self.frame // self.analysis_hop) - 1


def hops(tempo: float) -> tuple[int, int]:
    """The (analysis, synthesis) hops whose ratio comes next to `tempo`; of equally good ones the longest."""
    best = None
    for longer in range(LONGEST_HOP, LONGEST_HOP * 3 // 4, -1):
        shorter = max(1, round(longer / tempo if tempo >= 1 else longer * tempo))
        pair = (longer, shorter) if tempo >= 1 else (shorter, longer)
        error = abs(pair[0] / pair[1] - tempo)
        if best is None or error < best[0] - 1e-12:
            best = (error, pair)
    return best[1]


def setting(pitch=1.0, tempo=1.0, channels=1, groups=16) -> Setting:
    analysis, synthesis = hops(tempo)
    return Setting(float(pitch), analysis, synthesis, channels, groups)


def graph(s: Setting, source: dict, sink: dict):
    """Tasks as (name, kernel, params) and edges as (from, to, bytes, peek)."""
    tasks, edges = [], []
    own = {"frame": s.frame, "groups": s.groups, "channels": s.channels}
    own |= {"analysis_hop": s.analysis_hop, "synthesis_hop": s.synthesis_hop, "pitch": s.pitch}
    spectrum = s.channels * s.frame // 2 * F64
    part = spectrum // s.groups
    time = s.channels * s.frame * F32
    groups = range(s.groups)

    def task(name, kernel, **params):
        tasks.append((name, f"libvocoder.so:{kernel}", own | params))

    def edge(start, end, size, peek=0):
        edges.append((start, end, size, peek))

    tasks.append(("read", "cellweave:read-wav", source))
    for g in groups:
        task(f"dft{g}", "dft", group=g)
        edge("read.out", f"dft{g}.in", s.channels * s.analysis_hop * F32, s.peek)
    for g in groups:
        task(f"polar{g}", "polar")
        edge(f"dft{g}.out", f"polar{g}.in", 2 * part)
    for g in groups:
        task(f"unwrap{g}", "unwrap", group=g)
        edge(f"polar{g}.phase", f"unwrap{g}.in", part, 1)
    task("magnitudes", "join")
    for g in groups:
        edge(f"polar{g}.magnitude", f"magnitudes.in{g}", part)
    task("advances", "join")
    for g in groups:
        edge(f"unwrap{g}.out", f"advances.in{g}", 2 * part)
    for g in groups:
        task(f"phase{g}", "phase", group=g)
        edge("advances.out", f"phase{g}.in", 2 * spectrum)
    for g in groups:
        task(f"rect{g}", "rect", group=g)
        edge("magnitudes.out", f"rect{g}.magnitude", spectrum)
        edge(f"phase{g}.out", f"rect{g}.phase", part)
    for g in groups:
        task(f"idft{g}", "idft", group=g)
        edge(f"rect{g}.out", f"idft{g}.in", 2 * part)
    sums = max(1, s.groups // 4)
    for i in range(sums):
        task(f"sum{i}", "sum")
        for k, g in enumerate(groups[i::sums]):
            edge(f"idft{g}.out", f"sum{i}.in{k}", time)
    task("overlap", "overlap_add")
    for i in range(sums):
        edge(f"sum{i}.out", f"overlap.in{i}", time)
    tasks.append(("write", "cellweave:write-wav", sink))
    edge("overlap.out", "write.in", s.channels * s.synthesis_hop * F32)
    return tasks, edges


def toml(value) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def application(s: Setting, source: dict, sink: dict) -> str:
    """The application file's text."""
    tasks, edges = graph(s, source, sink)
    peeking = sum(1 for e in edges if e[3])
    lines = [
        "# A phase vocoder on speech, written by make_app.py.",
        f"# pitch x {s.pitch:g}, tempo x {s.tempo:g}",
        f"# {len(tasks)} tasks, {len(edges)} edges, {peeking} of them peek.",
        'name = "vocoder"',
        "task = [",
    ]
    for name, kernel, params in tasks:
        lines.append(f"  {{ name = {toml(name)}, kernel = {toml(kernel)}, params = {toml(params)} }},")
    lines += ["]", "edge = ["]
    for start, end, size, peek in edges:
        more = f", peek = {peek}" if peek else ""
        lines.append(f"  {{ from = {toml(start)}, to = {toml(end)}, bytes = {size}{more} }},")
    return "\n".join([*lines, "]", ""])


def wav_format(path: str) -> tuple[int, int]:
    """(channels, samples per second) from a WAV file's header."""
    with open(path, "rb") as file:
        head = file.read(12)
        if len(head) < 12 or head[:4] != b"RIFF" or head[8:] != b"WAVE":
            raise ValueError(f"{path}: not a WAV file")
        while len(chunk := file.read(8)) == 8:
            name, size = struct.unpack("<4sI", chunk)
            if name == b"fmt ":
                fields = file.read(size)
                if len(fields) < 16:
                    break
                return struct.unpack_from("<HI", fields, 2)
            file.seek(size + size % 2, 1)
    raise ValueError(f"{path}: a WAV file without a format")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pitch", type=float, default=1.25, help="factor on every frequency, 0.25 to 4 (default 1.25)")
    parser.add_argument("--tempo", type=float, default=0.8, help="2 = twice as fast, 0.25 to 4 (default 0.8)")
    parser.add_argument("--groups", type=int, default=16, help="tasks per stage: 4, 8, 16 or 32 (default 16)")
    parser.add_argument("--input", default="speech.wav", help="WAV file, 1 to 8 channels (default speech.wav)")
    parser.add_argument("--output", default="out.wav", help="WAV file to write (default out.wav)")
    parser.add_argument("--format", default="i16", choices=["i16", "f32"], help="of the output's samples (default i16)")
    parser.add_argument("-o", dest="app", default="-", help="application file to write (default: standard output)")
    args = parser.parse_args()
    for name in ("pitch", "tempo"):
        if not 0.25 <= getattr(args, name) <= 4:
            parser.error(f"--{name} {getattr(args, name)}: 0.25 to 4 is allowed")
    if args.groups not in (4, 8, 16, 32):
        parser.error(f"--groups {args.groups}: 4, 8, 16 or 32 are allowed")
    try:
        channels, rate = wav_format(args.input)
        if not 1 <= channels <= 8:
            raise ValueError(f"{args.input}: {channels} channels, 1 to 8 are allowed")
        s = setting(args.pitch, args.tempo, channels, args.groups)
        sink = {"path": args.output, "rate": rate, "channels": channels, "format": args.format}
        text = application(s, {"path": args.input}, sink)
        if args.app == "-":
            sys.stdout.write(text)
        else:
            with open(args.app, "w", encoding="utf-8") as file:
                file.write(text)
    except (OSError, ValueError) as error:
        print(f"make_app.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
