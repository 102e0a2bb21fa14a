"""Classify rock faces from quarry photographs held in memory."""
import time

import numpy as np
import tensorflow as tf
import keras
from keras import layers

COUNT = 480
EPOCHS = 4


def photographs(seed=18):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, COUNT)
    base = rng.integers(0, 90, (COUNT, 25, 25, 3))
    base[np.arange(COUNT), :, :, labels] += 120
    full = np.kron(base, np.ones((1, 24, 24, 1))).astype("uint8")
    encoded = [tf.io.encode_jpeg(image, quality=90).numpy() for image in full]
    return np.array(encoded, dtype=object), labels.astype("int32")


def decode(raw, label):
    image = tf.io.decode_jpeg(raw, channels=3)
    image = tf.image.convert_image_dtype(image, tf.float32)
    image = tf.image.resize(image, (48, 48), method="bicubic", antialias=True)
    return tf.ensure_shape(image, (48, 48, 3)), label


def jitter(image, label):
    image = tf.image.random_flip_left_right(image)
    return tf.image.random_brightness(image, 0.1), label


def input_pipeline(encoded, labels, batch_size=24):
    ds = tf.data.Dataset.from_tensor_slices((list(encoded), labels))
    ds = ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache()
    ds = ds.shuffle(COUNT)
    ds = ds.map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def rock_net():
    return keras.Sequential(
        [
            keras.Input((48, 48, 3)),
            layers.Conv2D(8, 3, strides=2, activation="relu"),
            layers.Conv2D(8, 3, strides=2, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(3, activation="softmax"),
        ]
    )


class EpochClock(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.started = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        spent = time.perf_counter() - self.started
        print(f"epoch {epoch + 1} {spent:.2f} s accuracy {logs['accuracy']:.3f}")


def main():
    keras.utils.set_random_seed(10)
    encoded, labels = photographs()
    model = rock_net()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(
        input_pipeline(encoded, labels),
        epochs=EPOCHS,
        callbacks=[EpochClock()],
        verbose=0,
    )


if __name__ == "__main__":
    main()
