import numpy as np
import yaml
from tensorflow import keras

from backbone import add_weight_decay, vibration_net

conf = yaml.safe_load(open("conf.yaml"))
keras.utils.set_random_seed(2)

x = np.random.randn(80, 30).astype("float32")
y = x[:, :1] + 0.5 * np.random.randn(80, 1).astype("float32")

base = vibration_net(widths=conf["backbone"]["widths"])
base.trainable = not conf["backbone"]["freeze"]
base = add_weight_decay(base, conf["l2"])
model = keras.Sequential([base, keras.layers.Dense(1)])

model.compile(keras.optimizers.Adam(conf["lr"]), loss="mse")
model.fit(x, y, epochs=conf["epochs"], batch_size=20, verbose=0)
size = sum(float((w.numpy() ** 2).sum()) for w in base.weights if "kernel" in w.path)
print("penalty terms", len(model.losses), "squared kernel size", round(size, 2))
