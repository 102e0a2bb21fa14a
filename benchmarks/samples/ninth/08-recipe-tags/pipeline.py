import numpy as np
import tensorflow as tf

import settings


def recipes():
    rng = np.random.default_rng(settings.SEED)
    words = rng.integers(1, settings.TOKENS, (settings.RECIPES, settings.MAX_LEN))
    tags = rng.integers(0, 2, (settings.RECIPES, len(settings.TAGS))).astype("float32")
    return words, tags


def dataset():
    ds = tf.data.Dataset.from_tensor_slices(recipes())
    return ds.shuffle(settings.RECIPES, seed=settings.SEED).batch(settings.BATCH_SIZE)
