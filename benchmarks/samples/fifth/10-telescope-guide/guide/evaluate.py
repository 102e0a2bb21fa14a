import sys

import numpy as np
from tensorflow import keras

from .config import read

cfg = read(sys.argv[1])
rules = cfg["evaluate"]
model = keras.models.load_model(cfg["trainer"]["path"])
x = np.random.default_rng(rules["seed"]).poisson(cfg["sky"]["photons"], (5, cfg["sky"]["pixels"]))
drift = np.abs(model.predict(x.astype("float32"), verbose=0)).ravel()
print("lost" if (drift > rules.get("threshold", 0.5)).any() else "locked", drift.round(2))
