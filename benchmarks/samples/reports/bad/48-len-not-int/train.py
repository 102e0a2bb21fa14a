import numpy as np
from tensorflow import keras

from loader import SensorWindows

signal = np.random.randn(400, 2).astype("float32")
net = keras.Sequential([keras.Input((20, 2)), keras.layers.Conv1D(8, 3, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(1)])
net.compile("adam", "mse")
net.fit(SensorWindows(signal, 20, 32, workers=2), epochs=2, verbose=2)
