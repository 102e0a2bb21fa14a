import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

from blocks import conv_block, pooled_statistics

ROOMS = ("booth", "office", "hall")
SAMPLES = 256


def impulse_responses(n, seed):
    rng = np.random.default_rng(seed)
    room = rng.integers(0, len(ROOMS), n)
    decay = np.array([18.0, 45.0, 110.0])[room]
    t = np.arange(SAMPLES)
    env = np.exp(-t[None, :] / decay[:, None])
    return (env * rng.normal(size=(n, SAMPLES)))[..., None].astype("float32"), room.astype("int64")


def build():
    inputs = tf.keras.Input((SAMPLES, 1))
    x = conv_block(inputs, 16)
    x = layers.MaxPooling1D(2)(x)
    x = conv_block(x, 32)
    x = pooled_statistics(x)
    x = layers.Dense(32, activation="relu")(x)
    outputs = layers.Dense(len(ROOMS), activation="softmax")(x)
    return tf.keras.Model(inputs, outputs, name="rooms")


def main():
    tf.keras.utils.set_random_seed(22)
    x, y = impulse_responses(1200, 1)
    x_val, y_val = impulse_responses(300, 2)
    model = build()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, validation_data=(x_val, y_val), epochs=4, batch_size=32, verbose=2)


if __name__ == "__main__":
    main()
