import functools
import sys

import numpy as np
import tensorflow as tf
import yaml

path = sys.argv[1] if len(sys.argv) > 1 else "confs/wet.yaml"
with open(path) as stream:
    bog, *rest = yaml.safe_load_all(stream)

Layer = functools.partial(tf.keras.layers.Dense, **bog["layers"])
model = tf.keras.Sequential([tf.keras.Input((len(bog["probes"]),))])
for _ in range(bog["depth"]):
    model.add(Layer())
model.add(Layer(units=1, activation=None))
model.compile("sgd", "mse")
x = np.random.rand(16, len(bog["probes"]))
fit = functools.partial(model.fit, x, x.mean(1), **bog["fit"])
fit()
