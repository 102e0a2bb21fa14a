import os
import resource
import tempfile

import keras
from keras import layers

from make_scans import write_scans
from scan_input import scan_dataset


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def leaf_net(kinds=4):
    model = keras.Sequential(
        [
            keras.Input((64, 64, 3)),
            layers.Conv2D(8, 5, strides=2, activation="relu"),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Flatten(),
            layers.Dense(kinds, activation="softmax"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    keras.utils.set_random_seed(27)
    with tempfile.TemporaryDirectory() as folder:
        write_scans(folder)
        ds = scan_dataset(os.path.join(folder, "leaf_*.png"))
        model = leaf_net()
        print(f"before fit {peak_mb():.0f} MB")
        model.fit(ds, epochs=2, verbose=2)
        print(f"peak {peak_mb():.0f} MB")


if __name__ == "__main__":
    main()
