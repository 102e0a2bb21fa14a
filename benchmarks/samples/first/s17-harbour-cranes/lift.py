import numpy as np
from tensorflow import keras

from config import CraneConfig


def samples(cfg: CraneConfig):
    load = np.random.default_rng(9).random((90, 3), dtype="float32")
    x = np.stack([load[i:i + cfg.lookback] for i in range(90 - cfg.lookback)])
    return x, load[cfg.lookback:, :1]


def network(cfg: CraneConfig):
    *first, last = cfg.cells
    layers = [keras.layers.LSTM(n, return_sequences=True) for n in first]
    layers.append(keras.layers.LSTM(last))
    return keras.Sequential([keras.Input((cfg.lookback, 3)), *layers, keras.layers.Dense(1)])


def callbacks(cfg: CraneConfig):
    found = []
    if cfg.plateau:
        found.append(keras.callbacks.ReduceLROnPlateau(**cfg.plateau))
    if cfg.log_file:
        found.append(keras.callbacks.CSVLogger(cfg.log_file))
    return found
