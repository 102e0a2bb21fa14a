import numpy as np
import tensorflow as tf

COLOURS = np.array([[1, 0.1, 0.1], [1, 0.8, 0.1], [0.1, 1, 0.3]], "float32")


def _pictures(n, side, brightness, seed):
    rng = np.random.default_rng(seed)
    state = rng.integers(0, 3, n)
    img = rng.normal(0.2, 0.05, (n, side, side, 3))
    third = side // 3
    for i, s in enumerate(state):
        img[i, s * third:(s + 1) * third, third:2 * third] += COLOURS[s]
    return (img * brightness).astype("float32"), state.astype("int64")


def make_datasets(data, seed):
    train = _pictures(data["samples"], data["side"], data["brightness"], seed)
    val = _pictures(data["val_samples"], data["side"], data["brightness"], seed + 1)
    train_ds = tf.data.Dataset.from_tensor_slices(train).cache()
    train_ds = train_ds.shuffle(data["samples"], seed=seed).batch(data["batch_size"])
    val_ds = tf.data.Dataset.from_tensor_slices(val).batch(data["batch_size"])
    return train_ds.prefetch(tf.data.AUTOTUNE), val_ds


def small_conv(side, width, depth, dropout):
    layers = tf.keras.layers
    x = inputs = tf.keras.Input((side, side, 3))
    for level in range(depth):
        x = layers.Conv2D(width * (level + 1), 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(dropout)(x)
    return tf.keras.Model(inputs, layers.Dense(3)(x))


MODELS = {"small_conv": small_conv}
