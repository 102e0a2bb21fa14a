import numpy as np
import tensorflow as tf

NUM_SLICES = 64


def input_fn(params):
    """Slices of a scanner: one grey channel."""
    rng = np.random.default_rng(0)
    labels = np.arange(NUM_SLICES) % 3
    images = rng.random((NUM_SLICES, params.image_size, params.image_size, 1)) + labels[:, None, None, None]
    ds = tf.data.Dataset.from_tensor_slices((images.astype("float32"), labels))
    ds = ds.map(lambda x, y: (x / 4.0, y), num_parallel_calls=params.num_parallel_calls)
    return ds.shuffle(params.dict.get("buffer_size", params.train_size), seed=1).batch(params.batch_size)
