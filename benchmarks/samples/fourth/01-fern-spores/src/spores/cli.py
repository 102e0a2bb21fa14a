"""Count spores on pictures of fern leaves."""
import argparse

import numpy as np
import tensorflow as tf

from . import settings
from .registry import make_head


def tiles(data):
    size = data["tile_size"]
    x = np.random.rand(data["count"], size, size, 1).astype("float32")
    aug = data["augment"]
    for step in ("flip", "jitter"):
        if not aug[step]:
            continue
        if step == "flip":
            x = x[:, :, ::-1]
        else:
            x = x + aug[step] * np.random.randn(*x.shape).astype("float32")
    return x, x.mean(axis=(1, 2))


def watchers(specs):
    return [getattr(tf.keras.callbacks, spec["use"])(**spec.get("args", {})) for spec in specs]


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True)
    args = parser.parse_args(argv)
    cfg = settings.load(args.config)

    tf.keras.utils.set_random_seed(cfg["seed"])
    x, y = tiles(cfg["data"])
    model = tf.keras.Sequential([
        tf.keras.Input(x.shape[1:]),
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        make_head(cfg["head"]),
    ])
    opt = cfg["optim"]
    model.compile(
        tf.keras.optimizers.SGD(opt["rate"], momentum=opt.get("momentum", 0.0),
                                nesterov=opt.get("nesterov", False)),
        loss="mse", metrics=["mae"])
    log = model.fit(x, y, batch_size=cfg["data"]["flock"], epochs=cfg["fit"]["rounds"],
                    validation_split=cfg["fit"]["hold_out"], callbacks=watchers(cfg["callbacks"]),
                    verbose=0)
    print(x.shape, "loss", log.history["loss"], sorted(log.history))
    model.save_weights("spores.weights.h5")


if __name__ == "__main__":
    main()
