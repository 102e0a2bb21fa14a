import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

STEPS = 20
BATCH = 32


def firings(n, seed):
    """Temperature curves of a kiln; the target is the final shrinkage in percent."""
    rng = np.random.default_rng(seed)
    ramp = rng.uniform(20, 90, (n, 1))
    hold = rng.uniform(900, 1250, (n, 1))
    t = np.linspace(0, 1, STEPS)[None, :]
    curve = np.minimum(ramp * 14 * t * 2, hold) + rng.normal(0, 8, (n, STEPS))
    shrink = 4 + (hold - 900) / 70 + 0.02 * ramp
    return (curve / 1000).astype("float32"), shrink.astype("float32")


class Shrinkage(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = [keras.layers.Dense(64, activation="gelu") for _ in range(4)]
        self.norms = [keras.layers.LayerNormalization() for _ in range(4)]
        self.out = keras.layers.Dense(1)

    def call(self, x):
        for dense, norm in zip(self.hidden, self.norms):
            x = norm(dense(x))
        return self.out(x)


class Trainer:
    def __init__(self, model, optimizer, loss_fn):
        self.model = model
        self.optimizer = optimizer
        self.loss_fn = loss_fn
        self.loss = keras.metrics.Mean()
        self.mae = keras.metrics.MeanAbsoluteError()

    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            y_hat = self.model(x, training=True)
            loss = self.loss_fn(y, y_hat)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.loss.update_state(loss)
        self.mae.update_state(y, y_hat)

    def run(self, dataset, epochs):
        for epoch in range(epochs):
            self.loss.reset_state()
            self.mae.reset_state()
            start = time.perf_counter()
            for x, y in dataset:
                self.train_step(x, y)
            print(
                f"epoch {epoch}: loss {float(self.loss.result()):.3f} "
                f"mae {float(self.mae.result()):.3f} "
                f"({time.perf_counter() - start:.1f} s)"
            )


def main():
    keras.utils.set_random_seed(23)
    x, y = firings(6400, 1)
    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(6400, seed=23)
    data = data.batch(BATCH).prefetch(tf.data.AUTOTUNE)
    trainer = Trainer(Shrinkage(), keras.optimizers.Adam(1e-3), keras.losses.Huber())
    trainer.run(data, epochs=3)


if __name__ == "__main__":
    main()
