"""Leaves with and without blight."""
import pathlib
import tomllib

import numpy as np
from tensorflow import keras

import zoo

conf = tomllib.loads(pathlib.Path(__file__).with_name("crop.toml").read_text())
keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
leaves = rng.random((24, 16, 16, 3), dtype="float32")
labels = rng.integers(0, conf["head"]["classes"], size=24)

net = zoo.create(conf["backbone"], conf["head"])
net.compile(**conf["compile"])
keeper = keras.callbacks.ModelCheckpoint(**conf["checkpoint"])
log = net.fit(leaves, labels, callbacks=[keeper], verbose=0, **conf["fit"])
print({name: round(values[-1], 3) for name, values in log.history.items()})
