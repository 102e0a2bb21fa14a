import numpy as np
import tensorflow as tf

from towers import matcher

ITEMS, LENGTH = 40, 6


def examples(n, seed):
    """Tracks of one half of the catalogue are played together."""
    rng = np.random.default_rng(seed)
    half = rng.integers(0, 2, n)
    playlist = rng.integers(1, 21, (n, LENGTH)) + 20 * half[:, None]
    same = rng.integers(0, 2, n)
    track = rng.integers(1, 21, n) + 20 * np.where(same, half, 1 - half)
    return playlist.astype("int32"), track[:, None].astype("int32"), same.astype("float32")


tf.keras.utils.set_random_seed(45)
playlist, track, fits = examples(1500, 1)
model = matcher(ITEMS, LENGTH)
model.compile(tf.keras.optimizers.Adam(1e-2), "binary_crossentropy", metrics=["accuracy"])
model.fit([playlist, track], fits, batch_size=64, epochs=6, verbose=0)
p, t, y = examples(300, 2)
print("accuracy", model.evaluate([p, t], y, verbose=0)[1])
