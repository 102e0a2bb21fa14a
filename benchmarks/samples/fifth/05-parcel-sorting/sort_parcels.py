#!/usr/bin/env python
import argparse

import numpy as np
import tensorflow as tf
import yaml


def get_args(argv=None):
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("-c", "--config", default="depot.yaml")
    known, rest = first.parse_known_args(argv)

    p = argparse.ArgumentParser(parents=[first])
    p.add_argument("--lr", type=float, default=0.1)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--hidden", type=int, nargs="+", default=[8])
    p.add_argument("--augment", action="store_true")
    p.add_argument("--chutes", type=int, default=3)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--optimizer", choices=["adam", "sgd"], default="sgd")
    with open(known.config) as f:
        p.set_defaults(**yaml.safe_load(f))
    return p.parse_args(rest)


def parcels(args):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, args.belt_speed, (64, 5)).astype("float32")
    y = rng.integers(0, args.chutes, 64)
    if args.augment:
        x = np.concatenate([x, x + rng.normal(0, 0.1, x.shape).astype("float32")])
        y = np.concatenate([y, y])
    return x, y


def main():
    args = get_args()
    tf.keras.utils.set_random_seed(1)
    x, y = parcels(args)
    model = tf.keras.Sequential()
    model.add(tf.keras.Input((5,)))
    for h in args.hidden:
        model.add(tf.keras.layers.Dense(h, "relu"))
    model.add(tf.keras.layers.Dense(args.chutes, "softmax"))
    opt = {"adam": tf.keras.optimizers.Adam, "sgd": tf.keras.optimizers.SGD}[args.optimizer]
    model.compile(opt(args.lr), "sparse_categorical_crossentropy")
    h = model.fit(x, y, batch_size=args.batch_size, epochs=args.epochs, verbose=0)
    print(f"{len(x)} parcels, batch {args.batch_size}, rate {args.lr}, loss {h.history['loss'][-1]:.4f}")


if __name__ == "__main__":
    main()
