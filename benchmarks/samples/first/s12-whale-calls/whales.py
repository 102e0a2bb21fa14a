"""Hear whales in the noise of ferries."""
import sys

import attrs
import cattrs
import numpy as np
import yaml
from tensorflow import keras


@attrs.frozen
class Site:
    name: str
    depth_m: int

    def __str__(self):
        return f"{self.name}, {self.depth_m} m"


@attrs.frozen
class Spectrum:
    bins: int
    frames: int

    @property
    def shape(self):
        return (self.frames, self.bins)


@attrs.frozen
class Fit:
    rate: float
    passes: int
    group: int
    decay: float = 0.0

    def solver(self):
        return keras.optimizers.AdamW(self.rate, weight_decay=self.decay)

    def loop(self):
        return {"epochs": self.passes, "batch_size": self.group}


@attrs.frozen
class Run:
    site: Site
    spectrum: Spectrum
    fit: Fit
    stop: dict


def read(path):
    with open(path, "rb") as stream:
        return cattrs.structure(yaml.load(stream, yaml.CSafeLoader), Run)


def main(path):
    run = read(path)
    rng = np.random.default_rng(6)
    keras.utils.set_random_seed(6)
    x = rng.random((40, *run.spectrum.shape), dtype="float32")
    y = rng.integers(0, 2, (40, 1)).astype("float32")
    model = keras.Sequential([
        keras.Input(run.spectrum.shape),
        keras.layers.Conv1D(8, 3, activation="gelu"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(run.fit.solver(), "binary_crossentropy", metrics=[keras.metrics.AUC(name="auc")])
    stop = keras.callbacks.EarlyStopping(**run.stop)
    log = model.fit(x, y, validation_split=0.2, callbacks=[stop], verbose=0, **run.fit.loop())
    print(run.site, sorted(log.history))


if __name__ == "__main__":
    main(*sys.argv[1:])
