from collections import namedtuple

import numpy as np
import yaml
from tensorflow import keras

from registry import BACKBONES

Image = namedtuple("Image", "height width channels", defaults=[3])


class Head(namedtuple("Head", ["loss", "rate", "weight_decay", "epochs"])):
    @property
    def optimizer(self):
        return keras.optimizers.Adam(float(self.rate), weight_decay=self.weight_decay)


def main():
    with open("colony.yaml") as file:
        site, net = yaml.safe_load_all(file)
    keras.utils.set_random_seed(14)
    image, head = Image(**site["image"]), Head(**net["head"])
    rng = np.random.default_rng(14)
    x = rng.random((int(site["nests"]), *image), dtype="float32")
    y = rng.poisson(3, (len(x), 1)).astype("float32")
    inputs = keras.Input(image)
    kind = net["backbone"]
    features = BACKBONES[kind](inputs, **net[kind])
    model = keras.Model(inputs, keras.layers.Dense(1, activation="softplus")(features))
    model.compile(head.optimizer, head.loss)
    log = model.fit(x, y, epochs=head.epochs, verbose=0)
    print("{site}: {loss}".format(loss=log.history["loss"], **site))


if __name__ == "__main__":
    main()
