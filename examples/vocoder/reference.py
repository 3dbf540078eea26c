"""The vocoder's algorithm in NumPy, from its equations: what the tests compare the kernels with.

It shares no code and no order of work with the kernels: whole signals at once, spectra by `scipy.fft`, phases
by a cumulative sum.
"""

import numpy as np
from scipy import fft, signal


def vocode(x: np.ndarray, pitch: float, analysis_hop: int, synthesis_hop: int, frame: int = 1024) -> np.ndarray:
    """Another pitch and tempo for one channel.

    Parameters
    ----------
    x : samples, any length; zeros follow after its end
    pitch : factor on every frequency
    analysis_hop, synthesis_hop : samples from frame to frame, of input and output; their ratio is the tempo
    frame : samples of a frame

    Returns
    -------
    `synthesis_hop` samples for every (begun) `analysis_hop` samples of input.
    """
    instances = -(-len(x) // analysis_hop)
    padded = np.zeros(instances * analysis_hop + frame)
    padded[: len(x)] = x
    window = signal.get_window("hann", frame, fftbins=True)
    n = np.arange(frame)
    k = np.arange(frame // 2)

    # Odd frequencies (k + 1/2) / frame, time from the frame's middle: shift by half a bin, transform, turn.
    frames = np.lib.stride_tricks.sliding_window_view(padded, frame)[::analysis_hop][:instances] * window
    spectra = fft.fft(frames * np.exp(-1j * np.pi * n / frame))[:, : frame // 2] * np.exp(1j * np.pi * (k + 0.5))
    magnitude = np.abs(spectra)
    phase = np.where(magnitude > 0, np.angle(spectra), 0.0)

    # Advance of each bin from frame to frame: the measured difference, unwrapped to next to the expected one.
    expected = 2 * np.pi * (k + 0.5) * analysis_hop / frame
    excess = np.diff(phase, axis=0) - expected
    advance = expected + excess - 2 * np.pi * np.round(excess / (2 * np.pi))

    # Output bins: magnitudes at the place they come from, phases from the bin that holds it.
    place = (k + 0.5) / pitch - 0.5
    source = np.minimum(np.floor((k + 0.5) / pitch).astype(int), frame // 2 - 1)
    with_nyquist = np.hstack([magnitude, np.zeros((instances, 1))])
    new_magnitude = np.array([np.interp(place, np.arange(frame // 2 + 1), m, right=0.0) for m in with_nyquist])
    steps = np.vstack([phase[:1, source], pitch * synthesis_hop / analysis_hop * advance[:, source]])
    new_phase = np.cumsum(steps, axis=0)

    # Back, one half of the spectrum standing for both; window, overlap, add, divide by the windows' sum.
    half = np.zeros((instances, frame), complex)
    half[:, : frame // 2] = new_magnitude * np.exp(1j * (new_phase - np.pi * (k + 0.5)))
    made = 2 * np.real(fft.ifft(half) * np.exp(1j * np.pi * n / frame))
    moved = pitch * (n - frame / 2)
    seen = np.where(np.abs(moved) < frame / 2, pitch * 0.5 * (1 + np.cos(2 * np.pi * moved / frame)), 0.0)
    scale = np.zeros(synthesis_hop)
    np.add.at(scale, n % synthesis_hop, window * seen)
    y = np.zeros(instances * synthesis_hop + frame)
    for i, row in enumerate(made * window):
        y[i * synthesis_hop : i * synthesis_hop + frame] += row
    y = y[: instances * synthesis_hop]
    return y / np.tile(scale, instances)
