import os

import numpy as np
from tensorflow import keras

from conf_reader import settings


def photos(count=24):
    image = settings()["image"]
    rng = np.random.default_rng(settings()["seed"])
    x = rng.random((count, image["side"], image["side"], image["channels"]), dtype="float32")
    return x, rng.integers(0, 2, (count, 1)).astype("float32")


def main():
    keras.utils.set_random_seed(settings()["seed"])
    x, y = photos()
    net = keras.Sequential([
        keras.Input(x.shape[1:]),
        keras.layers.Conv2D(4, 5, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    train = settings()["train"]
    net.compile(train["optimizer"], "binary_crossentropy")
    os.makedirs(settings()["checkpoint_dir"], exist_ok=True)
    keep = keras.callbacks.ModelCheckpoint(os.path.join(settings()["checkpoint_dir"], "last.keras"))
    log = net.fit(x, y, epochs=train["epochs"], batch_size=train["batch_size"], callbacks=[keep], verbose=0)
    print(net.optimizer.name, log.history["loss"][-1], settings()["checkpoint_dir"])


if __name__ == "__main__":
    main()
