import json

import numpy as np
import tensorflow as tf

from schedule import make_optimizer

CONFIG = json.loads("""
{"learning_rate": 0.01, "epochs": 15, "batch_size": 32, "hidden": [32, 32], "seed": 10}
""")


def listings(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 6)).astype("float32")
    y = 2 * x[:, 0] + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3]
    return x, (y + rng.normal(0, 0.05, n)).astype("float32")[:, None]


def build(cfg):
    model = tf.keras.Sequential([tf.keras.Input((6,))])
    for units in cfg["hidden"]:
        model.add(tf.keras.layers.Dense(units, activation="relu"))
    model.add(tf.keras.layers.Dense(1))
    return model


def main(cfg):
    tf.keras.utils.set_random_seed(cfg["seed"])
    train = tf.data.Dataset.from_tensor_slices(listings(960, 1))
    train = train.shuffle(960).batch(cfg["batch_size"]).prefetch(tf.data.AUTOTUNE)
    val = tf.data.Dataset.from_tensor_slices(listings(300, 2)).batch(100)

    model = build(cfg)
    optimizer = make_optimizer(cfg, steps_per_epoch=len(train))
    model.compile(optimizer, loss="mse", metrics=["mae"])
    history = model.fit(train, validation_data=val, epochs=cfg["epochs"], verbose=0)
    print("val mse by epoch", [round(v, 3) for v in history.history["val_loss"][::3]])
    print("learning rate at the end", float(optimizer.learning_rate))


if __name__ == "__main__":
    main(CONFIG)
