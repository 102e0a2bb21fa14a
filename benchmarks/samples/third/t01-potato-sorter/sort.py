"""Sort potatoes by what the camera over the belt sees."""
from functools import partial

import numpy as np
import yaml
from tensorflow import keras

MUST = ("belt", "convolution", "head", "teach", "weights_file")


def settings(path="spuds.yaml"):
    with open(path) as stream:
        found = yaml.safe_load(stream)
    for word in MUST:
        if word not in found:
            raise SystemExit(f"{path} has no {word}")
    return found


def network(s):
    Conv = partial(keras.layers.Conv2D, **s["convolution"])
    side = s["belt"]["width"]
    return keras.Sequential([
        keras.Input((side, side, s["belt"]["channels"])),
        Conv(8),
        keras.layers.MaxPooling2D(4),
        Conv(16),
        keras.layers.GlobalAveragePooling2D(),
        keras.layers.Dense(**s["head"]),
    ])


def main():
    s = settings()
    model = network(s)
    model.compile(keras.optimizers.Adam(s["rate"]), "sparse_categorical_crossentropy")
    teach = partial(keras.Model.fit, verbose=0, **s["teach"])
    x = np.random.rand(32, 64, 64, 3)
    y = np.random.randint(0, 3, 32)
    teach(model, x, y, callbacks=[keras.callbacks.EarlyStopping(**s["stop_after"])])
    model.save(s["weights_file"])


if __name__ == "__main__":
    main()
