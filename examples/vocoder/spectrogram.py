#!/usr/bin/env python3
"""Draws the spectrograms of WAV files one above the other, and prints their duration and fundamental.

python spectrogram.py speech.wav out.wav -o spectrogram.png
"""

import argparse
import struct
import sys
from pathlib import Path

import numpy as np


def read_wav(path) -> tuple[np.ndarray, int]:
    """Samples as float64 [samples, channels] and samples per second, of a 16-bit or 32-bit float WAV file."""
    data = Path(path).read_bytes()
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise ValueError(f"{path}: not a WAV file")
    at, layout = 12, None
    while at + 8 <= len(data):
        name, size = struct.unpack_from("<4sI", data, at)
        if name == b"fmt ":
            layout = struct.unpack_from("<HHIIHH", data, at + 8)
            if layout[0] == 0xFFFE and size >= 26:  # extensible: the format stands in the first two bytes of its GUID
                layout = struct.unpack_from("<H", data, at + 32) + layout[1:]
        if name == b"data" and layout:
            bits, channels = layout[5], layout[1]
            if (layout[0], bits) not in ((1, 16), (3, 32)):
                raise ValueError(
                    f"{path}: format {layout[0]} with {bits} bits; 16-bit integers and 32-bit floats are read"
                )
            whole = min(size, len(data) - at - 8) // (channels * bits // 8) * channels
            samples = np.frombuffer(data, "<i2" if bits == 16 else "<f4", whole, at + 8).astype(float)
            return samples.reshape(-1, channels) / (32768 if bits == 16 else 1), layout[2]
        at += 8 + size + size % 2
    raise ValueError(f"{path}: no samples")


def fundamental_hz(x: np.ndarray, rate: float) -> float:
    """The median fundamental of a voice's voiced frames, by autocorrelation; 35 to 400 Hz."""
    length, found = 4096, []
    for start in range(0, len(x) - length, length // 4):
        part = x[start : start + length] * np.hanning(length)
        if np.sqrt(np.mean(part**2)) < 0.02:
            continue
        correlation = np.fft.irfft(np.abs(np.fft.rfft(part, 2 * length)) ** 2)[:length]
        low, high = int(rate // 400), int(rate // 35)
        lag = low + int(np.argmax(correlation[low:high]))
        if correlation[lag] > 0.4 * correlation[0]:
            found.append(rate / lag)
    return float(np.median(found)) if found else float("nan")


def draw(paths, picture) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib import mlab

    sounds = [read_wav(p) for p in paths]
    longest = max(len(x) / rate for x, rate in sounds)
    size = (11, 3.2 * len(paths))
    figure, axes = plt.subplots(len(paths), sharex=True, sharey=True, squeeze=False, figsize=size)
    figure.set_layout_engine("constrained")
    for axis, path, (x, rate) in zip(axes[:, 0], paths, sounds, strict=True):
        mono = x.mean(axis=1)
        power, hz, at = mlab.specgram(mono, NFFT=2048, noverlap=1536, Fs=rate)
        shown = hz <= 2000
        db = 10 * np.log10(np.maximum(power[shown], 1e-12))
        extent = (at[0], at[-1], 0, hz[shown][-1])
        style = {"cmap": plt.get_cmap("magma", 13), "interpolation": "nearest"}
        image = axis.imshow(db, vmin=-100, vmax=-35, extent=extent, origin="lower", aspect="auto", **style)
        axis.set(ylabel="Hz", xlim=(0, longest))
        axis.set_title(f"{Path(path).name}: {len(x) / rate:.2f} s, fundamental {fundamental_hz(mono, rate):.0f} Hz")
    axes[-1, 0].set_xlabel("s")
    figure.colorbar(image, ax=axes[:, 0], label="dB per Hz")
    figure.savefig(picture, dpi=72)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wav", nargs="+")
    parser.add_argument("-o", dest="picture", help="PNG to write (default: none)")
    args = parser.parse_args()
    try:
        for path in args.wav:
            x, rate = read_wav(path)
            print(f"{path}: {len(x) / rate:.2f} s, fundamental {fundamental_hz(x.mean(axis=1), rate):.0f} Hz")
        if args.picture:
            draw(args.wav, args.picture)
    except (OSError, ValueError) as error:
        print(f"spectrogram.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
