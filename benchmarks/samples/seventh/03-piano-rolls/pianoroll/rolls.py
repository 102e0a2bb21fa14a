import numpy as np
import tensorflow as tf

from pianoroll.settings import Roll


def _songs(roll: Roll, seed: int):
    rng = np.random.default_rng(seed)
    out = np.zeros((roll.songs, roll.steps + 1, roll.pitches), "float32")
    for song in out:
        pitch = rng.integers(0, roll.pitches)
        for t in range(roll.steps + 1):
            pitch = (pitch + rng.choice([-2, 0, 2, 5])) % roll.pitches
            song[t, pitch] = rng.uniform(0.4, 1.0) if roll.velocity else 1.0
    return out


def datasets(roll: Roll, seed: int):
    songs = _songs(roll, seed)
    cut = len(songs) * 3 // 4
    x, y = songs[:, :-1], songs[:, 1:]

    def make(a, b):
        return tf.data.Dataset.from_tensor_slices((a, b))

    train = make(x[:cut], y[:cut]).shuffle(cut, seed=seed).batch(roll.batch_size, drop_remainder=True)
    return train, make(x[cut:], y[cut:]).batch(roll.batch_size)
