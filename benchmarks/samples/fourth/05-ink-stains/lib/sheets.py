import numpy as np
import tensorflow as tf

from lib.config import cfg


def load():
    rng = np.random.default_rng(cfg.RUN.SEED)
    x = rng.random((cfg.RUN.SHEETS, 16, 16, 1 if cfg.RUN.INK == "blue" else 3), dtype="float32")
    y = rng.integers(0, cfg.MODEL.CLASSES, cfg.RUN.SHEETS)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(cfg.RUN.SHEETS)
    return ds.batch(cfg.RUN.BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
