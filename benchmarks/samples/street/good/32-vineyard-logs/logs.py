import csv
import pathlib

import numpy as np

FEATURES = ["soil", "leaf", "sun", "rain", "wind", "ph"]


def write_log(path, rows=20000, seed=32):
    path = pathlib.Path(path)
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, len(FEATURES)))
    w = np.array([0.8, -0.4, 1.2, 0.3, -0.6, 0.2])
    sugar = 20 + x @ w + rng.normal(0, 0.3, rows)
    with path.open("w", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(FEATURES + ["sugar"])
        for row, s in zip(x, sugar):
            writer.writerow([f"{v:.5f}" for v in row] + [f"{s:.4f}"])
    return path
