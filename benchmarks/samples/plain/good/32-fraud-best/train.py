import tempfile

import numpy as np
import tensorflow as tf

from checkpoints import best_model
from settings import SETTINGS


def transactions(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10)).astype("float32")
    score = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + x[:, 3]
    return x, (score + rng.normal(0, 0.3, n) > 0).astype("float32")


def build(rate):
    model = tf.keras.Sequential([
        tf.keras.Input((10,)),
        tf.keras.layers.Dense(48, activation="relu"),
        tf.keras.layers.Dense(48, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(tf.keras.optimizers.Adam(rate), "binary_crossentropy", metrics=["accuracy"])
    return model


def main(cfg):
    tf.keras.utils.set_random_seed(cfg["seed"])
    x, y = transactions(1500, 1)
    val = transactions(600, 2)
    model = build(cfg["rate"])
    with tempfile.TemporaryDirectory() as folder:
        path, checkpoint = best_model(folder, cfg["monitor"], cfg["mode"])
        history = model.fit(x, y, validation_data=val, epochs=cfg["epochs"],
                            batch_size=cfg["batch_size"], callbacks=[checkpoint], verbose=0)
        model.load_weights(path)
    print("val accuracy by epoch", [round(v, 3) for v in history.history["val_accuracy"]])
    print("kept model", round(model.evaluate(*val, verbose=0)[1], 3))


if __name__ == "__main__":
    main(SETTINGS)
