import argparse

import numpy as np
import tensorflow as tf
import yaml

from triage.model import from_config


def mails(cfg, n, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(10, cfg["vocab_size"], (n, cfg["max_len"]))
    tags = rng.integers(0, 2, (n, cfg["num_tags"]))
    for i, j in zip(*np.nonzero(tags)):
        tokens[i, rng.integers(0, cfg["max_len"])] = j
    return tokens.astype("int32"), tags.astype("float32")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", "--config", required=True)
    parser.add_argument("-o", "--out")
    args = parser.parse_args()
    with open(args.config) as f:
        cfg = yaml.safe_load(f)
    tf.keras.utils.set_random_seed(6)
    x, y = mails(cfg, 160, 1)
    val = mails(cfg, 48, 2)
    model = from_config(cfg)
    model.fit(x, y, validation_data=val, batch_size=cfg["batch_size"], epochs=cfg["epochs"], verbose=2)
    if args.out:
        model.save_weights(args.out)


if __name__ == "__main__":
    main()
