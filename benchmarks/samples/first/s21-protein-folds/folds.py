"""Class of a protein fold from its sequence."""
import io

import numpy as np
import yaml
from tensorflow import keras

from net import factory

with io.open("folds.yaml", encoding="utf8") as handle:
    CFG = yaml.load(handle, Loader=yaml.SafeLoader)


def sequences(count=48):
    shape = count, CFG["sequence"]["length"]
    rng = np.random.default_rng(2)
    return rng.integers(0, CFG["sequence"]["alphabet"], shape), rng.integers(0, 3, count)


def main():
    keras.utils.set_random_seed(2)
    x, y = sequences()
    model = factory.stack(CFG["layers"])
    model.compile(keras.optimizers.Adam(factory.schedule(CFG["schedule"])), "sparse_categorical_crossentropy")
    log = model.fit(x, y, epochs=CFG["epochs"], batch_size=CFG["batch_size"], verbose=0)
    print(model.output_shape, log.history["loss"][-1])


if __name__ == "__main__":
    main()
