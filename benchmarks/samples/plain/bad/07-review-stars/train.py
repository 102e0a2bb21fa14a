import time

import numpy as np
import tensorflow as tf

from callbacks import ValidationCurve

tf.keras.utils.set_random_seed(21)
GOOD = ["great", "lovely", "superb", "fine"]
POOR = ["awful", "broken", "noisy", "poor"]
FILL = ["the", "box", "came", "today", "with", "a", "cable"]


def reviews(n, seed):
    rng = np.random.default_rng(seed)
    texts, stars = [], []
    for _ in range(n):
        y = int(rng.integers(2))
        words = list(rng.choice(FILL, 8)) + list(rng.choice(GOOD if y else POOR, 2))
        rng.shuffle(words)
        texts.append(" ".join(words))
        stars.append(y)
    return tf.constant(texts), tf.constant(stars, tf.float32)


train_x, train_y = reviews(1200, 1)
val_x, val_y = reviews(3000, 2)
vectorize = tf.keras.layers.TextVectorization(max_tokens=100, output_mode="multi_hot")
vectorize.adapt(train_x)


def dataset(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((vectorize(x), y))
    if training:
        ds = ds.shuffle(1200)
    return ds.batch(32).prefetch(tf.data.AUTOTUNE)


train_ds, val_ds = dataset(train_x, train_y, True), dataset(val_x, val_y, False)
model = tf.keras.Sequential([
    tf.keras.Input((vectorize.vocabulary_size(),)),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
curve = ValidationCurve(val_ds)
start = time.time()
model.fit(train_ds, epochs=3, callbacks=[curve], verbose=0)
print(f"{time.time() - start:.1f}s, {len(curve.curve)} points, last {curve.curve[-1]:.4f}")
