"""Free or taken?"""
import os

import numpy as np
import yaml
from tensorflow import keras

from attrdict import AttrDict

with open("lots.yaml") as f:
    C = AttrDict(yaml.safe_load(f))


def take_photos():
    rng = np.random.default_rng(0)
    for kind in ("free", "taken"):
        os.makedirs(os.path.join(C.photos.folder, kind), exist_ok=True)
        for i in range(C.photos.per_class):
            keras.utils.save_img(os.path.join(C.photos.folder, kind, f"{i}.png"), rng.random((32, 32, 3)))


def datasets():
    for part in ("training", "validation"):
        yield keras.utils.image_dataset_from_directory(
            C.photos.folder, subset=part, seed=1, verbose=False, **C.loader)


def build():
    channels = {"rgb": 3, "grayscale": 1}.get(C.loader.color_mode, 3)
    return keras.Sequential([
        keras.Input((*C.loader.image_size, channels)),
        keras.layers.Rescaling(1 / 255),
        keras.layers.Conv2D(C.net.filters, 3, activation=C.net.activation),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dropout(C.net.dropout),
        keras.layers.Dense(C.net.classes, activation="softmax"),
    ])


if __name__ == "__main__":
    take_photos()
    train, held_out = datasets()
    model = build()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    log = model.fit(train, validation_data=held_out, epochs=C.fit.epochs, verbose=0)
    model.save(C.save.path)
    print(sorted(log.history))
