import numpy as np
import tensorflow as tf


def night(cfg, rng):
    h, w = cfg.INPUT.SIZE
    n = cfg.SOLVER.BATCH
    count = rng.integers(0, cfg.INPUT.STARS + 1, n)
    img = rng.normal(0, 0.05, (n, h, w, 1))
    for i, c in enumerate(count):
        img[i, rng.integers(0, h, c), rng.integers(0, w, c)] = 1.0
    return img.astype("float32"), count


def build(cfg):
    layers = [tf.keras.Input((*cfg.INPUT.SIZE, 1))]
    for width in cfg.MODEL.WIDTHS:
        layers.append(tf.keras.layers.Conv2D(width, 3, strides=2, activation=cfg.MODEL.ACT))
    layers += [tf.keras.layers.Flatten(), tf.keras.layers.Dropout(cfg.MODEL.DROPOUT),
               tf.keras.layers.Dense(cfg.INPUT.STARS + 1)]
    return tf.keras.Sequential(layers)
