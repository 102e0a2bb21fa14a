"""Melt forecast for glacier tongues, trained with a hand written loop."""
import time

import numpy as np
import tensorflow as tf
import keras
from keras import layers

WINDOW = 20
CHANNELS = 5


def seasons(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, WINDOW, CHANNELS)).astype("float32")
    y = x[:, -5:, 0].mean(axis=1) - 0.5 * x[:, :, 1].mean(axis=1)
    return x, y.astype("float32")[:, None]


class MeltModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.convs = [
            layers.Conv1D(16, 3, padding="same", activation="relu") for _ in range(4)
        ]
        self.norms = [layers.LayerNormalization() for _ in range(4)]
        self.pool = layers.GlobalAveragePooling1D()
        self.head = layers.Dense(1)

    def call(self, x, training=None):
        for i, (conv, norm) in enumerate(zip(self.convs, self.norms)):
            h = norm(conv(x))
            x = h if i == 0 else x + h
        return self.head(self.pool(x))


class Trainer:
    def __init__(self, model, lr=2e-3, clip=1.0):
        self.model = model
        self.optimizer = keras.optimizers.Adam(lr)
        self.clip = clip
        self.mse = keras.losses.MeanSquaredError()

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.mse(y, self.model(x, training=True))
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, self.clip)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def fit(self, dataset, epochs):
        for epoch in range(epochs):
            started = time.perf_counter()
            mean = keras.metrics.Mean()
            for x, y in dataset:
                mean.update_state(self.train_step(x, y))
            spent = time.perf_counter() - started
            print(f"epoch {epoch + 1} mse {float(mean.result()):.4f} {spent:.2f} s")


def main():
    keras.utils.set_random_seed(24)
    x, y = seasons(2400, seed=0)
    dataset = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(2400)
        .batch(24, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    Trainer(MeltModel()).fit(dataset, epochs=5)


if __name__ == "__main__":
    main()
