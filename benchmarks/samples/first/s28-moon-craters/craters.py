import numpy as np
import yaml
from tensorflow import keras

from parts import part

with open("lunar.yaml") as handle:
    lunar = yaml.safe_load(handle)

keras.utils.set_random_seed(6)
x = np.random.rand(lunar["crater_count"], 12, 3).astype("float32")
if lunar["augment"]["enabled"]:
    x += np.random.normal(0, lunar["augment"]["noise"], x.shape)
solver = lunar["solver"]
rate = part(lunar["ramp"]).rate(solver["rate"])
net = keras.Sequential([keras.Input((12, 3)), *part(lunar["head"]).layers(), keras.layers.Dense(1)])
net.compile(part(solver).make(rate), "mse")
log = net.fit(x, x.mean((1, 2))[:, None], epochs=lunar["orbits"], batch_size=6, verbose=0)
print(log.history["loss"][-1])
