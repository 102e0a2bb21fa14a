import json

import tensorflow as tf

import parts  # noqa: F401  fills the registry
from registry import DATA, MODELS, make

with open("config.json") as f:
    config = json.load(f)

tf.keras.utils.set_random_seed(1)
x, y = make(DATA, config["data"], seed=7)
model = make(MODELS, config["model"], inputs=x.shape[1])
fit = config["fit"]
opt = fit["optimizer"]
model.compile(getattr(tf.keras.optimizers, opt["kind"])(**opt["args"]), fit["loss"], metrics=["mean_absolute_error"])
stop = tf.keras.callbacks.EarlyStopping(**fit["stop"])
log = model.fit(x, y, batch_size=fit["batch_size"], epochs=fit["epochs"], validation_split=0.25,
                callbacks=[stop], verbose=0)
print("val mae", log.history["val_mean_absolute_error"][-1])
