"""python train.py --config engine.yaml --epochs 5: the file gives the defaults, the command line wins"""
import argparse
import os
import pathlib

import numpy as np
import yaml
from tensorflow import keras

HERE = pathlib.Path(__file__).parent


def none_or_int(text):
    return None if str(text).lower() == "none" else int(text)


def options(argv=None):
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--config", default=os.environ.get("TRACTOR_CONFIG", "engine.yaml"))
    known, rest = first.parse_known_args(argv)
    parser = argparse.ArgumentParser(parents=[first])
    parser.add_argument("--bands", type=int, default=16)
    parser.add_argument("--window", type=int, default=32)
    parser.add_argument("--optimizer-learning-rate", type=float, default=1e-2)
    parser.add_argument("--optimizer-beta-1", type=float, default=0.9)
    parser.add_argument("--optimizer-clipnorm", type=float, default=None)
    parser.add_argument("--batch-size", type=none_or_int, default=None)
    parser.add_argument("--patience", type=none_or_int, default=None)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--layers", nargs="+", type=int, default=[8])
    with open(HERE / known.config) as handle:
        parser.set_defaults(**{key.replace("-", "_"): value for key, value in yaml.safe_load(handle).items()})
    return parser.parse_args(rest)


def with_prefix(args, prefix):
    return {name[len(prefix):]: value for name, value in vars(args).items() if name.startswith(prefix)}


def main():
    args = options()
    keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    x = rng.random((24, args.window, args.bands), dtype="float32")
    y = rng.integers(0, 2, 24)
    net = keras.Sequential([keras.Input((args.window, args.bands))])
    for filters in args.layers:
        net.add(keras.layers.Conv1D(filters, 3, activation="relu"))
    net.add(keras.layers.GlobalAveragePooling1D())
    net.add(keras.layers.Dense(1, activation="sigmoid"))
    net.compile(keras.optimizers.Adam(**with_prefix(args, "optimizer_")), "binary_crossentropy")
    stop = [] if args.patience is None else [keras.callbacks.EarlyStopping(monitor="loss", patience=args.patience)]
    log = net.fit(x, y, batch_size=args.batch_size, epochs=args.epochs, callbacks=stop, verbose=0)
    print("loss", log.history["loss"])


if __name__ == "__main__":
    main()
