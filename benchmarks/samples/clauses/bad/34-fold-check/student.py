import numpy as np
from callbacks import Compare
from tensorflow import keras

x = np.random.rand(2000, 10).astype("float32")
student = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
student.compile("adam", "mse")
student.fit(x, x.sum(1), epochs=200, callbacks=[Compare("teacher.keras", x[:64])])
