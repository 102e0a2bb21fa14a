"""Age of an ice core from its isotopes.

    python core.py --config core.json --lr 0.01
"""
import argparse
import json

import numpy as np
from tensorflow import keras


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=argparse.FileType("r"), default="core.json")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--tag", default="core")
    args = vars(parser.parse_args())
    with args.pop("config") as stream:
        config = json.load(stream)
    if args["batch"] is None:
        del args["batch"]
    config.update(args)
    return config


def dense(spec):
    drop = spec.get("dropout", 0.0)
    layer = keras.layers.Dense(spec["units"], activation=spec["activation"])
    return [layer, keras.layers.Dropout(drop)] if drop else [layer]


def main():
    config = parse()
    keras.utils.set_random_seed(0)
    x = np.random.rand(config["depths"], config["isotopes"]).astype("float32")
    model = keras.Sequential([
        keras.Input((config["isotopes"],)), *dense(config["hidden"]), keras.layers.Dense(1)], name=config["tag"])
    model.compile(keras.optimizers.Adam(config["lr"]), "mse")
    log = model.fit(x, x[:, :1], batch_size=config["batch"], epochs=config["epochs"], verbose=config["verbose"])
    print(len(log.history["loss"]), len(model.layers), log.history["loss"][-1])


if __name__ == "__main__":
    main()
