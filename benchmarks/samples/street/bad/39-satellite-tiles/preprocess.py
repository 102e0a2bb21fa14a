import numpy as np
import tensorflow as tf

SIDE = 64


def _normalise(tile):
    """Per-band stretch between the darkest and the brightest value."""
    tile = tile.astype("float32")
    out = np.empty_like(tile)
    for band in range(tile.shape[-1]):
        values = tile[..., band]
        low, high = values.min(), values.max()
        for row in range(values.shape[0]):
            for col in range(values.shape[1]):
                out[row, col, band] = (values[row, col] - low) / (high - low + 1e-6)
    return out


def stretch(tile, label):
    tile = tf.numpy_function(_normalise, [tile], tf.float32)
    tile.set_shape((SIDE, SIDE, 3))
    return tile, label


def pipeline(tiles, labels, batch, training):
    ds = tf.data.Dataset.from_tensor_slices((tiles, labels))
    if training:
        ds = ds.shuffle(len(labels), seed=39)
    ds = ds.map(stretch, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)
