"""Colour of the flower from a picture of the bulb.  python tulips.py [tulips.yaml | small.toml]"""
import sys
import tomllib

import numpy as np
import yaml
from tensorflow import keras


def read(path):
    if path.endswith(".toml"):
        with open(path) as handle:
            tables = tomllib.load(handle)
        return tables["net"], tables["training"]
    with open(path) as handle:
        net, training = yaml.safe_load_all(handle)
    return net, training


def grow(filters, kernel, colours):
    model = keras.Sequential([keras.Input((16, 16, 3))])
    for count in filters:
        model.add(keras.layers.Conv2D(count, kernel, activation="relu"))
    model.add(keras.layers.GlobalAveragePooling2D())
    model.add(keras.layers.Dense(colours, activation="softmax"))
    return model


def main(path="tulips.yaml"):
    net, training = read(path)
    keras.utils.set_random_seed(1)
    bulbs = np.random.rand(24, 16, 16, 3).astype("float32")
    colours = np.random.randint(0, net["colours"], 24)
    model = grow(**net)
    model.compile(training.pop("optimizer"), training.pop("loss"))
    print(model.fit(bulbs, colours, verbose=0, **training).history)


if __name__ == "__main__":
    main(*sys.argv[1:])
