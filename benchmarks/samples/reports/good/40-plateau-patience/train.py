import numpy as np
import yaml
from tensorflow import keras

from callbacks import standard

hp = yaml.safe_load(open("hp.yaml"))
x = np.random.randn(200, 10)
y = np.random.randn(200)
m = keras.Sequential([keras.Input((10,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(1)])
m.compile(keras.optimizers.Adam(0.01), "mse")
h = m.fit(x, y, validation_split=0.3, epochs=hp["max_epochs"], callbacks=standard(hp), verbose=0)
print("epochs", len(h.history["loss"]), "rates", sorted(set(h.history["learning_rate"])))
