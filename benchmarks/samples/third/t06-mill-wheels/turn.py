"""Predict how fast the wheel turns: turn.py [SETUP]"""
import sys

import numpy as np
import yaml
from tensorflow import keras

with open(sys.argv[1] if sys.argv[1:] else "setups/upper.yaml") as stream:
    setup = yaml.safe_load(stream)

wheel, river, fit = setup["wheel"], setup["river"], setup["fit"]
flow = np.convolve(np.random.rand(200), np.ones(river["smoothing"]) / river["smoothing"], "same")
speed = flow * wheel["radius"] / wheel["blades"]
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(8, "tanh"), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(fit["rate"]), "mse")
history = model.fit(flow[:, None], speed, epochs=fit["epochs"], batch_size=fit["batch"], verbose=0)
print(river["gauge"], history.history["loss"][-1])
