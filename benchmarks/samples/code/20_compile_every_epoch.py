"""Halve the learning rate every few epochs."""
import numpy as np
from tensorflow import keras

signal = np.random.randn(256, 30, 2).astype("float32")
target = signal[:, -1, :1]

model = keras.Sequential([keras.Input((30, 2)), keras.layers.GRU(8), keras.layers.Dense(1)])
rate = 1e-2
for epoch in range(6):
    if epoch and epoch % 2 == 0:
        rate /= 2
    model.compile(optimizer=keras.optimizers.Adam(rate), loss="mse")
    model.fit(signal, target, batch_size=64, initial_epoch=epoch, epochs=epoch + 1, verbose=2)
