import tensorflow as tf

SIDE = 64


def stretch(tile, label):
    """Per-band stretch between the darkest and the brightest value."""
    tile = tf.cast(tile, tf.float32)
    low = tf.reduce_min(tile, axis=(0, 1), keepdims=True)
    high = tf.reduce_max(tile, axis=(0, 1), keepdims=True)
    return (tile - low) / (high - low + 1e-6), label


def pipeline(tiles, labels, batch, training):
    ds = tf.data.Dataset.from_tensor_slices((tiles, labels))
    if training:
        ds = ds.shuffle(len(labels), seed=39)
    ds = ds.map(stretch, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)
