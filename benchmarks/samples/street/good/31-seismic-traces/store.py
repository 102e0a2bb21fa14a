import pathlib

import numpy as np

LENGTH = 200


def write_traces(folder, n, seed):
    """One .npy per event: three components of ground motion."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    paths, labels = [], []
    for i in range(n):
        quake = int(rng.random() < 0.5)
        trace = rng.normal(0, 1, (LENGTH, 3))
        if quake:
            onset = rng.integers(30, 120)
            env = np.exp(-np.arange(LENGTH - onset) / 30)
            trace[onset:] += 4 * env[:, None] * rng.normal(0, 1, (LENGTH - onset, 3))
        path = folder / f"event{i:04d}.npy"
        np.save(path, trace.astype("float32"))
        paths.append(str(path))
        labels.append(quake)
    return paths, np.array(labels, dtype="float32")[:, None]
