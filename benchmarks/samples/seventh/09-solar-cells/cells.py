import numpy as np
import tensorflow as tf


def images(n, size, seed):
    """Electroluminescence pictures; a cracked cell has a dark line."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0.7, 0.08, (n, size, size, 1))
    y = rng.integers(0, 2, n)
    for i in np.flatnonzero(y):
        row = rng.integers(2, size - 2)
        x[i, row:row + 2, :, :] -= 0.5
    return x.astype("float32"), y.astype("float32")[:, None]


def pipelines(data, augmentation, seed):
    x, y = images(data["cells"], data["size"], seed)
    cut = data["cells"] * 3 // 4
    layers = []
    if augmentation["flip"]:
        layers.append(tf.keras.layers.RandomFlip(seed=seed))
    if augmentation.get("rotation", 0.0) > 0:
        layers.append(tf.keras.layers.RandomRotation(augmentation["rotation"], seed=seed))

    def augment(image, label):
        for layer in layers:
            image = layer(image, training=True)
        return image, label

    train = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut])).shuffle(cut, seed=seed)
    train = train.batch(data["batch_size"]).map(augment).prefetch(tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:])).batch(data["batch_size"])
    return train, test
