"""Tune fog horns. Settings: defaults < file < command line."""
import argparse
import os

import numpy as np
import tensorflow as tf
import yaml


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings")
    parser.add_argument("--blasts", type=int, default=1)
    parser.add_argument("--pitch_rate", type=float, default=1e-3)
    parser.add_argument("--loud_rate", type=float, default=1e-3)
    parser.add_argument("--horns", nargs="+", default=["pitch"])
    parser.add_argument("--mist", action=argparse.BooleanOptionalAction, default=False)
    parser.set_defaults(echo=None)
    first, _ = parser.parse_known_args()
    if first.settings:
        with open(first.settings) as f:
            found = yaml.safe_load(f)
        passed_over = set(found.pop("ignore", []))
        unknown = set(found) - set(vars(first)) - passed_over
        if unknown:
            parser.error(f"unknown settings: {', '.join(sorted(unknown))}")
        for name in sorted(passed_over):
            print("note:", name, "is", found[name])
        # texts are converted by argparse as if they stood on the command line
        parser.set_defaults(**{k: v for k, v in found.items() if k not in passed_over})
    return parser.parse_args()


def sound(args, count=24):
    x = np.random.rand(count, 8).astype("float32")
    if args.mist:
        x *= 0.5
    if args.echo:
        x += args.echo["strength"] * np.roll(x, args.echo["delay"], axis=1)
    return x


def main():
    args = arguments()
    tf.keras.utils.set_random_seed(23)
    x = sound(args)
    with tf.device(os.environ.get("HORN_DEVICE", "/cpu:0")):
        for horn in args.horns:
            rate = getattr(args, f"{horn}_rate")
            net = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
            net.compile(tf.keras.optimizers.Adam(rate), loss="mae")
            log = net.fit(x, x[:, :1], epochs=args.blasts, verbose=0)
            print(horn, rate, log.history["loss"])


if __name__ == "__main__":
    main()
