import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB = 2000
LENGTH = 120
INTENTS = 6


def conversations(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, INTENTS, n)
    x = rng.integers(1, VOCAB, (n, LENGTH))
    for i, k in enumerate(y):
        at = rng.integers(0, LENGTH - 10)
        x[i, at : at + 10] = 50 * (k + 1) + rng.integers(0, 20, 10)
    return x.astype("int32"), y.astype("int64")


def as_dataset(x, y, batch=64, training=False):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(y), seed=29)
    return ds.batch(batch, drop_remainder=training).prefetch(tf.data.AUTOTUNE)


def intent_model(embed=64, units=96, dropout=0.2):
    inputs = tf.keras.Input((LENGTH,), dtype="int32")
    x = layers.Embedding(VOCAB, embed)(inputs)
    x = layers.SpatialDropout1D(dropout)(x)
    x = layers.LSTM(units, return_sequences=True, recurrent_dropout=dropout)(x)
    x = layers.LSTM(units, recurrent_dropout=dropout)(x)
    x = layers.Dropout(dropout)(x)
    outputs = layers.Dense(INTENTS, activation="softmax")(x)
    return tf.keras.Model(inputs, outputs)


def main():
    tf.keras.utils.set_random_seed(29)
    print("devices:", [d.name for d in tf.config.list_physical_devices("GPU")] or "cpu")
    train = as_dataset(*conversations(1920, 1), training=True)
    val = as_dataset(*conversations(320, 2))
    model = intent_model()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    for epoch in range(2):
        start = time.perf_counter()
        model.fit(train, epochs=epoch + 1, initial_epoch=epoch, verbose=0)
        print(f"epoch {epoch}: {time.perf_counter() - start:.1f} s")
    print(model.evaluate(val, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
