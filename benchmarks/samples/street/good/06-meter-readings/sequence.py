import math

import numpy as np
from tensorflow import keras


class MeterSequence(keras.utils.PyDataset):
    """Batches of (past day of half-hourly readings, next reading)."""

    def __init__(self, readings, lookback=48, batch_size=64, shuffle=True, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.readings = readings.astype("float32")
        self.lookback = lookback
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.rng = np.random.default_rng(seed)
        self.starts = np.arange(len(readings) - lookback)
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.starts) / self.batch_size)

    def __getitem__(self, i):
        starts = self.starts[i * self.batch_size : (i + 1) * self.batch_size]
        rows = starts[:, None] + np.arange(self.lookback)[None, :]
        x = self.readings[rows][..., None]
        y = self.readings[starts + self.lookback][:, None]
        return x, y

    def on_epoch_end(self):
        if self.shuffle:
            self.rng.shuffle(self.starts)
