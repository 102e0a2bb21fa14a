import numpy as np

SPECIES = 8
BANDS = 40
FRAMES = 32


def synth_spectrograms(n, seed):
    rng = np.random.default_rng(seed)
    pattern_rng = np.random.default_rng(99)
    motif = pattern_rng.normal(0, 1, (SPECIES, FRAMES, BANDS))
    label = rng.integers(0, SPECIES, n)
    x = 0.9 * motif[label] + rng.normal(0, 2.2, (n, FRAMES, BANDS))
    return x.astype("float32"), label.astype("int32")
