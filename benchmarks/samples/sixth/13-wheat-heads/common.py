import argparse
import copy

import numpy as np
import tensorflow as tf
import yaml

L = tf.keras.layers


def merge(base, over):
    out = copy.deepcopy(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge(out[key], value)
        else:
            out[key] = value
    return out


def get_config():
    parser = argparse.ArgumentParser()
    parser.add_argument("experiment", nargs="?", help="file in experiments/, without .yaml")
    args = parser.parse_args()
    with open("base.yaml") as f:
        cfg = yaml.safe_load(f)
    if args.experiment:
        with open(f"experiments/{args.experiment}.yaml") as f:
            cfg = merge(cfg, yaml.safe_load(f))
    return cfg


def images(cfg, n, seed):
    size = cfg["input"]["size"]
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (n, size, size, 3)).astype("uint8")
    y = (x[:, : size // 2].mean(axis=(1, 2, 3)) > 127.5).astype("float32")[:, None]
    return tf.data.Dataset.from_tensor_slices((x, y))


def build(cfg):
    size, b = cfg["input"]["size"], cfg["backbone"]
    model = tf.keras.Sequential([L.Input((size, size, 3)), L.Rescaling(1.0 / cfg["input"]["scale"])])
    aug = cfg.get("augment")
    if aug:
        model.add(L.RandomFlip(aug["flip"]))
        model.add(L.RandomContrast(aug["contrast"]))
    for i in range(b["blocks"]):
        model.add(L.Conv2D(b["width"] * 2 ** i, 3, strides=2, padding="same"))
        if b["norm"] == "batch":
            model.add(L.BatchNormalization())
        model.add(L.ReLU())
    model.add(L.GlobalAveragePooling2D())
    model.add(L.Dense(1, activation="sigmoid"))
    return model
