import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

POINTS = 60
ROUNDS = 15


def strain(n, seed):
    rng = np.random.default_rng(seed)
    stiff = rng.uniform(0.6, 1.4, (n, 1))
    t = np.linspace(0, 6, POINTS)[None, :]
    x = np.sin(t / stiff) + rng.normal(0, 0.1, (n, POINTS))
    return x[..., None].astype("float32"), stiff.astype("float32")


def stiffness_net():
    inputs = tf.keras.Input((POINTS, 1))
    x = inputs
    for width in (16, 24, 32):
        skip = layers.Conv1D(width, 1, padding="same")(x)
        x = layers.Conv1D(width, 5, padding="same", activation="relu")(x)
        x = layers.Add()([x, skip])
    x = layers.GlobalAveragePooling1D()(x)
    return tf.keras.Model(inputs, layers.Dense(1)(x))


class Fitter:
    def __init__(self, model, rate=1e-3):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(rate)
        self.optimizer.build(model.trainable_variables)
        self.loss_fn = tf.keras.losses.MeanSquaredError()

    def _step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def one_round(self, data):
        step = tf.function(self._step)
        total, count = 0.0, 0
        for x, y in data:
            total += step(x, y)
            count += 1
        return float(total) / count

    def fit(self, data, rounds):
        losses = []
        for number in range(rounds):
            start = time.perf_counter()
            losses.append(self.one_round(data))
            print(f"round {number:2d} {losses[-1]:.4f} {time.perf_counter() - start:.2f} s")
        return losses


def main():
    tf.keras.utils.set_random_seed(50)
    x, y = strain(512, 1)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(512, seed=50)
    data = data.batch(64, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    start = time.perf_counter()
    Fitter(stiffness_net()).fit(data, ROUNDS)
    print(f"all rounds {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
