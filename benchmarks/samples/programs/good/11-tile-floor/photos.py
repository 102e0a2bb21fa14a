import pathlib

import keras
import numpy as np
import tensorflow as tf


def draw(folder, per_class=40):
    """stand-in for the photos of the three suppliers"""
    rng = np.random.default_rng(4)
    for k in range(3):
        d = pathlib.Path(folder, f"supplier_{k}")
        d.mkdir(parents=True, exist_ok=True)
        for i in range(per_class):
            img = rng.normal(80 + 40 * k, 30, (24, 24, 3)).clip(0, 255)
            (d / f"{i:04d}.png").write_bytes(tf.io.encode_png(img.astype("uint8")).numpy())


def open_split(folder, which, cfg):
    subset = {"train": "training", "holdout": "validation"}[which]
    return keras.utils.image_dataset_from_directory(
        folder,
        validation_split=cfg["holdout"],
        subset=subset,
        seed=cfg["seed"][which],
        image_size=tuple(cfg["image_size"]),
        batch_size=cfg["batch_size"],
        verbose=False,
    )
