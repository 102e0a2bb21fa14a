import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def load_digits():
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (200, 28, 28, 1), dtype="uint8")
    labels = rng.integers(0, 10, 200)
    return images.astype("float32") / 255.0, labels


def cnn():
    return tf.keras.Sequential([
        layers.Input((28, 28, 1)),
        layers.Rescaling(1.0 / 255),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(10, activation="softmax"),
    ])


images, labels = load_digits()
model = cnn()
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(images, labels, epochs=2, batch_size=32, verbose=2)
