"""python train.py settings/base.yaml [settings/more.yaml ...] [--epochs N ...]

Options beat files, later files beat earlier ones.
"""
import argparse

import numpy as np
import yaml
from tensorflow import keras


def options():
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("files", nargs="+")
    parser = argparse.ArgumentParser(parents=[first], description=__doc__)
    parser.add_argument("--flats", type=int)
    parser.add_argument("--features", type=int)
    parser.add_argument("--hidden", type=int)
    parser.add_argument("--lr", type=float)          # argparse converts text defaults, too
    parser.add_argument("--l2", type=float, default=0.0)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int, dest="batch_size")
    parser.add_argument("--loss", choices=["mse", "mae", "huber"])
    parser.add_argument("--seed", type=int, default=0)
    files = first.parse_known_args()[0].files
    for path in files:
        with open(path) as stream:
            parser.set_defaults(**yaml.safe_load(stream))
    return parser.parse_args()


def main():
    args = options()
    keras.utils.set_random_seed(args.seed)
    x = np.random.rand(args.flats, args.features).astype("float32")
    y = x @ np.random.rand(args.features, 1).astype("float32")
    model = keras.Sequential([
        keras.Input((args.features,)),
        keras.layers.Dense(args.hidden, activation="relu", kernel_regularizer=keras.regularizers.L2(args.l2)),
        keras.layers.Dense(1),
    ])
    model.compile(keras.optimizers.Adam(args.lr), args.loss)
    log = model.fit(x, y, epochs=args.epochs, batch_size=args.batch_size, verbose=0)
    print(args.epochs, type(args.lr), type(args.l2), round(log.history["loss"][-1], 4))


if __name__ == "__main__":
    main()
