"""Kelp cover by depth."""
from pathlib import Path

import numpy as np
import yaml
from tensorflow import keras


class DepthPrinter(keras.callbacks.Callback):
    def __init__(self, every=1):
        super().__init__()
        self.every = every

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            print(epoch + 1, {k: round(float(v), 3) for k, v in logs.items()})


CUSTOM = {"depth_printer": DepthPrinter}


def make_schedule(spec):
    if not isinstance(spec, dict):
        return spec
    spec = spec.copy()
    cls = getattr(keras.optimizers.schedules, spec.pop("type"))
    return cls(**spec)


def make_callback(type, **kw):
    cls = CUSTOM.get(type) or getattr(keras.callbacks, type)
    return cls(**kw)


def cover(survey):
    n, d = survey["transects"], survey["depth_bins"]
    x = np.random.rand(n, d).astype("float32")
    return x, np.random.randint(0, survey["species"], n)


def net(cfg):
    x = inputs = keras.Input((cfg["survey"]["depth_bins"],))
    for width in cfg["model"]["hidden"]:
        x = keras.layers.Dense(width, activation="swish")(x)
    return keras.Model(inputs, keras.layers.Dense(cfg["survey"]["species"], activation="softmax")(x))


def main():
    cfg = yaml.safe_load(Path(__file__).with_name("kelp.yaml").read_text())
    keras.utils.set_random_seed(8)
    train = cfg["train"]
    model = net(cfg)
    model.compile(
        optimizer=keras.optimizers.Adam(make_schedule(train["schedule"])),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(
        *cover(cfg["survey"]),
        epochs=train["epochs"],
        validation_split=train["split"],
        callbacks=[make_callback(**c) for c in train["callbacks"]],
        verbose=0,
    )


if __name__ == "__main__":
    main()
