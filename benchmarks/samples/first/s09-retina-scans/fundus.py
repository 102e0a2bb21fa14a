from operator import itemgetter

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

from settings import settings


def backbone(network):
    size, alpha, pooling = itemgetter("size", "alpha", "pooling")(network)
    return keras.applications.MobileNetV2(
        input_shape=(size, size, 3), alpha=alpha, include_top=False, weights=None, pooling=pooling)


def classifier(cfg):
    base = backbone(cfg["network"])
    inputs = keras.Input(base.input_shape[1:])
    x = inputs
    if (aug := cfg.get("augmentation")) is not None:
        x = layers.RandomFlip(aug["flip"])(x)
        x = layers.RandomRotation(aug["rotate"])(x)
    outputs = layers.Dense(1, activation="sigmoid")(base(x))
    return keras.Model(inputs, outputs)


with settings("retina.json") as cfg:
    keras.utils.set_random_seed(4)
    side = cfg["network"]["size"]
    x = np.random.rand(cfg["scans"], side, side, 3).astype("float32")
    y = np.random.randint(0, 2, (cfg["scans"], 1)).astype("float32")
    loss, metrics, *loop = itemgetter("loss", "metrics", "epochs", "batch_size")(cfg["training"])
    model = classifier(cfg)
    model.compile("adam", loss, metrics=metrics)
    log = model.fit(x, y, epochs=loop[0], batch_size=loop[1], verbose=0)
    print(model.output_shape, len(model.layers), log.history["loss"][-1])
