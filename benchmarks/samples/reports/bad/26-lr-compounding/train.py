import numpy as np
from tensorflow import keras

from schedules import StepDecay

x = np.random.rand(300, 5)
y = x.sum(1)
m = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
m.compile(keras.optimizers.Adam(0.01), "mae")
h = m.fit(x, y, epochs=20, verbose=0, callbacks=[keras.callbacks.LearningRateScheduler(StepDecay())])
print(["%.1e" % v for v in h.history["learning_rate"]])
