"""Estimate hull fouling from vibration recordings."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SAMPLES = 256
FRAME = 64
HOP = 32


def make_recordings(n, seed=0):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, SAMPLES)
    fouling = rng.uniform(0, 1, n)
    waves = np.sin(2 * np.pi * (20 + 25 * fouling[:, None]) * t)
    waves += rng.normal(0, 0.1, waves.shape)
    return waves.astype("float32"), fouling.astype("float32")[:, None]


class Spectrum(layers.Layer):
    def call(self, wave):
        return tf.abs(tf.signal.stft(wave, FRAME, HOP))


def residual_block(x, filters):
    skip = layers.Conv2D(filters, 1)(x)
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(filters, 3, padding="same")(x)
    return layers.Activation("relu")(layers.Add()([x, skip]))


def build():
    wave = keras.Input(shape=(SAMPLES,), name="wave")
    spec = Spectrum()(wave)
    spec = layers.Rescaling(4.0 / FRAME)(spec)
    x = layers.Reshape((7, 33, 1))(spec)
    x = residual_block(x, 8)
    x = residual_block(x, 16)
    x = layers.AveragePooling2D((7, 1))(x)
    x = layers.Flatten()(x)
    x = layers.Dense(16, activation="relu")(x)
    score = layers.Dense(1, activation="sigmoid", name="fouling")(x)
    return keras.Model(wave, score)


def main():
    keras.utils.set_random_seed(1)
    x, y = make_recordings(384)
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
    model.fit(x, y, batch_size=32, epochs=4, validation_split=0.2, verbose=2)


if __name__ == "__main__":
    main()
