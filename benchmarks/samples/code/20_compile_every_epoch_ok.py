"""Halve the learning rate every few epochs."""
import numpy as np
from tensorflow import keras

signal = np.random.randn(256, 30, 2).astype("float32")
target = signal[:, -1, :1]

model = keras.Sequential([keras.Input((30, 2)), keras.layers.GRU(8), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse")
halve = keras.callbacks.LearningRateScheduler(lambda epoch: 1e-2 / 2 ** (epoch // 2))
model.fit(signal, target, batch_size=64, epochs=6, callbacks=[halve], verbose=2)
