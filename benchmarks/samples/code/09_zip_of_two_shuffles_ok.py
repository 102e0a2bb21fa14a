"""Segmentation: pairs of satellite tile and mask."""
import tensorflow as tf


def tiles(n, side):
    return tf.data.Dataset.from_tensor_slices(tf.random.uniform([n, side, side, 3]))


def masks(n, side):
    return tf.data.Dataset.from_tensor_slices(tf.random.uniform([n, side, side, 1], 0, 2, tf.int32))


def training_pairs(n=80, side=16, batch=8):
    x = tiles(n, side)
    y = masks(n, side)
    return tf.data.Dataset.zip((x, y)).shuffle(n).batch(batch).prefetch(tf.data.AUTOTUNE)


unet = tf.keras.Sequential([
    tf.keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
    tf.keras.layers.Conv2D(1, 1, activation="sigmoid"),
])
unet.compile(optimizer="adam", loss="binary_crossentropy")
unet.fit(training_pairs(), epochs=2)
