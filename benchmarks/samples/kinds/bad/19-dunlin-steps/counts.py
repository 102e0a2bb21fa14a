import pathlib
import tomllib
import numpy as np
import tensorflow as tf

with open(pathlib.Path(__file__).parent / "train.toml", "rb") as fh:
    cfg = tomllib.load(fh)


def shore_counts(n):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(n, 8)).astype("float32")
    lam = np.exp(0.5 * x[:, 0] - 0.3 * x[:, 1] + 1.0)
    return x, rng.poisson(lam).astype("float32")[:, None]


tf.keras.utils.set_random_seed(0)
x, y = shore_counts(cfg["data"]["samples"])
n_val = 200
train = (tf.data.Dataset.from_tensor_slices((x[n_val:], y[n_val:]))
         .shuffle(1000, seed=2)
         .batch(cfg["data"]["batch_size"]))
val = tf.data.Dataset.from_tensor_slices((x[:n_val], y[:n_val])).batch(n_val)

model = tf.keras.Sequential([
    tf.keras.Input((8,)),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(1, activation="exponential"),
])
model.compile(tf.keras.optimizers.Adam(3e-3), loss="poisson")
stop = tf.keras.callbacks.EarlyStopping(monitor="val_loss", patience=cfg["fit"]["patience"], restore_best_weights=True)
h = model.fit(train, validation_data=val, epochs=cfg["fit"]["epochs"],
              steps_per_epoch=cfg["fit"]["steps_per_epoch"], callbacks=[stop], verbose=2)
print("updates", int(model.optimizer.iterations), "wanted", cfg["fit"]["epochs"] * cfg["fit"]["steps_per_epoch"])
