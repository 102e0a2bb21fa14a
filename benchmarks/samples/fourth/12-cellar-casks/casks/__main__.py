"""Predict the taste of a cask."""
import argparse

import numpy as np
import tensorflow as tf
from omegaconf import OmegaConf

from casks.schema import Root, Wood


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--conf", default="casks.yaml")
    args, rest = parser.parse_known_args()
    conf = OmegaConf.merge(OmegaConf.structured(Root), OmegaConf.load(args.conf), OmegaConf.from_cli(rest))

    tf.keras.utils.set_random_seed(conf.train.seed or 1)
    tf.keras.mixed_precision.set_global_policy(conf.train.precision)
    grain = list(Wood).index(Wood(conf.cask.wood))
    x = np.random.rand(24, conf.cask.staves).astype("float32") * conf.cask.toast + grain
    model = tf.keras.Sequential([
        tf.keras.Input((conf.cask.staves,)),
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.Dense(1, dtype="float32"),
    ])
    model.compile(tf.keras.optimizers.Adam(conf.train.rate), "mse", jit_compile=conf.train.jit)
    log = model.fit(x, x[:, :1], epochs=conf.train.sips, verbose=0)
    print("loss", log.history["loss"], "after", conf.cask.age, "years")
    print(f"serve on {conf.serve.host}:{conf.serve.port}")


if __name__ == "__main__":
    main()
