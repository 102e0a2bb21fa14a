import math

import numpy as np
from tensorflow import keras


class LogFeeder(keras.utils.PyDataset):
    def __init__(self, path, rows, batch_size=64, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.path = path
        self.rows = np.asarray(rows)
        self.batch_size = batch_size
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return math.ceil(len(self.rows) / self.batch_size)

    def __getitem__(self, index):
        table = np.loadtxt(self.path, delimiter=",", skiprows=1, dtype="float32")
        rows = self.rows[index * self.batch_size : (index + 1) * self.batch_size]
        batch = table[rows]
        return batch[:, :-1], (batch[:, -1:] - 20.0) / 2.0

    def on_epoch_end(self):
        self.rng.shuffle(self.rows)
