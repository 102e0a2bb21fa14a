import os

import numpy as np
import tensorflow as tf


def write_scans(folder, n=160, kinds=4, seed=3):
    """Write n greenhouse scans as PNG files, the kind in the file name."""
    rng = np.random.default_rng(seed)
    small = rng.integers(60, 120, (n, 16, 16, 3))
    for i in range(n):
        kind = i % kinds
        small[i, 4 * kind:4 * kind + 4, :, 1] += 100
        image = np.kron(small[i], np.ones((40, 40, 1))).astype("uint8")
        path = os.path.join(folder, f"leaf_{i:04d}_{kind}.png")
        tf.io.write_file(path, tf.io.encode_png(image, compression=1))
